/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the number of strips of a segment and their halo policy for a number of threads, and cuts
 * the segment.
 *
 * Over 400 lines: this file has one search for strips, and the trial that measures the strips. */

#include "strips.h"

#include "end-ranges.h"
#include "segment-order.h"

#include <cleave/cleave-program.h>

#include "../../lib/ir/fixed.h"
#include "../../lib/memory/buffers.h"
#include "../../lib/memory/cost.h"
#include "../../lib/memory/ordering.h"
#include "../../lib/memory/quantized-group.h"
#include "../split/apply.h"
#include "../split/dimension-names.h"

/* The strips of a segment may add at most this fraction to the estimated time of the graph. With
 * 0.08 instead of 0.05, an EfficientNet on two threads takes 20 % longer and needs a tenth less
 * memory. With 0.03, BlazeFace on two threads takes 17 % longer and needs 1.4 times the memory. */
#define MAX_ADDED 0.05

/* A cut must reduce the bytes of a segment to less than this fraction of the graph's peak. */
#define MAX_LEFT 0.8

/* The search tries more and more strips. If a trial needs more than this fraction of the bytes of
 * the previous trial, the search stops. */
#define MIN_GAIN 0.98

static gboolean
is_inside (const CleavePlan *plan, gpointer data, GString *why)
{
  const CleaveSegment *segment = data;

  if (cleave_segment_contains (segment, cleave_plan_get_node (plan)))
    return TRUE;
  if (why != NULL)
    g_string_append (why, "it is outside of the segment");
  return FALSE;
}

void
cleave_segment_free (gpointer data)
{
  CleaveSegment *segment = data;

  g_array_unref (segment->ends);
  g_ptr_array_unref (segment->order);
  g_hash_table_unref (segment->nodes);
  g_free (segment);
}

static void
add_root (GArray *roots,
          const CleaveSegment *segment,
          CleaveSegmentEnd end,
          const CleaveConstraint *constraint)
{
  const CleaveRoot root = { .node = end.node,
                            .constraint = constraint,
                            .is_column_wise = segment->in_bands,
                            .ranges = cleave_segment_list_ranges (segment, end) };

  g_array_append_val (roots, root);
}

/* Returns the number of consecutive strips that form one band. A strip may read rows that an
 * earlier strip of the same band computed. Returns 0 if all strips and tiles are one band. */
static guint
count_strips_of_band (const CleaveSegment *segment)
{
  if (segment->n_columns > 1)
    return segment->in_bands ? segment->n_strips : 0;
  return segment->n_strips / segment->n_bands;
}

/* Plans the strips, applies the plan, and returns the region. `order` lists the nodes that the
 * strips may reach; NULL: all nodes of the graph. */
static CleaveRegion *
cut (CleaveGraph *graph,
     const CleaveSegment *segment,
     GPtrArray *order,
     const GArray *roots,
     GHashTable *stops)
{
  const CleaveRecursion recursion = { .depth = G_MAXUINT,
                                      .halo = segment->halo,
                                      .strips_per_band = count_strips_of_band (segment) };
  const CleaveRoot *first = (const CleaveRoot *) (gpointer) roots->data;
  CleaveRegion *region =
      order == NULL ? cleave_region_plan (graph, first, roots->len, &recursion, NULL)
                    : cleave_region_plan_among (graph, order, first, roots->len, &recursion);

  for (guint i = 0; i < region->members->len; i++)
    g_hash_table_remove (segment->nodes,
                         ((const CleaveRegionNode *) region->members->pdata[i])->node);
  region->stops = stops;
  cleave_region_apply (region);
  return region;
}

static GArray *
roots_new (void)
{
  GArray *roots = g_array_new (FALSE, FALSE, sizeof (CleaveRoot));

  g_array_set_clear_func (roots, cleave_root_clear);
  return roots;
}

/* A copy of the segment as a separate graph, in which the search tries strips. */
typedef struct
{
  CleaveGraph *graph;
  CleaveNode *last;
} SegmentGraph;

