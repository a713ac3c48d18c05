/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Assigns buffers for one order of nodes: makes a CleaveStorage, then lowers its peak by
 * materialized views, staged parts and overlays. The search undoes a change that does not lower the
 * peak. */

#include "buffers.h"

#include "assignments.h"
#include "materialized.h"
#include "order-facts.h"

/* If staging does not lower the peak to at most this fraction of the old peak, the search undoes
 * the staging. */
#define WORTH_COPIES 0.95
/* Stage operands in at most this many rounds. Without the first round, 11 of 480 random graphs take
 * up to 15 % more memory. A second round lowered the peak of none of these graphs. */
#define MAX_ROUNDS 3
/* Overlay results in at most this many rounds. The search ends at the first round that does not
 * lower the peak. Networks for microcontrollers have two peaks that overlays lower. */
#define MAX_OVERLAYS 8

/* The values that are staged (array `staged`), and the nodes whose results overlay operands (array
 * `overlaid`). An array is NULL if nothing is chosen. */
typedef struct
{
  gboolean *staged, *overlaid;
} Choices;

static void
choices_clear (Choices *choices)
{
  g_clear_pointer (&choices->staged, g_free);
  g_clear_pointer (&choices->overlaid, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Choices, choices_clear)

static Choices
copy_choices (const Choices *choices, const CleaveStorage *storage)
{
  return (Choices){ g_memdup2 (choices->staged, (storage->n_values + 1) * sizeof (gboolean)),
                    g_memdup2 (choices->overlaid, (storage->n_nodes + 1) * sizeof (gboolean)) };
}

static CleaveStorage *
storage_new (const CleaveGraph *graph,
             CleaveOrderFacts *facts,
             gboolean materializes,
             const Choices *choices)
{
  CleaveStorage *storage = g_new0 (CleaveStorage, 1);

  storage->facts = g_atomic_rc_box_acquire (facts);
  storage->of_graph = facts->graph;
  storage->n_nodes = facts->n_nodes;
  storage->n_values = facts->n_values;
  storage->nodes = facts->nodes;
  storage->position = facts->position;
  storage->done = facts->done;
  storage->first_value = facts->first_value;
  storage->joins = facts->joins;
  storage->orders = facts->orders;
  storage->materializes = materializes;
  storage->staged = choices == NULL ? NULL : choices->staged;
  storage->overlaid = choices == NULL ? NULL : choices->overlaid;
  cleave_storage_find_assignments (storage, graph);
  storage->staged = storage->overlaid = NULL; /* the caller owns both arrays and frees them */
  cleave_storage_add_steps (storage, graph);
  storage->of_graph = NULL;
  return storage;
}

static gboolean
has_materialized (const CleaveStorage *storage)
{
  for (guint i = 0; i < storage->n_nodes && storage->done != NULL; i++)
    if (cleave_storage_is_materialized (storage, storage->nodes[i]))
      return TRUE;
  return FALSE;
}

/* Assigns buffers twice: first without copies of views, then with materialized views. Returns the
 * assignment with the lower peak. Skips the second assignment if the first peak exceeds `cutoff`
 * bytes. */
static CleaveStorage *
choose_views (const CleaveGraph *graph, CleaveOrderFacts *facts, gint64 cutoff)
{
  g_autoptr (CleaveStorage) views = storage_new (graph, facts, FALSE, NULL);
  g_autoptr (CleaveStorage) materializes = NULL;

  if (cleave_storage_get_peak (views) > cutoff || !has_materialized (views))
    return g_steal_pointer (&views);
  materializes = storage_new (graph, facts, TRUE, NULL);
  if (cleave_storage_get_peak (materializes) < cleave_storage_get_peak (views))
    return g_steal_pointer (&materializes);
  return g_steal_pointer (&views);
}

/* The kinds of choices that can lower a peak: stage operands of joins near the peak, stage operands
 * that several windows share, or let results overlay operands. */
typedef enum { STAGE_PARTS, STAGE_WINDOWS, OVERLAY } ChoiceKind;

static gboolean
find_choices_at_peak (const CleaveStorage *storage, ChoiceKind kind, Choices *choices)
{
  switch (kind)
    {
    case STAGE_PARTS:
      return cleave_storage_find_staged (storage, &choices->staged);
    case STAGE_WINDOWS:
      return cleave_storage_find_windows (storage, &choices->staged);
    case OVERLAY:
      return cleave_storage_find_overlays (storage, &choices->overlaid);
    }
  return FALSE;
}

/* Returns whether a new storage may replace `best`. `choices` are the staged operands and overlays
 * of `best`, and `more` are the staged operands and overlays of the new storage. Sets `max_peak` to
 * the largest peak, in bytes, with which the new storage replaces `best`. Returns FALSE if a lower
 * bound for the peak of the new storage exceeds `max_peak`. This check avoids making three quarters
 * of the storages that would not replace `best`. */
static gboolean
may_replace (const CleaveStorage *best,
             ChoiceKind kind,
             const Choices *choices,
             const Choices *more,
             double *max_peak)
{
  const double peak = (double) cleave_storage_get_peak (best);

  *max_peak = kind == OVERLAY ? peak - 1 : WORTH_COPIES * peak;
  return kind == OVERLAY ||
         (double) cleave_storage_bound_staged (best, choices->staged, more->staged) <= *max_peak;
}

/* Adds staged operands or overlays, according to `kind`, and makes a new assignment. If the peak of
 * the new assignment is low enough, replaces `*best` and returns TRUE. If not, keeps `*best` and
 * returns FALSE. */
static gboolean
improve (CleaveStorage **best, Choices *choices, ChoiceKind kind, const CleaveGraph *graph)
{
  g_auto (Choices) more = copy_choices (choices, *best);
  g_autoptr (CleaveStorage) other = NULL;
  double max_peak;

  if (!find_choices_at_peak (*best, kind, &more) ||
      !may_replace (*best, kind, choices, &more, &max_peak))
    return FALSE;
  other = storage_new (graph, (*best)->facts, (*best)->materializes, &more);
  if ((double) cleave_storage_get_peak (other) > max_peak)
    return FALSE;
  cleave_storage_free (*best);
  *best = g_steal_pointer (&other);
  choices_clear (choices);
  *choices = more;
  more = (Choices){ NULL, NULL };
  return TRUE;
}

/* Stages operands, then overlays results, as long as each round lowers the peak. Takes ownership of
 * `storage`, and returns the best assignment. */
static CleaveStorage *
lower_peak (CleaveStorage *storage, const CleaveGraph *graph)
{
  g_autoptr (CleaveStorage) best = storage;
  g_auto (Choices) choices = { NULL, NULL };

  for (guint round = 0; round < MAX_ROUNDS && improve (&best, &choices, STAGE_PARTS, graph);
       round++)
    ;
  improve (&best, &choices, STAGE_WINDOWS, graph);
  for (guint round = 0; round < MAX_OVERLAYS && improve (&best, &choices, OVERLAY, graph); round++)
    ;
  return g_steal_pointer (&best);
}

CleaveStorage *
cleave_storage_new_within (const CleaveGraph *graph,
                           CleaveGraphFacts *of_graph,
                           const GPtrArray *order,
                           gint64 cutoff)
{
  CleaveOrderFacts *facts = cleave_order_facts_new (graph, of_graph, order);
  CleaveStorage *storage = choose_views (graph, facts, cutoff);

  if (cleave_storage_get_peak (storage) <= cutoff)
    storage = lower_peak (storage, graph);
  cleave_order_facts_finish (facts);
  return storage;
}

CleaveStorage *
cleave_storage_new_like (const CleaveGraph *graph,
                         CleaveGraphFacts *of_graph,
                         const GPtrArray *order,
                         const CleaveStorage *like)
{
  CleaveOrderFacts *facts;
  CleaveStorage *storage;

  if (!like->materializes)
    return cleave_storage_new_within (graph, of_graph, order, G_MAXINT64);
  facts = cleave_order_facts_new (graph, of_graph, order);
  storage = lower_peak (storage_new (graph, facts, TRUE, NULL), graph);
  cleave_order_facts_finish (facts);
  return storage;
}

CleaveStorage *
cleave_storage_new_staged (const CleaveGraph *graph,
                           const GPtrArray *order,
                           const CleaveStorage *like)
{
  g_autoptr (CleaveGraphFacts) of_graph = NULL;
  g_auto (Choices) choices = { NULL, NULL };
  CleaveOrderFacts *facts;
  CleaveStorage *storage;

  if (!cleave_storage_find_waiting (like, &choices.staged))
    return NULL;
  of_graph = cleave_graph_facts_new (graph);
  facts = cleave_order_facts_new (graph, of_graph, order);
  storage = storage_new (graph, facts, like->materializes, &choices);
  cleave_order_facts_finish (facts);
  return storage;
}

CleaveStorage *
cleave_storage_new (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autoptr (CleaveGraphFacts) facts = cleave_graph_facts_new (graph);

  return cleave_storage_new_within (graph, facts, order, G_MAXINT64);
}

void
cleave_storage_free (CleaveStorage *storage)
{
  if (storage == NULL)
    return;
  g_free (storage->assignments);
  cleave_pool_free (storage->strides);
  g_free (storage->buffer);
  g_free (storage->live);
  g_free (storage->live_before_laps);
  g_clear_pointer (&storage->lap_edges, g_array_unref);
  g_clear_pointer (&storage->lap_moves, g_array_unref);
  g_clear_pointer (&storage->members, g_array_unref);
  g_clear_pointer (&storage->fragments, g_array_unref);
  g_free (storage->member);
  g_array_unref (storage->steps);
  g_array_unref (storage->boxes);
  g_array_unref (storage->buffers);
  cleave_order_facts_unref (storage->facts);
  g_free (storage);
}
