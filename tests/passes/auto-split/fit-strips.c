/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What strips are thought to need and to cost, against what is measured of them. */

#include "../../../passes/auto-split/fit-try.h"
#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

/* The fewest bytes that strips of all convolutions need. */
static gint64
find_least_of_strips (gint64 height, gint64 width)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("image");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, height, width));
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitEdges) strips = { 0 };
  const CleaveFitWatch watch = { 0 };
  g_autoptr (GError) error = NULL;
  gint64 least = G_MAXINT64;
  guint longest = 0;

  x = run_conv (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), 24, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 2, 3, CLEAVE_LAYOUT_NCHW));
  ck_assert (cleave_fit_steps_init (&steps, graph, &error));
  ck_assert (cleave_fit_edges_init (&strips, &steps, NULL, &watch, &error));
  for (guint i = 0; i < strips.edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (strips.edges, CleaveFitEdge, i);

      if (edge->end - edge->begin > longest)
        least = G_MAXINT64;
      longest = MAX (longest, edge->end - edge->begin);
      if (edge->end - edge->begin == longest)
        least = MIN (least, edge->n_bytes);
    }
  ck_assert_uint_ge (longest, 3);
  return least;
}

/* An image that lies needs hardly more than one that stands: its columns are the shorter lines. */
START_TEST (wide_images_are_cut_into_columns)
{
  ck_assert_double_le ((double) find_least_of_strips (12, 96),
                       1.1 * (double) find_least_of_strips (96, 12));
}
END_TEST

/* A path of one segment, cut and measured; packed, if it needs no more than enough. */
static CleaveFitTry *
try_edge (const CleaveGraph *graph,
          const CleaveFitEdges *strips,
          const CleaveFitEdge *edge,
          gint64 enough)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));
  const CleaveFitPath path = { .edges = edges };

  g_array_append_vals (edges, edge, 1);
  return cleave_fit_try_new (graph, strips, &path, FALSE, 1, enough);
}

/* What that comes to. */
static CleaveEstimate
estimate_edge (const CleaveGraph *graph,
               const CleaveFitEdges *strips,
               const CleaveFitEdge *edge,
               gint64 enough)
{
  g_autoptr (CleaveFitTry) tried = try_edge (graph, strips, edge, enough);

  return tried->estimate;
}

/* The most that the segment needs. */
static gint64
measure_edge (const CleaveGraph *graph, const CleaveFitEdges *strips, const CleaveFitEdge *edge)
{
  g_autoptr (CleaveFitTry) tried = try_edge (graph, strips, edge, 0);

  return tried->part_bytes[0];
}

/* The dimension that strips cut in the node that the segment ends with. */
static gint
find_dim (const CleaveFitSteps *steps, const CleaveFitEdge *edge)
{
  return cleave_fit_axes_find_dim (steps, steps->first_node[edge->end] - 1, edge->cut);
}

/* What a Concat joins lies in its place; strips of the Concat are there besides, if its operands
 * are made before. */
START_TEST (strips_of_a_concat_are_foreseen)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("concat");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 32)), *both[2];
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitEdges) strips = { 0 };
  const CleaveFitWatch watch = { 0 };
  guint n = 0;

  both[0] = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW);
  both[1] = run_conv (graph, both[0], 16, 3, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, run_concat (graph, both, 2, 1), 16, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 2, 3, CLEAVE_LAYOUT_NCHW));
  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  ck_assert (cleave_fit_edges_init (&strips, &steps, NULL, &watch, NULL));
  for (guint i = 0; i < strips.edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (strips.edges, CleaveFitEdge, i);
      const CleaveNode *first = cleave_fit_node (&steps, steps.first_node[edge->begin])->node;

      if (!g_str_equal (first->op->name, "Concat") || find_dim (&steps, edge) != 2)
        continue;
      n++;
      ck_assert_double_ge ((double) edge->apart,
                           0.97 * (double) measure_edge (graph, &strips, edge));
    }
  ck_assert_uint_gt (n, 0);
}
END_TEST

/* Of all segments at the end of a graph. */
static void
assert_foreseen (const CleaveGraph *graph, double at_most)
{
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitEdges) strips = { 0 };
  const CleaveFitWatch watch = { 0 };

  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  ck_assert (cleave_fit_edges_init (&strips, &steps, NULL, &watch, NULL));
  ck_assert_uint_gt (strips.edges->len, strips.first[steps.n_steps]);
  for (guint i = 0; i < strips.edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (strips.edges, CleaveFitEdge, i);
      double measured =
          edge->end < steps.n_steps ? 0 : (double) measure_edge (graph, &strips, edge);

      ck_assert_msg (measured <= at_most * (double) edge->apart,
                     "steps %u to %u in %u strips of cut %u, halo %d: %.0f bytes in place of "
                     "%" G_GINT64_FORMAT,
                     edge->begin, edge->end, edge->n_strips, edge->cut, (int) edge->halo, measured,
                     edge->apart);
    }
}

