/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cuts the segments of a plan in a copy of the graph, and measures memory, time and MACs of the
 * split graph. cleave_fit_parts_apply() cuts the segments in the caller's graph. A part
 * (CleaveFitPart) is a segment of a plan, and names its nodes instead of pointing to them. */

#include "measurement.h"

#include "../../lib/ir/chunk.h"
#include "../../lib/runtime/memory-timeline.h"
#include "../../lib/runtime/plan/liveness.h"
#include "../segments/copy-carried.h"
#include "../segments/pieces.h"
#include "../segments/share-carried.h"

void
cleave_fit_measurement_free (CleaveFitMeasurement *measured)
{
  if (measured == NULL)
    return;
  g_ptr_array_unref (measured->parts);
  cleave_fit_path_free (measured->path);
  g_clear_pointer (&measured->spans, g_array_unref);
  g_free (measured->part_bytes);
  g_free (measured->peak);
  g_free (measured);
}

static CleaveNode *
find_node (CleaveGraph *graph, const char *name, GError **error)
{
  CleaveNode *node = cleave_graph_find_node (graph, name);

  if (node == NULL)
    cleave_fail (error, CLEAVE_ERROR_OPTION, "the plan is for another graph: there is no node '%s'",
                 name);
  return node;
}

static gboolean
check_end (const CleaveNode *node, guint dim, guint n_strips, GError **error)
{
  const CleaveShape *shape = &node->results[0].type.shape;

  return (dim < shape->rank && node->op->maps != NULL &&
          shape->dim[dim] / cleave_node_get_block (node, dim) >= n_strips) ||
         cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "the plan is for another graph: '%s' cannot be cut into %u strips",
                      node->name, n_strips);
}

/* Makes a CleaveSegment, which points to nodes of `graph`, from `part`, which contains the names of
 * these nodes. Returns NULL and sets the error if the graph has no node with one of the names, or
 * if an end node cannot be cut along a dimension that `part` names. */
static CleaveSegment *
make_segment (CleaveGraph *graph, const CleaveFitPart *part, GError **error)
{
  CleaveSegment *segment = g_new0 (CleaveSegment, 1);
  gboolean good = TRUE;

  segment->ends = g_array_new (FALSE, FALSE, sizeof (CleaveSegmentEnd));
  segment->order = g_ptr_array_new ();
  segment->nodes = g_hash_table_new (NULL, NULL);
  segment->n_strips = part->candidate.n_strips;
  segment->n_bands = 1;
  segment->n_columns = part->candidate.n_columns;
  segment->halo = part->candidate.halo;
  segment->in_bands = part->candidate.in_bands;
  segment->is_even = part->is_even;
  for (guint i = 0; part->nodes[i] != NULL && good; i++)
    {
      CleaveNode *node = find_node (graph, part->nodes[i], error);

      good = node != NULL;
      g_ptr_array_add (segment->order, node);
      g_hash_table_add (segment->nodes, node);
    }
  for (guint i = 0; part->ends[i] != NULL && good; i++)
    {
      CleaveSegmentEnd end = { find_node (graph, part->ends[i], error),
                               g_array_index (part->dims, guint, i),
                               g_array_index (part->columns, guint, i) };

      good = end.node != NULL && check_end (end.node, end.dim, segment->n_strips, error) &&
             (segment->n_columns == 1 ||
              check_end (end.node, end.column_dim, segment->n_columns, error)) &&
             (segment->n_columns == 1 || end.column_dim != end.dim ||
              cleave_fail (error, CLEAVE_ERROR_OPTION,
                           "the plan is for another graph: '%s' has one dimension for rows and "
                           "columns",
                           end.node->name));
      g_array_append_val (segment->ends, end);
    }
  if (!good)
    g_clear_pointer (&segment, cleave_segment_free);
  return segment;
}

