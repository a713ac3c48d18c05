/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests properties that every search for a memory budget must have, on random networks of every
 * class.  Uses only the public functions of cleave-fit.h to search. */

#define _GNU_SOURCE /* declares CPU_SET and sched_setaffinity () */

#include "fit-graphs.h"
#include "graphs.h"
#include "run-help.h"

#include <sched.h>
#include <string.h>

/* The number of networks of each class. */
#define N_SEEDS CLEAVE_TRIALS (1)
/* The number of budgets between the least memory and the memory of the unsplit graph. */
#define N_BUDGETS 3
/* The largest number of points of a frontier whose arenas are tried as budgets. */
#define MAX_POINTS 3
/* Two estimated times are equal if their relative difference is at most this number. */
#define ROUNDING 1e-9

typedef struct
{
  const char *name;
  CleaveFitOptions options;
} Limits;

static const Limits limits[] = {
  { "none", { 0 } },
  { "no added MACs, inputs excluded",
    { .max_added_macs = CLEAVE_NOTHING_ADDED, .exclude_inputs = TRUE } },
  { "10 % MACs, two threads", { .max_added_macs = 0.1, .n_threads = 2 } },
  { "20 % time", { .max_added_latency = 0.2 } },
  { "even strips", { .even_strips = TRUE } },
};

/* A property that the search does not have for a network. Remove the entry as soon as the property
 * holds. */
typedef struct
{
  const char *property, *network;
  guint32 seed;
  const char *reason;
} KnownFailure;

/* One search serves all limits for one number of threads, one choice of even strips and one choice
 * of excluded inputs. Plans of different searches are not compared. */
#define TARGETS                                                                                    \
  "plans for each number of threads, for even strips and for excluded inputs are measured apart"

static const KnownFailure known_failures[] = {
  { "fewer_threads_need_no_more", "matrix", 0, TARGETS },
  { "fewer_threads_need_no_more", "nhwc", 0, TARGETS },
  { "fewer_threads_need_no_more", "random-images", 0, TARGETS },
  { "fewer_threads_need_no_more", "flat-sequence", 1, TARGETS },
  { "fewer_threads_need_no_more", "volume", 1, TARGETS },
  { "fewer_threads_need_no_more", "joined-blocks", 1, TARGETS },
  { "fewer_threads_need_no_more", "random-graph", 1, TARGETS },
  { "uneven_strips_are_no_worse", "image", 0, TARGETS },
  { "uneven_strips_are_no_worse", "image", 1, TARGETS },
  { "uneven_strips_are_no_worse", "matrix", 0, TARGETS },
  { "excluded_inputs_are_no_worse", "nhwc", 0, TARGETS },
  { "excluded_inputs_are_no_worse", "joined-blocks", 0, TARGETS },
  { "plans_keep_their_promises", "bytes", 1,
    "the split graph for two threads takes more once it is read from a file" },
  { NULL, NULL, 0, NULL },
};

/* Checks a property. Returns NULL if it holds, or a message about the contradiction. */
typedef char *(*Property) (const CleaveGraph *graph, const CleaveFitOptions *options);

static gboolean
is_known (const char *property, const char *network, guint32 seed)
{
  for (const KnownFailure *known = known_failures; known->property != NULL; known++)
    if (g_str_equal (known->property, property) && g_str_equal (known->network, network) &&
        known->seed == seed)
      return TRUE;
  return FALSE;
}

/* Checks a property on the network with this index. The limits alternate from index to index. */
static void
check_network (int index, const char *property, Property holds)
{
  const guint class_index = (guint) index / N_SEEDS;
  const guint32 seed = (guint32) index % N_SEEDS;
  const char *network = fit_classes[class_index].name;
  const Limits *under = &limits[(3 * class_index + seed) % G_N_ELEMENTS (limits)];
  g_autoptr (CleaveGraph) graph = fit_classes[class_index].make (seed);
  g_autofree char *why = holds (graph, &under->options);

  if (is_known (property, network, seed))
    ck_assert_msg (why != NULL, "{ \"%s\", \"%s\", %u } unexpectedly passes: remove it", property,
                   network, seed);
  else
    ck_assert_msg (why == NULL, "{ \"%s\", \"%s\", %u }, %s: %s", property, network, seed,
                   under->name, why);
}

static CleaveFitPlan *
find_plan (const CleaveGraph *graph, const CleaveFitOptions *options, gint64 budget, char **why)
{
  CleaveFitOptions asked = *options;
  g_autoptr (GError) error = NULL;
  CleaveFitPlan *plan;

  asked.max_memory = budget;
  plan = cleave_fit_plan_new (graph, &asked, &error);
  if (plan == NULL && why != NULL && *why == NULL)
    *why = g_strdup_printf ("%" G_GINT64_FORMAT " bytes: %s", budget, error->message);
  return plan;
}

