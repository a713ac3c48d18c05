/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the estimates of segment candidates against measurements. */

#include "found.h"
#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

static double
measure_bytes (const CleaveGraph *graph, const Found *found, const CleaveFitCandidate *segment)
{
  g_autoptr (CleaveFitMeasurement) measured = try_segment (graph, found, segment);

  return (double) measured->part_bytes[0].apart;
}

/* Returns the dimension along which a candidate cuts the last node of its segment. */
static gint
find_dim (const Found *found, const CleaveFitCandidate *segment)
{
  const guint last = found->steps.first_node[segment->end] - 1;

  return cleave_fit_axes_find_dim (&found->steps, last, segment->cut);
}

/* Makes a chain of convolutions on an image of `height` x `width`. Among the segments that are cut
 * into strips, considers the longest segments. Returns the smallest of their estimated bytes. */
static double
find_least_of_strips (gint64 height, gint64 width)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("image");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, height, width));
  g_auto (Found) found = { 0 };
  gint64 least = G_MAXINT64;
  guint longest = 0;

  x = run_conv (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), 24, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 2, 3, CLEAVE_LAYOUT_NCHW));
  find (&found, graph, 0);
  for (guint i = 0; i < found.candidates.candidates->len; i++)
    {
      const CleaveFitCandidate *segment = cleave_fit_candidate (&found.candidates, i);
      const guint length = segment->end - segment->begin;

      if (length < longest || segment->n_columns > 1)
        continue;
      least = length > longest ? segment->n_bytes : MIN (least, segment->n_bytes);
      longest = length;
    }
  ck_assert_uint_ge (longest, 3);
  return (double) least;
}

/* A wide image, which is cut into columns, needs at most 10 % more bytes than a high image. */
START_TEST (wide_images_are_cut_into_columns)
{
  ck_assert_double_le (find_least_of_strips (12, 96), 1.1 * find_least_of_strips (96, 12));
}
END_TEST

/* The operands of a Concat lie in the Concat's buffer. If a segment begins with the Concat, nodes
 * before the segment have filled the whole buffer. So the strips of the segment need memory in
 * addition to the buffer. */
START_TEST (bytes_of_strips_of_a_concat_are_estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("concat");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 32)), *both[2];
  g_auto (Found) found = { 0 };
  guint n = 0;

  both[0] = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW);
  both[1] = run_conv (graph, both[0], 16, 3, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, run_concat (graph, both, 2, 1), 16, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 2, 3, CLEAVE_LAYOUT_NCHW));
  find (&found, graph, 0);
  for (guint i = 0; i < found.candidates.candidates->len; i++)
    {
      const CleaveFitCandidate *segment = cleave_fit_candidate (&found.candidates, i);
      const guint first = found.steps.first_node[segment->begin];

      if (!g_str_equal (cleave_fit_node (&found.steps, first)->node->op->name, "Concat") ||
          segment->n_columns > 1 || find_dim (&found, segment) != 2)
        continue;
      n++;
      ck_assert_double_ge ((double) segment->estimate,
                           0.97 * measure_bytes (graph, &found, segment));
    }
  ck_assert_uint_gt (n, 0);
}
END_TEST

/* Asserts that segments at the end of a graph, in strips or in tiles, need at most `at_most` times
 * the bytes of their estimate. */
static void
assert_pieces_estimated (const CleaveGraph *graph, gboolean in_tiles, double at_most)
{
  g_auto (Found) found = { 0 };
  guint n = 0;

  find (&found, graph, 0);
  for (guint i = found.candidates.first[found.steps.n_steps]; i < found.candidates.candidates->len;
       i++)
    {
      const CleaveFitCandidate *segment = cleave_fit_candidate (&found.candidates, i);
      double measured;

      n += in_tiles || segment->n_columns == 1; /* a graph may have strips and no tiles */
      if (segment->in_bands || in_tiles != (segment->n_columns > 1))
        continue;
      measured = measure_bytes (graph, &found, segment);
      ck_assert_msg (measured <= at_most * (double) segment->estimate,
                     "steps %u to %u in %u x %u strips of cut %u, halo %d: measured %.0f bytes, "
                     "estimated %" G_GINT64_FORMAT,
                     segment->begin, segment->end, segment->n_strips, segment->n_columns,
                     segment->cut, (int) segment->halo, measured, segment->estimate);
    }
  ck_assert_uint_gt (n, 0);
}

