/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: the public functions of one type, half of it their documentation. */

#include "../../lib/ir/boxed.h"
#include "../../lib/ir/max-threads.h"
#include "../split/report.h"
#include "fit-order.h"
#include "fit-reads.h"
#include "fit-search.h"

#include <math.h>

/* Where parts bring the memory down to this part of what the graph as it is is thought to need,
 * that is not searched.  It came to 0.70 of what it was thought to need in one network of 55. */
#define FAR_LESS 0.6

struct _CleaveFitPlan
{
  gint64 parted;      /* values of so many bytes are made in the parts that are read, before all
                         else; 0: none */
  GPtrArray *late;    /* CleaveFitCopy: of values that wait long, made after that; NULL: none */
  GPtrArray *copies;  /* CleaveFitCopy: made before parts are cut; NULL: none */
  gboolean is_listed; /* the parts are of the order that the nodes have then */
  GPtrArray *parts;   /* CleaveFitPart */
  GArray *segments;   /* CleaveFitSegment: of the parts */
  CleaveFitTotals totals;
  gint64 peak_apart; /* bytes that are alive at once, were nothing laid over what dies */
  guint n_threads;   /* that the totals are for */
  gboolean inputs_apart;
  char *peak;
};

CLEAVE_DEFINE_VALUE (CleaveFitOptions, fit_options)

static CleaveFitSegment
describe (const CleaveFitPart *part)
{
  return (CleaveFitSegment){ .n_nodes = g_strv_length (part->nodes),
                             .nodes = (const char *const *) part->nodes,
                             .n_ends = g_strv_length (part->ends),
                             .ends = (const char *const *) part->ends,
                             .dims = (const guint *) (gpointer) part->dims->data,
                             .column_dims = (const guint *) (gpointer) part->columns->data,
                             .n_strips = part->edge.n_strips,
                             .n_columns = part->edge.n_columns,
                             .halo = part->edge.halo,
                             .column_halo =
                                 part->edge.in_bands ? CLEAVE_HALO_RECOMPUTE : part->edge.halo,
                             .n_bytes = part->edge.n_bytes,
                             .added_macs = (gint64) part->edge.macs };
}

/* What it came to before is of `before`. */
static CleaveFitPlan *
plan_new_of (const CleaveFitTry *tried,
             gint64 parted,
             GPtrArray *late,
             GPtrArray *copies,
             const CleaveFitTotals *before,
             guint n_threads,
             gboolean inputs_apart)
{
  CleaveFitPlan *plan = g_atomic_rc_box_new0 (CleaveFitPlan);

  plan->parted = parted;
  plan->late = late == NULL ? NULL : g_ptr_array_ref (late);
  plan->copies = copies == NULL ? NULL : g_ptr_array_ref (copies);
  plan->parts = g_ptr_array_ref (tried->parts);
  plan->is_listed = tried->is_listed;
  plan->segments = g_array_new (FALSE, FALSE, sizeof (CleaveFitSegment));
  for (guint i = 0; i < plan->parts->len; i++)
    {
      CleaveFitSegment segment = describe (plan->parts->pdata[i]);

      g_array_append_val (plan->segments, segment);
    }
  plan->totals = *before;
  plan->totals.arena_after = tried->estimate.arena_bytes;
  plan->totals.macs_after = tried->macs;
  plan->totals.nodes_after = tried->n_nodes;
  plan->totals.latency_after = tried->estimate.nanoseconds;
  plan->peak_apart = tried->peak_apart;
  plan->n_threads = n_threads;
  plan->inputs_apart = inputs_apart;
  plan->peak = g_strdup (tried->peak);
  return plan;
}

static CleaveFitPlan *
plan_new (const CleaveFitSearch *search, const CleaveFitTry *tried)
{
  const CleaveFitTry *before = search->original;
  const CleaveFitTotals totals = { .arena_before = before->estimate.arena_bytes,
                                   .macs_before = before->macs,
                                   .nodes_before = before->n_nodes,
                                   .latency_before = before->estimate.nanoseconds };

  return plan_new_of (tried, search->parted, search->late, search->copies, &totals,
                      search->options.n_threads, search->options.inputs_apart);
}

static gboolean
check_options (const CleaveFitOptions *options, GError **error)
{
  if (options->max_memory < 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "max_memory must be positive, not %" G_GINT64_FORMAT, options->max_memory);
  if (options->n_threads > CLEAVE_MAX_THREADS)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "n_threads must be at most %d, not %u",
                        CLEAVE_MAX_THREADS, options->n_threads);
  if (isnan (options->max_added_macs) || isnan (options->max_added_latency))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "a limit is not a number");
  return TRUE;
}