/* Finds a plan and copies its totals. Returns FALSE and sets `*why` if no plan was found. */
static gboolean
find_totals (const CleaveGraph *graph,
             const CleaveFitOptions *options,
             gint64 budget,
             CleaveFitTotals *totals,
             char **why)
{
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, options, budget, why);

  if (plan == NULL)
    return FALSE;
  *totals = *cleave_fit_plan_get_totals (plan);
  return TRUE;
}

static char *
describe (const CleaveFitTotals *totals)
{
  return g_strdup_printf (
      "%" G_GINT64_FORMAT " bytes, %u nodes, %" G_GINT64_FORMAT " MACs, %.6g ns",
      totals->arena_after, totals->nodes_after, totals->macs_after, totals->latency_after);
}

static gboolean
is_longer (const CleaveFitTotals *a, const CleaveFitTotals *b)
{
  return a->latency_after > b->latency_after * (1 + ROUNDING);
}

/* Returns whether the plan of the looser limit, `loose`, is worse than the plan of the tighter
 * limit: slower, or as fast with more MACs. */
static gboolean
is_worse (const CleaveFitTotals *loose, const CleaveFitTotals *tight)
{
  return is_longer (loose, tight) ||
         (loose->macs_after > tight->macs_after && !is_longer (tight, loose));
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
          (best == NULL || is_longer (best, totals) ||
           (!is_longer (totals, best) && totals->arena_after < best->arena_after)))
        best = totals;
    }
  return best;
}

static gboolean
is_same_point (const CleaveFitTotals *a, const CleaveFitTotals *b)
{
  return a->arena_after == b->arena_after && a->nodes_after == b->nodes_after &&
         a->macs_after == b->macs_after && !is_longer (a, b) && !is_longer (b, a);
}

static char *
check_point (const CleaveGraph *graph,
             const CleaveFitOptions *options,
             const GPtrArray *frontier,
             gint64 budget)
{
  const CleaveFitTotals *point = find_fastest (frontier, budget);
  g_autofree char *expected = describe (point), *found = NULL;
  CleaveFitTotals totals;
  char *why = NULL;

  if (!find_totals (graph, options, budget, &totals, &why) || is_same_point (&totals, point))
    return why;
  found = describe (&totals);
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
  if (why != NULL || !find_totals (graph, options, 0, &least, &why))
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

  if (!find_totals (graph, options, 0, &least, &why) || least.arena_after <= 1 ||
      !find_totals (graph, options, least.arena_after, &asked, &why))
    return why;
  if (asked.arena_after > least.arena_after)
    return g_strdup_printf ("%" G_GINT64_FORMAT " bytes give %" G_GINT64_FORMAT, least.arena_after,
                            asked.arena_after);
  why = check_refusal (graph, options, least.arena_after - 1, least.arena_after);
  return why != NULL ? why
                     : check_refusal (graph, options, 2 * least.arena_after / 3, least.arena_after);
}

/* The functions below check that looser limits give no worse plans. */

