/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks properties that plans of each search for a memory budget must have. This file defines the
 * networks, the limits of the searches, and the properties that are known to fail on a network.
 * Uses only the public functions of cleave-fit.h to search. */

#include "fit-properties.h"

#include "fit-graphs.h"

/* The number of networks of each class. */
#define N_SEEDS CLEAVE_TRIALS (1)
/* Two estimated times count as equal if their relative difference is at most this number. */
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

/* A known failure: a property of the search that does not hold for one network. Remove the entry as
 * soon as the property holds. */
typedef struct
{
  const char *property, *network;
  guint32 seed;
  const char *reason;
} KnownFailure;

/* The reason of most entries of known_failures. One search measures plans for one number of
 * threads, and either with even or with uneven strips. With another setting, the library runs
 * another search, and does not compare the plans of the two searches. */
#define TARGETS "plans for each number of threads and for even strips are measured apart"

static const KnownFailure known_failures[] = {
  { "fewer_threads_need_no_more", "matrix", 0, TARGETS },
  { "fewer_threads_need_no_more", "nhwc", 0, TARGETS },
  { "fewer_threads_need_no_more", "attention", 0, TARGETS },
  { "fewer_threads_need_no_more", "random-images", 0, TARGETS },
  { "fewer_threads_need_no_more", "flat-sequence", 1, TARGETS },
  { "fewer_threads_need_no_more", "volume", 1, TARGETS },
  { "fewer_threads_need_no_more", "joined-blocks", 1, TARGETS },
  { "fewer_threads_need_no_more", "random-graph", 1, TARGETS },
  { "uneven_strips_are_no_worse", "image", 0, TARGETS },
  { "uneven_strips_are_no_worse", "image", 1, TARGETS },
  { "uneven_strips_are_no_worse", "matrix", 0, TARGETS },
  { "excluded_inputs_are_no_worse", "nhwc", 0,
    "without inputs, the planner overlays other values in the same plan" },
  { "plans_keep_their_promises", "bytes", 1,
    "the split graph for two threads takes more once it is read from a file" },
  { NULL, NULL, 0, NULL },
};

static gboolean
is_known (const char *property, const char *network, guint32 seed)
{
  for (const KnownFailure *known = known_failures; known->property != NULL; known++)
    if (g_str_equal (known->property, property) && g_str_equal (known->network, network) &&
        known->seed == seed)
      return TRUE;
  return FALSE;
}

/* Returns whether a property compares plans of different searches. For some networks, a property of
 * this kind holds on one processor and fails on another, since kernels need scratch memory of
 * different sizes. */
static gboolean
compares_searches (const char *property)
{
  for (const KnownFailure *known = known_failures; known->property != NULL; known++)
    if (g_str_equal (known->property, property) && g_str_equal (known->reason, TARGETS))
      return TRUE;
  return FALSE;
}

void
fit_check_property (int index, const char *name, FitProperty property)
{
  const guint class_index = (guint) index / N_SEEDS;
  const guint32 seed = (guint32) index % N_SEEDS;
  const char *network = fit_classes[class_index].name;
  const Limits *under = &limits[(3 * class_index + seed) % G_N_ELEMENTS (limits)];
  g_autoptr (CleaveGraph) graph = fit_classes[class_index].make (seed);
  g_autofree char *why = NULL;

  /* the known failures were found on x86-64 */
  if (CLEAVE_EMULATED && compares_searches (name))
    return;
  why = property (graph, &under->options);
  if (is_known (name, network, seed))
    ck_assert_msg (why != NULL, "{ \"%s\", \"%s\", %u } unexpectedly passes: remove it", name,
                   network, seed);
  else
    ck_assert_msg (why == NULL, "{ \"%s\", \"%s\", %u }, %s: %s", name, network, seed, under->name,
                   why);
}

CleaveFitPlan *
fit_find_plan (const CleaveGraph *graph, const CleaveFitOptions *options, gint64 budget, char **why)
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

gboolean
fit_find_totals (const CleaveGraph *graph,
                 const CleaveFitOptions *options,
                 gint64 budget,
                 CleaveFitTotals *totals,
                 char **why)
{
  g_autoptr (CleaveFitPlan) plan = fit_find_plan (graph, options, budget, why);

  if (plan == NULL)
    return FALSE;
  *totals = *cleave_fit_plan_get_totals (plan);
  return TRUE;
}

char *
fit_describe (const CleaveFitTotals *totals)
{
  return g_strdup_printf (
      "%" G_GINT64_FORMAT " bytes, %u nodes, %" G_GINT64_FORMAT " MACs, %.6g ns",
      totals->arena_after, totals->nodes_after, totals->macs_after, totals->latency_after);
}

gboolean
fit_is_longer (const CleaveFitTotals *a, const CleaveFitTotals *b)
{
  return a->latency_after > b->latency_after * (1 + ROUNDING);
}

void
fit_add_property (Suite *suite, const char *name, const TTest *test)
{
  TCase *tcase = tcase_create (name);
  int n_classes = 0;

  while (fit_classes[n_classes].name != NULL)
    n_classes++;
  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, test, 0, n_classes * N_SEEDS);
  suite_add_tcase (suite, tcase);
}
