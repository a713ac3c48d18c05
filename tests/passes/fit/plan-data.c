/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans of the fit as data: a plan that is read equals the plan that was written. A plan with
 * random changes is refused, or its split graph has the bits of the unsplit graph. */

#include "fitted.h"
#include "networks.h"

static CleaveFitPlan *
read_plan (const CleaveGraph *graph, GVariant *data)
{
  g_autoptr (GError) error = NULL;
  CleaveFitPlan *plan = cleave_fit_plan_new_from_data (graph, data, &error);

  cleave_assert_no_error (error);
  return plan;
}

static void
assert_same_totals (const CleaveFitPlan *plan, const CleaveFitPlan *again)
{
  const CleaveFitTotals *a = cleave_fit_plan_get_totals (plan);
  const CleaveFitTotals *b = cleave_fit_plan_get_totals (again);

  ck_assert_int_eq (a->arena_before, b->arena_before);
  ck_assert_int_eq (a->arena_after, b->arena_after);
  ck_assert_int_eq (a->macs_after, b->macs_after);
  ck_assert_uint_eq (a->nodes_after, b->nodes_after);
  ck_assert_str_eq (cleave_fit_plan_get_peak (plan), cleave_fit_plan_get_peak (again));
}

static void
assert_same_graph (const CleaveGraph *graph, const CleaveFitPlan *plan, const CleaveFitPlan *again)
{
  g_autoptr (CleaveGraph) first = apply (graph, plan), second = apply (graph, again);
  g_autofree char *a = cleave_graph_print (first), *b = cleave_graph_print (second);

  ck_assert_str_eq (a, b);
}

static CleaveFitOptions
draw_options (guint32 seed)
{
  return (CleaveFitOptions){ .n_threads = seed % 5 == 1 ? 2 : 1,
                             .exclude_inputs = seed % 3 == 0,
                             .even_strips = seed % 4 == 3 };
}

START_TEST (plans_are_read_as_they_were_written)
{
  guint n_segments = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (24); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      const CleaveFitOptions options = draw_options (seed);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error), again = NULL;
      g_autoptr (GVariant) data = NULL, copy = NULL;

      cleave_assert_no_error (error);
      data = cleave_fit_plan_to_data (plan);
      again = read_plan (graph, data);
      copy = cleave_fit_plan_to_data (again);
      ck_assert_msg (g_variant_equal (data, copy), "seed %u", seed);
      assert_same_totals (plan, again);
      assert_same_graph (graph, plan, again);
      n_segments += cleave_fit_plan_get_n_segments (again);
    }
  ck_assert_uint_gt (n_segments, 2);
}
END_TEST

/* Returns the arena of a run of the graph, counted as the plan counts memory. */
static gint64
find_arena (const CleaveFitPlan *plan, const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveMemoryTimeline) timeline = cleave_fit_plan_dup_timeline (plan, graph, &error);

  cleave_assert_no_error (error);
  return timeline->arena_bytes;
}

START_TEST (timelines_have_the_arenas_of_their_plans)
{
  guint n_excluded = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (24); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed), split = NULL;
      const CleaveFitOptions options = draw_options (seed);
      g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, NULL);
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
      CleaveEstimate counted;

      split = apply (graph, plan);
      ck_assert_int_eq (find_arena (plan, graph), totals->arena_before);
      ck_assert_int_eq (find_arena (plan, split), totals->arena_after);
      ck_assert (cleave_graph_estimate (graph, options.n_threads, &counted, NULL));
      ck_assert_int_ge (counted.arena_bytes, totals->arena_before);
      n_excluded += counted.arena_bytes > totals->arena_before;
    }
  ck_assert_uint_gt (n_excluded, 0);
}
END_TEST

static GVariant *
draw_value (GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      return g_variant_new_int64 (g_rand_int_range (rand, -2, 9));
    case 1:
      return g_variant_new_int64 (g_rand_boolean (rand) ? G_MAXINT64 : G_MININT64);
    case 2:
      return g_variant_new_string ("no node");
    case 3:
      return g_variant_new_boolean (g_rand_boolean (rand));
    case 4:
      return g_variant_new_array (G_VARIANT_TYPE_VARIANT, NULL, 0);
    default:
      return g_variant_new_array (G_VARIANT_TYPE ("{sv}"), NULL, 0);
    }
}

/* Returns a copy of a tree of values. Replaces values, and removes or doubles entries, each with
 * the probability `rate`. */
