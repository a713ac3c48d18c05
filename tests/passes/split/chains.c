/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Deep splits through the consecutive nodes Reshape, Transpose and Reshape, as in channel shuffles,
 * attention windows and attention heads. In random graphs, the Reshapes split and merge
 * dimensions by random factors. */

#include "graphs.h"
#include "run-help.h"

#include <stdlib.h>

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

/* A recursive split of the node that computes output 0. */

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
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks (dims, &chunks, 1);
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

/* The tests below split channel shuffles. */

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

/* Concatenates a and b, and shuffles the channels: a0 a1 ... b0 b1 ... become a0 b0 a1 b1 ... */
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

/* Makes stages like the stages of ShuffleNetV2: a unit that halves the extents, then units that
 * leave half of the channels unchanged. */
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

/* The tests below split attention. */

static CleaveResult *
times (CleaveResult *x, gint64 n)
{
  CleaveGraph *graph = cleave_node_get_graph (cleave_result_get_node (x));
  const CleaveShape *shape = &cleave_result_get_type (x)->shape;
  CleaveShape w = CLEAVE_SHAPE (shape->dim[shape->rank - 1], n);

  return cleave_graph_add_matmul (graph, NULL, x,
                                  run_constant (graph, &w, cleave_graph_get_n_nodes (graph)), NULL);
}

/* Adds softmax (q k') v, with matrices in the last two dimensions. */
static CleaveResult *
attend (CleaveResult *q, CleaveResult *k, CleaveResult *v)
{
  CleaveGraph *graph = cleave_node_get_graph (cleave_result_get_node (q));
  guint rank = cleave_result_get_type (q)->shape.rank;
  CleaveInts turn = rank == 3 ? CLEAVE_INTS (0, 2, 1) : CLEAVE_INTS (0, 1, 3, 2);
  CleaveResult *scores = cleave_graph_add_matmul (graph, NULL, q, transpose (k, turn), NULL);

  return cleave_graph_add_matmul (
      graph, NULL, cleave_graph_add_softmax (graph, NULL, scores, -1, NULL), v, NULL);
}

/* Makes convolutions of an image, and between them attention in each window of the image. */
static CleaveGraph *
windows_net (gint64 window)
{
  const gint64 h = 4 * window, w = 2 * window, c = 4;
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = conv (run_input (graph, &CLEAVE_SHAPE (1, 3, h, w)), c, 3, 1);
  CleaveInts blocks = CLEAVE_INTS (0, 1, 3, 2, 4, 5);

  x = transpose (x, CLEAVE_INTS (0, 2, 3, 1));
  x = transpose (reshape (x, CLEAVE_INTS (1, 4, window, 2, window, c)), blocks);
  x = reshape (x, CLEAVE_INTS (8, window * window, c));
  x = attend (times (x, c), times (x, c), times (x, c));
  x = transpose (reshape (x, CLEAVE_INTS (1, 4, 2, window, window, c)), blocks);
  x = transpose (reshape (x, CLEAVE_INTS (1, h, w, c)), CLEAVE_INTS (0, 3, 1, 2));
  run_output (graph, conv (x, 3, 3, 1));
  return graph;
}

START_TEST (windows_of_attention_do_not_stop_rows)
{
  for (gint64 chunks = 2; chunks <= 4; chunks++)
    for (guint halo = CLEAVE_HALO_RECOMPUTE; halo <= CLEAVE_HALO_CARRY_NARROW; halo++)
      {
        CleaveRecursion recursion = { .depth = 1000, .halo = (CleaveHalo) halo };
        g_autoptr (CleaveSplitReport) report = NULL;
        const CleaveSplitTotals *totals;
        Trial trial;

        trial_init (&trial, windows_net (3));
        report = split_last (&trial, "2", chunks, recursion);
        totals = cleave_split_report_get_totals (report);
        assert_all_split (report);
        if (halo != CLEAVE_HALO_RECOMPUTE)
          ck_assert_int_eq (totals->macs_after, totals->macs_before);
        trial_clear (&trial);
      }
}
END_TEST

static CleaveGraph *
heads_net (gint64 batch)
{
  const gint64 n = 12, heads = 4, size = 3, all = heads * size;
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (batch, n, all)), *qkv[3];
  CleaveInts turn = CLEAVE_INTS (0, 2, 1, 3);

  for (guint i = 0; i < 3; i++)
    qkv[i] = transpose (reshape (times (x, all), CLEAVE_INTS (batch, n, heads, size)), turn);
  x = transpose (attend (qkv[0], qkv[1], qkv[2]), turn);
  x = reshape (x, CLEAVE_INTS (batch, n, all));
  run_output (graph, run_unary (graph, "Neg", x)); /* a node that can be cut at any index */
  return graph;
}

