/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits a graph for threads or ranks. Chooses which nodes are worth a cut, and along which
 * dimension to cut them.
 *
 * Over 400 lines: which nodes are worth a cut, and along which dimension, is one decision. */

#include <cleave/cleave-pass.h>
#include <cleave/cleave-split.h>
#include <string.h>

#include "../../lib/ir/max-threads.h"
#include "../../lib/memory/cost.h"
#include "../split/apply.h"
#include "../split/dimension-names.h"
#include "../split/report.h"
#include "find-segments.h"
#include "for-threads.h"
#include "rematerialize-pooled.h"
#include "sequences.h"

/* A node that takes less than MIN_NODE_TIME ns is not worth a split, since handing over its pieces
 * takes a part of that time. A graph that takes less than MIN_TOTAL_TIME ns is not worth a split,
 * since it ends before the other threads are awake. */
#define MIN_NODE_TIME 2222
#define MIN_TOTAL_TIME 177778

/* A value that a node needs whole is computed twice if it has at least 1 / LARGE_WHOLE of the bytes
 * of the peak. */
#define LARGE_WHOLE 4

/* The longest chunk may exceed the mean by the fraction MAX_SURPLUS. If it is longer, threads wait
 * for it. It may exceed the mean by LAST_SURPLUS for nodes that only move values, or if no other
 * dimension is better. */
#define MAX_SURPLUS 0.1
#define LAST_SURPLUS 0.15

/* A piece of a node with MACs takes nearly as long with fewer result channels as with this many. */
#define MIN_CHANNELS 24

/* Pieces with fewer rows than this that read the same weights take nearly as long as the whole
 * node. A GRU of 256 units and two sequences takes 1.38 ms if cut by batch, and 0.93 ms if cut by
 * direction. From 8 rows on, both take the same time. */
#define MIN_ROWS 8

/* The largest number of dimensions to try for a node. The largest number of readers of a value for
 * which the dimension of its readers is considered. */
#define MAX_ATTEMPTS 3
#define MAX_READERS 16

/* By rank: the order in which dimensions of images and volumes are tried, and the layout of nodes
 * without a layout of their own. Other values are cut along their first even dimension: the batch,
 * rows, columns. */
static const struct
{
  const char *choices, *letters;
} images[] = {
  [4] = { "NHCW", "NCHW" },
  [5] = { "NDHCW", "NCDHW" },
};

static double
get_total_time (const CleaveGraph *graph)
{
  double time = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    time += cleave_cost_of_shared (node);
  return time;
}

/* Returns whether the longest chunk of an extent exceeds the mean by at most the fraction
 * `surplus`. */
static gboolean
is_even (gint64 extent, guint n_threads, double surplus)
{
  gint64 longest = (extent + n_threads - 1) / n_threads;

  return extent >= n_threads && (double) (longest * n_threads) <= (1 + surplus) * (double) extent;
}

/* Returns the dimension of the result that corresponds to dimension `dim` of an operand. Returns -1
 * if each element of the result needs all of that dimension. */
static gint
follow_dim (const CleaveNode *node, guint operand, guint dim)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveDimMap map[CLEAVE_MAX_RANK];

  if (node->op->maps == NULL)
    return -1;
  node->op->maps (cleave_node_call_init (&call, node), operand, map);
  return map[dim].stride == 0 ? -1 : (gint) map[dim].from;
}

/* Returns whether each piece along `dim` would read all weights for few rows, while pieces along
 * another dimension would read a part of the weights. */
static gboolean
repeats_weights (const CleaveNode *node, guint dim, guint n_threads)
{
  double n_weights = 0, n_rows = (double) node->results[0].type.shape.dim[dim];

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *w = node->operands[i].result;

      if (w == NULL || !cleave_node_is_fixed (w->node))
        continue;
      for (guint d = 0; d < w->type.shape.rank; d++)
        if (follow_dim (node, i, d) == (gint) dim)
          return FALSE;
      n_weights += (double) cleave_shape_n_elements (&w->type.shape);
    }
  if (node->op->sequence == NULL)
    n_rows = (double) cleave_node_get_macs (node) / MAX (n_weights, 1);
  return n_weights > 0 && n_rows < MIN_ROWS * n_threads;
}