static GVariant *
change (GVariant *value, double rate, GRand *rand)
{
  GVariantBuilder builder;
  gboolean is_list = g_variant_is_of_type (value, G_VARIANT_TYPE ("av"));

  if (g_rand_double (rand) < rate)
    return g_variant_take_ref (draw_value (rand));
  if (!is_list && !g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT))
    return g_variant_ref (value);
  g_variant_builder_init (&builder, g_variant_get_type (value));
  for (gsize i = 0; i < g_variant_n_children (value); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);
      g_autoptr (GVariant) key = is_list ? NULL : g_variant_get_child_value (child, 0);
      g_autoptr (GVariant) boxed =
          is_list ? g_variant_ref (child) : g_variant_get_child_value (child, 1);
      g_autoptr (GVariant) inner = g_variant_get_variant (boxed);
      guint n = g_rand_double (rand) < rate ? (guint) g_rand_int_range (rand, 0, 3) : 1;

      for (guint k = 0; k < n; k++)
        {
          g_autoptr (GVariant) other = change (inner, rate, rand);

          if (is_list)
            g_variant_builder_add (&builder, "v", other);
          else
            g_variant_builder_add (&builder, "{sv}", g_variant_get_string (key, NULL), other);
        }
    }
  return g_variant_take_ref (g_variant_builder_end (&builder));
}

/* Reads and applies changed data of a plan. Asserts that the data is refused, or that the graph
 * keeps its bits. Returns whether the data was read. */
static gboolean
check_changed (const CleaveGraph *graph, GVariant *data, guint32 seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new_from_data (graph, data, &error);
  g_autoptr (GPtrArray) inputs = NULL, whole = NULL, parts = NULL;
  g_autoptr (CleaveGraph) split = NULL;

  if (plan == NULL)
    {
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
      return FALSE;
    }
  split = apply (graph, plan);
  inputs = run_random_inputs (graph, seed);
  whole = run_graph (graph, inputs, 1);
  parts = run_graph (split, inputs, 1);
  ck_assert_msg (cleave_compare_outputs (whole, parts) < 0, "seed %u", seed);
  return TRUE;
}

START_TEST (changed_plans_are_refused_or_keep_the_bits)
{
  guint n_read = 0, n_refused = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (12); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      const CleaveFitOptions options = draw_options (seed);
      g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, NULL);
      g_autoptr (GVariant) data = cleave_fit_plan_to_data (plan);
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

      for (guint i = 0; i < 40; i++)
        {
          g_autoptr (GVariant) changed = change (data, i % 2 == 0 ? 0.005 : 0.03, rand);
          gboolean is_read = check_changed (graph, changed, seed);

          n_read += is_read ? 1 : 0;
          n_refused += is_read ? 0 : 1;
        }
    }
  ck_assert_uint_gt (n_read, 5);
  ck_assert_uint_gt (n_refused, 10);
}
END_TEST

/* Returns the plan of the first random network whose plan has a segment. Which network this is
 * depends on the kernels of the machine. */
static CleaveFitPlan *
make_plan_with_segments (void)
{
  const CleaveFitOptions options = { 0 };

  for (guint32 seed = 0; seed < 50; seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, NULL);

      if (cleave_fit_plan_get_n_segments (plan) > 0)
        return g_steal_pointer (&plan);
    }
  ck_abort_msg ("no plan has a segment");
  return NULL;
}

START_TEST (plans_for_another_graph_are_refused)
{
  g_autoptr (CleaveGraph) other = cleave_graph_new ("other");
  g_autoptr (CleaveFitPlan) plan = make_plan_with_segments (), none = NULL;
  g_autoptr (GVariant) data = cleave_fit_plan_to_data (plan);
  g_autoptr (GError) error = NULL;

  run_output (other, run_unary (other, "Relu", run_input (other, &CLEAVE_SHAPE (4, 4))));
  none = cleave_fit_plan_new_from_data (other, data, &error);
  ck_assert_ptr_null (none);
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  ck_assert_ptr_nonnull (strstr (error->message, "the plan is for another graph"));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "data", plans_are_read_as_they_were_written, timelines_have_the_arenas_of_their_plans,
      changed_plans_are_refused_or_keep_the_bits, plans_for_another_graph_are_refused, NULL);
}

CLEAVE_TEST_SUITE ("fit-plan-data", add_tests)
