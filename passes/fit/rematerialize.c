/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Recomputes values by copies of nodes. A pooling reads a copy of the backward slice of its
 * operand: the nodes that compute the operand from much smaller values (backward-slice.h). If the
 * result of a node is cheap to recompute, each reader after the first gets a copy of the node.
 * Records each copy by the names of the node, the copy and the readers (CleaveFitCopy). Makes
 * recorded copies again in another graph. */

#include "rematerialize.h"

#include "../../lib/ir/error.h"
#include "../../lib/ir/topology.h"
#include "backward-slice.h"
#include "move-nodes.h"

static void
copy_clear (gpointer data)
{
  CleaveFitCopy *copy = data;

  g_free (copy->node);
  g_free (copy->copy);
  g_strfreev (copy->readers);
}

static void
copy_free (gpointer copy)
{
  copy_clear (copy);
  g_free (copy);
}

/* Replaces results of `first` with results of `second` in all operands of `reader`. */
static void
redirect (CleaveNode *reader, const CleaveNode *first, CleaveNode *second)
{
  for (guint o = 0; o < reader->n_operands; o++)
    {
      const CleaveResult *read = reader->operands[o].result;

      if (read != NULL && read->node == first)
        cleave_operand_set (&reader->operands[o], &second->results[read->index]);
    }
}

/* Adds a copy of a node to the graph, with the name `name`. Makes `readers` (CleaveNode) read the
 * copy, and returns the copy. */
static CleaveNode *
make_copy (CleaveGraph *graph, const CleaveNode *node, const char *name, const GPtrArray *readers)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = node->operands[i].result;
  copy = cleave_graph_add_like (graph, node, name, operands);
  for (guint i = 0; i < readers->len; i++)
    redirect (readers->pdata[i], node, copy);
  return copy;
}

static CleaveNode *
add_copy (GPtrArray *copies, CleaveGraph *graph, const CleaveNode *node, const GPtrArray *readers)
{
  CleaveNode *copy = make_copy (graph, node, node->name, readers);
  CleaveFitCopy *noted = g_new0 (CleaveFitCopy, 1);

  noted->node = g_strdup (node->name);
  noted->copy = g_strdup (copy->name);
  noted->readers = g_new0 (char *, readers->len + 1);
  for (guint i = 0; i < readers->len; i++)
    noted->readers[i] = g_strdup (((const CleaveNode *) readers->pdata[i])->name);
  g_ptr_array_add (copies, noted);
  return copy;
}

/* Returns whether recomputing the result of a node is cheap. The node must have no MACs. Its result
 * must be large, have several readers, and have at least CLEAVE_FIT_MUCH_LARGER times the bytes
 * that the node reads. Views, joins and reshapes are never recomputed, since they only move
 * bytes. */
static gboolean
is_cheap (const CleaveNode *node, gint64 min_bytes)
{
  gint64 n_read = 0;

  if (!cleave_fit_can_copy (node) || node->n_results != 1 || node->results[0].n_uses < 2 ||
      (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0 ||
      cleave_fit_count_bytes (&node->results[0]) < min_bytes || cleave_node_get_macs (node) > 0)
    return FALSE;
  for (guint o = 0; o < node->n_operands; o++)
    if (node->operands[o].result != NULL && !cleave_node_is_fixed (node->operands[o].result->node))
      n_read += cleave_fit_count_bytes (node->operands[o].result);
  return CLEAVE_FIT_MUCH_LARGER * n_read <= cleave_fit_count_bytes (&node->results[0]);
}

/* Gives each reader of a node, except the first reader, its own copy of the node. */
static void
copy_cheap (GPtrArray *copies, CleaveGraph *graph, CleaveNode *node)
{
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();

  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && !g_ptr_array_find (readers, use->node, NULL))
      g_ptr_array_add (readers, use->node);
  for (guint i = 1; i < readers->len; i++)
    {
      g_autoptr (GPtrArray) one = g_ptr_array_new ();

      g_ptr_array_add (one, readers->pdata[i]);
      add_copy (copies, graph, node, one);
    }
}

double
cleave_fit_copies_count_macs (const GPtrArray *recomputed)
{
  double sum = 0;

  for (guint i = 0; i < recomputed->len; i++)
    sum += (double) cleave_node_get_macs (recomputed->pdata[i]);
  return sum;
}

static int
compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint *position = data;
  guint x = position[(*(CleaveNode *const *) a)->id], y = position[(*(CleaveNode *const *) b)->id];

  return (x < y) - (x > y);
}