/* Calls make_segment() for each segment of a plan (`parts`). Returns an array of the new segments
 * (CleaveSegment). On failure, returns NULL and sets the error. */
static GPtrArray *
make_segments (const GPtrArray *parts, CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) segments = g_ptr_array_new_with_free_func (cleave_segment_free);

  for (guint i = 0; i < parts->len; i++)
    {
      CleaveSegment *segment = make_segment (graph, parts->pdata[i], error);

      if (segment == NULL)
        return NULL;
      g_ptr_array_add (segments, segment);
    }
  return g_steal_pointer (&segments);
}

gboolean
cleave_fit_parts_check (const GPtrArray *parts, CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) segments = make_segments (parts, graph, error);

  return segments != NULL;
}

/* Splits a graph as cleave_fit_parts_apply() does. For each node of the split graph, records the
 * segment of the node in `pieces`: the index in `parts`, or CLEAVE_SHARED_PART. Returns FALSE and
 * sets the error if the graph lacks nodes of a segment. */
static gboolean
apply (const GPtrArray *parts,
       CleaveGraph *graph,
       CleaveSplitReport *report,
       CleaveSegmentPieces *pieces,
       GError **error)
{
  g_autoptr (GPtrArray) segments = make_segments (parts, graph, error);
  g_autoptr (GHashTable) stops = g_hash_table_new (NULL, NULL);
  g_autofree GPtrArray **nodes = g_new0 (GPtrArray *, parts->len + 1);
  g_autofree char ***ends = g_new0 (char **, parts->len + 1);

  if (segments == NULL)
    return FALSE;
  for (guint i = 0; i < parts->len; i++)
    {
      nodes[i] = ((const CleaveSegment *) segments->pdata[i])->order;
      ends[i] = ((const CleaveFitPart *) parts->pdata[i])->ends;
    }
  cleave_segment_pieces_init (pieces, graph, nodes, parts->len);
  for (guint i = 0; i < segments->len; i++)
    {
      cleave_segment_cut (segments->pdata[i], graph, stops, report);
      cleave_segment_pieces_note (pieces, graph, i);
    }
  /* copy carried rows first, so that cleave_share_carried() also cuts the Slices that
   * cleave_copy_carried() adds */
  cleave_copy_carried (graph, pieces);
  cleave_segment_pieces_note (pieces, graph, CLEAVE_SHARED_PART);
  cleave_share_carried (graph);
  cleave_segment_pieces_note (pieces, graph, CLEAVE_SHARED_PART);
  if (parts->len > 0) /* without segments, the graph has not changed and keeps its order */
    cleave_segment_pieces_list (pieces, graph, ends);
  return TRUE;
}

gboolean
cleave_fit_parts_apply (const GPtrArray *parts,
                        CleaveGraph *graph,
                        CleaveSplitReport *report,
                        GError **error)
{
  g_auto (CleaveSegmentPieces) pieces = { 0 };

  return apply (parts, graph, report, &pieces, error);
}

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  gint64 x = (*(const CleaveBufferLifetime *const *) a)->n_bytes;
  gint64 y = (*(const CleaveBufferLifetime *const *) b)->n_bytes;

  return (x < y) - (x > y);
}

/* Returns a text that names the largest buffers that are live at the peak (at most three), the
 * largest first, and the step of the peak. */
static char *
describe_peak (const CleaveMemoryTimeline *timeline)
{
  g_autoptr (GPtrArray) alive = g_ptr_array_new ();
  GString *list = g_string_new (NULL);
  const guint most = 3, step = timeline->peak_step;

  for (guint b = 0; b < timeline->n_buffers; b++)
    if (timeline->buffers[b].first <= step && step <= timeline->buffers[b].last &&
        timeline->buffers[b].n_bytes > 0)
      g_ptr_array_add (alive, &timeline->buffers[b]);
  if (alive->len == 0)
    return g_string_free (g_string_assign (list, "nothing"), FALSE);
  g_ptr_array_sort (alive, compare_sizes);
  for (guint i = 0; i < MIN (alive->len, most); i++)
    {
      const CleaveBufferLifetime *buffer = alive->pdata[i];

      g_string_append_printf (list, "%s'%s' of %" G_GINT64_FORMAT " bytes", i == 0 ? "" : ", ",
                              buffer->name, buffer->n_bytes);
    }
  if (alive->len > most)
    g_string_append_printf (list, " and %u smaller", alive->len - most);
  g_string_append_printf (list, ", at '%s'", timeline->steps[step].name);
  return g_string_free (list, FALSE);
}

