/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds ranges of consecutive nodes that need more memory than a limit. If cutting a range into
 * strips reduces the memory, makes a segment of the range. A bottleneck is a node through which all
 * data passes. Each range begins after a bottleneck with a small result, and ends with another
 * bottleneck with a small result. */

#include "find-segments.h"

#include "../../lib/ir/topology.h"
#include "../../lib/memory/buffers.h"
#include "../../lib/memory/cost.h"
#include "../../lib/memory/order-facts.h"
#include "../segments/timeline.h"
#include "../split/dimension-names.h"

/* The search looks for segments where one thread would need more than this fraction of the limit.
 * With several threads, values live longer, so the same nodes may then need more than the limit. */
#define STILL_LARGE 0.65

/* A graph, and the order in which its nodes run. */
typedef struct
{
  guint n_nodes;
  GPtrArray *order;
  guint *position; /* indexed by node id: position of the node in the order */
  gint64 *live;    /* indexed by position: bytes that are live while the node runs */
  /* indexed by position: TRUE if all data passes through the node, so that no later node reads a
   * result of an earlier node */
  gboolean *is_bottleneck;
  gboolean *taken; /* indexed by position: the node is in a segment */
} Analysis;

/* A range of positions in the order: `begin` + 1 to `end`, both included. */
typedef struct
{
  guint begin, end;
} PositionRange;

static void
analysis_clear (Analysis *a)
{
  g_clear_pointer (&a->order, g_ptr_array_unref);
  g_clear_pointer (&a->position, g_free);
  g_clear_pointer (&a->live, g_free);
  g_clear_pointer (&a->is_bottleneck, g_free);
  g_clear_pointer (&a->taken, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Analysis, analysis_clear)

/* Returns the position of the last node that reads a result of `node`. Returns 0 if no node reads a
 * result of `node`. */
static guint
find_last_use (const Analysis *a, const CleaveNode *node)
{
  guint last = 0;

  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL)
        last = MAX (last, a->position[use->node->id]);
  return last;
}

static void
find_bottlenecks (Analysis *a)
{
  guint last = 0;

  for (guint i = 0; i < a->n_nodes; i++)
    {
      const CleaveNode *node = a->order->pdata[i];

      a->is_bottleneck[i] = last <= i;
      if (!cleave_node_is_fixed (node))
        last = MAX (last, find_last_use (a, node));
    }
}

static gboolean
analyze (const CleaveGraph *graph, Analysis *a, GError **error)
{
  a->order = cleave_timeline_order (graph, FALSE, &a->live, error);
  if (a->order == NULL)
    return FALSE;
  a->n_nodes = a->order->len;
  a->position = cleave_order_positions (graph, a->order);
  a->is_bottleneck = g_new0 (gboolean, a->n_nodes + 1);
  a->taken = g_new0 (gboolean, a->n_nodes + 1);
  find_bottlenecks (a);
  return TRUE;
}

static gint64
result_bytes (const CleaveNode *node)
{
  return node->n_results == 0 ? 0 : cleave_tensor_type_n_bytes (&node->results[0].type);
}

/* Returns dimension H of the node's result 0. Returns -1 if the result has no dimension H, or fewer
 * than two rows for each thread. */
static gint
find_rows (const CleaveNode *node, guint n_threads)
{
  gint rows = cleave_node_find_dim (node, 'H');

  return rows >= 0 && node->results[0].type.shape.dim[rows] >= 2 * (gint64) n_threads ? rows : -1;
}

static gboolean
is_larger (const CleaveNode *node, gint64 small)
{
  return node->n_operands > 0 && result_bytes (node) > small;
}

static gboolean
reads_larger (const CleaveNode *node, gint64 small)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL && is_larger (node->operands[i].result->node, small))
      return TRUE;
  return FALSE;
}

static int
compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint *position = data;
  guint x = position[(*(CleaveNode *const *) a)->id], y = position[(*(CleaveNode *const *) b)->id];

  return (x > y) - (x < y);
}

/* Returns a segment that ends with the node at `range->end`. Follows the operands of this node
 * backwards, and adds each node after `range->begin` whose result has more than `small` bytes. Does
 * not follow the operands of nodes that it does not add. */