/* Checks that plans for more bytes are not slower, nor as fast with more MACs. */
static char *
more_bytes_are_no_worse (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  CleaveFitTotals least, tight, loose;
  char *why = NULL;

  if (!find_totals (graph, options, 0, &least, &why))
    return why;
  tight = least;
  for (guint i = 0; i <= N_BUDGETS; i++)
    {
      gint64 budget = least.arena_after + i * (least.arena_before - least.arena_after) / N_BUDGETS;

      if (budget < 1)
        continue;
      if (!find_totals (graph, options, budget, &loose, &why))
        return why;
      if (loose.arena_after > budget || (i > 0 && is_worse (&loose, &tight)))
        {
          g_autofree char *a = describe (&tight), *b = describe (&loose);

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

  if (!find_totals (graph, tighter, 0, &tight, &why) ||
      !find_totals (graph, looser, 0, &loose, &why))
    return why;
  if (loose.arena_after > tight.arena_after)
    return g_strdup_printf ("%" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT " with a tighter limit",
                            loose.arena_after, tight.arena_after);
  if (!compares_time || tight.arena_after < 1)
    return NULL;
  if (!find_totals (graph, tighter, tight.arena_after, &tight, &why) ||
      !find_totals (graph, looser, tight.arena_after, &loose, &why))
    return why;
  return is_longer (&loose, &tight)
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

/* Compares bytes only: times of different numbers of threads cannot be compared. */
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

/* The functions below check that a search always finds the same plan. */

static char *
print_names (const char *const *names, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, " %s", names[i]);
  return g_string_free (text, FALSE);
}

/* Returns a text of all properties of a plan and of the graph that it splits. */
static char *
print_plan (const CleaveGraph *graph, const CleaveFitOptions *options, gint64 budget, char **why)
{
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, options, budget, why);
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *totals = NULL, *split = NULL;

  if (plan == NULL)
    return NULL;
  cleave_split_report_unref (cleave_fit_plan_apply (plan, copy, NULL));
  totals = describe (cleave_fit_plan_get_totals (plan));
  split = cleave_graph_print (copy);
  g_string_append_printf (text, "%s, %s\n", totals, cleave_fit_plan_get_peak (plan));
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    {
      const CleaveFitSegment *segment = cleave_fit_plan_get_segment (plan, i);
      g_autofree char *nodes = print_names (segment->nodes, segment->n_nodes);
      g_autofree char *ends = print_names (segment->ends, segment->n_ends);

      g_string_append_printf (
          text, "%s to%s: %ux%u %d %d, %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT " MACs\n",
          nodes, ends, segment->n_strips, segment->n_columns, (int) segment->halo,
          (int) segment->column_halo, segment->n_bytes, segment->added_macs);
    }
  g_string_append (text, split);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* A progress function that delays its thread, so that the other threads of the search are ahead of
 * it. */
static void
wait_a_little (double part, gpointer data)
{
  g_usleep (200);
}

/* Checks that the search finds the same plan on one processor, with a progress function that delays
 * the search, and after other searches. */
static char *
plans_are_the_same (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  CleaveFitOptions slow = *options;
  g_autofree char *plain = NULL, *alone = NULL, *lagging = NULL, *later = NULL;
  cpu_set_t all, one;
  CleaveFitTotals totals;
  char *why = NULL;
  gint64 budget;

  if (!find_totals (graph, options, 0, &totals, &why))
    return why;
  budget = MAX ((totals.arena_before + totals.arena_after) / 2, 1);
  plain = print_plan (graph, options, budget, &why);
  ck_assert_int_eq (sched_getaffinity (0, sizeof all, &all), 0);
  CPU_ZERO (&one);
  for (guint cpu = 0; CPU_COUNT (&one) == 0; cpu++)
    if (CPU_ISSET (cpu, &all))
      CPU_SET (cpu, &one);
  sched_setaffinity (0, sizeof one, &one);
  alone = print_plan (graph, options, budget, &why);
  sched_setaffinity (0, sizeof all, &all);
  slow.watch = wait_a_little;
  lagging = print_plan (graph, &slow, budget, &why);
  later = print_plan (graph, options, budget, &why);
  if (why != NULL)
    return why;
  return g_strcmp0 (plain, alone) != 0     ? g_strdup ("one thread finds another plan")
         : g_strcmp0 (plain, lagging) != 0 ? g_strdup ("a slow caller finds another plan")
         : g_strcmp0 (plain, later) != 0   ? g_strdup ("a later call finds another plan")
                                           : NULL;
}

/* The functions below check that split graphs have the figures of their plans. */

/* Checks that the split graph needs at most the memory of the plan and computes the bits of the
 * unsplit graph. Checks the same for the graph that is read from a file of the split graph. */
static char *
check_split (const CleaveGraph *graph,
             const CleaveFitOptions *options,
             const CleaveFitPlan *plan,
             gboolean has_file)
{
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  const guint n_threads = MAX (options->n_threads, 1);
  g_autoptr (CleaveGraph) split = cleave_graph_copy (graph), again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, split, &error);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), whole = NULL;
  const CleaveSplitTotals *peaks;
  gint64 bytes, file_bytes;

  cleave_assert_no_error (error);
  ck_assert (cleave_graph_validate (split, &error));
  again = fit_through_file (split);
  bytes = fit_measure (split, n_threads, options->exclude_inputs);
  file_bytes = has_file ? fit_measure (again, n_threads, options->exclude_inputs) : 0;
  if (bytes > totals->arena_after || file_bytes > totals->arena_after ||
      cleave_graph_get_macs (split) != totals->macs_after ||
      cleave_graph_count_operators (split) != totals->nodes_after)
    return g_strdup_printf (
        "the plan has %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT
        " MACs, %u nodes, the graph %" G_GINT64_FORMAT " bytes, from a file %" G_GINT64_FORMAT
        ", %" G_GINT64_FORMAT " MACs, %u nodes",
        totals->arena_after, totals->macs_after, totals->nodes_after, bytes, file_bytes,
        cleave_graph_get_macs (split), cleave_graph_count_operators (split));
  peaks = cleave_split_report_get_totals (report);
  if (n_threads == 1 && (peaks->peak_bytes_before > totals->arena_before ||
                         peaks->peak_bytes_after > totals->arena_after))
    return g_strdup_printf ("the report has peaks of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                            " bytes, the plan arenas of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
                            peaks->peak_bytes_before, peaks->peak_bytes_after, totals->arena_before,
                            totals->arena_after);
  whole = run_graph (graph, inputs, 1);
  for (guint n = 1; n <= 2; n++)
    {
      g_autoptr (GPtrArray) outputs = run_graph (n == 1 ? split : again, inputs, n);

      if (cleave_compare_outputs (whole, outputs) >= 0)
        return g_strdup_printf ("other bits with %u threads", n);
    }
  return NULL;
}