/* Returns whether chunks along dimension `d` are even, and large enough to run at full speed. */
static gboolean
is_good (const CleaveNode *node, guint d, guint n_threads)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  gboolean sums = cleave_node_get_macs (node) > 0;

  if (sums && cleave_node_find_dim (node, 'C') == (gint) d &&
      shape->dim[d] < MIN_CHANNELS * (gint64) n_threads)
    return FALSE;
  if (sums && repeats_weights (node, d, n_threads))
    return FALSE;
  return is_even (shape->dim[d], n_threads, sums ? MAX_SURPLUS : LAST_SURPLUS);
}

/* Lists the dimensions of result 0 of a node in the order in which they are tried. */
static void
list_dims (const CleaveNode *node, const CleaveThreads *threads, guint *dims)
{
  guint rank = node->results[0].type.shape.rank;
  gboolean is_image = rank < G_N_ELEMENTS (images) && images[rank].choices != NULL;
  const char *letters = is_image && threads->letters != NULL
                            ? cleave_letters_find (threads->letters, node, G_MAXUINT)
                            : NULL;

  for (guint d = 0; d < rank; d++)
    {
      const char *at = letters == NULL ? NULL : strchr (letters, images[rank].choices[d]);

      if (is_image && at == NULL)
        {
          letters = images[rank].letters;
          at = strchr (letters, images[rank].choices[d]);
        }
      dims[d] = is_image ? (guint) (at - letters) : d;
    }
}

/* Returns the dimension to cut a node along at the given attempt. Returns -1 if there is none.
 * Dimensions with even, large chunks come first, and no dimension comes twice. The choice
 * depends only on the shape and on whether the node has MACs, so a chain of nodes becomes chains
 * of pieces. */
static gint
choose_dim (const CleaveNode *node, const CleaveThreads *threads, guint attempt)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  guint dims[CLEAVE_MAX_RANK], skip = attempt;

  list_dims (node, threads, dims);
  for (gint good = TRUE; good >= FALSE; good--)
    for (guint i = 0; i < shape->rank; i++)
      {
        const guint d = dims[i];

        if (is_even (shape->dim[d], threads->n, LAST_SURPLUS) &&
            is_good (node, d, threads->n) == good && skip-- == 0)
          return (gint) d;
      }
  return -1;
}

static void
add_root (GArray *roots, CleaveNode *node, guint dim, guint n_threads)
{
  g_autofree char *dims = g_strdup_printf ("%u", dim);
  gint64 count = n_threads;
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks (dims, &count, 1);
  CleaveRoot root = { .node = node };

  root.ranges = cleave_tiling_get_ranges (tiling, &node->results[0].type.shape, NULL, NULL);
  g_array_append_val (roots, root);
}

/* Returns the set of all nodes of segments. After the segments are cut, these are the nodes that
 * stayed whole. Leaves out nodes in `pieces`; NULL: none. */
static GHashTable *
list_members (const GPtrArray *segments, GHashTable *pieces)
{
  GHashTable *members = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < segments->len; i++)
    {
      GHashTableIter iter;
      gpointer node;

      g_hash_table_iter_init (&iter, ((const CleaveSegment *) segments->pdata[i])->nodes);
      while (g_hash_table_iter_next (&iter, &node, NULL))
        if (pieces == NULL || !g_hash_table_contains (pieces, node))
          g_hash_table_add (members, node);
    }
  return members;
}

/* Returns the dimension along which to cut an element-wise or quantizing node: the dimension of an
 * operand that is already cut. Returns -1 if there is none. This holds for small nodes too. Pieces
 * compute element-wise ops in registers, and without the cut, pieces of quantized values would be
 * joined as floats. */