static CleaveSegment *
segment_new (const Analysis *a, const PositionRange *range, gint64 small, guint n_threads)
{
  CleaveSegment *segment = g_new0 (CleaveSegment, 1);
  CleaveNode *last = a->order->pdata[range->end];
  CleaveSegmentEnd end = { last, (guint) find_rows (last, n_threads), 0 };

  segment->ends = g_array_new (FALSE, FALSE, sizeof (CleaveSegmentEnd));
  g_array_append_val (segment->ends, end);
  segment->nodes = g_hash_table_new (NULL, NULL);
  segment->order = g_ptr_array_new ();
  g_ptr_array_add (segment->order, last);
  g_hash_table_add (segment->nodes, last);
  for (guint n = 0; n < segment->order->len; n++)
    {
      const CleaveNode *node = segment->order->pdata[n];

      for (guint i = 0; i < node->n_operands; i++)
        {
          CleaveResult *operand = node->operands[i].result;

          if (operand != NULL && a->position[operand->node->id] > range->begin &&
              is_larger (operand->node, small) && g_hash_table_add (segment->nodes, operand->node))
            g_ptr_array_add (segment->order, operand->node);
        }
    }
  g_ptr_array_sort_with_data (segment->order, compare_positions, a->position);
  return segment;
}

/* Returns an array indexed by position: the position at which a segment that contains this position
 * can end. A segment can end at the first bottleneck, at this position or later, whose result has
 * at most `small` bytes. The entry is 0 if there is no such bottleneck, or if the result of this
 * bottleneck has too few rows for the threads (find_rows()). A bottleneck is a node through which
 * all data passes. */
static guint *
find_ends (const Analysis *a, gint64 small, guint n_threads)
{
  guint *ends = g_new0 (guint, a->n_nodes + 1);

  for (guint i = a->n_nodes; i-- > 0;)
    {
      const CleaveNode *node = a->order->pdata[i];

      if (!a->is_bottleneck[i] || node->n_operands == 0 || result_bytes (node) > small)
        ends[i] = ends[i + 1];
      else
        ends[i] = find_rows (node, n_threads) >= 0 ? i : 0;
    }
  return ends;
}

/* Returns the begin of a segment: the last position from `after` to `high` - 1 that has a
 * bottleneck whose result has at most `small` bytes. Returns `after` if there is no such position.
 */
static guint
find_begin (const Analysis *a, guint high, guint after, gint64 small)
{
  for (guint i = high; i-- > after;)
    if (a->is_bottleneck[i] && result_bytes (a->order->pdata[i]) <= small)
      return i;
  return after;
}

/* Returns the ranges (PositionRange) in which more than `limit` bytes are live, in order. Each
 * range ends with a bottleneck whose result has at most `limit` / 3 bytes, and begins after another
 * of these bottlenecks if there is one. */
static GArray *
find_large_ranges (const Analysis *a, gint64 limit, guint n_threads)
{
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (PositionRange));
  g_autofree guint *ends = find_ends (a, limit / 3, n_threads);

  for (guint i = 0, after = 0; i < a->n_nodes; i++)
    {
      PositionRange range = { .end = ends[i] };

      if (a->live[i] <= limit || range.end == 0)
        continue;
      range.begin = find_begin (a, i, after, limit / 3);
      if (ranges->len > 0 && range.begin <= after)
        {
          range.begin = g_array_index (ranges, PositionRange, ranges->len - 1).begin;
          g_array_set_size (ranges, ranges->len - 1);
        }
      g_array_append_val (ranges, range);
      i = after = range.end;
    }
  return ranges;
}

static gboolean
is_within (const PositionRange *inner, const PositionRange *outer)
{
  return inner->begin >= outer->begin && inner->end <= outer->end;
}

/* Returns whether a node of the segment is already in another segment. */
static gboolean
is_taken (const Analysis *a, const CleaveSegment *segment)
{
  for (guint i = 0; i < segment->order->len; i++)
    if (a->taken[a->position[((const CleaveNode *) segment->order->pdata[i])->id]])
      return TRUE;
  return FALSE;
}

/* Adds a segment to `segments` if cutting it into strips reduces its memory enough, and if no other
 * segment has one of its nodes. If not, frees the segment and returns FALSE. */
static gboolean
add_segment (const Analysis *a,
             CleaveSegment *segment,
             const CleaveStripsTask *task,
             GPtrArray *segments)
{
  if (is_taken (a, segment) || !cleave_segment_choose_strips (segment, task))
    {
      cleave_segment_free (segment);
      return FALSE;
    }
  for (guint i = 0; i < segment->order->len; i++)
    a->taken[a->position[((const CleaveNode *) segment->order->pdata[i])->id]] = TRUE;
  g_ptr_array_add (segments, segment);
  return TRUE;
}

