/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests which segment candidates the search for candidates finds and drops. */

#include "found.h"
#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

#include "../../../lib/ir/chunk.h"

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

/* With any number of threads, the search finds the same candidates in the same order. */
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

/* The limit `tile_bytes` is for segments that are cut into tiles. The search drops a segment in
 * tiles if, and only if, the segment needs `tile_bytes` or more. */
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
  ck_assert (cleave_fit_candidates_add_tiles (&limited, &watch, NULL));
  ck_assert_uint_eq (count_tiled (&limited, watch.tile_bytes, &n_more), n);
  ck_assert_uint_eq (n_more, 0);
}
END_TEST

static CleaveResult *
add_depth_to_space (CleaveGraph *graph, CleaveResult *x)
{
  const CleaveDepthAttrs attrs = { .blocksize = 2, .mode = CLEAVE_DEPTH_CRD };

  return run_add (graph, "DepthToSpace", &x, 1, &attrs);
}

START_TEST (blocks_are_elements_that_no_chunk_can_separate)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("blocks");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 6, 10));
  const CleaveNode *wide = add_depth_to_space (graph, x)->node;
  const CleaveNode *conv = run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW)->node;

  for (guint d = 0; d < 4; d++)
    {
      ck_assert_int_eq (cleave_node_get_block (wide, d), d < 2 ? 1 : 2);
      ck_assert_int_eq (cleave_node_get_block (conv, d), 1);
    }
}
END_TEST

/* DepthToSpace computes 20 rows from 10 rows, so 4 strips of 5 rows are not possible. */
START_TEST (pieces_of_a_segment_begin_and_end_between_blocks)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("blocks");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 10, 14));
  g_auto (Found) found = { 0 };
  guint n_uneven = 0;

  run_output (graph, add_depth_to_space (graph, run_conv (graph, x, 32, 3, CLEAVE_LAYOUT_NCHW)));
  find (&found, graph, 0);
  for (guint i = 0; i < found.candidates.candidates->len; i++)
    {
      const CleaveFitCandidate *segment = cleave_fit_candidate (&found.candidates, i);
      const guint n_tiles = segment->n_strips * segment->n_columns;
      g_autoptr (CleaveFitMeasurement) measured = try_segment (graph, &found, segment);

      ck_assert_uint_ge (measured->n_nodes, n_tiles);
      n_uneven += 20 % segment->n_strips != 0;
    }
  ck_assert_uint_gt (n_uneven, 0);
}
END_TEST

/* A plan from a file may ask for more strips than the end of a segment has blocks. */
START_TEST (a_plan_with_more_strips_than_blocks_is_refused)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("blocks");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 10, 14));
  g_autoptr (GPtrArray) parts = cleave_fit_parts_new ();
  g_auto (Found) found = { 0 };
  CleaveFitCandidate segment;

  run_output (graph, add_depth_to_space (graph, run_conv (graph, x, 32, 3, CLEAVE_LAYOUT_NCHW)));
  find (&found, graph, 0);
  ck_assert_uint_gt (found.candidates.candidates->len, 0);
  segment = *cleave_fit_candidate (&found.candidates, 0);
  for (guint n_strips = 10; n_strips <= 11; n_strips++)
    {
      g_autoptr (GError) error = NULL;

      segment.n_strips = n_strips;
      segment.n_columns = 1;
      g_ptr_array_set_size (parts, 0);
      g_ptr_array_add (parts, cleave_fit_part_new_of (&found.candidates, &segment));
      ck_assert (cleave_fit_parts_check (parts, graph, &error) == (n_strips <= 10));
      if (error != NULL)
        ck_assert_ptr_nonnull (strstr (error->message, "cannot be cut into 11 strips"));
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "candidates", threads_find_the_same, dominated_candidates_are_dropped,
                   a_limit_drops_large_segments_in_tiles,
                   blocks_are_elements_that_no_chunk_can_separate,
                   pieces_of_a_segment_begin_and_end_between_blocks,
                   a_plan_with_more_strips_than_blocks_is_refused, NULL);
}

CLEAVE_TEST_SUITE ("fit-candidates", add_tests)
