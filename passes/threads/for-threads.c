/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits a graph for threads or ranks: cuts segments into strips, and chooses which other nodes are
 * worth a cut. */

#include <cleave/cleave-pass.h>
#include <cleave/cleave-split.h>

#include "../../lib/ir/max-threads.h"
#include "../../lib/ir/topology.h"
#include "../../lib/memory/cost.h"
#include "../split/apply.h"
#include "../split/report.h"
#include "choose-dim.h"
#include "find-segments.h"
#include "for-threads.h"
#include "rematerialize-pooled.h"
#include "sequences.h"

/* A graph that takes less than MIN_TOTAL_TIME ns is not worth a split, since it ends before the
 * other threads are awake. */
#define MIN_TOTAL_TIME 177778

/* If a pooling needs a whole value, the split may compute this value twice. The value must have at
 * least 1 / LARGE_WHOLE of the bytes of the peak. */
#define LARGE_WHOLE 4

static double
get_total_time (const CleaveGraph *graph)
{
  double time = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    time += cleave_cost_of_shared (node);
  return time;
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

/* Returns the set of all nodes of segments, without the nodes in the set `pieces` (NULL: no such
 * nodes). A cut of a segment removes the cut nodes from the segment. So after the cuts, this
 * function returns the nodes that stayed whole. */
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

/* The cost of the unsplit graph, in nanoseconds and bytes. The price of a cut is relative to this
 * cost. */
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

/* Returns the operand that an element-wise node overwrites if the node stays whole: a value that no
 * other node reads and that is not cut. Returns NULL if there is no such operand. Pieces of the
 * node cannot overwrite the operand, since each piece reads only a part of the operand. */
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

/* Returns whether the memory that the pieces of a node need is worth more than the time that the
 * pieces save. The whole node would overwrite the operand `overwritten`, so its pieces need memory
 * of the size of this operand. NULL: the pieces need no additional memory. 1 % of the time is worth
 * 4 % of the peak, as in the search for a schedule. */
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

/* Returns the nodes to cut (CleaveRoot), each with the dimension to cut. If `among_members` is
 * TRUE, chooses among the nodes in `members`; if not, among all other nodes. `attempt` is 0 at
 * first. At a later attempt, chooses only among the nodes in `refused`, whose cuts were refused at
 * earlier attempts. */
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
  g_autoptr (GHashTable) nodes = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) by_weights = g_hash_table_new (NULL, NULL);
  const CleaveCutDims dims = { threads, nodes, by_weights, members };
  GArray *roots = g_array_new (FALSE, FALSE, sizeof (CleaveRoot));

  g_array_set_clear_func (roots, cleave_root_clear);
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      gboolean is_by_weights;
      gint dim = cleave_cut_dims_choose (&dims, node, attempt, &is_by_weights);

      if (dim < 0 || node->op->maps == NULL ||
          g_hash_table_contains (members, node) != among_members ||
          (threads->have_own_memory && g_hash_table_contains (pieces, node)) ||
          (attempt > 0 && !g_hash_table_contains (refused, node)) ||
          cleave_cut_dims_would_copy (&dims, node, dim) ||
          costs_more_than_it_saves (node, find_overwritten (node, nodes, members), whole,
                                    threads->n))
        continue;
      add_root (roots, node, (guint) dim, threads->n);
      g_hash_table_insert (nodes, node, GINT_TO_POINTER (dim));
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

/* Returns whether some op has a layout with the channels last, such as NHWC. If not, the dimensions
 * of all images are NCHW, and the split need not find the dimension names of each node. */
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
 * without a join. Returns FALSE and sets the error if the graph has a cycle. */
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

  for (guint attempt = 0; attempt < CLEAVE_MAX_ATTEMPTS; attempt++)
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

/* Returns the segments (CleaveSegment). If the segments do not halve the peak, finds large values
 * that a pooling needs whole, and adds nodes that compute these values a second time. Then adds the
 * pieces for the poolings to `pieces`, and finds the segments again. Returns NULL and sets the
 * error if the graph has a cycle. */
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

/* Removes dead nodes. Splits everything that is worth a split: recurrent layers, nodes outside of
 * segments, and segments. Then splits nodes that stayed whole when the segments were cut. Returns a
 * report without the totals after the split. Returns NULL and sets the error on failure. */
static CleaveSplitReport *
split (CleaveGraph *graph, const CleaveThreads *threads, GError **error)
{
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error), segments = NULL;
  g_autoptr (GHashTable) pieces = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) members = NULL, left = NULL;

  if (order == NULL)
    return NULL;
  cleave_pass_remove_dead (graph, NULL, NULL, NULL);
  report = cleave_split_report_new (graph);
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
 * @n_threads: number of threads that run the graph; at least 1
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a graph so that this many threads have work, and so that values which are too large for
 * the caches are never whole.  The results stay the same, bit for bit.  Run [func@Cleave.clean_up]
 * afterwards.
 *
 * First, nodes that no output needs are removed, as [func@Cleave.pass_remove_dead] does.
 *
 * A graph that takes less than about 0.2 milliseconds stays whole: the run would end before the
 * other threads are awake.
 *
 * **Segments.** If the peak of memory is above 4 MiB, *segments* are cut: consecutive nodes with
 * large values, between two small values. A segment is cut by rows into strips that carry their
 * halo. Each thread has a band of strips. If bands would recompute too many rows, the bands
 * exchange these rows. If bands need too much memory, all threads work at one band, each thread one
 * layer behind another thread. The number of strips is the smallest number that halves the peak. A
 * segment stays whole if strips would cost more time than they gain, for rows that are copied or
 * weights that are read again.
 *
 * **Rematerialization.** If strips do not halve the peak, a large value that a global pooling needs
 * whole is computed twice. The pooling reads the value by channels, and all other readers read it
 * by strips. Rematerialization adds at most 3 % to the multiply-accumulates of the graph. With
 * rematerialization, runs of large values are segments too, even if smaller values bypass them. If
 * @n_threads is 1, only segments and rematerialized values are split: the following rules are for
 * several threads.
 *
 * **Recurrent layers** that follow each other are cut into chunks of time steps. Each chunk begins
 * with the final state of the chunk before it, so that each thread works at another layer. If there
 * are more threads than layers, and the batch has a sequence for each thread, the batch is cut
 * instead.
 *
 * **Every other node** that takes longer than about 2 microseconds becomes one piece for each
 * thread, along the first of these dimensions that can be cut evenly:
 *
 * - of images: the batch, then rows, then channels. Channels are skipped if pieces of a sum would
 *   have fewer than 24 channels;
 * - of matrices: the batch, then rows, then columns.
 *
 * Four rules have precedence over this order:
 *
 * - If pieces would read the same weights for fewer than 8 rows each, a dimension that cuts the
 *   weights comes first.
 * - An element-wise or quantizing node is cut as its operand is, however small it is. Another node
 *   without sums is cut as its readers are, if possible.
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
 * Fails with %CLEAVE_ERROR_OPTION if @n_threads is 0 or more than 1024, and with
 * %CLEAVE_ERROR_CYCLE. The graph is then unchanged.
 *
 * Returns: (transfer full) (nullable): a report of each node, without a split node if no split
 * saves time
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