static gboolean
is_cheaper (const CleaveFitTry *a, const CleaveFitTry *b)
{
  if (a->estimate.nanoseconds < b->estimate.nanoseconds)
    return TRUE;
  return a->estimate.nanoseconds <= b->estimate.nanoseconds &&
         a->estimate.arena_bytes < b->estimate.arena_bytes;
}

/* Of all that was tried, the cheapest whose arena has so many bytes; NULL: there is none. */
static const CleaveFitTry *
find_cheapest (const CleaveFitSearch *search, gint64 min_bytes, gint64 max_bytes)
{
  const CleaveFitTry *best = NULL;

  for (guint i = 0; i < search->tries->len; i++)
    {
      const CleaveFitTry *tried = search->tries->pdata[i];

      if (min_bytes <= tried->estimate.arena_bytes && tried->estimate.arena_bytes <= max_bytes &&
          cleave_fit_search_allows (search, tried) && (best == NULL || is_cheaper (tried, best)))
        best = tried;
    }
  return best;
}

/* That of what the search for the least has found, which is found again by who asks for it. */
static const CleaveFitTry *
find_least (const CleaveFitSearch *search)
{
  return find_cheapest (search, search->enough, search->enough);
}

static gboolean
refuse (const CleaveFitSearch *search, GError **error)
{
  const CleaveFitTry *least = find_least (search);

  return cleave_fail (error, CLEAVE_ERROR_LIMIT,
                      "%" G_GINT64_FORMAT " bytes are too few, the smallest number that can be met "
                      "is %" G_GINT64_FORMAT "; against less stand %s",
                      search->options.max_memory, least->estimate.arena_bytes, least->peak);
}

/* The cheapest that fits, of what is found at once; NULL: there is none, or no limit on memory. */
static const CleaveFitTry *
find_at_once (CleaveFitSearch *search)
{
  gint64 max_bytes = search->options.max_memory;

  return max_bytes == 0 ? NULL : cleave_fit_search_quickly (search, max_bytes);
}

/* The same of what the search for the least finds; without a limit on memory, that. */
static const CleaveFitTry *
find_in_search (CleaveFitSearch *search)
{
  gint64 max_bytes = search->options.max_memory;

  cleave_fit_search_least (search);
  return max_bytes == 0 ? find_least (search) : find_cheapest (search, 0, max_bytes);
}

static const CleaveFitTry *
find_try (CleaveFitSearch *search)
{
  const CleaveFitTry *found = find_at_once (search);

  return found != NULL ? found : find_in_search (search);
}

static const CleaveFitTry *
find_cheaper (CleaveFitSearch *search, const CleaveFitTry *found)
{
  gint64 asked = search->options.max_memory, max_bytes = asked == 0 ? search->enough : asked;

  if (found == NULL || found == search->before)
    return found;
  cleave_fit_search_cheaper (search, found, max_bytes);
  return find_cheapest (search, asked == 0 ? max_bytes : 0, max_bytes);
}

/* Of the graph as it is, and as it may be looked at otherwise; those that were not begun are empty.
 */
typedef struct
{
  CleaveFitSearch first, others[CLEAVE_FIT_N_OTHERWISE];
} Searches;

static void
searches_clear (Searches *searches)
{
  for (guint i = 0; i < CLEAVE_FIT_N_OTHERWISE; i++)
    cleave_fit_search_clear (&searches->others[i]);
  cleave_fit_search_clear (&searches->first);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Searches, searches_clear)

/* Where cuts of the graph as it is do, nothing else is tried. */
static gboolean
may_look_otherwise (const Searches *searches, const CleaveFitTry *found)
{
  return found == NULL || searches->first.options.max_memory == 0;
}

/* The same with values that are read in parts made apart, in search of less than was found. */
static const CleaveFitTry *
find_parted (Searches *searches, const CleaveFitTry *found)
{
  CleaveFitSearch *parted = &searches->others[CLEAVE_FIT_PARTED];

  if (!may_look_otherwise (searches, found))
    return NULL;
  parted->most = searches->first.enough;
  parted->enough = MIN (parted->enough, parted->most);
  return find_try (parted);
}

