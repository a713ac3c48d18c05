/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: what is worth to be cut, and how, is one decision. */

#include <cleave/cleave-pass.h>
#include <cleave/cleave-split.h>
#include <string.h>

#include "../../lib/ir/max-threads.h"
#include "../../lib/memory/cost.h"
#include "../split/apply.h"
#include "../split/dimension-names.h"
#include "../split/report.h"
#include "for-threads.h"
#include "rematerialise.h"
#include "segments.h"
#include "sequences.h"

/* Nanoseconds below which a node is not worth splitting, since handing over its pieces takes some
 * of them; and a graph, since it is done before the other threads are awake. */
#define MIN_NODE_TIME 2222
#define MIN_TOTAL_TIME 177778

/* Of values that are needed whole, those above this part of the peak are in the way. */
#define LARGE_WHOLE 4

/* The longest chunk may exceed the mean by this part, or threads wait for the one that has it; that
 * of nodes which only move values, or where nothing else is good, by that. */
#define MAX_SURPLUS 0.1
#define LAST_SURPLUS 0.15

/* Sums of fewer channels take nearly as long as of so many. */
#define MIN_CHANNELS 24

/* Pieces of fewer rows that read the same weights take nearly as long as the whole: two sequences
 * of a GRU of 256 units take 1.38 ms by batch, 0.93 by direction, and from so many on the same. */
#define MIN_ROWS 8

/* Dimensions that are tried for a node, and how many may read a value that is cut as they are. */
#define MAX_ATTEMPTS 3
#define MAX_READERS 16

/* Letters of the dimensions to cut, the first that comes out even, of images and volumes, and the
 * letters of those without a layout.  Other values are cut from the first dimension on: the batch;
 * rows of a matrix, columns. */
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

/* Whether chunks of an extent are as good as equal. */
static gboolean
is_even (gint64 extent, guint n_threads, double surplus)
{
  gint64 longest = (extent + n_threads - 1) / n_threads;

  return extent >= n_threads && (double) (longest * n_threads) <= (1 + surplus) * (double) extent;
}

/* The dimension of the result that a dimension of an operand goes with; -1: all of it is needed. */
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

/* Whether each piece of a node reads all weights for a few rows of its own, while pieces along
 * another dimension would have a part of them. */
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

/* Whether chunks along a dimension keep all threads busy alike, and each at its best. */
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

/* Lists the dimensions of the node's result in the order in which they are tried. */
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

/* Returns the dimension of the node to cut at the given attempt, or -1.  Good dimensions come
 * first, and none comes twice.  It depends on the shape and on whether there are sums, so that a
 * chain of nodes is cut into chains. */
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

/* The nodes of all segments, as a set: all of them, or those that cutting left; but for pieces. */
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

/* The dimension along which what an element-wise node reads is cut already, or -1: it is then cut
 * alike, however small, since pieces do it in registers, and so is what quantises, since else the
 * pieces would meet as floats. */
static gint
find_dim_before (const CleaveNode *node, GHashTable *dims)
{
  if ((node->op->flags & (CLEAVE_OP_IN_PLACE | CLEAVE_OP_STORAGE)) == 0 || node->n_results != 1)
    return -1;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      gpointer dim;

      /* The dimension is one of result 0. */
      if (x != NULL && x->index == 0 && g_hash_table_lookup_extended (dims, x->node, NULL, &dim) &&
          cleave_shape_equal (&x->type.shape, &node->results[0].type.shape))
        return GPOINTER_TO_INT (dim);
    }
  return -1;
}

/* The constant operand that is largest, if it is large enough to be cut; else -1. */
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

/* Threads that are apart have a part of the weights each if the dimension of the result is cut that
 * goes with one of theirs.  -1: weights are not worth it, or such chunks are not good. */
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

/* Whether a value is larger than what it is made of, and strips, which are rows, read it: then less
 * is sent if it is what it is made of that is sent. */
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

/* The same after a node of which it was found, where none is sent for it: unless what was columns
 * is fewer heads than there are threads. */
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

/* Whether a dimension of the result goes with one of some operand: else the node can hardly be cut
 * there, as along the axis of a Softmax or a ScatterElements. */
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

/* The dimension at the first try that has one of an operand; -1: none. */
static gint
foresee_dim (const CleaveNode *node, const CleaveThreads *threads)
{
  for (guint attempt = 0; attempt < MAX_ATTEMPTS; attempt++)
    {
      gint dim = choose_dim (node, threads, attempt);

      if (dim < 0 || has_source (node, (guint) dim))
        return dim;
    }
  return -1;
}

/* Whether all that read what a node makes are cut along it, where they are worth it. */
static gboolean
is_read_along (const CleaveNode *node, gint dim, const CleaveThreads *threads)
{
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    {
      gint after = use->node == NULL || cleave_cost_of_shared (use->node) < MIN_NODE_TIME
                       ? -1
                       : foresee_dim (use->node, threads);

      if (after >= 0 && follow_dim (use->node, use->index, (guint) dim) != after)
        return FALSE;
    }
  return TRUE;
}

/* What has no sums and makes values of its own is cut as those that read it, if it can be: else
 * each of their pieces reads of all pieces, which other cores have written. */
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

/* A view as a whole copies nothing, but its pieces are copied where they are joined again: unless
 * pieces make just what they read, and pieces read just what they are. */
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

/* What a graph takes as it is, against which the price of a cut is held. */
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