/* Copies the nodes in `recomputed`, a backward slice (backward-slice.h). The nodes in `first` will
 * read the copies of the last nodes of the slice. Sorts `recomputed` by falling `position`, and
 * copies the last node first. So all readers of a copy exist before the copy: a reader is a node in
 * `first`, or an earlier copy. */
void
cleave_fit_rematerialize (GPtrArray *copies,
                          CleaveGraph *graph,
                          const GPtrArray *first,
                          GPtrArray *recomputed,
                          const guint *position)
{
  /* nodes that may read a copy: the nodes of `first`, and all copies that exist already */
  g_autoptr (GPtrArray) may_read = g_ptr_array_copy ((GPtrArray *) first, NULL, NULL);

  g_ptr_array_sort_with_data (recomputed, compare_positions, (gpointer) position);
  for (guint i = 0; i < recomputed->len; i++)
    {
      const CleaveNode *node = recomputed->pdata[i];
      g_autoptr (GPtrArray) readers = g_ptr_array_new ();

      for (guint r = 0; r < may_read->len; r++)
        {
          CleaveNode *reader = may_read->pdata[r];

          for (guint o = 0; o < reader->n_operands; o++)
            if (reader->operands[o].result != NULL && reader->operands[o].result->node == node &&
                !g_ptr_array_find (readers, reader, NULL))
              g_ptr_array_add (readers, reader);
        }
      g_ptr_array_add (may_read, add_copy (copies, graph, node, readers));
    }
}

/* Returns whether a node reduces operand 0 to a much smaller result, as a global pooling does.
 * Along some dimensions, each element of the result needs the whole operand. Along another
 * dimension, such as the channels, the node can be cut into chunks. */
static gboolean
is_reduction (const CleaveNode *node)
{
  const CleaveResult *x = node->operands[0].result;
  g_auto (CleaveNodeCall) of = { 0 };
  CleaveDimMap map[CLEAVE_MAX_RANK];
  gboolean has_whole = FALSE, has_chunks = FALSE;

  if (node->op->maps == NULL || node->n_results != 1 || cleave_node_get_macs (node) > 0 ||
      CLEAVE_FIT_MUCH_LARGER * cleave_fit_count_bytes (&node->results[0]) >
          cleave_fit_count_bytes (x))
    return FALSE;
  node->op->maps (cleave_node_call_init (&of, node), 0, map);
  for (guint d = 0; d < x->type.shape.rank; d++)
    {
      has_whole |= map[d].stride == 0 && x->type.shape.dim[d] > 1;
      has_chunks |= map[d].stride != 0 && x->type.shape.dim[d] > 1;
    }
  return has_whole && has_chunks;
}

/* Returns whether a node is a reduction of a large value that has other readers. */
static gboolean
is_pool (const CleaveNode *node, gint64 min_bytes)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;

  return x != NULL && !cleave_fit_exists_before_run (x->node) && x->n_uses > 1 &&
         cleave_fit_count_bytes (x) >= min_bytes && is_reduction (node);
}

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  gint64 x = cleave_fit_count_bytes ((*(CleaveNode *const *) a)->operands[0].result);
  gint64 y = cleave_fit_count_bytes ((*(CleaveNode *const *) b)->operands[0].result);

  return (x < y) - (x > y);
}

/* A pooling, and the nodes that compute its operand from much smaller values. These nodes are
 * copied for the pooling. */
typedef struct
{
  CleaveNode *pool;
  GPtrArray *recomputed; /* CleaveNode: nodes to copy */
} Pooled;

static void
pooled_free (gpointer data)
{
  Pooled *pooled = data;

  g_ptr_array_unref (pooled->recomputed);
  g_free (pooled);
}

/* Compares poolings by position; the last pooling comes first. */
static int
compare_pools (gconstpointer a, gconstpointer b, gpointer position)
{
  const Pooled *x = *(const Pooled *const *) a, *y = *(const Pooled *const *) b;

  return compare_positions (&x->pool, &y->pool, position);
}

/* Returns poolings (Pooled) whose backward slices have at most `max_macs` MACs in total. Chooses
 * the poolings of the largest values first. */
static GPtrArray *
list_pooled (const GPtrArray *order, gint64 min_bytes, double max_macs)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (pooled_free);
  g_autoptr (GPtrArray) pools = g_ptr_array_new ();

  for (guint i = 0; i < order->len; i++)
    if (is_pool (order->pdata[i], min_bytes))
      g_ptr_array_add (pools, order->pdata[i]);
  g_ptr_array_sort (pools, compare_sizes); /* the sort is stable: poolings with equal sizes keep
                                            * their order */
  for (guint i = 0; i < pools->len; i++)
    {
      CleaveNode *pool = pools->pdata[i];
      const CleaveResult *x = pool->operands[0].result;
      g_autoptr (GPtrArray) recomputed = g_ptr_array_new ();
      Pooled *pooled;

      if (!cleave_fit_add_backward_slice (recomputed, x, cleave_fit_count_bytes (x)) ||
          cleave_fit_copies_count_macs (recomputed) > max_macs)
        continue;
      max_macs -= cleave_fit_copies_count_macs (recomputed);
      pooled = g_new (Pooled, 1);
      *pooled = (Pooled){ pool, g_steal_pointer (&recomputed) };
      g_ptr_array_add (all, pooled);
    }
  return all;
}