static gboolean
add_range (const Analysis *a,
           const PositionRange *range,
           const CleaveStripsTask *task,
           GPtrArray *segments)
{
  return add_segment (a, segment_new (a, range, -1, task->n_threads), task, segments);
}

/* Returns the largest number of bytes that are live while a node of the segment runs. */
static gint64
find_live (const Analysis *a, const CleaveSegment *segment)
{
  gint64 live = 0;

  for (guint i = 0; i < segment->order->len; i++)
    live = MAX (live, a->live[a->position[((const CleaveNode *) segment->order->pdata[i])->id]]);
  return live;
}

static void
add_backward_slices (const Analysis *a,
                     const PositionRange *range,
                     const CleaveStripsTask *task,
                     GPtrArray *segments)
{
  const gint64 small = task->limit / 4;

  for (guint i = range->begin + 1; i <= range->end; i++)
    {
      const CleaveNode *node = a->order->pdata[i];
      const PositionRange up = { .end = i };
      CleaveStripsTask of_slice = *task;
      CleaveSegment *slice;

      if (is_larger (node, small) || !reads_larger (node, small) ||
          find_rows (node, task->n_threads) < 0)
        continue;
      slice = segment_new (a, &up, small, task->n_threads);
      of_slice.live = find_live (a, slice);
      if (of_slice.live > task->limit)
        add_segment (a, slice, &of_slice, segments);
      else
        cleave_segment_free (slice);
    }
}

/* Finds the ranges of nodes in which more than STILL_LARGE times the limit is live, and adds one
 * segment for each range. If strips do not help the segment of a range, tries smaller segments
 * inside the range:
 *
 * - If `backward_slices` is TRUE, the nodes that compute small results from large values
 *   (add_backward_slices()).
 * - The shorter ranges in which more than the whole limit is live.
 *
 * Sets `*solved` to FALSE if strips do not help the segment of a range, or if this segment needs
 * more than the limit in strips. */
static void
add_segments (const Analysis *a,
              const CleaveStripsTask *task,
              gboolean backward_slices,
              GPtrArray *segments,
              gboolean *solved)
{
  g_autoptr (GArray) longer =
      find_large_ranges (a, (gint64) (STILL_LARGE * (double) task->limit), task->n_threads);
  g_autoptr (GArray) shorter = find_large_ranges (a, task->limit, task->n_threads);

  for (guint i = 0; i < longer->len; i++)
    {
      const PositionRange *range = &g_array_index (longer, PositionRange, i);

      if (add_range (a, range, task, segments))
        {
          const CleaveSegment *segment = segments->pdata[segments->len - 1];

          *solved &= segment->peak <= task->limit;
          continue;
        }
      *solved = FALSE;
      if (backward_slices)
        add_backward_slices (a, range, task, segments);
      for (guint j = 0; j < shorter->len; j++)
        if (is_within (&g_array_index (shorter, PositionRange, j), range))
          add_range (a, &g_array_index (shorter, PositionRange, j), task, segments);
    }
}

GPtrArray *
cleave_segments_find (CleaveGraph *graph,
                      gint64 peak,
                      const CleaveThreads *threads,
                      gboolean backward_slices,
                      gboolean *solved,
                      GError **error)
{
  g_autoptr (GPtrArray) segments = g_ptr_array_new_with_free_func (cleave_segment_free);
  const CleaveStripsTask task = { .peak = peak,
                                  .limit = peak / 2,
                                  .time = cleave_cost_in_strips (graph),
                                  .n_threads = threads->n,
                                  .have_own_memory = threads->have_own_memory,
                                  .strictness = threads->strictness,
                                  .cache = threads->strips };
  g_auto (Analysis) a = { 0 };

  *solved = TRUE;
  if (peak < CLEAVE_STAGES_MIN_PEAK) /* A small graph gets no segments, since
                                        cleave_timeline_order() would take longer than the rest of
                                        the split. Only check that the graph has no cycle. */
    {
      g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);

      return order == NULL ? NULL : g_steal_pointer (&segments);
    }
  if (!analyze (graph, &a, error))
    return NULL;
  add_segments (&a, &task, backward_slices, segments, solved);
  return g_steal_pointer (&segments);
}