static gint
find_dim_before (const CleaveNode *node, GHashTable *dims)
{
  if ((node->op->flags & (CLEAVE_OP_IN_PLACE | CLEAVE_OP_STORAGE)) == 0 || node->n_results != 1)
    return -1;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      gpointer dim;

      /* `dims` has dimensions of result 0 */
      if (x != NULL && x->index == 0 && g_hash_table_lookup_extended (dims, x->node, NULL, &dim) &&
          cleave_shape_equal (&x->type.shape, &node->results[0].type.shape))
        return GPOINTER_TO_INT (dim);
    }
  return -1;
}

/* Returns the index of the largest constant operand. Returns -1 unless it is more than `ratio`
 * times as large as all operands together that are not constant. */
static gint
find_large_weights (const CleaveNode *node, double ratio)
{
  double others = 0, largest = 0;
  gint found = -1;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      double n_bytes = x == NULL ? 0 : (double) cleave_tensor_type_n_bytes (&x->type);

      if (x == NULL || !cleave_node_is_fixed (x->node))
        others += n_bytes;
      else if (n_bytes > largest)
        {
          largest = n_bytes;
          found = (gint) i;
        }
    }
  return largest > ratio * others ? found : -1;
}

/* Returns the dimension of the result along which the weights are cut, so that each thread keeps
 * only a part of them. Returns -1 if the weights are small, or if the chunks are uneven or too
 * small to run at full speed. */
static gint
find_dim_of_weights (const CleaveNode *node, const CleaveThreads *threads)
{
  gint w = threads->weights_to_cut > 0 ? find_large_weights (node, threads->weights_to_cut) : -1;

  for (guint d = 0; w >= 0 && d < node->operands[w].result->type.shape.rank; d++)
    {
      gint dim = follow_dim (node, (guint) w, d);

      if (dim >= 0)
        return is_good (node, (guint) dim, threads->n) ? dim : -1;
    }
  return -1;
}

/* Returns whether sending the operand of a node takes fewer bytes than sending its result. The
 * result must be larger, and strips, which are cut by rows, must read it. */
static gboolean
is_better_sent_before (const CleaveNode *node, GHashTable *members)
{
  const CleaveResult *y = &node->results[0];

  if (cleave_tensor_type_n_bytes (&y->type) <=
          cleave_tensor_type_n_bytes (&node->operands[0].result->type) ||
      y->n_uses > MAX_READERS)
    return FALSE;
  for (const CleaveOperand *use = y->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && g_hash_table_contains (members, use->node))
      return TRUE;
  return FALSE;
}

/* Continues a cut by weights into the node that reads the result. Returns the dimension of the
 * node's result, or -1 if ranks would send values. Also returns -1 if the dimension cannot be cut
 * evenly, such as fewer heads than threads. */
static gint
follow_weights (const CleaveNode *node,
                const CleaveThreads *threads,
                GHashTable *dims,
                GHashTable *by_weights,
                GHashTable *members)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
  gint dim;

  if (x == NULL || (node->op->flags & CLEAVE_OP_JOIN) != 0 ||
      !g_hash_table_contains (by_weights, x->node) || is_better_sent_before (node, members))
    return -1;
  dim = follow_dim (node, 0, GPOINTER_TO_UINT (g_hash_table_lookup (dims, x->node)));
  if (dim < 0 || !is_even (node->results[0].type.shape.dim[dim], threads->n, LAST_SURPLUS))
    return -1;
  return dim;
}

static gint
choose_dim_of_weights (const CleaveNode *node,
                       const CleaveThreads *threads,
                       GHashTable *dims,
                       GHashTable *by_weights,
                       GHashTable *members)
{
  gint dim =
      cleave_cost_of_shared (node) >= MIN_NODE_TIME ? find_dim_of_weights (node, threads) : -1;

  return dim >= 0 ? dim : follow_weights (node, threads, dims, by_weights, members);
}

/* Returns whether some operand has a dimension that corresponds to `dim` of the result. If none
 * has, a cut along `dim` is rarely possible, as along the axis of a Softmax or a
 * ScatterElements. */