/* Copies the backward slices of the operands of poolings. Finds all backward slices before it makes
 * the first copy, and visits the last pooling first. Therefore, no backward slice contains a copy.
 * (A copy has no entry in `position`.) */
static void
copy_pooled (GPtrArray *copies,
             CleaveGraph *graph,
             const GPtrArray *order,
             const guint *position,
             gint64 min_bytes,
             double max_macs)
{
  g_autoptr (GPtrArray) all = list_pooled (order, min_bytes, max_macs);

  g_ptr_array_sort_with_data (all, compare_pools, (gpointer) position);
  for (guint i = 0; i < all->len; i++)
    {
      const Pooled *pooled = all->pdata[i];
      g_autoptr (GPtrArray) readers = g_ptr_array_new ();

      g_ptr_array_add (readers, pooled->pool);
      cleave_fit_rematerialize (copies, graph, readers, pooled->recomputed, position);
    }
}

GPtrArray *
cleave_fit_copies_new (void)
{
  return g_ptr_array_new_with_free_func (copy_free);
}

GPtrArray *
cleave_fit_rematerialize_pooled (CleaveGraph *graph,
                                 gint64 min_bytes,
                                 double max_macs,
                                 gint64 min_moved)
{
  GPtrArray *copies = cleave_fit_copies_new ();
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  g_autofree guint *position = g_new0 (guint, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    position[((const CleaveNode *) order->pdata[i])->id] = i;
  copy_pooled (copies, graph, order, position, min_bytes, max_macs);
  for (guint i = 0; i < order->len; i++)
    if (is_cheap (order->pdata[i], min_bytes))
      copy_cheap (copies, graph, order->pdata[i]);
  if (min_moved > 0)
    cleave_fit_moves_find (copies, graph, min_moved);
  if (copies->len > 0)
    cleave_fit_moves_arrange (copies, graph);
  return copies;
}

/* Makes the recorded copy `noted` again in another graph. Returns FALSE if the node or a reader
 * does not exist, or if another node already has the name of the copy. */
static gboolean
apply_copy (const CleaveFitCopy *noted, CleaveGraph *graph)
{
  const CleaveNode *node = cleave_graph_find_node (graph, noted->node);
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();

  if (noted->copy == NULL)
    return node != NULL;
  for (char **name = noted->readers; *name != NULL; name++)
    {
      CleaveNode *reader = cleave_graph_find_node (graph, *name);

      if (reader != NULL)
        g_ptr_array_add (readers, reader);
    }
  if (node == NULL || readers->len < g_strv_length (noted->readers) ||
      cleave_graph_find_node (graph, noted->copy) != NULL)
    return FALSE;
  make_copy (graph, node, noted->copy, readers);
  return TRUE;
}

/* Removes the first `n` copies, the last of them first, and restores the order of nodes. */
static void
undo (const GPtrArray *copies, guint n, CleaveGraph *graph, const GPtrArray *order)
{
  while (n-- > 0)
    {
      const CleaveFitCopy *noted = copies->pdata[n];
      CleaveNode *copy = noted->copy == NULL ? NULL : cleave_graph_find_node (graph, noted->copy);
      CleaveNode *node = cleave_graph_find_node (graph, noted->node);

      if (copy == NULL)
        continue;
      for (guint r = 0; r < copy->n_results; r++)
        cleave_result_replace_uses (&copy->results[r], &node->results[r]);
      cleave_graph_remove (graph, copy);
    }
  cleave_graph_arrange (graph, order);
}

gboolean
cleave_fit_copies_apply (const GPtrArray *copies, CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) before = g_ptr_array_sized_new (graph->n_nodes);

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    g_ptr_array_add (before, node);
  for (guint i = 0; i < copies->len; i++)
    if (!apply_copy (copies->pdata[i], graph))
      {
        undo (copies, i, graph, before);
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "the plan is for another graph: '%s' cannot be recomputed",
                            ((const CleaveFitCopy *) copies->pdata[i])->node);
      }
  cleave_fit_moves_arrange (copies, graph);
  return TRUE;
}