/* Returns the index of the segment (part) to which a step of the timeline belongs, or
 * CLEAVE_NO_PART. If several segments share the step, returns `before`, the result of this function
 * for the previous step. */
static guint
find_part (const CleaveSegmentPieces *pieces,
           const CleaveGraph *graph,
           const CleaveMemoryStep *step,
           guint before)
{
  const CleaveNode *node = cleave_graph_find_node (graph, step->name);
  guint part;

  if (node == NULL || g_str_equal (step->op, "load") || g_str_equal (step->op, "store"))
    return CLEAVE_NO_PART;
  part = cleave_segment_pieces_part (pieces, node);
  return part == CLEAVE_SHARED_PART ? before : part;
}

/* Sets the peak of the plan without overlays (`peak_without_overlays`), and the bytes of each
 * segment of the plan (`part_bytes`). Computes both from the live bytes of each step. */
static void
measure_parts (CleaveFitMeasurement *measured,
               const CleaveGraph *graph,
               const CleaveSegmentPieces *pieces,
               const CleaveMemoryTimeline *timeline)
{
  /* bytes of the arena that no live buffer occupies at the peak; this function counts these bytes
   * as live in the steps at the peak */
  const gint64 gaps = measured->estimate.arena_bytes - timeline->peak_bytes;

  measured->part_bytes = g_new0 (CleaveFitMeasuredBytes, measured->parts->len + 1);
  for (guint s = 0, part = CLEAVE_NO_PART; s < timeline->n_steps; s++)
    {
      const CleaveMemoryStep *step = &timeline->steps[s];
      const gint64 live =
          step->live_bytes_apart + (step->live_bytes == timeline->peak_bytes ? gaps : 0);

      measured->peak_without_overlays =
          MAX (measured->peak_without_overlays, step->live_bytes_apart);
      part = find_part (pieces, graph, step, part);
      if (part == CLEAVE_NO_PART)
        continue;
      measured->part_bytes[part].apart = MAX (measured->part_bytes[part].apart, live);
      if (step->live_bytes == timeline->peak_bytes)
        measured->part_bytes[part].at_peak = measured->estimate.arena_bytes;
    }
}

/* Returns a lower bound of the bytes of the arena: the peak of the live bytes, or the largest
 * buffer with laps. */
static gint64
find_least_arena (const CleaveMemoryTimeline *timeline, const GArray *spans)
{
  gint64 least = timeline->peak_bytes;

  for (guint i = 0; i < spans->len; i++)
    {
      const CleaveArenaSpan *span = &g_array_index (spans, CleaveArenaSpan, i);

      least = MAX (least, span->begin + span->n_bytes);
    }
  return least;
}

/* Splits a copy of the graph, measures the copy, and fills `measured`. If `places` is FALSE, does
 * not place the buffers, and sets the bytes of the arena to a lower bound. */
