/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans of bundles: rings, overlays, limits and options. */

#include "networks.h"
#include "test.h"

#include <string.h>

#include "../../lib/bundle/bundle.h"

static const NetworkConv stem = { 8, 1, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 0, 0, 1, 1 } };
static const NetworkConv depthwise = { 8, 8, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } };
static const NetworkConv pointwise = { 16, 1, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 } };

/* Makes a chain of three convolutions. The input has 96 rows, 96 columns and 3 channels. The first
 * convolution computes 48 rows, 48 columns and 8 channels, the second is depthwise, and the third
 * is a 1x1 convolution to 16 channels. */
static CleaveGraph *
make_chain (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  CleaveGraph *graph = cleave_graph_new ("chain");
  CleaveResult *x = network_input (graph, 96, 96, 3);

  x = network_conv (graph, x, &stem, rand);
  x = network_conv (graph, x, &depthwise, rand);
  x = network_conv (graph, x, &pointwise, rand);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

/* Makes a chain of `n` depthwise convolutions on images of 20 rows, 20 columns and 8 channels. */
static CleaveGraph *
make_row (guint n)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  CleaveGraph *graph = cleave_graph_new ("row");
  CleaveResult *x = network_input (graph, 20, 20, 8);

  for (guint i = 0; i < n; i++)
    x = network_conv (graph, x, &depthwise, rand);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

static CleaveBundle *
make (const CleaveGraph *graph, const CleaveBundleOptions *options)
{
  g_autoptr (GError) error = NULL;
  CleaveBundle *bundle = cleave_bundle_new (graph, options, &error);

  cleave_assert_no_error (error);
  return bundle;
}

START_TEST (rings_have_the_rows_that_their_readers_need)
{
  g_autoptr (CleaveGraph) graph = make_chain ();
  CleaveBundleIo in = { NULL, CLEAVE_BUNDLE_ROWS }, out = { NULL, CLEAVE_BUNDLE_APART };
  CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED,
                            .inputs = &in,
                            .n_inputs = 1,
                            .outputs = &out,
                            .n_outputs = 1 };
  g_autoptr (CleaveBundle) bundle = make (graph, &o);

  /* The arena holds 3 rows of the input (96 columns, 3 channels), and 4 rows with 48 columns and 8
   * channels: 3 for the depthwise convolution and 1 for the 1x1 convolution. */
  ck_assert_int_eq (bundle->stats.arena_bytes, 3 * 96 * 3 + 3 * 48 * 8 + 48 * 8);
  ck_assert_uint_eq (bundle->stats.n_segments, 1);
}
END_TEST

START_TEST (an_end_overlays_its_operand_two_rows_apart)
{
  g_autoptr (CleaveGraph) graph = make_row (1);
  g_autoptr (CleaveBundle) bundle = make (graph, NULL);

  /* The arena has 22 rows of 20 columns and 8 channels: the 20 rows of the operand, and two more
   * rows, since the result begins two rows from the begin of the operand. Row r of the result may
   * not overwrite the rows r - 1 to r + 1 of the operand, which the 3x3 convolution reads for row
   * r. */
  ck_assert_int_eq (bundle->stats.arena_bytes, 22 * 20 * 8);
}
END_TEST

START_TEST (a_chain_of_overlays_moves_to_and_fro)
{
  g_autoptr (CleaveGraph) graph = make_row (6);
  g_autoptr (CleaveBundle) bundle = make (graph, NULL);
  gint upward = 0;

  for (guint i = 0; i < bundle->plan->segments->len; i++)
    upward += g_array_index (bundle->plan->segments, CleaveBundleSegment, i).is_upward;
  ck_assert_int_eq (bundle->stats.arena_bytes, 22 * 20 * 8);
  ck_assert_int_eq (upward, 3);
}
END_TEST

/* A segment has at most 96 layers, so two segments compute the chain of 97 layers. The two segments
 * need memory for one whole value, the input and rings of one row. In another plan, each layer
 * would write its result over its operand (an overlay). The other plan would have the same peak,
 * but a larger arena, since the offset of each overlay depends on the overlay before it. */
