/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-stages.h"

#include <cleave/cleave-program.h>

#include "../lib/ir/order.h"
#include "../lib/ir/storage.h"
#include "split-apply.h"
#include "split-letters.h"

#include <string.h>

/* Values below this stay in the caches anyway. */
#define MIN_PEAK (G_GINT64_CONSTANT (4) << 20)

/* What a stage may add to the time of the graph: halos that are computed twice, rows that are
 * copied, nodes more to begin.  Counted in multiply-accumulates, some 30 in a nanosecond; a copy
 * moves some 25 bytes in one, a node takes a tenth of a microsecond.  What is gained since values
 * stay in the caches is more than half of the limit on the models of the benchmarks. */
#define MAX_ADDED 0.08
#define WORK_PER_BYTE 1.2
#define WORK_PER_NODE 3000

/* A cut must bring the bytes of a stage below this part of the peak. */
#define MAX_LEFT 0.8

/* Nor is it worth to go on with more strips, unless each time brings them below this part. */
#define MIN_GAIN 0.97

/* Nor where they would come to more than so many times what they are to come to, however many. */
#define HOPELESS 1.1

/* With several threads, values live longer: this part of what one thread is to need. */
#define STILL_LARGE 0.65

/* A graph with the order in which it runs. */
typedef struct
{
  guint n_nodes;
  GPtrArray *order;
  gint64 *live;    /* of each node by position: bytes while it runs */
  gboolean *alone; /* by position: nothing goes past it */
  gint64 peak;
} Analysis;

static void
analysis_clear (Analysis *a)
{
  g_clear_pointer (&a->order, g_ptr_array_unref);
  g_clear_pointer (&a->live, g_free);
  g_clear_pointer (&a->alone, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Analysis, analysis_clear)

/* By the marks: the last node that reads any result of a node. */
static guint
find_last_use (const CleaveNode *node)
{
  guint last = 0;

  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL)
        last = MAX (last, use->node->mark);
  return last;
}

static void
find_alone (Analysis *a)
{
  guint last = 0;

  for (guint i = 0; i < a->n_nodes; i++)
    {
      const CleaveNode *node = a->order->pdata[i];

      a->alone[i] = last <= i;
      if (cleave_node_get_constant (node) == NULL)
        last = MAX (last, find_last_use (node));
    }
}

static gboolean
analyse (const CleaveGraph *graph, Analysis *a, GError **error)
{
  g_autoptr (CleaveStorage) storage = NULL;

  *a = (Analysis){ .order = cleave_order_with_storage (graph, &storage, error) };
  if (a->order == NULL)
    return FALSE;
  a->n_nodes = a->order->len;
  a->alone = g_new0 (gboolean, a->n_nodes + 1);
  a->live = cleave_storage_get_live (storage);
  a->peak = cleave_storage_get_peak (storage);
  find_alone (a);
  return TRUE;
}

/* Finding stages. */

struct _CleaveStage
{
  CleaveNode *last;
  GHashTable *nodes; /* with the last */
  guint dim;         /* of result 0 of the last, which is cut */
  guint n_strips, n_bands;
};

static void
stage_free (gpointer data)
{
  CleaveStage *stage = data;

  g_hash_table_unref (stage->nodes);
  g_free (stage);
}

/* From the position after `begin` to `end`. */
typedef struct
{
  guint begin, end;
  guint dim;
} Reach;

static gint64
result_bytes (const Analysis *a, guint position)
{
  const CleaveNode *node = a->order->pdata[position];

  return node->n_results == 0 ? 0 : cleave_tensor_type_n_bytes (&node->results[0].type);
}

/* The dimension of rows, or -1. */
static gint
find_rows (const CleaveNode *node)
{
  const char *letters = node->op->maps == NULL ? NULL : cleave_node_get_letters (node);
  const char *h = letters == NULL ? NULL : strchr (letters, 'H');

  return h == NULL ? -1 : (gint) (h - letters);
}

/* Where a stage ends: the first node at or after `high` that all goes through, that is small and
 * has rows to cut. */