/* A value that nothing else reads and that is not cut: a node that works element by element
 * overwrites it, but pieces of the node do not, since each sees a part of it. */
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

/* Whether pieces of a node would take more memory than their time is worth: a per cent of time is
 * worth four of memory, as for schedules. */
static gboolean
is_too_dear (const CleaveNode *node,
             const CleaveResult *overwritten,
             const Whole *whole,
             guint n_threads)
{
  double time = cleave_cost_of_shared (node) * (n_threads - 1) / MAX (whole->time, 1);

  return overwritten != NULL &&
         4 * time * (double) whole->peak < (double) cleave_tensor_type_n_bytes (&overwritten->type);
}

/* The nodes that are heavy and in no segment, or, once the segments are cut, that cutting left;
 * with the dimension of the given try; from the second on those that were refused before. */
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
          (threads->are_apart && g_hash_table_contains (pieces, node)) ||
          (attempt > 0 && !g_hash_table_contains (refused, node)) ||
          would_be_copied (node, dim, dims, threads) ||
          is_too_dear (node, find_overwritten (node, dims, members), whole, threads->n))
        continue;
      add_root (roots, node, (guint) dim, threads->n);
      g_hash_table_insert (dims, node, GINT_TO_POINTER (dim));
      if (is_by_weights)
        g_hash_table_add (by_weights, node);
    }
  return roots;
}

/* What was refused, for the next round to try otherwise. */
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

/* Whether some node has a layout with the channels last.  Else the letters of all nodes are those
 * of nodes without a layout, and need not be looked for. */
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

/* Cuts single nodes, each into a piece for each thread; pieces of nodes that follow each other meet
 * without a seam. */
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

/* The segments, for which values that are needed whole are made twice where those are in the way:
 * the pieces of that. */
static GPtrArray *
find_segments (CleaveGraph *graph,
               const CleaveThreads *threads,
               CleaveSplitReport *report,
               GHashTable *pieces,
               GError **error)
{
  gint64 peak = cleave_split_report_get_totals (report)->peak_bytes_before;
  g_autoptr (GPtrArray) twice = cleave_rematerialise_find (graph, peak / LARGE_WHOLE);
  g_autoptr (GPtrArray) segments = NULL;
  gboolean solved;

  segments = cleave_segments_find (graph, peak, threads, FALSE, &solved, error);
  if (segments == NULL || solved || twice->len == 0)
    return g_steal_pointer (&segments);
  for (guint i = 0; i < twice->len; i++)
    cleave_rematerialise_make (graph, twice->pdata[i], threads->n, report, pieces);
  return cleave_segments_find (graph, peak, threads, TRUE, &solved, error);
}

/* What is worth to be cut at all. */
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
  if (threads->n > 1 && !threads->are_apart &&
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
 * the caches are never whole.
 *
 * Where the peak of memory is above 4 MiB, *segments* are cut: runs of nodes whose values are
 * large, between two that are small, by rows into strips that carry their halo, a band of strips
 * for each thread; where the halo between bands would be dear, bands that exchange it, or where
 * those need too much memory, one band at which all threads work, each a layer behind the one
 * before.  As many strips as it takes to halve the peak; none if rows that are copied, or weights
 * that are read again for each strip, would take more time than strips gain.  With one thread this
 * is all.
 *
 * Where that is not enough, a large value that a global pooling needs whole is made twice if that
 * is at most 3 % of all multiply-accumulates: for the pooling by channels, and strip by strip for
 * the others.  Runs of large values are then segments of their own, whatever smaller values go
 * past.
 *
 * Recurrent layers that follow each other are cut along the time, so that threads work at as many
 * layers at once: each chunk begins with the state in which the one before it ended.  Where there
 * are more threads than layers, and as many sequences in a batch, it is the batch that is cut.
 *
 * Every other node that takes longer than some 2 microseconds becomes one piece for each thread,
 * along the outermost dimension that comes out even and that the op can be cut in: the batch; rows
 * of images, where those do not come out even channels, unless pieces of a sum would have fewer
 * than 24 of them; rows of matrices, or else columns.  Where pieces would read the same weights for
 * fewer than 8 rows each, a dimension that cuts the weights comes first.  Element-wise nodes, and
 * those that quantise, are cut as what they read, however small; other nodes without sums as what
 * reads them, if they can be.  Chains of nodes become chains of pieces, that wait for each other's
 * halos alone.  A view is cut only between nodes that are cut alike, since elsewhere its pieces
 * would be copied.  A node that would overwrite a value which is not cut stays whole where pieces
 * would take more memory than their time is worth: a per cent of time is worth four of the peak.
 *
 * A graph that takes less than some 0.2 milliseconds stays whole: it would be done before the other
 * threads are awake.
 *
 * What is computed stays the same, bit for bit.  To be followed by [func@Cleave.clean_up].  Costs
 * time in proportion to nodes and pieces, for a segment some ten times its own.
 *
 * Fails with %CLEAVE_ERROR_OPTION if @n_threads is 0 and with %CLEAVE_ERROR_CYCLE; the graph is
 * then unchanged.
 *
 * Returns: (transfer full) (nullable): what became of the nodes; none split if nothing is worth it
 */
CleaveSplitReport *
cleave_split_for_threads (CleaveGraph *graph, guint n_threads, GError **error)
{
  const CleaveThreads threads = { .n = n_threads };

  g_return_val_if_fail (graph != NULL, NULL);
  return cleave_split_for (graph, &threads, error);
}
