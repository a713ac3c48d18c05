/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests properties that the totals of each plan must have, for random networks of all classes and
 * several limits. The plans are the points of a frontier, the plan with the smallest budget, and
 * plans with looser limits. */

#include "fit-properties.h"

#include <string.h>

/* The number of budgets between the least memory and the memory of the unsplit graph. */
#define N_BUDGETS 3
/* At most this many points of a frontier are tested: the arena of each point becomes a budget. */
#define MAX_POINTS 3

/* Returns whether the plan of the looser limit, `loose`, is worse than the plan of the tighter
 * limit: slower, or as fast with more MACs. */
static gboolean
is_worse (const CleaveFitTotals *loose, const CleaveFitTotals *tight)
{
  return fit_is_longer (loose, tight) ||
         (loose->macs_after > tight->macs_after && !fit_is_longer (tight, loose));
}

/* The functions below check frontiers. */

/* Returns the fastest plan of a frontier that needs at most `budget` bytes, or NULL. */
static const CleaveFitTotals *
find_fastest (const GPtrArray *frontier, gint64 budget)
{
  const CleaveFitTotals *best = NULL;

  for (guint i = 0; i < frontier->len; i++)
    {
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (frontier->pdata[i]);

      if (totals->arena_after <= budget &&
          (best == NULL || fit_is_longer (best, totals) ||
           (!fit_is_longer (totals, best) && totals->arena_after < best->arena_after)))
        best = totals;
    }
  return best;
}

static gboolean
is_same_point (const CleaveFitTotals *a, const CleaveFitTotals *b)
{
  return a->arena_after == b->arena_after && a->nodes_after == b->nodes_after &&
         a->macs_after == b->macs_after && !fit_is_longer (a, b) && !fit_is_longer (b, a);
}

static char *
check_point (const CleaveGraph *graph,
             const CleaveFitOptions *options,
             const GPtrArray *frontier,
             gint64 budget)
{
  const CleaveFitTotals *point = find_fastest (frontier, budget);
  g_autofree char *expected = fit_describe (point), *found = NULL;
  CleaveFitTotals totals;
  char *why = NULL;

  if (!fit_find_totals (graph, options, budget, &totals, &why) || is_same_point (&totals, point))
    return why;
  found = fit_describe (&totals);
  return g_strdup_printf ("%" G_GINT64_FORMAT " bytes give %s, the frontier has %s", budget, found,
                          expected);
}

/* Checks that a search finds a point of the frontier again if the budget is the arena of the point.
 * Also checks that the last point has the least memory. */
static char *
frontier_agrees (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) frontier = cleave_fit_plan_new_frontier (graph, options, &error);
  CleaveFitTotals least;
  char *why = NULL;
  guint n;

  if (frontier == NULL || frontier->len == 0)
    return g_strdup (error == NULL ? "no frontier" : error->message);
  n = MIN (frontier->len, MAX_POINTS);
  for (guint i = 0; i < n && why == NULL; i++)
    {
      guint at = n == 1 ? 0 : i * (frontier->len - 1) / (n - 1);

      why = check_point (graph, options, frontier,
                         cleave_fit_plan_get_totals (frontier->pdata[at])->arena_after);
    }
  if (why != NULL || !fit_find_totals (graph, options, 0, &least, &why))
    return why;
  return least.arena_after == find_fastest (frontier, least.arena_after)->arena_after
             ? NULL
             : g_strdup_printf ("the least memory is %" G_GINT64_FORMAT ", not in the frontier",
                                least.arena_after);
}

/* The functions below check the smallest budget. */

/* Returns the smallest possible budget in bytes that the message of `error` names, or 0. */
static gint64
read_smallest (const GError *error)
{
  const char *at = strstr (error->message, "smallest");

  at = at == NULL ? "" : at;
  return g_ascii_strtoll (at + strcspn (at, "0123456789"), NULL, 10);
}

/* Checks that a budget below the least memory fails and that the message names the least memory.
 * A budget below 1 byte is not checked. */