static void
alone_clear (SegmentGraph *alone)
{
  g_clear_pointer (&alone->graph, cleave_graph_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SegmentGraph, alone_clear)

/* Returns the value in `graph` for `value` of the original graph. A value that is computed outside
 * of the segment becomes an input. */
static CleaveResult *
find_value (CleaveGraph *graph, GHashTable *values, GHashTable *copies, const CleaveResult *value)
{
  CleaveResult *there = g_hash_table_lookup (values, value);
  g_autofree char *name = NULL;

  if (value == NULL || there != NULL)
    return there;
  name = cleave_result_dup_name (value);
  there = cleave_node_is_fixed (value->node)
              ? cleave_fixed_copy (graph, value, copies)
              : cleave_graph_add_input (graph, name, &value->type, NULL);
  g_hash_table_insert (values, (gpointer) value, there);
  return there;
}

static CleaveNode *
copy_node (CleaveGraph *graph, GHashTable *values, GHashTable *copies, const CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = find_value (graph, values, copies, node->operands[i].result);
  copy = cleave_graph_add_like (graph, node, NULL, operands);
  for (guint r = 0; r < node->n_results; r++)
    g_hash_table_insert (values, (gpointer) &node->results[r], &copy->results[r]);
  return copy;
}

static gboolean
is_read_outside (const CleaveSegment *segment, const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL || !cleave_segment_contains (segment, use->node))
        return TRUE;
  return FALSE;
}

static void
copy_segment (const CleaveSegment *segment, SegmentGraph *alone)
{
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL);
  /* maps a node that depends on constants alone to its copy */
  g_autoptr (GHashTable) copies = g_hash_table_new (NULL, NULL);

  alone->graph = cleave_graph_new (NULL);
  for (guint i = 0; i < segment->order->len; i++)
    {
      const CleaveNode *node = segment->order->pdata[i];

      if (node->n_operands == 0 || cleave_node_is_fixed (node))
        /* if `node` depends on constants alone, a later call of copy_node() for a reader of `node`
         * copies both */
        continue;
      alone->last = copy_node (alone->graph, values, copies, node);
      if (is_read_outside (segment, node))
        cleave_graph_add_output (alone->graph, alone->last->name, &alone->last->results[0], NULL);
    }
}

/* The cost of a cut of a segment into strips. `peak` is the peak in bytes of the segment alone on
 * one thread, with its operands and results. `time` is the ns that the strips add: for rows that
 * are computed twice, for additional steps, and for rows that are copied. */
typedef struct
{
  gint64 peak;
  double time;
} Outcome;

/* Cuts a copy of the segment into strips, and returns the cost of the strips. If the cut adds more
 * than `max_time` ns, does not compute the peak, which is then G_MAXINT64. */
static Outcome
try_strips (const SegmentGraph *alone, const CleaveSegment *segment, double max_time)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (alone->graph), lowered = NULL;
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (CleaveStorage) storage = NULL;
  g_autoptr (GArray) roots = roots_new ();
  CleaveSegmentEnd end = cleave_segment_end (segment);
  Outcome outcome = { .peak = G_MAXINT64 };

  g_assert (alone->last != NULL); /* a segment has at least an end node */
  end.node = cleave_graph_find_node (copy, alone->last->name);
  add_root (roots, segment, end, NULL);
  cleave_region_free (cut (copy, segment, NULL, roots, NULL));
  outcome.time = cleave_cost_in_strips (copy) - cleave_cost_in_strips (alone->graph);
  if (outcome.time > max_time)
    return outcome;
  lowered = cleave_group_quantized (copy);
  order = cleave_order_with_storage (lowered == NULL ? copy : lowered, &storage, NULL);
  g_assert (order != NULL); /* the sort succeeds, since pieces never form a cycle */
  outcome.peak = cleave_storage_get_peak (storage);
  outcome.time += cleave_cost_of_rows ((double) storage->copied_bytes);
  return outcome;
}

/* Returns the bytes of the largest value that a node of the segment must read whole, as a global
 * pooling does. Strips do not make this value smaller. */
static gint64
find_whole_bytes (const CleaveSegment *segment)
{
  gint64 most = 0;

  for (guint i = 0; i < segment->order->len; i++)
    {
      const CleaveNode *node = segment->order->pdata[i];
      gint rows = cleave_node_find_dim (node, 'H');

      if (rows < 0 || node->results[0].type.shape.dim[rows] > 1)
        continue;
      for (guint o = 0; o < node->n_operands; o++)
        if (node->operands[o].result != NULL &&
            cleave_segment_contains (segment, node->operands[o].result->node))
          most = MAX (most, cleave_tensor_type_n_bytes (&node->operands[o].result->type));
    }
  return most;
}

/* Returns the bytes of the values that strips do not make smaller: the operands and the result of
 * the segment, and the largest value that a node reads whole. */
static gint64
find_fixed_bytes (const CleaveSegment *segment, const SegmentGraph *alone)
{
  gint64 fixed = find_whole_bytes (segment);

  for (guint i = 0; i < cleave_graph_get_n_inputs (alone->graph); i++)
    fixed += cleave_tensor_type_n_bytes (&cleave_graph_get_input (alone->graph, i)->type);
  return fixed + cleave_tensor_type_n_bytes (&cleave_segment_end (segment).node->results[0].type);
}