static void
assert_estimated (const CleaveGraph *graph, double at_most)
{
  assert_pieces_estimated (graph, FALSE, at_most);
}

/* The first tile of a strip computes all rows that the tiles share. A convolution reads all
 * channels, so tiles of its channels share all nodes before it. */
START_TEST (bytes_of_tiles_of_channels_are_estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("temporal");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 1, 256));

  for (guint i = 0; i < 3; i++)
    x = run_conv (graph, x, 32, 17, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 2, 17, CLEAVE_LAYOUT_NCHW));
  assert_pieces_estimated (graph, TRUE, 1.1);
}
END_TEST

/* Returns x moved by n columns to the right, with zeros in front. */
static CleaveResult *
shift_right (CleaveGraph *graph, CleaveResult *x, gint64 n)
{
  const CleavePadAttrs pads = { .pads = CLEAVE_INTS (0, 0, 0, n, 0, 0, 0, 0) };
  CleaveRange range = cleave_range_whole (&x->type.shape);

  range.dim[3].end -= n;
  x = cleave_graph_add_slice_range (graph, NULL, x, &range, NULL);
  return cleave_test_add (graph, "Pad", NULL, (CleaveResult *[]){ x }, 1, &pads, NULL);
}

/* The cost volume of stereo matching: an image beside a second image that is moved by 0, 1, 2 …
 * columns. Some strips of the Pad read padding only, and the Pad is cut nevertheless. */
START_TEST (bytes_of_shifted_operands_are_estimated)
{
  enum { N_SHIFTS = 10 };
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("cost volume");
  CleaveResult *left =
      run_conv (graph, run_input (graph, &CLEAVE_SHAPE (1, 2, 8, 48)), 16, 3, CLEAVE_LAYOUT_NCHW);
  CleaveResult *right =
      run_conv (graph, run_input (graph, &CLEAVE_SHAPE (1, 2, 8, 48)), 16, 3, CLEAVE_LAYOUT_NCHW);
  CleaveResult *parts[2 * N_SHIFTS];

  for (gint64 i = 0; i < N_SHIFTS; i++)
    {
      parts[2 * i] = left;
      parts[2 * i + 1] = shift_right (graph, right, i);
    }
  left = run_conv (graph, run_concat (graph, parts, 2 * N_SHIFTS, 1), 8, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, left, 2, 3, CLEAVE_LAYOUT_NCHW));
  assert_estimated (graph, 1.3);
}
END_TEST

/* A Concat and a 3x3 convolution read the same value, and the convolution needs more rows of the
 * value than the Concat. So the value has a separate buffer, and the Concat copies the value. */
START_TEST (bytes_of_shared_operands_of_a_concat_are_estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("ghost");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 32)), *both[2];

  x = run_conv (graph, x, 4, 1, CLEAVE_LAYOUT_NCHW);
  both[0] = run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW);
  both[1] = run_conv (graph, both[0], 16, 3, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, run_concat (graph, both, 2, 1), 4, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 4, 1, CLEAVE_LAYOUT_NCHW));
  assert_estimated (graph, 1.1);
}
END_TEST