/* Along the batch and the heads, all nodes are cut. Along the sequence, keys and values stay whole.
 */
START_TEST (heads_of_attention_do_not_stop_a_split)
{
  static const struct
  {
    const char *dims;
    gint64 chunks;
    guint n_not;
  } cases[] = { { "0", 2, 0 }, { "2", 2, 0 }, { "2", 4, 0 }, { "2", 3, 0 }, { "1", 3, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint halo = CLEAVE_HALO_RECOMPUTE; halo <= CLEAVE_HALO_CARRY_NARROW; halo++)
      {
        CleaveRecursion recursion = { .depth = 1000, .halo = (CleaveHalo) halo };
        g_autoptr (CleaveSplitReport) report = NULL;
        Trial trial;

        trial_init (&trial, heads_net (2));
        report = split_last (&trial, cases[i].dims, cases[i].chunks, recursion);
        if (cases[i].n_not == 0)
          assert_all_split (report);
        ck_assert_uint_eq (cleave_split_report_get_n_not_split (report), cases[i].n_not);
        trial_clear (&trial);
      }
}
END_TEST

/* Reshapes a value by random factors, transposes the result in random order, and reshapes it again.
 * Element-wise nodes stand between these nodes. */

static CleaveResult *
regroup (CleaveResult *x, GRand *rand)
{
  const CleaveShape *shape = &cleave_result_get_type (x)->shape;
  CleaveInts apart = { 0 }, perm = { 0 }, together = { 0 };

  for (guint d = 0; d < shape->rank; d++)
    {
      gint64 factor = g_rand_int_range (rand, 2, 4);

      if (apart.n + shape->rank - d < CLEAVE_MAX_RANK && shape->dim[d] % factor == 0 &&
          g_rand_boolean (rand))
        {
          apart.v[apart.n++] = factor;
          apart.v[apart.n++] = shape->dim[d] / factor;
        }
      else
        apart.v[apart.n++] = shape->dim[d];
    }
  perm.n = apart.n;
  for (guint d = 0; d < perm.n; d++)
    {
      guint other = (guint) g_rand_int_range (rand, 0, (gint32) d + 1);

      perm.v[d] = perm.v[other];
      perm.v[other] = d;
    }
  for (guint d = 0; d < perm.n; d++)
    if (together.n > 0 && g_rand_boolean (rand))
      together.v[together.n - 1] *= apart.v[perm.v[d]];
    else
      together.v[together.n++] = apart.v[perm.v[d]];
  return reshape (transpose (reshape (x, apart), perm), together);
}

static void
try_factors (guint32 seed, guint *n_split, guint *n_not)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1 + seed % 2, 12, 8, 6));
  CleaveRecursion recursion = { .depth = 100, .halo = (CleaveHalo) (seed % 3) };
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autofree char *dims = NULL;
  const CleaveShape *shape;
  Trial trial;

  for (guint i = 0; i < 3; i++)
    x = run_unary (graph, "Neg", regroup (x, rand));
  run_output (graph, x);
  shape = &cleave_result_get_type (x)->shape;
  dims = g_strdup_printf ("%d", g_rand_int_range (rand, 0, (gint32) shape->rank));
  trial_init (&trial, graph);
  report =
      split_last (&trial, dims, MIN (shape->dim[atoi (dims)], 1 + (gint64) (seed % 4)), recursion);
  *n_split += cleave_split_report_get_n_split (report);
  *n_not += cleave_split_report_get_n_not_split (report);
  trial_clear (&trial);
}

START_TEST (factors_in_any_order_keep_the_bits)
{
  guint n_split = 0, n_not = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (600); seed++)
    try_factors (seed, &n_split, &n_not);
  g_print ("%u split, %u not\n", n_split, n_not);
  ck_assert_uint_gt (n_split, 4 * n_not);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "chains", shuffled_channels_do_not_stop_rows,
                   windows_of_attention_do_not_stop_rows, heads_of_attention_do_not_stop_a_split,
                   factors_in_any_order_keep_the_bits, NULL);
}

CLEAVE_TEST_SUITE ("split-chains", add_tests)