/* Others than the join read what it joins, with more rows: it lies apart, and the join has a copy.
 */
START_TEST (parts_of_a_concat_that_others_read_are_foreseen)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("ghost");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 32)), *both[2];

  x = run_conv (graph, x, 4, 1, CLEAVE_LAYOUT_NCHW);
  both[0] = run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW);
  both[1] = run_conv (graph, both[0], 16, 3, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, run_concat (graph, both, 2, 1), 4, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 4, 1, CLEAVE_LAYOUT_NCHW));
  assert_foreseen (graph, 1.1);
}
END_TEST

/* What overwrites a part of a join ends no more than that. */
START_TEST (joins_of_overwritten_parts_are_foreseen)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("overwritten");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 32)), *both[2];

  for (guint i = 0; i < 2; i++)
    both[i] = run_unary (graph, "Relu", run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW));
  x = run_unary (graph, "Relu", run_concat (graph, both, 2, 1));
  x = run_conv (graph, run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW), 4, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph, x);
  assert_foreseen (graph, 1.2);
}
END_TEST

/* Chunks of channels keep what any later one reads, not the next alone. */
START_TEST (chunks_of_channels_are_foreseen)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("channels");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 16)), *both[2];

  both[0] = run_conv (graph, x, 32, 1, CLEAVE_LAYOUT_NCHW);
  both[1] = run_depthwise (graph, both[0]);
  run_output (graph, run_depthwise (graph, run_concat (graph, both, 2, 1)));
  assert_foreseen (graph, 1.15);
}
END_TEST

static void
assert_macs_are_foreseen (const CleaveFitEdges *edges, const CleaveGraph *graph, guint n_tiles)
{
  const gint64 before = cleave_graph_get_macs (graph);
  guint n = 0;

  for (guint i = 0; i < edges->edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, i);
      g_autoptr (CleaveFitTry) tried = NULL;

      if (edge->halo != CLEAVE_HALO_RECOMPUTE || edge->in_bands || edge->n_strips != 2 ||
          edge->n_columns != n_tiles)
        continue;
      tried = try_edge (graph, edges, edge, 0);
      ck_assert_double_eq_tol (edge->macs, (double) (tried->macs - before),
                               0.01 * (double) tried->macs);
      n += tried->macs > before;
    }
  ck_assert_uint_gt (n, 0);
}

/* The second of two strips ends where the image does, and the first begins there; so do tiles. */
START_TEST (macs_of_two_strips_are_foreseen)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("two");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 14, 14));
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitEdges) strips = { 0 }, tiles = { 0 };
  const CleaveFitWatch watch = { 0 };
  const CleavePoolAttrs half = { .kernel_shape = CLEAVE_INTS (3, 3),
                                 .strides = CLEAVE_INTS (2, 2),
                                 .pads = CLEAVE_INTS (1, 1, 1, 1) };

  x = run_conv (graph, run_conv (graph, x, 24, 3, CLEAVE_LAYOUT_NCHW), 24, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, cleave_graph_add_pool (graph, "MaxPool", NULL, x, &half, NULL));
  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  ck_assert (cleave_fit_edges_init (&strips, &steps, NULL, &watch, NULL));
  ck_assert (cleave_fit_edges_init (&tiles, &steps, &strips, &watch, NULL));
  assert_macs_are_foreseen (&strips, graph, 1);
  assert_macs_are_foreseen (&tiles, graph, 2);
}
END_TEST

/* A plan that needs more than is known to be enough is not packed, and is told as its peak. */
START_TEST (plans_of_no_use_are_not_packed)
{
  g_autoptr (CleaveGraph) graph = run_unet ();
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitEdges) strips = { 0 };
  const CleaveFitWatch watch = { 0 };
  guint n_packed = 0;

  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  ck_assert (cleave_fit_edges_init (&strips, &steps, NULL, &watch, NULL));
  for (guint i = 0; i < strips.edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (strips.edges, CleaveFitEdge, i);
      CleaveEstimate packed = estimate_edge (graph, &strips, edge, 0);
      CleaveEstimate told = estimate_edge (graph, &strips, edge, 1);
      CleaveEstimate enough = estimate_edge (graph, &strips, edge, packed.arena_bytes);

      ck_assert_int_eq (enough.arena_bytes, packed.arena_bytes);
      ck_assert_int_eq (told.arena_bytes, told.peak_activation_bytes);
      ck_assert_int_ge (told.arena_bytes, packed.peak_activation_bytes);
      n_packed += packed.arena_bytes > packed.peak_activation_bytes;
    }
  ck_assert_uint_gt (n_packed, 0);
}
END_TEST