/* If a node overwrites an operand of a Concat, the other operands stay alive. */
START_TEST (bytes_of_overwritten_operands_of_a_concat_are_estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("overwritten");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 32)), *both[2];

  for (guint i = 0; i < 2; i++)
    both[i] = run_unary (graph, "Relu", run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW));
  x = run_unary (graph, "Relu", run_concat (graph, both, 2, 1));
  x = run_conv (graph, run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW), 4, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph, x);
  assert_estimated (graph, 1.2);
}
END_TEST

/* Chunks of channels carry the channels that any later chunk reads, not only the channels that the
 * next chunk reads. */
START_TEST (bytes_of_chunks_of_channels_are_estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("channels");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 16)), *both[2];

  both[0] = run_conv (graph, x, 32, 1, CLEAVE_LAYOUT_NCHW);
  both[1] = run_depthwise (graph, both[0]);
  run_output (graph, run_depthwise (graph, run_concat (graph, both, 2, 1)));
  assert_estimated (graph, 1.2);
}
END_TEST

/* Strips of a dilated convolution read rows far before their own rows. A strip near the border
 * reads fewer rows, so it is no measure for the other strips. */
START_TEST (bytes_of_strips_that_read_far_back_are_estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("causal");
  const CleaveConvAttrs attrs = { .group = 1,
                                  .layout = CLEAVE_LAYOUT_NCHW,
                                  .dilations = CLEAVE_INTS (64),
                                  .pads = CLEAVE_INTS (128, 0) };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 16, 514));

  for (guint i = 0; i < 4; i++)
    {
      CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (16, 16, 3), i);

      x = run_add (graph, "Conv", (CleaveResult *[]){ x, w }, 2, &attrs);
    }
  run_output (graph, x);
  assert_estimated (graph, 1.1);
}
END_TEST

/* The result of a segment overlays an operand of the segment. If a Relu then overwrites the result,
 * the overlay ends only when the result of the Relu dies. */
START_TEST (an_overlay_lasts_as_long_as_the_node_that_overwrites_the_result)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("residual");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 32, 32, 2)), *relu, *y;
  g_auto (Found) found = { 0 };
  guint n = 0, step = 0;

  x = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NHWC);
  y = run_conv (graph, run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NHWC), 16, 3, CLEAVE_LAYOUT_NHWC);
  relu = run_unary (graph, "Relu", run_binary (graph, "Add", y, x));
  y = run_conv (graph, relu, 16, 3, CLEAVE_LAYOUT_NHWC);
  run_output (graph, run_binary (graph, "Add", y, relu));
  find (&found, graph, 0);
  for (guint i = 0; i < found.steps.nodes->len; i++)
    if (cleave_fit_node (&found.steps, i)->node == relu->node)
      step = cleave_fit_node (&found.steps, i)->step;
  for (guint c = found.candidates.first[step]; c < found.candidates.first[step + 1]; c++)
    {
      const CleaveFitCandidate *segment = cleave_fit_candidate (&found.candidates, c);

      if (segment->overlay.result == 0)
        continue;
      ck_assert_uint_ge (segment->overlay.last, step + 2);
      n++;
    }
  ck_assert_uint_gt (n, 0);
}
END_TEST

static void
assert_macs_are_estimated (const Found *found, const CleaveGraph *graph, guint n_columns)
{
  const gint64 before = cleave_graph_get_macs (graph);
  guint n = 0;

  for (guint i = 0; i < found->candidates.candidates->len; i++)
    {
      const CleaveFitCandidate *segment = cleave_fit_candidate (&found->candidates, i);
      g_autoptr (CleaveFitMeasurement) measured = NULL;

      if (segment->halo != CLEAVE_HALO_RECOMPUTE || segment->in_bands || segment->n_strips != 2 ||
          segment->n_columns != n_columns)
        continue;
      measured = try_segment (graph, found, segment);
      ck_assert_double_eq_tol (segment->macs, (double) (measured->macs - before),
                               0.01 * (double) measured->macs);
      n += measured->macs > before;
    }
  ck_assert_uint_gt (n, 0);
}