START_TEST (a_long_chain_needs_little_more_than_one_value)
{
  g_autoptr (GString) text = g_string_new ("%x = Input : float32 1x1x256x8\n"
                                           "%w = Constant seed=1 : float32 4x1x1x1\n"
                                           "%u = Constant seed=2 : float32 4x4x1x1\n"
                                           "%v0 = Conv %x, %w\n");
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 1; i < 97; i++)
    g_string_append_printf (
        text, i % 3 == 0 ? "%%v%u = Sigmoid %%v%u\n" : "%%v%u = Conv %%v%u, %%u\n", i, i - 1);
  g_string_append (text, "output %v96\n");
  graph = cleave_graph_parse (text->str, NULL, &error);
  cleave_assert_no_error (error);
  bundle = make (graph, NULL);
  ck_assert_int_le (bundle->stats.arena_bytes, 256 * 8 * 4 * 4 + 256 * 8 * 4);
}
END_TEST

START_TEST (a_test_program_expects_infinite_outputs)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse ("%x = Input : float32 1x3\n"
                                                      "%a = Exp %x\n"
                                                      "%b = Exp %a\n"
                                                      "%c = Exp %b\n"
                                                      "%d = Exp %c\n"
                                                      "%e = Exp %d\n"
                                                      "%y = Neg %e\n"
                                                      "output %e\n"
                                                      "output %y\n",
                                                      NULL, NULL);
  g_autoptr (CleaveBundle) bundle = make (graph, NULL);

  ck_assert_int_eq (network_check (bundle, "-O1"), 0);
}
END_TEST

START_TEST (the_least_is_accepted_and_one_byte_less_refused)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (40); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      CleaveBundleOptions o = { .max_added_macs = seed % 2 == 0 ? CLEAVE_NOTHING_ADDED : 0 };
      g_autoptr (CleaveBundle) least = make (graph, &o);
      g_autoptr (CleaveBundle) again = NULL, less = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *name = g_strdup_printf ("%" G_GINT64_FORMAT, least->stats.arena_bytes);

      o.max_memory = least->stats.arena_bytes;
      again = make (graph, &o);
      ck_assert_int_eq (again->stats.arena_bytes, least->stats.arena_bytes);
      o.max_memory--;
      less = cleave_bundle_new (graph, &o, &error);
      ck_assert_ptr_null (less);
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
      ck_assert_ptr_nonnull (strstr (error->message, name));
    }
}
END_TEST

START_TEST (more_macs_and_values_apart_take_no_more_memory)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (40); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      CleaveBundleIo apart = { NULL, CLEAVE_BUNDLE_APART };
      CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED };
      g_autoptr (CleaveBundle) first = make (graph, &o);
      g_autoptr (CleaveBundle) macs = NULL, inputs = NULL;

      o.max_added_macs = 0.5;
      macs = make (graph, &o);
      ck_assert_int_le (macs->stats.arena_bytes, first->stats.arena_bytes);
      ck_assert_int_le (first->stats.arena_bytes, first->stats.unsplit_bytes);
      o = (CleaveBundleOptions){ .max_added_macs = CLEAVE_NOTHING_ADDED,
                                 .inputs = &apart,
                                 .n_inputs = 1 };
      inputs = make (graph, &o);
      ck_assert_int_le (inputs->stats.arena_bytes, first->stats.arena_bytes);
    }
}
END_TEST

static gboolean
lay_out (CleaveBundleFlow *flow, guint first, guint end, guint n_bands, gboolean upward)
{
  return upward ? cleave_bundle_flow_run_upward (flow, first, end)
                : cleave_bundle_flow_run (flow, first, end, n_bands);
}

/* Computes the order of a segment's rows twice: `walk` row by row, and `skip` with shortcuts for
 * rows that repeat a pattern. Asserts equal results. Returns the number of skipped rows. */