/* Of the graph as it is and, where values are read in parts, with these made apart, the search that
 * comes to less.  If that is thought to be the second, it is done first, and may do. */
static CleaveFitSearch *
search_first (Searches *searches, const CleaveFitTry **found)
{
  CleaveFitSearch *first = &searches->first, *parted = &searches->others[CLEAVE_FIT_PARTED];
  const CleaveFitTry *of_parts = NULL;
  gboolean has_parts, begins;

  *found = find_at_once (first);
  if (*found != NULL)
    return first;
  has_parts = cleave_fit_search_init_again (parted, first, CLEAVE_FIT_PARTED, G_MAXINT64);
  begins = has_parts && parted->foreseen < first->foreseen;
  if (begins)
    of_parts = find_try (parted);
  if (of_parts == NULL ||
      (may_look_otherwise (searches, of_parts) &&
       (double) parted->enough >=
           FAR_LESS * (double) MIN (first->foreseen, first->before->estimate.arena_bytes)))
    *found = find_in_search (first);
  if (has_parts && !begins)
    of_parts = find_parted (searches, *found);
  if (!has_parts || parted->enough >= first->enough)
    return first;
  *found = of_parts;
  return parted;
}

/* The same with copies of values that wait long, if that comes to less. */
static CleaveFitSearch *
search_late (Searches *searches, CleaveFitSearch *base, const CleaveFitTry **found)
{
  CleaveFitSearch *late = &searches->others[CLEAVE_FIT_LATE];
  const CleaveFitTry *tried;

  if (!may_look_otherwise (searches, *found) ||
      !cleave_fit_search_init_again (late, base, CLEAVE_FIT_LATE, base->enough))
    return base;
  tried = find_try (late);
  if (late->enough >= base->enough)
    return base;
  *found = tried;
  return late;
}

static CleaveFitPlan *
find_plan (Searches *searches, GError **error)
{
  const CleaveFitTry *found;
  CleaveFitSearch *search = search_first (searches, &found), *base;

  search = base = search_late (searches, search, &found);
  for (guint i = CLEAVE_FIT_LATE + 1; i < CLEAVE_FIT_N_OTHERWISE; i++)
    {
      CleaveFitSearch *other = &searches->others[i];
      const CleaveFitTry *tried;

      if (!may_look_otherwise (searches, found) ||
          !cleave_fit_search_init_again (other, base, i, search->enough))
        continue;
      tried = find_try (other);
      if (other->enough < search->enough)
        {
          search = other;
          found = tried;
        }
    }
  found = find_cheaper (search, found);
  if (g_cancellable_set_error_if_cancelled (search->options.cancellable, error) ||
      (found == NULL && !refuse (search, error)))
    return NULL;
  return plan_new (search, found);
}

/**
 * cleave_fit_plan_new:
 * @graph: a graph
 * @options: what it is to fit into
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds out how to split a whole graph so that its activations fit into `max_memory` bytes, at the
 * least cost; without that limit, into as few bytes as can be found at the cost that is allowed.
 *
 * Runs of nodes become segments, cut into strips that follow each other, by rows of images and
 * matrices or by an outer dimension; each segment carries the overlap of its strips or computes it
 * again.  Between segments values stay whole.  Which segments, and how many strips in each, is the
 * cheapest path over all of them; what a plan takes is measured on a copy of the graph that is
 * split, as the arena of a program with so many threads, and a plan that takes too much is replaced
 * by the next.  Where none does, values of which each reader needs a part, such as queries, keys
 * and values side by side, are made in those parts, and recurrent layers in chunks of steps; values
 * that wait long or that many nodes read are made twice, if that is little work; and plans are
 * looked for in which strips take the place of joins whose parts come at very different times, as
 * in U-nets; and such in which nodes run earlier or later, so that what is small waits in place of
 * what is large.  The graph is not changed: see [method@Cleave.FitPlan.apply].
 *
 * Segments are looked for by as many threads as there are processors, 16 at most, which end before
 * it returns.  The plan does not depend on their number; the caller's alone calls `watch`.
 *
 * Fails with %CLEAVE_ERROR_LIMIT if no plan does: the message has the smallest number of bytes that
 * can be met, which the same call then accepts, and the values that stand against less.  Fails with
 * %CLEAVE_ERROR_OPTION if a limit is wrong, with %CLEAVE_ERROR_CYCLE, and with
 * %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 */