/* Checks that split graphs have the figures of their plans. The graph is written to a file and read
 * first. A file has Transposes around nodes of layout NHWC, so the read graph needs another amount
 * of memory. For a graph with such nodes, checks the graph that was built. Returns NULL or a
 * message. */
static char *
plans_keep_their_promises (const CleaveGraph *built, const CleaveFitOptions *options)
{
  g_autoptr (CleaveGraph) read = fit_through_file (built);
  gboolean has_file = cleave_graph_count_operators (read) == cleave_graph_count_operators (built);
  const CleaveGraph *graph = has_file ? read : built;
  g_autoptr (CleaveFitPlan) least = NULL, plan = NULL;
  const CleaveFitTotals *totals;
  char *why = NULL;

  least = find_plan (graph, options, 0, &why);
  if (least == NULL)
    return why;
  totals = cleave_fit_plan_get_totals (least);
  if (totals->arena_before !=
      fit_measure (graph, MAX (options->n_threads, 1), options->exclude_inputs))
    return g_strdup ("the plan has another arena before the split than the graph");
  why = check_split (graph, options, least, has_file);
  if (why != NULL)
    return why;
  plan =
      find_plan (graph, options, MAX ((totals->arena_before + totals->arena_after) / 2, 1), &why);
  return plan == NULL ? why : check_split (graph, options, plan, has_file);
}

#define DEFINE_TEST(name, property)                                                                \
  START_TEST (name) { check_network (_i, #property, property); }                                   \
  END_TEST

DEFINE_TEST (budgets_of_the_frontier_give_its_points, frontier_agrees)
DEFINE_TEST (the_smallest_budget_is_exact, smallest_budget_is_exact)
DEFINE_TEST (more_bytes, more_bytes_are_no_worse)
DEFINE_TEST (more_macs, more_macs_are_no_worse)
DEFINE_TEST (more_time, more_time_is_no_worse)
DEFINE_TEST (excluded_inputs, excluded_inputs_are_no_worse)
DEFINE_TEST (fewer_threads, fewer_threads_need_no_more)
DEFINE_TEST (uneven_strips, uneven_strips_are_no_worse)
DEFINE_TEST (plans_depend_on_the_graph_alone, plans_are_the_same)
DEFINE_TEST (programs_take_what_plans_say, plans_keep_their_promises)

/* A graph for which the search with a budget once found another least memory than the search
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
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (POOLED, NULL, &error);
  g_autofree char *why = NULL;

  cleave_assert_no_error (error);
  why = smallest_budget_is_exact (graph, &limits[0].options);
  ck_assert_msg (why == NULL, "%s", why);
}
END_TEST

/* Adds a test case that runs a test on all networks.  CK_RUN_CASE selects it by its name. */
static void
add_property (Suite *suite, const char *name, const TTest *test)
{
  TCase *tcase = tcase_create (name);
  int n_classes = 0;

  while (fit_classes[n_classes].name != NULL)
    n_classes++;
  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, test, 0, n_classes * N_SEEDS);
  suite_add_tcase (suite, tcase);
}

static void
add_tests (Suite *suite)
{
  add_property (suite, "frontier", budgets_of_the_frontier_give_its_points);
  add_property (suite, "smallest", the_smallest_budget_is_exact);
  add_property (suite, "bytes", more_bytes);
  add_property (suite, "macs", more_macs);
  add_property (suite, "time", more_time);
  add_property (suite, "inputs", excluded_inputs);
  add_property (suite, "threads", fewer_threads);
  add_property (suite, "even", uneven_strips);
  add_property (suite, "same", plans_depend_on_the_graph_alone);
  add_property (suite, "promises", programs_take_what_plans_say);
  cleave_add_case (suite, "memo", a_budget_does_not_change_the_least_memory, NULL);
}

CLEAVE_TEST_SUITE ("invariants", add_tests)