static char *
check_refusal (const CleaveGraph *graph,
               const CleaveFitOptions *options,
               gint64 budget,
               gint64 least)
{
  CleaveFitOptions asked = *options;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;

  if (budget < 1)
    return NULL;
  asked.max_memory = budget;
  plan = cleave_fit_plan_new (graph, &asked, &error);
  if (plan != NULL)
    return g_strdup_printf ("the least memory is %" G_GINT64_FORMAT ", but %" G_GINT64_FORMAT
                            " bytes are accepted",
                            least, budget);
  if (!g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT) || read_smallest (error) != least)
    return g_strdup_printf ("the least memory is %" G_GINT64_FORMAT ", but %s", least,
                            error->message);
  return NULL;
}

static char *
smallest_budget_is_exact (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  CleaveFitTotals least, asked;
  char *why = NULL;

  if (!fit_find_totals (graph, options, 0, &least, &why) || least.arena_after <= 1 ||
      !fit_find_totals (graph, options, least.arena_after, &asked, &why))
    return why;
  if (asked.arena_after > least.arena_after)
    return g_strdup_printf ("%" G_GINT64_FORMAT " bytes give %" G_GINT64_FORMAT, least.arena_after,
                            asked.arena_after);
  why = check_refusal (graph, options, least.arena_after - 1, least.arena_after);
  return why != NULL ? why
                     : check_refusal (graph, options, 2 * least.arena_after / 3, least.arena_after);
}

/* The functions below check that looser limits give no worse plans. */

/* Checks that a plan for more bytes is not worse: it is not slower, and if it is as fast, it does
 * not have more MACs. */
static char *
more_bytes_are_no_worse (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  CleaveFitTotals least, tight, loose;
  char *why = NULL;

  if (!fit_find_totals (graph, options, 0, &least, &why))
    return why;
  tight = least;
  for (guint i = 0; i <= N_BUDGETS; i++)
    {
      gint64 budget = least.arena_after + i * (least.arena_before - least.arena_after) / N_BUDGETS;

      if (budget < 1)
        continue;
      if (!fit_find_totals (graph, options, budget, &loose, &why))
        return why;
      if (loose.arena_after > budget || (i > 0 && is_worse (&loose, &tight)))
        {
          g_autofree char *a = fit_describe (&tight), *b = fit_describe (&loose);

          return g_strdup_printf ("%" G_GINT64_FORMAT " bytes give %s, fewer %s", budget, b, a);
        }
      tight = loose;
    }
  return NULL;
}

/* Checks that looser options need no more memory than tighter ones and, if `compares_time`, are not
 * slower for the same budget. */
static char *
compare_options (const CleaveGraph *graph,
                 const CleaveFitOptions *tighter,
                 const CleaveFitOptions *looser,
                 gboolean compares_time)
{
  CleaveFitTotals tight, loose;
  char *why = NULL;

  if (!fit_find_totals (graph, tighter, 0, &tight, &why) ||
      !fit_find_totals (graph, looser, 0, &loose, &why))
    return why;
  if (loose.arena_after > tight.arena_after)
    return g_strdup_printf ("%" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT " with a tighter limit",
                            loose.arena_after, tight.arena_after);
  if (!compares_time || tight.arena_after < 1)
    return NULL;
  if (!fit_find_totals (graph, tighter, tight.arena_after, &tight, &why) ||
      !fit_find_totals (graph, looser, tight.arena_after, &loose, &why))
    return why;
  return fit_is_longer (&loose, &tight)
             ? g_strdup_printf ("%.6g ns for %" G_GINT64_FORMAT " bytes, %.6g ns with a tighter "
                                "limit",
                                loose.latency_after, tight.arena_after, tight.latency_after)
             : NULL;
}

static const double parts[] = { CLEAVE_NOTHING_ADDED, 0.1, 0.3,
                                0 }; /* limits on the added MACs, as fractions of the MACs of the
                                        unsplit graph; the last entry, 0, means no limit */

static char *
more_macs_are_no_worse (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  char *why = NULL;

  for (guint i = 1; i < G_N_ELEMENTS (parts) && why == NULL; i++)
    {
      CleaveFitOptions tighter = *options, looser = *options;

      tighter.max_added_macs = parts[i - 1];
      looser.max_added_macs = parts[i];
      why = compare_options (graph, &tighter, &looser, TRUE);
    }
  return why;
}