CleaveFitPlan *
cleave_fit_plan_new (const CleaveGraph *graph, const CleaveFitOptions *options, GError **error)
{
  g_auto (Searches) searches = { 0 };

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  if (!check_options (options, error) ||
      !cleave_fit_search_init (&searches.first, graph, options, error))
    return NULL;
  return find_plan (&searches, error);
}

/**
 * cleave_fit_plan_new_watched:
 * @graph: a graph
 * @options: what it is to fit into
 * @cancellable: (nullable): ends the search with %G_IO_ERROR_CANCELLED
 * @watch: (scope call) (nullable) (closure watch_data): told how far the search is
 * @watch_data: given to @watch
 * @error: return location for a [struct@GLib.Error]
 *
 * Does what [ctor@Cleave.FitPlan.new] does, for bindings, which cannot put a function into options.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 */
CleaveFitPlan *
cleave_fit_plan_new_watched (const CleaveGraph *graph,
                             const CleaveFitOptions *options,
                             GCancellable *cancellable,
                             CleaveFitFunc watch,
                             gpointer watch_data,
                             GError **error)
{
  CleaveFitOptions watched;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  watched = *options;
  watched.watch = watch;
  watched.watch_data = watch_data;
  watched.cancellable = cancellable;
  return cleave_fit_plan_new (graph, &watched, error);
}

static int
compare_arenas (gconstpointer a, gconstpointer b)
{
  const CleaveFitTry *x = *(CleaveFitTry *const *) a, *y = *(CleaveFitTry *const *) b;

  if (x->estimate.arena_bytes != y->estimate.arena_bytes)
    return x->estimate.arena_bytes < y->estimate.arena_bytes ? 1 : -1;
  return is_cheaper (y, x) - is_cheaper (x, y);
}

/* Whether another needs no more memory and costs no more; of those that say the same the first is
 * told. */
static gboolean
is_bettered (guint index, const GPtrArray *tries)
{
  const CleaveFitTry *tried = tries->pdata[index];

  for (guint i = 0; i < tries->len; i++)
    {
      const CleaveFitTry *other = tries->pdata[i];
      gboolean is_no_worse = other->estimate.arena_bytes <= tried->estimate.arena_bytes &&
                             other->macs <= tried->macs &&
                             other->estimate.nanoseconds <= tried->estimate.nanoseconds;
      gboolean is_better = other->estimate.arena_bytes < tried->estimate.arena_bytes ||
                           other->macs < tried->macs ||
                           other->estimate.nanoseconds < tried->estimate.nanoseconds;

      if (is_no_worse && (is_better || i < index))
        return TRUE;
    }
  return FALSE;
}

/* Those that are allowed. */
static void
add_tries (GPtrArray *tries, const CleaveFitSearch *search)
{
  for (guint i = 0; i < search->tries->len; i++)
    if (cleave_fit_search_allows (search, search->tries->pdata[i]))
      g_ptr_array_add (tries, search->tries->pdata[i]);
}

/* Searches for all, where the graph can be looked at so. */
static void
add_others (Searches *searches, GPtrArray *tries)
{
  CleaveFitSearch *base = &searches->first;

  for (guint i = 0; i < CLEAVE_FIT_N_OTHERWISE; i++)
    if (may_look_otherwise (searches, NULL) &&
        cleave_fit_search_init_again (&searches->others[i], base, i, base->enough))
      {
        cleave_fit_search_all (&searches->others[i]);
        add_tries (tries, &searches->others[i]);
        if (i <= CLEAVE_FIT_LATE && searches->others[i].enough < base->enough)
          base = &searches->others[i];
      }
}

/* Which search tried it. */
static const CleaveFitSearch *
find_search (const Searches *searches, const CleaveFitTry *tried)
{
  for (guint i = 0; i < CLEAVE_FIT_N_OTHERWISE; i++)
    if (searches->others[i].tries != NULL &&
        g_ptr_array_find (searches->others[i].tries, tried, NULL))
      return &searches->others[i];
  return &searches->first;
}

/**
 * cleave_fit_plan_new_frontier:
 * @graph: a graph
 * @options: how much may be added; `max_memory` is not looked at
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds out what is possible: plans from the most memory to the least, each with fewer MACs or less
 * time than all that need no more.  The first is the graph as it is, or what is better.
 *
 * Fails as [ctor@Cleave.FitPlan.new] does, but that nothing is too little.
 *
 * Returns: (transfer full) (nullable) (element-type CleaveFitPlan): the plans, or %NULL on error
 */
