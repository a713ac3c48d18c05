/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Deep splits through Reshape, Transpose, Reshape: channel shuffles, windows and heads of
 * attention, and random chains of factors. */

#include "graphs.h"
#include "run-help.h"

#include <string.h>

static const gint64 *
dims_of (const CleaveResult *x)
{
  return cleave_result_get_type (x)->shape.dim;
}

static CleaveResult *
reshape (CleaveResult *x, CleaveInts shape)
{
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_reshape (cleave_node_get_graph (cleave_result_get_node (x)),
                                              NULL, x, &shape, &error);

  cleave_assert_no_error (error);
  return y;
}

static CleaveResult *
transpose (CleaveResult *x, CleaveInts perm)
{
  return cleave_graph_add_transpose (cleave_node_get_graph (cleave_result_get_node (x)), NULL, x,
                                     &perm, NULL);
}

/* Splitting the node before output 0. */

typedef struct
{
  CleaveGraph *graph;
  GPtrArray *inputs, *expected;
} Trial;

static void
trial_init (Trial *trial, CleaveGraph *graph)
{
  *trial = (Trial){ graph, run_random_inputs (graph, 1), NULL };
  trial->expected = run_graph (graph, trial->inputs, 1);
}

static void
trial_clear (Trial *trial)
{
  cleave_graph_unref (trial->graph);
  g_ptr_array_unref (trial->inputs);
  g_ptr_array_unref (trial->expected);
}

static CleaveSplitReport *
split_last (const Trial *trial, const char *dims, gint64 chunks, CleaveRecursion recursion)
{
  g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks (dims, &chunks, 1);
  CleaveNode *last = cleave_result_get_node (
      cleave_operand_get_result (cleave_graph_get_output (trial->graph, 0)));
  g_autoptr (GError) error = NULL;
  CleaveSplitReport *report = cleave_split_node_recursively (last, split, NULL, &recursion, &error);
  g_autoptr (GPtrArray) got = NULL;

  cleave_assert_no_error (error);
  cleave_graph_validate (trial->graph, &error);
  cleave_assert_no_error (error);
  got = run_graph (trial->graph, trial->inputs, 2);
  ck_assert_int_eq (cleave_compare_outputs (trial->expected, got), -1);
  return report;
}

static void
assert_all_split (const CleaveSplitReport *report)
{
  guint n = cleave_split_report_get_n_split (report),
        n_not = cleave_split_report_get_n_not_split (report);
  const CleaveUnsplitNode *stay = n_not == 0 ? NULL : cleave_split_report_get_not_split (report, 0);

  ck_assert_msg (n_not == 0, "%u split, %u not; %s '%s': %s", n, n_not,
                 n_not == 0 ? "" : cleave_op_get_name (stay->op), n_not == 0 ? "" : stay->name,
                 n_not == 0 ? "" : stay->message);
}

/* Channel shuffles. */

static CleaveResult *
conv (CleaveResult *x, gint64 channels, gint64 kernel, gint64 stride)
{
  CleaveGraph *graph = cleave_node_get_graph (cleave_result_get_node (x));
  gint64 from = dims_of (x)[1], pad = kernel / 2;
  CleaveConvAttrs attrs = { .group = channels == 0 ? from : 1,
                            .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  CleaveShape filter =
      CLEAVE_SHAPE (channels == 0 ? from : channels, channels == 0 ? 1 : from, kernel, kernel);
  CleaveResult *w = run_constant (graph, &filter, cleave_graph_get_n_nodes (graph));

  return cleave_graph_add_conv (graph, NULL, x, w, NULL, &attrs, NULL);
}

static CleaveResult *
branch (CleaveGraph *graph, CleaveResult *x, gint64 channels, gint64 stride)
{
  x = run_unary (graph, "Relu", conv (x, channels, 1, 1));
  x = conv (x, 0, 3, stride);
  return run_unary (graph, "Relu", conv (x, channels, 1, 1));
}

/* Concat, and channels a0 a1 … b0 b1 … become a0 b0 a1 b1 … */
static CleaveResult *
shuffle (CleaveGraph *graph, CleaveResult *a, CleaveResult *b)
{
  CleaveResult *both[] = { a, b };
  CleaveResult *x = run_concat (graph, both, 2, 1);
  const gint64 *n = dims_of (x);
  CleaveInts whole = CLEAVE_INTS (n[0], n[1], n[2], n[3]);

  x = reshape (x, CLEAVE_INTS (n[0], 2, n[1] / 2, n[2], n[3]));
  return reshape (transpose (x, CLEAVE_INTS (0, 2, 1, 3, 4)), whole);
}

/* As ShuffleNetV2: stages of a unit that halves the extents, and units that leave one half of the
 * channels as it is. */
static CleaveGraph *
shuffle_net (gint64 batch)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (batch, 3, 128, 128));

  x = run_unary (graph, "Relu", conv (x, 8, 3, 2));
  for (guint stage = 0; stage < 2; stage++)
    {
      gint64 half = 6 + 4 * stage;

      x = shuffle (graph, conv (conv (x, 0, 3, 2), half, 1, 1), branch (graph, x, half, 2));
      for (guint unit = 0; unit < 3; unit++)
        {
          const gint64 sizes[] = { half, half };
          CleaveNode *split = cleave_graph_add_split (graph, NULL, x, 1, sizes, 2, NULL);

          x = shuffle (graph, cleave_node_get_result (split, 0),
                       branch (graph, cleave_node_get_result (split, 1), half, 1));
        }
    }
  run_output (graph, conv (x, 16, 1, 1));
  return graph;
}

START_TEST (shuffled_channels_do_not_stop_rows)
{
  for (guint i = 0; i < 12; i++)
    {
      CleaveRecursion recursion = { .depth = 1000, .halo = (CleaveHalo) (i % 3) };
      g_autoptr (CleaveSplitReport) report = NULL;
      const CleaveSplitTotals *totals;
      Trial trial;

      trial_init (&trial, shuffle_net (1 + i % 2));
      report = split_last (&trial, i / 6 == 0 ? "2" : "3", i / 6 == 0 ? 2 + i / 3 : 2, recursion);
      totals = cleave_split_report_get_totals (report);
      assert_all_split (report);
      if (recursion.halo != CLEAVE_HALO_RECOMPUTE)
        ck_assert_int_eq (totals->macs_after, totals->macs_before);
      trial_clear (&trial);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "chains", shuffled_channels_do_not_stop_rows, NULL);
}

CLEAVE_TEST_MAIN ("split-chains", add_tests)