static char *
more_time_is_no_worse (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  char *why = NULL;

  for (guint i = 1; i < G_N_ELEMENTS (parts) && why == NULL; i++)
    {
      CleaveFitOptions tighter = *options, looser = *options;

      tighter.max_added_latency = parts[i - 1];
      looser.max_added_latency = parts[i];
      why = compare_options (graph, &tighter, &looser, TRUE);
    }
  return why;
}

static char *
excluded_inputs_are_no_worse (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  CleaveFitOptions counted = *options, excluded = *options;

  counted.exclude_inputs = FALSE;
  excluded.exclude_inputs = TRUE;
  return compare_options (graph, &counted, &excluded, TRUE);
}

/* Checks that fewer threads need no more bytes. Does not compare times, since times of different
 * numbers of threads cannot be compared. */
static char *
fewer_threads_need_no_more (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  char *why = NULL;

  for (guint n = 3; n > 1 && why == NULL; n--)
    {
      CleaveFitOptions more = *options, fewer = *options;

      more.n_threads = n;
      fewer.n_threads = n - 1;
      why = compare_options (graph, &more, &fewer, FALSE);
    }
  return why;
}

static char *
uneven_strips_are_no_worse (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  CleaveFitOptions even = *options, uneven = *options;

  even.even_strips = TRUE;
  uneven.even_strips = FALSE;
  return compare_options (graph, &even, &uneven, TRUE);
}

FIT_PROPERTY_TEST (budgets_of_the_frontier_give_its_points, frontier_agrees)
FIT_PROPERTY_TEST (the_smallest_budget_is_exact, smallest_budget_is_exact)
FIT_PROPERTY_TEST (more_bytes, more_bytes_are_no_worse)
FIT_PROPERTY_TEST (more_macs, more_macs_are_no_worse)
FIT_PROPERTY_TEST (more_time, more_time_is_no_worse)
FIT_PROPERTY_TEST (excluded_inputs, excluded_inputs_are_no_worse)
FIT_PROPERTY_TEST (fewer_threads, fewer_threads_need_no_more)
FIT_PROPERTY_TEST (uneven_strips, uneven_strips_are_no_worse)

/* A graph for which the search with a budget once found another minimum memory than the search
 * without a budget. With a budget, the search measured strips first, and then found other tiles. */
#define POOLED                                                                                     \
  "%a = Input : float32 2x11x54\n%b, %i = MaxPool %a kernel_shape=3 pads=1,1\n"                    \
  "%c = Input : float32 11x1x3\n%d = Conv %b, %c strides=2 pads=1,1 group=11\n"                    \
  "%e = Input : float32 27x1\n%f = MatMul %d, %e\n%g = Input : uint8 1\n"                          \
  "%h = Input : uint8 1x1\n%j = MatMulInteger %g, %h\n%k = Input : float32 8\n"                    \
  "%l = Input : float32 8x24\n%m = MatMul %k, %l\n"                                                \
  "output %i\noutput %f\noutput %j\noutput %m\n"

START_TEST (a_budget_does_not_change_the_least_memory)
{
  const CleaveFitOptions no_limits = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (POOLED, NULL, &error);
  g_autofree char *why = NULL;

  cleave_assert_no_error (error);
  why = smallest_budget_is_exact (graph, &no_limits);
  ck_assert_msg (why == NULL, "%s", why);
}
END_TEST

static void
add_tests (Suite *suite)
{
  fit_add_property (suite, "frontier", budgets_of_the_frontier_give_its_points);
  fit_add_property (suite, "smallest", the_smallest_budget_is_exact);
  fit_add_property (suite, "bytes", more_bytes);
  fit_add_property (suite, "macs", more_macs);
  fit_add_property (suite, "time", more_time);
  fit_add_property (suite, "inputs", excluded_inputs);
  fit_add_property (suite, "threads", fewer_threads);
  fit_add_property (suite, "even", uneven_strips);
  cleave_add_case (suite, "memo", a_budget_does_not_change_the_least_memory, NULL);
}

CLEAVE_TEST_SUITE ("invariants", add_tests)