/* Two convolutions of large weights on a small image. */
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

/* Each strip reads them again. */
START_TEST (strips_of_large_weights_cost)
{
  g_autoptr (CleaveGraph) graph = make_heavy ();
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitEdges) strips = { 0 };
  const CleaveFitWatch watch = { 0 };
  guint n_cut = 0;

  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  ck_assert (cleave_fit_edges_init (&strips, &steps, NULL, &watch, NULL));
  for (guint i = 0; i < strips.edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (strips.edges, CleaveFitEdge, i);

      if (find_dim (&steps, edge) != 2)
        continue;
      n_cut++;
      ck_assert_double_ge (edge->again, (edge->n_strips - 1) * (double) N_WEIGHTS / 60);
    }
  ck_assert_uint_gt (n_cut, 0);
}
END_TEST

/* But the caches have them by then. */
START_TEST (weights_are_far_once)
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
assert_same_edges (const CleaveFitEdges *a, const CleaveFitEdges *b)
{
  const guint n_steps = a->steps->n_steps;

  ck_assert_uint_eq (a->edges->len, b->edges->len);
  ck_assert_uint_eq (a->n_visits, b->n_visits);
  ck_assert_int_eq (a->has_laps, b->has_laps);
  ck_assert_int_eq (a->has_tiles, b->has_tiles);
  ck_assert_mem_eq (a->first, b->first, (n_steps + 2) * sizeof *a->first);
  for (guint i = 0; i < a->edges->len; i++)
    {
      const CleaveFitEdge *x = &g_array_index (a->edges, CleaveFitEdge, i);
      const CleaveFitEdge *y = &g_array_index (b->edges, CleaveFitEdge, i);

      ck_assert_uint_eq (x->begin, y->begin);
      ck_assert_uint_eq (x->end, y->end);
      ck_assert_uint_eq (x->n_strips, y->n_strips);
      ck_assert_uint_eq (x->n_columns, y->n_columns);
      ck_assert_uint_eq (x->best_of, y->best_of);
      ck_assert_int_eq (x->n_bytes, y->n_bytes);
      ck_assert_int_eq (x->bold, y->bold);
      ck_assert (x->macs == y->macs && x->work == y->work && x->again == y->again);
    }
}

static void
assert_threads_find_the_same (const CleaveGraph *graph)
{
  g_auto (CleaveFitSteps) steps = { 0 };
  g_auto (CleaveFitEdges) strips = { 0 }, tiles = { 0 };
  const CleaveFitWatch one = { .n_threads = 1 };

  ck_assert (cleave_fit_steps_init (&steps, graph, NULL));
  ck_assert (cleave_fit_edges_init (&strips, &steps, NULL, &one, NULL));
  ck_assert (cleave_fit_edges_init (&tiles, &steps, &strips, &one, NULL));
  for (guint n = 2; n <= 8; n += 3)
    {
      const CleaveFitWatch several = { .n_threads = n };
      g_auto (CleaveFitEdges) strips_too = { 0 }, tiles_too = { 0 };

      ck_assert (cleave_fit_edges_init (&strips_too, &steps, NULL, &several, NULL));
      assert_same_edges (&strips, &strips_too);
      ck_assert (cleave_fit_edges_init (&tiles_too, &steps, &strips_too, &several, NULL));
      assert_same_edges (&tiles, &tiles_too);
    }
}

/* Two blocks whose halves are convolved, added and joined.  A sum is read by a convolution of its
 * segment, by the next sum, and by the Concat. */
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

/* The number of threads changes neither the segments nor their order. */
START_TEST (threads_find_the_same)
{
  g_autoptr (CleaveGraph) unet = run_unet (), blocks = make_joined_blocks ();

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

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "strips", wide_images_are_cut_into_columns,
                   strips_of_a_concat_are_foreseen, parts_of_a_concat_that_others_read_are_foreseen,
                   joins_of_overwritten_parts_are_foreseen, chunks_of_channels_are_foreseen,
                   macs_of_two_strips_are_foreseen, plans_of_no_use_are_not_packed,
                   strips_of_large_weights_cost, weights_are_far_once, threads_find_the_same, NULL);
}

CLEAVE_TEST_SUITE ("fit-strips", add_tests)