/* A cut of a segment, and its estimated peak in bytes with all threads. */
typedef struct
{
  guint n_strips, n_bands; /* number of strips in all bands together, and number of bands; 0 strips:
                              the segment stays whole */
  CleaveHalo halo;
  gint64 peak;
} Choice;

/* Cuts the segment into one band for each thread, where bands run at the same time and exchange
 * halos. Returns the cost of this cut. The peak in the cost is G_MAXINT64 if the bands would not
 * have equally many strips, or if the cut adds more than `max_time` ns. */
static Outcome
try_exchange (const SegmentGraph *alone,
              const CleaveSegment *segment,
              const CleaveStripsTask *task,
              double max_time)
{
  CleaveSegment in_bands = *segment;

  in_bands.n_bands = task->n_threads;
  in_bands.halo = CLEAVE_HALO_EXCHANGE;
  if (segment->n_strips % in_bands.n_bands != 0)
    return (Outcome){ .peak = G_MAXINT64 };
  return try_strips (alone, &in_bands, max_time);
}

/* Returns the ns that are added if threads take strips of one band alternately: a thread then reads
 * mostly values that another core has written. */
static double
find_time_of_alternating (const SegmentGraph *alone, guint n_threads)
{
  double n_bytes = 0;

  for (const CleaveNode *node = alone->graph->first; node != NULL; node = node->next)
    for (guint r = 0; r < node->n_results && node->n_operands > 0; r++)
      if (!cleave_node_is_fixed (node))
        n_bytes += (double) cleave_tensor_type_n_bytes (&node->results[r].type);
  return cleave_cost_of_far_bytes (n_bytes * (n_threads - 1) / n_threads);
}

/* Distributes the strips of `segment` to the threads, and sets `*best` to the result: a band for
 * each thread, bands that exchange halos, or strips taken alternately. Leaves `*best` unchanged if
 * strips taken alternately would take too long. */
static void
distribute_to_threads (const SegmentGraph *alone,
                       const CleaveSegment *segment,
                       const CleaveStripsTask *task,
                       const Outcome *outcome,
                       Choice *best)
{
  const double max_time = MAX_ADDED * task->time;
  Choice choice = { segment->n_strips, segment->n_bands, CLEAVE_HALO_CARRY, outcome->peak };

  if (segment->n_bands < task->n_threads)
    {
      Outcome exchange = try_exchange (alone, segment, task, max_time);

      if (exchange.peak < best->peak)
        choice =
            (Choice){ segment->n_strips, task->n_threads, CLEAVE_HALO_EXCHANGE, exchange.peak };
      else if (task->have_own_memory ||
               outcome->time + find_time_of_alternating (alone, task->n_threads) > max_time)
        return;
    }
  *best = choice;
}

/* Returns whether a number of strips is worth a trial. There must be at least two strips for each
 * thread and at most one for each row. The strips must have fewer rows than `*largest`, the rows of
 * the last strips that were tried. If the number is worth a trial, updates `*largest`. */
static gboolean
are_worth_trying (const CleaveSegment *segment, const CleaveStripsTask *task, gint64 *largest)
{
  CleaveSegmentEnd end = cleave_segment_end (segment);
  gint64 rows = end.node->results[0].type.shape.dim[end.dim];
  gint64 now = (rows + segment->n_strips - 1) / segment->n_strips;

  if (segment->n_strips > rows || segment->n_strips < 2 * task->n_threads || now >= *largest)
    return FALSE;
  *largest = now;
  return TRUE;
}

/* Numbers of strips of a band that the search tries. */
static const guint per_band[] = { 1, 2, 3, 4, 6, 9, 14, 16, 28 };

/* Predicts the peak in bytes with the largest number of strips that the search tries. `peak` is the
 * peak with `n_strips` strips in each band. The prediction is optimistic: it keeps `fixed` bytes,
 * and lets all other bytes shrink in proportion to the number of strips. In fact, the bytes of
 * halos shrink less. If even this prediction is no better than the best choice so far, the search
 * stops. This saves 4 % of the instructions over 37 models. */
static gint64
predict_least (gint64 fixed, gint64 peak, guint n_strips)
{
  return fixed + (peak - fixed) * n_strips / per_band[G_N_ELEMENTS (per_band) - 1];
}