static gint64
check_shortcuts (CleaveBundleFlow *walk,
                 CleaveBundleFlow *skip,
                 guint first,
                 guint end,
                 guint n_bands,
                 gboolean upward)
{
  gint64 before = skip->n_skipped;
  gboolean done;

  done = lay_out (walk, first, end, n_bands, upward);
  ck_assert_int_eq (done, lay_out (skip, first, end, n_bands, upward));
  if (!done)
    return 0;
  for (guint i = 0; i < end - first; i++)
    ck_assert_msg (walk->slots[i].capacity == skip->slots[i].capacity,
                   "steps %u to %u, %u bands: step %u needs %d rows, not %d", first, end, n_bands,
                   first + i, (int) walk->slots[i].capacity, (int) skip->slots[i].capacity);
  ck_assert_int_eq (walk->segment.ring_bytes, skip->segment.ring_bytes);
  ck_assert_uint_eq (walk->segment.overlay.value, skip->segment.overlay.value);
  ck_assert_int_eq (walk->segment.overlay.lag, skip->segment.overlay.lag);
  return skip->n_skipped - before;
}

START_TEST (rings_are_the_same_if_rows_of_a_steady_state_are_skipped)
{
  guint n_skips[2] = { 0, 0 };

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (60); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random_rows (seed, 60, 300);
      g_autoptr (CleaveBundle) bundle = make (graph, NULL);
      CleaveBundleFlow walk, skip;
      guint n = bundle->model->steps->len;

      cleave_bundle_flow_init (&walk, bundle->model, 4);
      cleave_bundle_flow_init (&skip, bundle->model, 4);
      walk.walks_all = TRUE;
      for (guint first = 0; first < n; first++)
        for (guint end = first + 1; end <= n; end++)
          {
            for (guint n_bands = 1; n_bands <= 3; n_bands++)
              n_skips[0] += check_shortcuts (&walk, &skip, first, end, n_bands, FALSE) > 0;
            n_skips[1] += check_shortcuts (&walk, &skip, first, end, 1, TRUE) > 0;
          }
      ck_assert_int_eq (walk.n_skipped, 0);
      cleave_bundle_flow_clear (&walk);
      cleave_bundle_flow_clear (&skip);
    }
  ck_assert_uint_gt (n_skips[0], 0);
  ck_assert_uint_gt (n_skips[1], 0);
}
END_TEST

/* Calls check_shortcuts() for all segments in the order of the planner: with 1, 2 and 3 bands, and
 * with rows computed from the last to the first. Returns the number of calls. */
static guint
check_all_segments (CleaveBundleFlow *walk, CleaveBundleFlow *flow)
{
  guint n = 0;

  for (guint end = 1; end <= walk->model->steps->len; end++)
    for (guint first = end; first-- > 0; n += 4)
      {
        for (guint n_bands = 1; n_bands <= 3; n_bands++)
          check_shortcuts (walk, flow, first, end, n_bands, FALSE);
        check_shortcuts (walk, flow, first, end, 1, TRUE);
      }
  return n;
}

START_TEST (rings_are_the_same_if_they_come_from_the_run_of_a_longer_segment)
{
  gint64 n_runs = 0, n_segments = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (60); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random_rows (seed, 20, 100);
      g_autoptr (CleaveBundle) bundle = make (graph, NULL);
      CleaveBundleFlow walk, flow;

      cleave_bundle_flow_init (&walk, bundle->model, 4);
      cleave_bundle_flow_init (&flow, bundle->model, 4);
      walk.walks_all = TRUE;
      n_segments += check_all_segments (&walk, &flow);
      n_runs += flow.n_runs;
      cleave_bundle_flow_clear (&walk);
      cleave_bundle_flow_clear (&flow);
    }
  ck_assert_int_gt (n_segments, 3 * n_runs);
}
END_TEST

/* Asserts that making a bundle of the graph with these options fails with this error code. Returns
 * the error message. */
static char *
refuse (const CleaveGraph *graph, const CleaveBundleOptions *options, CleaveError code)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveBundle) bundle = cleave_bundle_new (graph, options, &error);

  ck_assert_ptr_null (bundle);
  ck_assert (g_error_matches (error, CLEAVE_ERROR, (gint) code));
  return g_strdup (error->message);
}