static gboolean
has_source (const CleaveNode *node, guint dim)
{
  for (guint i = 0; i < node->n_operands; i++)
    for (guint d = 0;
         node->operands[i].result != NULL && d < node->operands[i].result->type.shape.rank; d++)
      if (follow_dim (node, i, d) == (gint) dim)
        return TRUE;
  return FALSE;
}

/* Predicts the dimension along which a node will be cut: the first choice that corresponds to a
 * dimension of an operand. Returns -1 if there is none. */
static gint
predict_dim (const CleaveNode *node, const CleaveThreads *threads)
{
  for (guint attempt = 0; attempt < MAX_ATTEMPTS; attempt++)
    {
      gint dim = choose_dim (node, threads, attempt);

      if (dim < 0 || has_source (node, (guint) dim))
        return dim;
    }
  return -1;
}

/* Returns whether all readers that are worth a cut will be cut along `dim` of the node's result. */
static gboolean
is_read_along (const CleaveNode *node, gint dim, const CleaveThreads *threads)
{
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    {
      gint after = use->node == NULL || cleave_cost_of_shared (use->node) < MIN_NODE_TIME
                       ? -1
                       : predict_dim (use->node, threads);

      if (after >= 0 && follow_dim (use->node, use->index, (guint) dim) != after)
        return FALSE;
    }
  return TRUE;
}

/* Returns the dimension along which the readers of a node without MACs are cut. Returns -1 if there
 * is no such dimension. Along another dimension, each piece of a reader would read from all pieces,
 * which other cores have written. */
static gint
choose_dim_of_readers (const CleaveNode *node, const CleaveThreads *threads)
{
  if (cleave_node_get_macs (node) > 0 || node->op->maps == NULL ||
      (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0 ||
      node->results[0].n_uses > MAX_READERS)
    return -1;
  for (guint attempt = 0; attempt < MAX_ATTEMPTS; attempt++)
    {
      gint dim = choose_dim (node, threads, attempt);

      if (dim < 0)
        return -1;
      if (has_source (node, (guint) dim) && is_read_along (node, dim, threads))
        return dim;
    }
  return -1;
}

/* Returns whether cutting a view would cost copies. A whole view copies nothing, but its pieces are
 * copied when they are joined. They are not joined if the node before the view and all readers are
 * cut at the same places. */
static gboolean
would_be_copied (const CleaveNode *node, gint dim, GHashTable *dims, const CleaveThreads *threads)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
  gpointer before;

  if ((node->op->flags & CLEAVE_OP_VIEW) == 0)
    return FALSE;
  if (x == NULL || !g_hash_table_lookup_extended (dims, x->node, NULL, &before) ||
      follow_dim (node, 0, GPOINTER_TO_UINT (before)) != dim)
    return TRUE;
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      {
        gint after = use->node == NULL ? -1 : choose_dim (use->node, threads, 0);

        if (after < 0 || cleave_cost_of_shared (use->node) < MIN_NODE_TIME ||
            follow_dim (use->node, use->index, (guint) dim) != after)
          return TRUE;
      }
  return FALSE;
}

/* The cost of the unsplit graph, in nanoseconds and bytes. The price of a cut is relative to it. */
typedef struct
{
  double time;
  gint64 peak;
} Whole;

static gboolean
is_read_by_others (const CleaveResult *x, const CleaveNode *node)
{
  for (const CleaveOperand *use = x->first_use; use != NULL; use = use->next_use)
    if (use->node != node)
      return TRUE;
  return FALSE;
}

/* Returns the operand that a whole element-wise node would overwrite: a value that no other node
 * reads and that is not cut. Returns NULL if there is none. Pieces of the node cannot overwrite the
 * operand, since each reads only a part of it. */