GPtrArray *
cleave_fit_plan_new_frontier (const CleaveGraph *graph,
                              const CleaveFitOptions *options,
                              GError **error)
{
  g_autoptr (GPtrArray) plans =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_plan_unref);
  g_auto (Searches) searches = { 0 };
  g_autoptr (GPtrArray) tries = g_ptr_array_new ();

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  if (!check_options (options, error) ||
      !cleave_fit_search_init (&searches.first, graph, options, error))
    return NULL;
  cleave_fit_search_all (&searches.first);
  add_tries (tries, &searches.first);
  add_others (&searches, tries);
  if (g_cancellable_set_error_if_cancelled (options->cancellable, error))
    return NULL;
  g_ptr_array_sort (tries, compare_arenas);
  for (guint i = 0; i < tries->len; i++)
    if (!is_bettered (i, tries))
      g_ptr_array_add (plans, plan_new (find_search (&searches, tries->pdata[i]), tries->pdata[i]));
  return g_steal_pointer (&plans);
}

gboolean
cleave_fit_plan_changes (const CleaveFitPlan *plan)
{
  return plan->parts->len > 0 || plan->copies != NULL || plan->late != NULL || plan->parted > 0;
}

/* Makes copies, and cuts; all of it or nothing, but for values that are made in parts, or again
 * where they wait long. */
static gboolean
apply_all (const CleaveFitPlan *plan, CleaveGraph *graph, CleaveSplitReport *report, GError **error)
{
  g_autoptr (GPtrArray) before = NULL, before_late = NULL;

  if (plan->parted > 0)
    cleave_fit_reads_cut (graph, plan->parted, report);
  if (plan->late != NULL)
    {
      before_late = cleave_fit_copies_apply (plan->late, graph, error);
      if (before_late == NULL)
        return FALSE;
    }
  if (plan->copies == NULL)
    return cleave_fit_parts_apply (plan->parts, graph, plan->is_listed, report, error);
  before = cleave_fit_copies_apply (plan->copies, graph, error);
  if (before == NULL || cleave_fit_parts_apply (plan->parts, graph, plan->is_listed, report, error))
    return before != NULL;
  cleave_fit_copies_undo (plan->copies, graph, before);
  return FALSE;
}

/* All of it or nothing: those are not taken back, so a copy of the graph is tried first. */
static gboolean
apply (const CleaveFitPlan *plan, CleaveGraph *graph, CleaveSplitReport *report, GError **error)
{
  if (plan->parted > 0 || plan->late != NULL)
    {
      g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);

      if (!apply_all (plan, copy, NULL, error))
        return FALSE;
    }
  return apply_all (plan, graph, report, error);
}

static gboolean
has_part (const CleaveFitPlan *plan, const gboolean *whole)
{
  for (guint i = 0; i < plan->parts->len; i++)
    if (!whole[i])
      return TRUE;
  return FALSE;
}

/**
 * cleave_fit_plan_new_without:
 * @plan: a plan
 * @graph: the graph that it was made for
 * @n_segments: number of segments that stay whole
 * @segments: (array length=n_segments): their indices
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a plan of the other segments, and measures what it takes, which is more in most cases.
 * Without any, there are no copies, either.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the graph does not have the nodes of the plan.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 */
CleaveFitPlan *
cleave_fit_plan_new_without (const CleaveFitPlan *plan,
                             const CleaveGraph *graph,
                             guint n_segments,
                             const guint *segments,
                             GError **error)
{
  g_autofree gboolean *whole = NULL;
  g_autoptr (CleaveGraph) split = NULL, copy = NULL;
  g_autoptr (CleaveFitTry) tried = NULL;
  GPtrArray *late, *copies;
  gint64 parted;

  g_return_val_if_fail (plan != NULL && graph != NULL, NULL);
  g_return_val_if_fail (segments != NULL || n_segments == 0, NULL);
  split = cleave_graph_copy (graph);
  if (!apply (plan, split, NULL, error))
    return NULL;
  whole = g_new0 (gboolean, plan->parts->len + 1);
  for (guint i = 0; i < n_segments; i++)
    if (segments[i] < plan->parts->len)
      whole[segments[i]] = TRUE;
  copy = cleave_graph_copy (graph);
  copy->inputs_apart = plan->inputs_apart;
  copies = has_part (plan, whole) ? plan->copies : NULL;
  late = has_part (plan, whole) ? plan->late : NULL;
  parted = has_part (plan, whole) ? plan->parted : 0;
  if (parted > 0)
    cleave_fit_reads_cut (copy, parted, NULL);
  if (late != NULL)
    g_ptr_array_unref (cleave_fit_copies_apply (late, copy, NULL));
  if (copies != NULL)
    g_ptr_array_unref (cleave_fit_copies_apply (copies, copy, NULL));
  tried = cleave_fit_try_new_without (copy, plan->parts, whole, plan->is_listed && copies != NULL,
                                      plan->n_threads);
  return plan_new_of (tried, parted, late, copies, &plan->totals, plan->n_threads,
                      plan->inputs_apart);
}