/* Sets `best` to the fewest strips that reduce the segment to at most `limit` bytes. If no number
 * of strips meets the limit, sets `best` to the strips that need the fewest bytes. In the estimate,
 * each thread computes one strip at a time. */
static void
choose_strips (const SegmentGraph *alone,
               CleaveSegment *segment,
               const CleaveStripsTask *task,
               gint64 limit,
               Choice *best)
{
  gint64 fixed = find_fixed_bytes (segment, alone), before = G_MAXINT64, largest = G_MAXINT64;
  double max_time = MAX_ADDED * task->time;

  for (guint i = 0; i < G_N_ELEMENTS (per_band) && best->peak > limit; i++)
    {
      Outcome outcome;
      gint64 peak;

      segment->n_strips = per_band[i] * segment->n_bands;
      if (!are_worth_trying (segment, task, &largest))
        continue;
      outcome = try_strips (alone, segment, max_time);
      if (outcome.time > max_time)
        return;
      peak = fixed + (outcome.peak - fixed) * task->n_threads;
      if ((double) peak > MIN_GAIN * (double) before)
        return; /* more strips take more time and save no memory */
      if (peak < best->peak)
        distribute_to_threads (alone, segment, task, &(Outcome){ peak, outcome.time }, best);
      if (predict_least (fixed, peak, per_band[i]) >= best->peak)
        return;
      before = peak;
    }
}

static Choice
choose (CleaveSegment *segment, const CleaveStripsTask *task)
{
  g_auto (SegmentGraph) alone = { 0 };
  Choice best = { .peak = (gint64) (MAX_LEFT * (double) task->peak) };
  gint64 limit = task->limit;

  if (task->strictness > 0)
    limit = (gint64) ((double) limit / task->strictness);
  copy_segment (segment, &alone);
  segment->halo = CLEAVE_HALO_CARRY;
  if (task->live > 0)
    {
      gint64 besides = MAX (task->live - cleave_graph_get_peak_bytes (alone.graph, NULL), 0);

      limit -= besides;
      best.peak -= besides;
    }
  for (segment->n_bands = task->n_threads;; segment->n_bands = 1)
    {
      choose_strips (&alone, segment, task, limit, &best);
      if (segment->n_bands == 1 || best.peak <= limit)
        break;
    }
  return best;
}

/* Returns a text that identifies a search for strips: the numbers of the task, and the names of the
 * segment's nodes. The memo `task->cache` uses the text as a key. */
static char *
describe (const CleaveSegment *segment, const CleaveStripsTask *task)
{
  GString *text = g_string_new (NULL);

  g_string_printf (text, "%u %d %g %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                   task->n_threads, task->have_own_memory, task->strictness, task->peak,
                   task->limit, task->live);
  for (guint i = 0; i < segment->order->len; i++)
    {
      g_string_append_c (text, '\n');
      g_string_append (text, ((const CleaveNode *) segment->order->pdata[i])->name);
    }
  return g_string_free (text, FALSE);
}

CleaveStripsCache *
cleave_strips_cache_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

static Choice
choose_once (CleaveSegment *segment, const CleaveStripsTask *task)
{
  g_autofree char *key = describe (segment, task);
  Choice *known = g_hash_table_lookup (task->cache, key);

  if (known == NULL)
    {
      known = g_new (Choice, 1);
      *known = choose (segment, task);
      g_hash_table_insert (task->cache, g_steal_pointer (&key), known);
    }
  return *known;
}

gboolean
cleave_segment_choose_strips (CleaveSegment *segment, const CleaveStripsTask *task)
{
  const Choice best = task->cache == NULL ? choose (segment, task) : choose_once (segment, task);

  segment->n_strips = best.n_strips;
  segment->n_bands = best.n_bands;
  segment->halo = best.halo;
  segment->peak = best.peak;
  return best.n_strips > 0;
}

void
cleave_segment_cut (const CleaveSegment *segment,
                    CleaveGraph *graph,
                    GHashTable *stops,
                    CleaveSplitReport *report)
{
  const CleaveConstraint constraint = { .predicate = is_inside, .data = (gpointer) segment };
  g_autoptr (GArray) roots = roots_new ();
  g_autoptr (CleaveRegion) region = NULL;

  for (guint i = 0; i < segment->ends->len; i++)
    add_root (roots, segment, g_array_index (segment->ends, CleaveSegmentEnd, i), &constraint);
  region = cut (graph, segment, cleave_segment_list_reach (segment), roots, stops);
  if (report != NULL)
    cleave_split_report_add (report, region, (const CleaveRoot *) (gpointer) roots->data,
                             roots->len);
}