static const CleaveResult *
find_overwritten (const CleaveNode *node, GHashTable *dims, GHashTable *members)
{
  for (guint i = 0; (node->op->flags & CLEAVE_OP_IN_PLACE) != 0 && i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x != NULL && cleave_node_get_constant (x->node) == NULL &&
          cleave_view_type_fits (&x->type, &node->results[0].type) &&
          !is_read_by_others (x, node) && !g_hash_table_contains (dims, x->node) &&
          !g_hash_table_contains (members, x->node))
        return x;
    }
  return NULL;
}

/* Returns whether the memory that pieces of a node need is worth more than the time that they save.
 * As for schedules, 1 % of the time is worth 4 % of the peak. */
static gboolean
costs_more_than_it_saves (const CleaveNode *node,
                          const CleaveResult *overwritten,
                          const Whole *whole,
                          guint n_threads)
{
  double time = cleave_cost_of_shared (node) * (n_threads - 1) / MAX (whole->time, 1);

  return overwritten != NULL &&
         4 * time * (double) whole->peak < (double) cleave_tensor_type_n_bytes (&overwritten->type);
}

/* Returns the nodes to cut at an attempt (CleaveRoot), each with its dimension. These are expensive
 * nodes outside of segments. If `among_members`, these are the nodes that stayed whole when the
 * segments were cut. Later attempts contain only nodes that were refused before. */
static GArray *
find_roots (CleaveGraph *graph,
            const CleaveThreads *threads,
            guint attempt,
            GHashTable *members,
            gboolean among_members,
            const Whole *whole,
            GHashTable *refused,
            GHashTable *pieces)
{
  g_autoptr (GHashTable) dims = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) by_weights = g_hash_table_new (NULL, NULL);
  GArray *roots = g_array_new (FALSE, FALSE, sizeof (CleaveRoot));

  g_array_set_clear_func (roots, cleave_root_clear);
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      gint dim =
          attempt == 0 ? choose_dim_of_weights (node, threads, dims, by_weights, members) : -1;
      gboolean is_by_weights = dim >= 0;

      if (dim < 0 && attempt == 0)
        dim = find_dim_before (node, dims);
      if (dim < 0 && cleave_cost_of_shared (node) >= MIN_NODE_TIME)
        {
          dim = attempt == 0 ? choose_dim_of_readers (node, threads) : -1;
          if (dim < 0)
            dim = choose_dim (node, threads, attempt);
        }
      if (dim < 0 || node->op->maps == NULL ||
          g_hash_table_contains (members, node) != among_members ||
          (threads->have_own_memory && g_hash_table_contains (pieces, node)) ||
          (attempt > 0 && !g_hash_table_contains (refused, node)) ||
          would_be_copied (node, dim, dims, threads) ||
          costs_more_than_it_saves (node, find_overwritten (node, dims, members), whole,
                                    threads->n))
        continue;
      add_root (roots, node, (guint) dim, threads->n);
      g_hash_table_insert (dims, node, GINT_TO_POINTER (dim));
      if (is_by_weights)
        g_hash_table_add (by_weights, node);
    }
  return roots;
}

/* Adds the refused nodes to `refused`, for the next attempt. */
static void
note_refused (const CleaveRegion *region, GHashTable *refused)
{
  for (guint i = 0; i < region->missed->len; i++)
    {
      const CleaveMissed *missed = region->missed->pdata[i];

      if (missed->reason == CLEAVE_NOT_SPLIT_REFUSED)
        g_hash_table_add (refused, (gpointer) missed->node);
    }
}

/* Returns whether some node has a layout with the channels last. If not, all nodes use the default
 * letters, so no search for letters is needed. */
static gboolean
has_channels_last (const CleaveGraph *graph)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      g_auto (CleaveNodeCall) call = { 0 };
      const char *letters =
          node->op->layout == NULL ? NULL : node->op->layout (cleave_node_call_init (&call, node));

      if (letters != NULL && g_str_has_suffix (letters, "C"))
        return TRUE;
    }
  return FALSE;
}

/* Cuts single nodes into a piece for each thread. Pieces of consecutive nodes connect directly,
 * without a join. */