static void
clear (gpointer data)
{
  CleaveFitPlan *plan = data;

  g_array_unref (plan->segments);
  g_ptr_array_unref (plan->parts);
  g_clear_pointer (&plan->late, g_ptr_array_unref);
  g_clear_pointer (&plan->copies, g_ptr_array_unref);
  g_free (plan->peak);
}

/**
 * cleave_fit_plan_ref:
 * @plan: a plan
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @plan
 */

/**
 * cleave_fit_plan_unref:
 * @plan: (nullable) (transfer full): a plan
 *
 * Drops a reference; with the last one the plan goes.
 */

CLEAVE_DEFINE_COUNTED (CleaveFitPlan, fit_plan, clear)

/**
 * cleave_fit_plan_get_n_segments:
 * @plan: a plan
 *
 * Returns: how many segments it cuts
 */
guint
cleave_fit_plan_get_n_segments (const CleaveFitPlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);
  return plan->segments->len;
}

/**
 * cleave_fit_plan_get_segment:
 * @plan: a plan
 * @index: which segment, in the order in which they run
 *
 * Returns: (transfer none): what it cuts, which the plan holds
 */
const CleaveFitSegment *
cleave_fit_plan_get_segment (const CleaveFitPlan *plan, guint index)
{
  g_return_val_if_fail (plan != NULL, NULL);
  g_return_val_if_fail (index < plan->segments->len, NULL);
  return &g_array_index (plan->segments, CleaveFitSegment, index);
}

/**
 * cleave_fit_plan_get_totals:
 * @plan: a plan
 *
 * Returns: (transfer none): what it comes to
 */
const CleaveFitTotals *
cleave_fit_plan_get_totals (const CleaveFitPlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);
  return &plan->totals;
}

/**
 * cleave_fit_plan_get_peak:
 * @plan: a plan
 *
 * Returns: (transfer none): the largest values that are alive when most memory is in use, in words
 */
const char *
cleave_fit_plan_get_peak (const CleaveFitPlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);
  return plan->peak;
}

static CleaveSplitReport *
apply_and_report (const CleaveFitPlan *plan, CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveSplitReport) report = cleave_split_report_new (graph);
  gint64 peak = -1;

  if (!apply (plan, graph, report, error))
    return NULL;
  if (cleave_fit_plan_changes (plan))
    peak = cleave_fit_arrange (graph, plan->n_threads, plan->inputs_apart, plan->totals.arena_after,
                               plan->peak_apart);
  cleave_split_report_finish_with_peak (
      report, graph, peak < 0 ? cleave_graph_get_peak_bytes (graph, NULL) : peak);
  return g_steal_pointer (&report);
}

/**
 * cleave_fit_plan_apply:
 * @plan: a plan
 * @graph: the graph that it was made for, or another with the same nodes
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits the graph as the plan says; segments may have nodes that it makes first, as copies of
 * others.  Results stay the same, bit for bit.  The nodes are then in
 * the order in which they run, and so are those of a file of it, which others need to find memory
 * as small.  The peaks of the report count the inputs of the graph only if the plan does.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the graph does not have the nodes of the plan; it is then
 * unchanged.
 *
 * Returns: (transfer full) (nullable): what became of the nodes, or %NULL on error
 */
CleaveSplitReport *
cleave_fit_plan_apply (const CleaveFitPlan *plan, CleaveGraph *graph, GError **error)
{
  CleaveSplitReport *report;
  gboolean were_apart;

  g_return_val_if_fail (plan != NULL && graph != NULL, NULL);
  were_apart = graph->inputs_apart;
  graph->inputs_apart = plan->inputs_apart; /* the peaks of the report are counted as the plan is */
  report = apply_and_report (plan, graph, error);
  graph->inputs_apart = were_apart;
  return report;
}
