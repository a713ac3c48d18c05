/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the estimates of segment candidates against measurements. */

#include "../../../passes/fit/measurement.h"
#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

/* The steps of a graph, and its segment candidates. */
typedef struct
{
  CleaveFitSteps steps;
  CleaveFitCandidates candidates;
} Found;

static void
found_clear (Found *found)
{
  cleave_fit_candidates_clear (&found->candidates);
  cleave_fit_steps_clear (&found->steps);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Found, found_clear)

static void
find (Found *found, const CleaveGraph *graph, guint n_threads)
{
  const CleaveFitWatch watch = { .tile_bytes = G_MAXINT64, .n_threads = n_threads };
  g_autoptr (GError) error = NULL;

  *found = (Found){ 0 };
  ck_assert (cleave_fit_steps_init (&found->steps, graph, &error));
  ck_assert (cleave_fit_candidates_init (&found->candidates, &found->steps, &watch, &error));
}

/* Splits one segment of a copy of the graph, and measures the copy. */
static CleaveFitMeasurement *
try_segment (const CleaveGraph *graph, const Found *found, const CleaveFitCandidate *segment)
{
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
  const CleaveFitPath path = { .segments = segments };

  g_array_append_vals (segments, segment, 1);
  return cleave_fit_measurement_new (graph, &found->candidates, &path, 1);
}

static double
measure_bytes (const CleaveGraph *graph, const Found *found, const CleaveFitCandidate *segment)
{
  g_autoptr (CleaveFitMeasurement) measured = try_segment (graph, found, segment);

  return (double) measured->part_bytes[0];
}

/* Returns the dimension along which a candidate cuts the last node of its segment. */
static gint
find_dim (const Found *found, const CleaveFitCandidate *segment)
{
  const guint last = found->steps.first_node[segment->end] - 1;

  return cleave_fit_axes_find_dim (&found->steps, last, segment->cut);
}

/* Returns the smallest estimated bytes of the longest segments in strips, for an image of the given
 * size. */
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

/* The operands of a Concat lie in the Concat's buffer. If nodes before the segment compute the
 * operands, strips of the Concat need memory besides this buffer. */
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

      n += in_tiles ||
           segment->n_columns == 1; /* there may be strips and no tiles among the candidates */
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

/* An operand of a Concat lies in a buffer of its own if another node reads more rows of it. The
 * Concat then copies the operand. */
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

/* Each strip reads all weights again, at most 60 bytes in a nanosecond. The estimated time includes
   these reads.
    */
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

/* The estimated time reads the weights from memory for the first strip, and from a cache for later
 * strips. */
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
assert_same_candidates (const CleaveFitCandidates *a, const CleaveFitCandidates *b)
{
  ck_assert_uint_eq (a->candidates->len, b->candidates->len);
  ck_assert_uint_eq (a->n_visits, b->n_visits);
  ck_assert_mem_eq (a->first, b->first, (a->steps->n_steps + 2) * sizeof *a->first);
  for (guint i = 0; i < a->candidates->len; i++)
    {
      const CleaveFitCandidate *x = cleave_fit_candidate (a, i), *y = cleave_fit_candidate (b, i);

      ck_assert_uint_eq (x->begin, y->begin);
      ck_assert_uint_eq (x->end, y->end);
      ck_assert_uint_eq (x->n_strips, y->n_strips);
      ck_assert_uint_eq (x->n_columns, y->n_columns);
      ck_assert_int_eq (x->n_bytes, y->n_bytes);
      ck_assert_int_eq (x->overlay.shift, y->overlay.shift);
      ck_assert (x->macs == y->macs && x->work == y->work);
    }
}

static void
assert_threads_find_the_same (const CleaveGraph *graph)
{
  g_auto (Found) one = { 0 };

  find (&one, graph, 1);
  for (guint n = 2; n <= 8; n += 3)
    {
      g_auto (Found) several = { 0 };

      find (&several, graph, n);
      assert_same_candidates (&one.candidates, &several.candidates);
    }
}

/* Makes two blocks whose sums are joined. Each sum is read by a convolution, by the next sum, and
 * by the Concat. */
static CleaveGraph *
make_joined_blocks (void)
{
  CleaveGraph *graph = cleave_graph_new ("joined blocks");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 40, 40));

  for (guint block = 0; block < 2; block++)
    {
      CleaveResult *parts[5], *a, *b;

      a = run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW);
      b = run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW);
      parts[0] = a;
      for (guint i = 1; i < G_N_ELEMENTS (parts); i++)
        {
          CleaveResult *y = run_conv (graph, b, 8, 3, CLEAVE_LAYOUT_NCHW);

          y = run_conv (graph, run_unary (graph, "Relu", y), 8, 3, CLEAVE_LAYOUT_NCHW);
          parts[i] = b = run_binary (graph, "Add", b, y);
        }
      x = run_concat (graph, parts, G_N_ELEMENTS (parts), 1);
      x = run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW);
    }
  run_output (graph, x);
  return graph;
}