static gboolean
split_nodes (CleaveGraph *graph,
             const CleaveThreads *threads,
             GHashTable *members,
             gboolean among_members,
             GHashTable *pieces,
             CleaveSplitReport *report,
             GError **error)
{
  const CleaveRecursion alone = { .depth = 1 };
  const Whole whole = { get_total_time (graph),
                        cleave_split_report_get_totals (report)->peak_bytes_before };
  g_autoptr (GHashTable) refused = g_hash_table_new (NULL, NULL);
  gboolean asks = has_channels_last (graph);
  CleaveThreads own = *threads;

  for (guint attempt = 0; attempt < MAX_ATTEMPTS; attempt++)
    {
      g_autoptr (GHashTable) letters = own.letters = asks ? g_hash_table_new (NULL, NULL) : NULL;
      g_autoptr (GArray) roots =
          find_roots (graph, &own, attempt, members, among_members, &whole, refused, pieces);
      g_autoptr (CleaveRegion) region = cleave_region_plan (
          graph, (const CleaveRoot *) (gpointer) roots->data, roots->len, &alone, error);

      if (region == NULL)
        return FALSE;
      note_refused (region, refused);
      cleave_region_apply (region);
      cleave_split_report_add (report, region, (const CleaveRoot *) (gpointer) roots->data,
                               roots->len);
    }
  return TRUE;
}

/* Finds the segments. If they do not reach the goal, computes values twice that are needed whole,
 * adds the pieces to `pieces`, and finds the segments again. */
static GPtrArray *
find_segments (CleaveGraph *graph,
               const CleaveThreads *threads,
               CleaveSplitReport *report,
               GHashTable *pieces,
               GError **error)
{
  gint64 peak = cleave_split_report_get_totals (report)->peak_bytes_before;
  g_autoptr (GPtrArray) twice = cleave_rematerialize_find (graph, peak / LARGE_WHOLE);
  g_autoptr (GPtrArray) segments = NULL;
  gboolean solved;

  segments = cleave_segments_find (graph, peak, threads, FALSE, &solved, error);
  if (segments == NULL || solved || twice->len == 0)
    return g_steal_pointer (&segments);
  for (guint i = 0; i < twice->len; i++)
    cleave_rematerialize_make (graph, twice->pdata[i], threads->n, report, pieces);
  return cleave_segments_find (graph, peak, threads, TRUE, &solved, error);
}

/* Splits all that is worth a split: recurrent layers, nodes outside of segments, segments, and then
 * nodes that stayed whole when the segments were cut. */
static CleaveSplitReport *
split (CleaveGraph *graph, const CleaveThreads *threads, GError **error)
{
  g_autoptr (CleaveSplitReport) report = cleave_split_report_new (graph);
  g_autoptr (GPtrArray) segments = NULL;
  g_autoptr (GHashTable) pieces = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) members = NULL, left = NULL;

  if (get_total_time (graph) < MIN_TOTAL_TIME)
    return g_steal_pointer (&report);
  segments = find_segments (graph, threads, report, pieces, error);
  if (segments == NULL)
    return NULL;
  members = list_members (segments, NULL);
  if (threads->n > 1 && !threads->have_own_memory &&
      !cleave_sequences_cut (graph, threads, members, report, error))
    return NULL;
  if (threads->n > 1 && !split_nodes (graph, threads, members, FALSE, pieces, report, error))
    return NULL;
  for (guint i = 0; i < segments->len; i++)
    cleave_segment_cut (segments->pdata[i], graph, NULL, report);
  left = list_members (segments, pieces);
  if (threads->n > 1 && g_hash_table_size (left) > 0 &&
      !split_nodes (graph, threads, left, TRUE, pieces, report, error))
    return NULL;
  return g_steal_pointer (&report);
}

static gboolean
check (const CleaveThreads *threads, GError **error)
{
  return (threads->n > 0 && threads->n <= CLEAVE_MAX_THREADS) ||
         cleave_fail (error, CLEAVE_ERROR_OPTION, "number of threads must be 1 to %d, not %u",
                      CLEAVE_MAX_THREADS, threads->n);
}