/* Each of two strips, or of two tiles, has one edge at the border of the image, where it reads no
 * halo. */
START_TEST (macs_of_two_strips_are_estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("two");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 14, 14));
  g_auto (Found) found = { 0 };
  const CleavePoolAttrs half = { .kernel_shape = CLEAVE_INTS (3, 3),
                                 .strides = CLEAVE_INTS (2, 2),
                                 .pads = CLEAVE_INTS (1, 1, 1, 1) };

  x = run_conv (graph, run_conv (graph, x, 24, 3, CLEAVE_LAYOUT_NCHW), 24, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, cleave_graph_add_pool (graph, "MaxPool", NULL, x, &half, NULL));
  find (&found, graph, 0);
  assert_macs_are_estimated (&found, graph, 1);
  assert_macs_are_estimated (&found, graph, 2);
}
END_TEST

/* The bytes of the weights of each convolution of make_heavy(). */
#define N_WEIGHTS (64 * 1024 * 9 * sizeof (float))

static CleaveGraph *
make_heavy (void)
{
  CleaveGraph *graph = cleave_graph_new ("heavy");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 64, 16, 16));

  x = run_conv (graph, x, 1024, 3, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, x, 64, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, x);
  return graph;
}

/* The estimated time includes that each strip reads all weights again, at a rate of at most 60
 * bytes per nanosecond. */
START_TEST (strips_of_large_weights_cost)
{
  g_autoptr (CleaveGraph) graph = make_heavy ();
  g_auto (Found) found = { 0 };
  guint n = 0;

  find (&found, graph, 0);
  for (guint i = 0; i < found.candidates.candidates->len; i++)
    {
      const CleaveFitCandidate *segment = cleave_fit_candidate (&found.candidates, i);

      if (find_dim (&found, segment) != 2 || segment->n_columns > 1)
        continue;
      n++;
      ck_assert_double_ge (segment->work, (segment->n_strips - 1) * (double) N_WEIGHTS / 60);
    }
  ck_assert_uint_gt (n, 0);
}
END_TEST

/* The estimate of the time assumes that the first strip reads the weights from memory, and that
 * later strips read the weights from a cache. */
START_TEST (weights_are_read_from_memory_once)
{
  g_autoptr (CleaveGraph) graph = make_heavy ();
  const gint64 n = 16;
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("H", &n, 1);
  CleaveRecursion recursion = { .depth = 2, .halo = CLEAVE_HALO_CARRY };
  CleaveNode *last =
      cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (graph, 0)));
  g_autoptr (CleaveSplitReport) report = NULL;
  CleaveEstimate whole, split;

  ck_assert (cleave_graph_estimate (graph, 1, &whole, NULL));
  report = cleave_split_node_recursively (last, tiling, NULL, &recursion, NULL);
  ck_assert_ptr_nonnull (report);
  ck_assert (cleave_graph_estimate (graph, 1, &split, NULL));
  ck_assert_double_gt (split.nanoseconds, whole.nanoseconds);
  ck_assert_double_lt (split.nanoseconds,
                       whole.nanoseconds + 2 * (double) n * (double) N_WEIGHTS / 20);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "estimates", wide_images_are_cut_into_columns,
      bytes_of_tiles_of_channels_are_estimated, bytes_of_shifted_operands_are_estimated,
      bytes_of_strips_of_a_concat_are_estimated, bytes_of_shared_operands_of_a_concat_are_estimated,
      bytes_of_overwritten_operands_of_a_concat_are_estimated,
      bytes_of_chunks_of_channels_are_estimated, bytes_of_strips_that_read_far_back_are_estimated,
      an_overlay_lasts_as_long_as_the_node_that_overwrites_the_result,
      macs_of_two_strips_are_estimated, strips_of_large_weights_cost,
      weights_are_read_from_memory_once, NULL);
}

CLEAVE_TEST_SUITE ("fit-candidate-estimates", add_tests)