/* The number of threads that search changes neither the candidates nor their order. */
START_TEST (threads_find_the_same)
{
  g_autoptr (CleaveGraph) unet = run_unet (), blocks = make_joined_blocks ();
  g_auto (Found) found = { 0 };

  find (&found, blocks, 1);
  ck_assert_uint_gt (found.candidates.candidates->len, 100);
  assert_threads_find_the_same (unet);
  assert_threads_find_the_same (blocks);
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (20); seed++)
    {
      g_autoptr (CleaveGraph) image = cleave_random_graph (seed, 40);
      g_autoptr (CleaveGraph) graph = random_graph (seed, 60);

      assert_threads_find_the_same (image);
      assert_threads_find_the_same (graph);
    }
}
END_TEST

static CleaveFitCandidate
make_candidate (GRand *rand)
{
  return (CleaveFitCandidate){ .begin = (guint) g_rand_int_range (rand, 0, 5),
                               .end = 5,
                               .n_bytes = g_rand_int_range (rand, 1, 20),
                               .overlay = { .operand = 3,
                                            .result = g_rand_int_range (rand, 0, 3),
                                            .shift = g_rand_int_range (rand, 0, 3) },
                               .macs = g_rand_int_range (rand, 0, 4),
                               .work = g_rand_int_range (rand, 0, 20) };
}

static gboolean
is_no_worse (const CleaveFitCandidate *a, const CleaveFitCandidate *b)
{
  return a->begin == b->begin && a->n_bytes <= b->n_bytes && a->work <= b->work &&
         a->macs <= b->macs &&
         a->n_bytes - cleave_fit_overlay_get_saved (&a->overlay) <=
             b->n_bytes - cleave_fit_overlay_get_saved (&b->overlay);
}

/* A candidate that is dropped is dominated by one that stays. No candidate that stays is dominated.
 */
START_TEST (dominated_candidates_are_dropped)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (guint trial = 0; trial < 50; trial++)
    {
      g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
      g_autoptr (GArray) best = NULL;

      for (guint i = 0; i < 100; i++)
        {
          CleaveFitCandidate candidate = make_candidate (rand);

          g_array_append_val (all, candidate);
        }
      best = cleave_fit_candidates_select (all);
      ck_assert_uint_lt (best->len, all->len);
      for (guint i = 0; i < all->len; i++)
        {
          gboolean found = FALSE;

          for (guint j = 0; j < best->len && !found; j++)
            found = is_no_worse (&g_array_index (best, CleaveFitCandidate, j),
                                 &g_array_index (all, CleaveFitCandidate, i));
          ck_assert (found);
        }
      for (guint i = 0; i < best->len; i++)
        for (guint j = 0; j < i; j++)
          ck_assert (!is_no_worse (&g_array_index (best, CleaveFitCandidate, j),
                                   &g_array_index (best, CleaveFitCandidate, i)));
    }
}
END_TEST

static gint64
get_least (const CleaveFitCandidate *candidate)
{
  return candidate->n_bytes - cleave_fit_overlay_get_saved (&candidate->overlay);
}

/* Returns the number of segments in tiles that need fewer than `max_bytes` bytes. Sets `n_more` to
 * the number of the other segments in tiles. */
static guint
count_tiled (const CleaveFitCandidates *candidates, gint64 max_bytes, guint *n_more)
{
  guint n = 0;

  *n_more = 0;
  for (guint i = 0; i < candidates->candidates->len; i++)
    {
      const CleaveFitCandidate *candidate = cleave_fit_candidate (candidates, i);

      if (candidate->n_columns > 1)
        *(get_least (candidate) < max_bytes ? &n : n_more) += 1;
    }
  return n;
}

/* A limit on the bytes of tiles drops the segments in tiles that need at least the bytes of the
 * limit, and no others. */
START_TEST (a_limit_drops_large_segments_in_tiles)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("image");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 24, 24));
  g_auto (Found) found = { 0 };
  g_auto (CleaveFitCandidates) limited = { 0 };
  CleaveFitWatch watch = { 0 };
  gint64 least = G_MAXINT64;
  guint n, n_more;

  x = run_conv (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), 24, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 2, 3, CLEAVE_LAYOUT_NCHW));
  find (&found, graph, 0);
  for (guint i = 0; i < found.candidates.candidates->len; i++)
    least = MIN (least, get_least (cleave_fit_candidate (&found.candidates, i)));
  watch.tile_bytes = 2 * least;
  n = count_tiled (&found.candidates, watch.tile_bytes, &n_more);
  ck_assert_uint_gt (n, 0);
  ck_assert_uint_gt (n_more, 0);
  ck_assert (cleave_fit_candidates_init (&limited, &found.steps, &watch, NULL));
  ck_assert_uint_eq (count_tiled (&limited, watch.tile_bytes, &n_more), n);
  ck_assert_uint_eq (n_more, 0);
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
      bytes_of_chunks_of_channels_are_estimated, macs_of_two_strips_are_estimated,
      strips_of_large_weights_cost, weights_are_read_from_memory_once, NULL);
  cleave_add_case (suite, "candidates", threads_find_the_same, dominated_candidates_are_dropped,
                   a_limit_drops_large_segments_in_tiles, NULL);
}

CLEAVE_TEST_SUITE ("fit-candidates", add_tests)