static void
measure (CleaveFitMeasurement *measured, const CleaveGraph *graph, guint n_threads, gboolean places)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (CleaveMemoryTimeline) timeline = NULL;
  g_auto (CleaveSegmentPieces) pieces = { 0 };
  gboolean is_applied;

  is_applied = apply (measured->parts, copy, NULL, &pieces, NULL);
  g_assert (is_applied);
  timeline = places ? cleave_memory_timeline_new (copy, n_threads, NULL)
                    : cleave_memory_timeline_new_unplaced (copy, &measured->most_bytes,
                                                           &measured->spans, NULL);
  measured->is_placed = places;
  measured->estimate = (CleaveEstimate){ timeline->peak_bytes,
                                         places ? timeline->arena_bytes
                                                : find_least_arena (timeline, measured->spans),
                                         timeline->nanoseconds };
  measure_parts (measured, copy, &pieces, timeline);
  measured->peak = describe_peak (timeline);
  measured->macs = cleave_graph_get_macs (copy);
  measured->n_nodes = cleave_graph_count_operators (copy);
}

static void
clear_measurement (CleaveFitMeasurement *measured)
{
  measured->peak_without_overlays = 0;
  g_clear_pointer (&measured->spans, g_array_unref);
  g_clear_pointer (&measured->part_bytes, g_free);
  g_clear_pointer (&measured->peak, g_free);
}

/* Adds `gaps` to the bytes of each segment that runs at the peak. `gaps` counts bytes of the arena
 * that no live buffer occupies at the peak, and that `part_bytes` does not include yet. */
static void
add_gaps (CleaveFitMeasurement *measured, gint64 gaps)
{
  for (guint i = 0; i < measured->parts->len; i++)
    if (measured->part_bytes[i].at_peak > 0)
      {
        measured->part_bytes[i].at_peak += gaps;
        measured->part_bytes[i].apart += gaps;
      }
}

gint64
cleave_fit_measurement_place (CleaveFitMeasurement *measured)
{
  const CleaveGraph *graph = measured->graph;
  const gint64 unplaced = measured->estimate.arena_bytes;

  if (measured->is_placed)
    return measured->estimate.arena_bytes;
  measured->graph = NULL;
  measured->is_placed = TRUE;
  measured->estimate.arena_bytes =
      cleave_arena_place_spans ((const CleaveArenaSpan *) (gpointer) measured->spans->data,
                                measured->spans->len, measured->estimate.peak_activation_bytes);
  if (measured->estimate.arena_bytes > measured->most_bytes)
    {
      clear_measurement (measured);
      measure (measured, graph, 1, TRUE);
    }
  else
    add_gaps (measured, measured->estimate.arena_bytes - unplaced);
  return measured->estimate.arena_bytes;
}

static CleaveFitPath *
copy_path (const CleaveFitPath *path)
{
  CleaveFitPath *copy = g_memdup2 (path, sizeof *path);

  copy->segments = g_array_copy (path->segments);
  return copy;
}

CleaveFitMeasurement *
cleave_fit_measurement_new_of (const CleaveGraph *graph,
                               const GPtrArray *parts,
                               const gboolean *whole,
                               guint n_threads)
{
  CleaveFitMeasurement *measured = g_new0 (CleaveFitMeasurement, 1);

  measured->parts = cleave_fit_parts_new ();
  for (guint i = 0; i < parts->len; i++)
    if (whole == NULL || !whole[i])
      g_ptr_array_add (measured->parts, g_atomic_rc_box_acquire (parts->pdata[i]));
  measured->graph = graph;
  measure (measured, graph, n_threads, n_threads > 1);
  return measured;
}

CleaveFitMeasurement *
cleave_fit_measurement_new (const CleaveGraph *graph,
                            const CleaveFitCandidates *candidates,
                            const CleaveFitPath *path,
                            guint n_threads)
{
  g_autoptr (GPtrArray) parts = cleave_fit_parts_new ();
  CleaveFitMeasurement *measured;

  for (guint i = 0; i < path->segments->len; i++)
    g_ptr_array_add (
        parts, cleave_fit_part_new_of (candidates,
                                       &g_array_index (path->segments, CleaveFitCandidate, i)));
  measured = cleave_fit_measurement_new_of (graph, parts, NULL, n_threads);
  measured->path = copy_path (path);
  return measured;
}