static gboolean
find_end (const Analysis *a, guint high, gint64 small, guint n_threads, Reach *stage)
{
  for (guint i = high; i < a->n_nodes; i++)
    {
      const CleaveNode *node = a->order->pdata[i];
      gint rows;

      if (!a->alone[i] || node->n_operands == 0 || result_bytes (a, i) > small)
        continue;
      rows = find_rows (node);
      if (rows < 0)
        return FALSE;
      stage->end = i;
      stage->dim = (guint) rows;
      return node->results[0].type.shape.dim[rows] >= 2 * (gint64) n_threads;
    }
  return FALSE;
}

/* Where a stage begins: the last node before `high` that all goes through and that is small. */
static guint
find_begin (const Analysis *a, guint high, guint after, gint64 small)
{
  for (guint i = high; i-- > after;)
    if (a->alone[i] && result_bytes (a, i) <= small)
      return i;
  return after;
}

static GArray *
find_reaches (const Analysis *a, gint64 limit, guint n_threads)
{
  GArray *stages = g_array_new (FALSE, FALSE, sizeof (Reach));

  for (guint i = 0, after = 0; i < a->n_nodes; i++)
    {
      Reach stage;

      if (a->live[i] <= limit)
        continue;
      if (!find_end (a, i, limit / 3, n_threads, &stage))
        continue;
      stage.begin = find_begin (a, i, after, limit / 3);
      if (stages->len > 0 && stage.begin <= after)
        {
          stage.begin = g_array_index (stages, Reach, stages->len - 1).begin;
          g_array_set_size (stages, stages->len - 1);
        }
      g_array_append_val (stages, stage);
      i = after = stage.end;
    }
  return stages;
}

/* Cutting one into strips. */

static gboolean
is_inside (const CleavePlan *plan, gpointer data, GString *why)
{
  const gboolean *inside = data;

  if (inside[cleave_plan_get_node (plan)->mark])
    return TRUE;
  if (why != NULL)
    g_string_append (why, "it is outside of the stage");
  return FALSE;
}

/* Plans the strips and applies them. */
static CleaveRegion *
cut (CleaveGraph *graph, const CleaveStage *stage, CleaveStart *start)
{
  const CleaveRecursion recursion = { .depth = G_MAXUINT,
                                      .halo = CLEAVE_HALO_CARRY,
                                      .strips_per_band = stage->n_strips / stage->n_bands };
  g_autofree char *dims = g_strdup_printf ("%u", stage->dim);
  gint64 count = stage->n_strips;
  g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks (dims, &count, 1);
  CleaveRegion *region;

  start->ranges = cleave_split_ranges (split, &start->node->results[0].type.shape, NULL, NULL);
  region = cleave_region_plan (graph, start, 1, &recursion, NULL);
  cleave_region_apply (region);
  return region;
}

static gboolean *
find_inside (const CleaveStage *stage, CleaveGraph *graph)
{
  gboolean *inside = g_new0 (gboolean, cleave_graph_number (graph) + 1);

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    inside[node->mark] = cleave_stage_contains (stage, node);
  return inside;
}

/* The stage by itself. */
typedef struct
{
  CleaveGraph *graph;
  CleaveNode *last;
} Alone;

static void
alone_clear (Alone *alone)
{
  g_clear_pointer (&alone->graph, cleave_graph_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Alone, alone_clear)

/* The value that a node of the stage reads, in the graph of the stage: an input, if it is made
 * outside. */
static CleaveResult *
find_value (CleaveGraph *graph, GHashTable *values, const CleaveResult *value)
{
  CleaveResult *there = g_hash_table_lookup (values, value);
  g_autofree char *name = NULL;

  if (value == NULL || there != NULL)
    return there;
  name = cleave_result_dup_name (value);
  if (cleave_node_get_constant (value->node) != NULL)
    there = cleave_graph_add_constant (graph, NULL, cleave_node_get_constant (value->node));
  else
    there = cleave_graph_add_input (graph, name, &value->type, NULL);
  g_hash_table_insert (values, (gpointer) value, there);
  return there;
}

static CleaveNode *
copy_node (CleaveGraph *graph, GHashTable *values, const CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = find_value (graph, values, node->operands[i].result);
  copy = cleave_graph_add (graph, node->op, NULL, operands, node->n_operands, node->n_results,
                           node->attrs, NULL);
  g_assert (copy != NULL); /* it was legal where it comes from */
  for (guint r = 0; r < node->n_results; r++)
    g_hash_table_insert (values, (gpointer) &node->results[r], &copy->results[r]);
  return copy;
}

static gboolean
is_read_outside (const CleaveStage *stage, const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL || !cleave_stage_contains (stage, use->node))
        return TRUE;
  return FALSE;
}