START_TEST (wrong_options_are_refused)
{
  g_autoptr (CleaveGraph) graph = make_chain ();
  CleaveBundleIo wrong = { "z", CLEAVE_BUNDLE_APART }, rows = { "y", CLEAVE_BUNDLE_ROWS };
  g_autofree char *name = refuse (graph, &(CleaveBundleOptions){ .inputs = &wrong, .n_inputs = 1 },
                                  CLEAVE_ERROR_OPTION);
  g_autofree char *where = refuse (
      graph, &(CleaveBundleOptions){ .outputs = &rows, .n_outputs = 1 }, CLEAVE_ERROR_OPTION);
  g_autofree char *align =
      refuse (graph, &(CleaveBundleOptions){ .align = 3 }, CLEAVE_ERROR_OPTION);

  ck_assert_str_eq (name, "the graph has no input named 'z'");
  ck_assert_str_eq (where,
                    "an output cannot be supplied row by row; place it in the arena or apart");
  ck_assert_str_eq (align, "align is 3, but must be 4, 8 or 16");
}
END_TEST

START_TEST (a_value_without_elements_is_named)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_parse ("%x = Input : bool 3x6x4x2x1x0  # x\n"
                                                      "%a, %b = Split %x split=2,1\n"
                                                      "output %a\n"
                                                      "output %b\n",
                                                      NULL, NULL);
  g_autofree char *message = refuse (graph, NULL, CLEAVE_ERROR_MODEL);

  ck_assert_str_eq (message, "value 'x' is empty; a bundle needs elements to compute");
}
END_TEST

#define BYTES "%a = Input : int8 4x3\n%b = Input : int8 3x5\n"

START_TEST (graphs_that_a_bundle_cannot_compute_are_refused)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "%x = Input : int8 1x0x4x4\n%y = MaxPool %x kernel_shape=2,2\noutput %y\n", "is empty" },
    { "%x = Input : int8 1x2x4x4\n%c = Constant : int8 2\noutput %c\n",
      "but this one is constant" },
    { "%c = Input : bool 4x4\n%x = Input : int8 4x4\n%y = Input : int8 4x4\n"
      "%s = Where %c, %x, %y\noutput %s\n",
      "more than two operands that vary" },
    { "%x = Input : float32 1x1x40000x1\n%y = MaxPool %x kernel_shape=1,1\noutput %y\n",
      "a bundle can have at most 32767" },
    { "%x = Input : float32 1x1x4x4\n%y, %z = MaxPool %x kernel_shape=2,2\noutput %y\noutput %z\n",
      "more than one result" },
    { "%x = Input : float32 3x3\n%y = Det %x\noutput %y\n",
      "Det 'y': a bundle has no kernel for this operator" },
    { BYTES "%s = Constant seed=1 : float32 4\n%z = Constant value=0 : int8 4\n"
            "%t = Constant value=1 : float32 scalar\n%n = Constant value=0 : int8 scalar\n"
            "%y = QLinearMatMul %a, %s, %z, %b, %t, %n, %t, %n\noutput %y\n",
      "one scale and one zero point for each of a, b and y" },
    { BYTES "%t = Constant value=1e30 : float32 scalar\n%n = Constant value=0 : int8 scalar\n"
            "%u = Constant value=1 : float32 scalar\n"
            "%y = QLinearMatMul %a, %t, %n, %b, %t, %n, %u, %n\noutput %y\n",
      "the scales must be finite" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (cases[i].text, NULL, &error);
      g_autofree char *message = NULL;

      cleave_assert_no_error (error);
      message = refuse (graph, NULL, CLEAVE_ERROR_MODEL);
      ck_assert_msg (strstr (message, cases[i].message) != NULL, "%u: %s", i, message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "plan", rings_have_the_rows_that_their_readers_need,
                   an_end_overlays_its_operand_two_rows_apart, a_chain_of_overlays_moves_to_and_fro,
                   a_long_chain_needs_little_more_than_one_value,
                   the_least_is_accepted_and_one_byte_less_refused,
                   more_macs_and_values_apart_take_no_more_memory,
                   a_test_program_expects_infinite_outputs,
                   rings_are_the_same_if_rows_of_a_steady_state_are_skipped,
                   rings_are_the_same_if_they_come_from_the_run_of_a_longer_segment, NULL);
  cleave_add_case (suite, "refusals", wrong_options_are_refused, a_value_without_elements_is_named,
                   graphs_that_a_bundle_cannot_compute_are_refused, NULL);
}

CLEAVE_TEST_SUITE ("plan", add_tests)
