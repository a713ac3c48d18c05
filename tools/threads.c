/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "execute.h"

/* Work is counted in multiply-accumulates, at some 20 in a nanosecond; an element of a result that
 * takes none is worth so many. */
#define WORK_PER_ELEMENT 12

/* Work below which a node is not worth splitting, since handing over a piece takes half a
 * microsecond; and a graph, since it is done before the other threads are awake. */
#define MIN_WORK 100000
#define MIN_TOTAL_WORK 8000000

/* The longest chunk may exceed the mean by this part, or threads wait for the one that has it. */
#define MAX_SURPLUS 0.1

/* Dimensions to cut, the first that comes out even: rows of an image, channels; rows of a matrix,
 * columns. */
static const guint choices[][3] = {
  [2] = { 0, 1, 1 },
  [3] = { 1, 2, 2 },
  [4] = { 2, 1, 3 },
  [5] = { 2, 3, 1 },
};

static gint64
get_work (const CleaveNode *node)
{
  const CleaveTensorType *type = cleave_result_get_type (cleave_node_get_result (node, 0));
  gint64 macs = cleave_node_get_macs (node);

  if (cleave_node_get_n_operands (node) == 0)
    return 0;
  return macs > 0 ? macs : WORK_PER_ELEMENT * cleave_shape_n_elements (&type->shape);
}

static double
get_total_work (const CleaveGraph *graph)
{
  double work = 0;

  for (const CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    work += (double) get_work (node);
  return work;
}

/* Whether chunks of an extent are as good as equal. */
static gboolean
is_even (gint64 extent, guint n_threads)
{
  gint64 longest = (extent + n_threads - 1) / n_threads;

  return extent >= n_threads &&
         (double) (longest * n_threads) <= (1 + MAX_SURPLUS) * (double) extent;
}

/* The dimension of the node to cut at the given try; -1: none.  It depends on the shape alone, so
 * that a chain of nodes is cut into chains. */
static gint
choose_dim (const CleaveNode *node, guint n_threads, guint attempt)
{
  const CleaveShape *shape = &cleave_result_get_type (cleave_node_get_result (node, 0))->shape;
  guint skip = attempt;

  if (shape->rank < 2 || shape->rank >= G_N_ELEMENTS (choices))
    return -1;
  for (guint i = 0; i < 3; i++)
    {
      guint d = choices[shape->rank][i];

      if (is_even (shape->dim[d], n_threads) && skip-- == 0)
        return (gint) d;
    }
  return -1;
}

static void
add_request (GArray *requests, GPtrArray *splits, CleaveNode *node, guint dim, guint n_threads)
{
  g_autofree char *dims = g_strdup_printf ("%u", dim);
  gint64 count = n_threads;
  CleaveSplitRequest request = { node, cleave_split_by_num_chunks (dims, &count, 1), NULL };

  g_ptr_array_add (splits, (gpointer) request.split);
  g_array_append_val (requests, request);
}

/* Nodes, in one round, with the dimension of the given try; in the second round those that were
 * refused in the first. */
static gboolean
split_round (CleaveGraph *graph, guint n_threads, guint attempt, GHashTable *names, GError **error)
{
  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (CleaveSplitRequest));
  g_autoptr (GPtrArray) splits =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_split_free);
  g_autoptr (CleaveSplitReport) report = NULL;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    {
      gint dim = choose_dim (node, n_threads, attempt);

      if (dim >= 0 && get_work (node) >= MIN_WORK &&
          (attempt == 0 || g_hash_table_contains (names, cleave_node_get_name (node))))
        add_request (requests, splits, node, (guint) dim, n_threads);
    }
  g_hash_table_remove_all (names);
  if (requests->len == 0)
    return TRUE;
  report = cleave_split_nodes (graph, (CleaveSplitRequest *) (gpointer) requests->data,
                               requests->len, error);
  if (report == NULL)
    return FALSE;
  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    {
      const CleaveUnsplitNode *node = cleave_split_report_get_not_split (report, i);

      if (node->reason == CLEAVE_NOT_SPLIT_REFUSED)
        g_hash_table_add (names, g_strdup (node->name));
    }
  return TRUE;
}

/* Every node that is worth it becomes one piece for each thread, along the outermost dimension that
 * comes out even and that the op can be cut in; then the clean-up lets pieces read each other where
 * they fit, so that a chain of nodes becomes chains of pieces.  What is computed stays the same,
 * bit for bit. */
gboolean
cleave_split_for_threads (CleaveGraph *graph, guint *n_threads, GError **error)
{
  g_autoptr (GHashTable) refused = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  if (get_total_work (graph) < MIN_TOTAL_WORK)
    *n_threads = 1;
  if (*n_threads == 1)
    return TRUE;
  for (guint attempt = 0; attempt < 2; attempt++)
    if (!split_round (graph, *n_threads, attempt, refused, error))
      return FALSE;
  return cleave_clean_up (graph, NULL, error);
}