static void
copy_stage (const CleaveStage *stage, const Analysis *a, const Reach *reach, Alone *alone)
{
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL);

  alone->graph = cleave_graph_new (NULL);
  for (guint i = reach->begin + 1; i <= reach->end; i++)
    {
      const CleaveNode *node = a->order->pdata[i];

      if (node->n_operands == 0)
        continue;
      alone->last = copy_node (alone->graph, values, node);
      if (is_read_outside (stage, node))
        cleave_graph_add_output (alone->graph, alone->last->name, &alone->last->results[0], NULL);
    }
}

static CleaveNode *
nth_node (const CleaveGraph *graph, guint n)
{
  CleaveNode *node = graph->first;

  while (n-- > 0)
    node = node->next;
  return node;
}

static gint64
count_macs (const CleaveGraph *graph)
{
  gint64 macs = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    macs += cleave_node_get_macs (node);
  return macs;
}

/* What strips come to: the bytes alive while the stage runs alone, on one thread, with its operands
 * and results; and the time that it takes longer, in multiply-accumulates. */
typedef struct
{
  gint64 peak;
  double work;
} Outcome;

/* Where it is more work than allowed, the peak is not looked for. */
static Outcome
try_strips (const Alone *alone, const CleaveStage *stage, double max_work)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (alone->graph);
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (CleaveStorage) storage = NULL;
  CleaveStart start = { 0 };
  guint n_before = cleave_graph_get_n_nodes (copy);
  Outcome outcome = { .peak = G_MAXINT64 };

  g_assert (alone->last != NULL); /* a stage has at least the node that it ends with */
  cleave_graph_number (alone->graph);
  start.node = nth_node (copy, alone->last->mark);
  cleave_region_free (cut (copy, stage, &start));
  g_array_unref (start.ranges);
  outcome.work = (double) (count_macs (copy) - count_macs (alone->graph)) +
                 WORK_PER_NODE * (double) (cleave_graph_get_n_nodes (copy) - n_before);
  if (outcome.work > max_work)
    return outcome;
  order = cleave_order_with_storage (copy, &storage, NULL);
  outcome.peak = cleave_storage_get_peak (storage);
  outcome.work += WORK_PER_BYTE * (double) storage->copied_bytes;
  return outcome;
}

/* What ever more strips would come to, if what they need is something fixed and something that the
 * number of strips divides. */
static double
foresee (guint n_before, gint64 peak_before, guint n_strips, gint64 peak)
{
  return ((double) peak * n_strips - (double) peak_before * n_before) / (n_strips - n_before);
}

/* What a stage may be cut into, and the bytes that it then needs with so many threads. */
typedef struct
{
  guint n_strips, n_bands; /* 0: it stays as it is */
  gint64 peak;
} Choice;

/* The fewest strips with which the stage needs no more than `limit`, or those with which it needs
 * least; `n_threads` of them are in flight. */
static void
choose_strips (const Alone *alone,
               CleaveStage *stage,
               gint64 fixed,
               guint n_threads,
               gint64 limit,
               double max_work,
               Choice *best)
{
  static const guint per_band[] = { 1, 2, 3, 4, 6, 9, 14 };
  gint64 rows = stage->last->results[0].type.shape.dim[stage->dim];
  gint64 before = G_MAXINT64;
  guint n_before = 0;

  for (guint i = 0; i < G_N_ELEMENTS (per_band) && best->peak > limit; i++)
    {
      Outcome outcome;
      gint64 peak;

      stage->n_strips = per_band[i] * stage->n_bands;
      if (stage->n_strips > rows)
        break;
      if (stage->n_strips < 2 * n_threads)
        continue;
      outcome = try_strips (alone, stage, max_work);
      if (outcome.work > max_work)
        return;
      peak = fixed + (outcome.peak - fixed) * n_threads;
      if ((double) peak > MIN_GAIN * (double) before)
        return; /* more strips are more work, and help no more */
      if (peak < best->peak)
        *best = (Choice){ stage->n_strips, stage->n_bands, peak };
      if (n_before > 0 &&
          foresee (n_before, before, stage->n_strips, peak) > HOPELESS * (double) best->peak)
        return;
      before = peak;
      n_before = stage->n_strips;
    }
}