CleaveSplitReport *
cleave_split_for (CleaveGraph *graph, const CleaveThreads *threads, GError **error)
{
  CleaveSplitReport *report = check (threads, error) ? split (graph, threads, error) : NULL;

  if (report != NULL)
    cleave_split_report_finish (report, graph);
  return report;
}

gboolean
cleave_split_to_try (CleaveGraph *graph, const CleaveThreads *threads, GError **error)
{
  g_autoptr (CleaveSplitReport) report =
      check (threads, error) ? split (graph, threads, error) : NULL;

  return report != NULL;
}

/**
 * cleave_split_for_threads:
 * @graph: the graph
 * @n_threads: how many threads are to run it; at least 1
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a graph so that this many threads have work, and so that values which are too large for
 * the caches are never whole.  The results stay the same, bit for bit.  Run [func@Cleave.clean_up]
 * afterwards.
 *
 * A graph that takes less than about 0.2 milliseconds stays whole: it would end before the other
 * threads are awake.
 *
 * **Segments.** If the peak of memory is above 4 MiB, *segments* are cut: consecutive nodes with
 * large values, between two small values.  A segment is cut by rows into strips that carry their
 * halo.  Each thread has a band of strips.  If bands would recompute too many rows, they exchange
 * them.  If bands need too much memory, all threads work at one band, each a layer behind the one
 * before.  There are as many strips as it takes to halve the peak.  A segment stays whole if strips
 * would cost more time than they gain, for rows that are copied or weights that are read again.
 *
 * **Rematerialization.** If that does not halve the peak, a large value that a global pooling needs
 * whole is computed twice. It is computed by channels for the pooling, and by strips for the other
 * readers. This adds at most 3 % to the multiply-accumulates of the graph. Runs of large values are
 * then segments too, even if smaller values bypass them. With one thread, nothing else is split.
 *
 * **Recurrent layers** that follow each other are cut along the time.  Each chunk begins with the
 * state in which the chunk before it ended, so that threads work at one layer each.  With more
 * threads than layers, and a batch with a sequence for each thread, the batch is cut instead.
 *
 * **Every other node** that takes longer than about 2 microseconds becomes one piece for each
 * thread, along the first of these dimensions that can be cut evenly:
 *
 * - of images: the batch, then rows, then channels.  Channels are skipped if pieces of a sum
 *   would have fewer than 24 of them;
 * - of matrices: the batch, then rows, then columns.
 *
 * These rules have precedence:
 *
 * - If pieces would read the same weights for fewer than 8 rows each, a dimension that cuts the
 *   weights comes first.
 * - An element-wise or quantizing node is cut as its operand is, however small it is.  Another node
 *   without sums is cut as its readers are, if it can be.
 * - A view is cut only between nodes that are cut at the same places, since otherwise its
 *   pieces would be copied.
 * - A node that would overwrite a whole value stays whole if pieces would need more memory than
 *   their time is worth: 1 % of the time is worth 4 % of the peak.
 *
 * Chains of nodes become chains of pieces, which wait only for the halos of their neighbors.
 *
 * The time to split grows with the number of nodes and pieces.  Splitting a segment takes about ten
 * times as long as splitting its nodes one by one.
 *
 * Fails with %CLEAVE_ERROR_OPTION if @n_threads is 0 and with %CLEAVE_ERROR_CYCLE.  The graph is
 * then unchanged.
 *
 * Returns: (transfer full) (nullable): a report of each node; it lists no split node if nothing is
 * worth it
 *
 * Since: 0.1
 */
CleaveSplitReport *
cleave_split_for_threads (CleaveGraph *graph, guint n_threads, GError **error)
{
  const CleaveThreads threads = { .n = n_threads };

  g_return_val_if_fail (graph != NULL, NULL);
  return cleave_split_for (graph, &threads, error);
}