static CleaveStage *
stage_new (const Analysis *a, const Reach *reach)
{
  CleaveStage *stage = g_new0 (CleaveStage, 1);

  stage->last = a->order->pdata[reach->end];
  stage->dim = reach->dim;
  stage->nodes = g_hash_table_new (NULL, NULL);
  for (guint i = reach->begin + 1; i <= reach->end; i++)
    g_hash_table_add (stage->nodes, a->order->pdata[i]);
  return stage;
}

/* The stage, cut into a band for each thread, or where their halos would cost too much into one
 * that all work at; NULL if that does not help. */
static CleaveStage *
make_stage (const Analysis *a, const Reach *reach, gint64 limit, double max_work, guint n_threads)
{
  CleaveStage *stage = stage_new (a, reach);
  g_auto (Alone) alone = { 0 };
  gint64 fixed = result_bytes (a, reach->begin) + result_bytes (a, reach->end);
  Choice best = { .peak = (gint64) (MAX_LEFT * (double) a->peak) };

  copy_stage (stage, a, reach, &alone);
  for (stage->n_bands = n_threads;; stage->n_bands = 1)
    {
      choose_strips (&alone, stage, fixed, n_threads, limit, max_work, &best);
      if (stage->n_bands == 1 || best.peak <= limit)
        break;
    }
  stage->n_strips = best.n_strips;
  stage->n_bands = best.n_bands;
  if (best.n_strips > 0)
    return stage;
  stage_free (stage);
  return NULL;
}

static gboolean
is_within (const Reach *inner, const Reach *outer)
{
  return inner->begin >= outer->begin && inner->end <= outer->end;
}

/* Stages as long as they can be with values that are still large; where one of those does not help,
 * as short as it can be. */
static void
add_stages (const Analysis *a, double max_work, guint n_threads, GPtrArray *stages)
{
  gint64 limit = a->peak / 2;
  g_autoptr (GArray) longer = find_reaches (a, (gint64) (STILL_LARGE * (double) limit), n_threads);
  g_autoptr (GArray) shorter = find_reaches (a, limit, n_threads);

  for (guint i = 0; i < longer->len; i++)
    {
      const Reach *reach = &g_array_index (longer, Reach, i);
      CleaveStage *stage = make_stage (a, reach, limit, max_work, n_threads);

      if (stage != NULL)
        g_ptr_array_add (stages, stage);
      for (guint j = 0; stage == NULL && j < shorter->len; j++)
        if (is_within (&g_array_index (shorter, Reach, j), reach))
          {
            CleaveStage *part =
                make_stage (a, &g_array_index (shorter, Reach, j), limit, max_work, n_threads);

            if (part != NULL)
              g_ptr_array_add (stages, part);
          }
    }
}

GPtrArray *
cleave_stages_find (CleaveGraph *graph, guint n_threads, GError **error)
{
  g_autoptr (GPtrArray) stages = g_ptr_array_new_with_free_func (stage_free);
  g_auto (Analysis) a = { 0 };

  if (!analyse (graph, &a, error))
    return NULL;
  if (a.peak >= MIN_PEAK)
    add_stages (&a, MAX_ADDED * (double) count_macs (graph), n_threads, stages);
  return g_steal_pointer (&stages);
}

gboolean
cleave_stage_contains (const CleaveStage *stage, const CleaveNode *node)
{
  return g_hash_table_contains (stage->nodes, node);
}

void
cleave_stage_cut (const CleaveStage *stage, CleaveGraph *graph, CleaveSplitReport *report)
{
  g_autofree gboolean *inside = find_inside (stage, graph);
  const CleaveConstraint constraint = { .predicate = is_inside, .data = inside };
  CleaveStart start = { .node = stage->last, .constraint = &constraint };
  g_autoptr (CleaveRegion) region = cut (graph, stage, &start);

  cleave_split_report_add (report, region, &start, 1);
  g_array_unref (start.ranges);
}
