/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Carried and exchanged halos on graphs of any form: every element is computed once. */

#include "graphs.h"
#include "run-help.h"

#include <string.h>

/* The functions below check a split, with the data of a Trial: the graph, its inputs, and its
 * outputs and its text before the split. */

typedef struct
{
  CleaveGraph *graph;
  GPtrArray *inputs, *expected;
  char *before, *request;
} Trial;

static void
trial_init (Trial *trial, CleaveGraph *graph, guint32 seed)
{
  *trial = (Trial){ .graph = graph, .inputs = run_random_inputs (graph, seed) };
  trial->expected = run_graph (graph, trial->inputs, 1);
  trial->before = cleave_graph_print (graph);
}

static void
trial_clear (Trial *trial)
{
  cleave_graph_unref (trial->graph);
  g_ptr_array_unref (trial->inputs);
  g_ptr_array_unref (trial->expected);
  g_free (trial->before);
  g_free (trial->request);
}

static void
give_up (const Trial *trial, const char *what)
{
  ck_abort_msg ("%s: %s\n%s", trial->request, what, trial->before);
}

static void
check_node (const Trial *trial, const CleaveSplitNode *split)
{
  for (guint i = 0; i < split->n_pieces; i++)
    for (guint j = 0; j < i; j++)
      {
        CleaveRange both = cleave_range_intersect (&split->ranges[i], &split->ranges[j]);
        g_autofree char *a = cleave_range_to_string (&split->ranges[i]);
        g_autofree char *b = cleave_range_to_string (&split->ranges[j]);
        g_autofree char *what = g_strdup_printf ("%s computes %s and %s", split->name, b, a);

        if (!cleave_range_is_empty (&both))
          give_up (trial, what);
      }
}

static const char *const halos[] = { "recompute", "carry", "exchange" };

/* Splits the graph from `node`. Asserts that pieces do not overlap, that the MACs do not grow, and
 * that the bits stay the same. Returns the totals of the split. */
static CleaveSplitTotals
check_split (Trial *trial, CleaveNode *node, const CleaveTiling *split, CleaveRecursion recursion)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node_recursively (node, split, NULL, &recursion, &error);
  g_autoptr (GPtrArray) got = NULL;
  const CleaveSplitTotals *totals;

  if (report == NULL)
    give_up (trial, error->message);
  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    check_node (trial, cleave_split_report_get_split (report, i));
  totals = cleave_split_report_get_totals (report);
  if (totals->macs_after > totals->macs_before)
    give_up (trial, "more MACs than before");
  if (!cleave_graph_validate (trial->graph, &error))
    give_up (trial, error->message);
  got = run_graph (trial->graph, trial->inputs, 2);
  if (cleave_compare_outputs (trial->expected, got) >= 0)
    give_up (trial, "other bits");
  return *totals;
}

/* The tests below split residual networks. */

static CleaveResult *
conv (CleaveGraph *graph, CleaveResult *x, gint64 channels, gint64 kernel, gint64 stride)
{
  gint64 from = cleave_result_get_type (x)->shape.dim[1], pad = kernel / 2;
  CleaveConvAttrs attrs = { .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  CleaveShape filter = CLEAVE_SHAPE (channels, from, kernel, kernel);
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (
      graph, NULL, x, run_constant (graph, &filter, cleave_graph_get_n_nodes (graph)), NULL, &attrs,
      &error);

  cleave_assert_no_error (error);
  return y;
}

/* Adds a residual block: two consecutive 3x3 convolutions, and the sum of their result and x. With
 * stride 2, the sum has a 1x1 convolution of x instead of x. */
static CleaveResult *
residual (CleaveGraph *graph, CleaveResult *x, gint64 channels, gint64 stride)
{
  CleaveResult *y = run_unary (graph, "Relu", conv (graph, x, channels, 3, stride));

  y = conv (graph, y, channels, 3, 1);
  if (stride > 1)
    x = conv (graph, x, channels, 1, stride);
  return run_unary (graph, "Relu", run_binary (graph, "Add", x, y));
}

static CleaveGraph *
residual_net (void)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 112, 20));
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (3, 3),
                           .strides = CLEAVE_INTS (2, 2),
                           .pads = CLEAVE_INTS (1, 1, 1, 1) };

  x = run_unary (graph, "Relu", conv (graph, x, 4, 7, 2));
  x = run_add (graph, "MaxPool", &x, 1, &pool);
  for (guint block = 0; block < 6; block++)
    x = residual (graph, x, 4 + block / 2, block > 0 && block % 2 == 0 ? 2 : 1);
  run_output (graph, x);
  return graph;
}

static guint
count_computing (const CleaveGraph *graph)
{
  guint n = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    n += !cleave_node_is_input (node) && cleave_node_get_constant (node) == NULL;
  return n;
}

static CleaveNode *
nth_computing (const CleaveGraph *graph, guint n)
{
  CleaveNode *node = cleave_graph_get_first_node (graph);

  for (;; node = cleave_node_get_next (node))
    if (!cleave_node_is_input (node) && cleave_node_get_constant (node) == NULL && n-- == 0)
      return node;
}

/* Splits the network upward from each of its nodes: into two and into four chunks of rows, with
 * carried and with exchanged halos. Nothing is computed twice. */
START_TEST (residual_networks_compute_nothing_twice)
{
  g_autoptr (CleaveGraph) net = residual_net ();
  guint n = count_computing (net);

  for (guint start = 0; start < n; start++)
    for (gint64 chunks = 2; chunks <= 4; chunks += 2)
      for (guint halo = CLEAVE_HALO_CARRY; halo <= CLEAVE_HALO_EXCHANGE; halo++)
        {
          g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("2", &chunks, 1);
          CleaveRecursion recursion = { .depth = start % 2 == 0 ? 100 : 5,
                                        .halo = (CleaveHalo) halo,
                                        .strips_per_band = halo == CLEAVE_HALO_EXCHANGE ? 2 : 0 };
          CleaveSplitTotals totals;
          Trial trial;

          trial_init (&trial, cleave_graph_copy (net), start);
          trial.request =
              g_strdup_printf ("from node %u, %d chunks, %s", start, (int) chunks, halos[halo]);
          totals = check_split (&trial, nth_computing (trial.graph, start), split, recursion);
          if (totals.macs_after != totals.macs_before)
            give_up (&trial, "rows are missing");
          trial_clear (&trial);
        }
}
END_TEST

/* The tests below split random graphs. */

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  GPtrArray *values;
} Growing;

static gint64
pick (GRand *rand, gint32 min, gint32 max)
{
  return g_rand_int_range (rand, min, max + 1);
}

static const gint64 *
dims_of (const CleaveResult *x)
{
  return cleave_result_get_type (x)->shape.dim;
}

static CleaveResult *
pick_value (Growing *g)
{
  guint n = g->values->len, back = (guint) pick (g->rand, 0, (gint32) n - 1);

  return g->values->pdata[n - 1 - (pick (g->rand, 0, 2) > 0 ? MIN (back, 2) : back)];
}

static CleaveResult *
grow_window (Growing *g)
{
  CleaveResult *x = pick_value (g);
  gint64 k = 2 * pick (g->rand, 0, 2) + 1, dilation = pick (g->rand, 1, 2),
         stride = pick (g->rand, 1, 3), pad = pick (g->rand, 0, 1) * dilation * (k / 2);
  CleaveConvAttrs attrs = { .strides = CLEAVE_INTS (stride, pick (g->rand, 1, 2)),
                            .dilations = CLEAVE_INTS (dilation, 1),
                            .pads = CLEAVE_INTS (pad, k / 2, pad, k / 2) };
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (k, k),
                           .strides = CLEAVE_INTS (stride, 1),
                           .pads = CLEAVE_INTS (k / 2, k / 2, k / 2, k / 2) };
  CleaveShape filter = CLEAVE_SHAPE (pick (g->rand, 1, 3), dims_of (x)[1], k, k);

  if (dims_of (x)[2] < 8 || dims_of (x)[3] < 4)
    return NULL;
  if (pick (g->rand, 0, 3) == 0)
    return cleave_graph_add_pool (g->graph, "MaxPool", NULL, x, &pool, NULL);
  return cleave_graph_add_conv (g->graph, NULL, x, run_constant (g->graph, &filter, 1), NULL,
                                &attrs, NULL);
}

/* Adds a residual connection if there is another value with the same rows and columns. */
static CleaveResult *
grow_join (Growing *g)
{
  CleaveResult *x = pick_value (g), *parts[2] = { x };

  for (guint i = 0; i < 8; i++)
    {
      CleaveResult *y = pick_value (g);

      parts[1] = y;
      if (y == x || dims_of (x)[2] != dims_of (y)[2] || dims_of (x)[3] != dims_of (y)[3])
        continue;
      return dims_of (x)[1] == dims_of (y)[1] && pick (g->rand, 0, 2) > 0
                 ? cleave_graph_add_binary (g->graph, "Add", NULL, x, y, NULL)
                 : cleave_graph_add_concat (g->graph, NULL, parts, 2, 1, NULL);
    }
  return NULL;
}

static CleaveResult *
grow_slice (Growing *g)
{
  CleaveResult *x = pick_value (g);
  gint64 n = dims_of (x)[2], begin = pick (g->rand, 0, 2);
  CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (begin),
                             .ends = CLEAVE_INTS (n - pick (g->rand, 0, 2)),
                             .axes = CLEAVE_INTS (2),
                             .steps = CLEAVE_INTS (pick (g->rand, 1, 2)) };

  return n < 8 ? NULL : cleave_graph_add_slice (g->graph, NULL, x, &attrs, NULL);
}

static CleaveGraph *
random_net (GRand *rand)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  Growing g = { cleave_graph_new (NULL), rand, values };
  guint n = (guint) pick (rand, 3, 14);

  g_ptr_array_add (
      values, run_input (g.graph, &CLEAVE_SHAPE (1, 2, pick (rand, 16, 40), pick (rand, 6, 12))));
  for (guint i = 0; i < n; i++)
    {
      gint64 kind = pick (rand, 0, 9);
      CleaveResult *y = kind < 5   ? grow_window (&g)
                        : kind < 8 ? grow_join (&g)
                        : kind < 9 ? grow_slice (&g)
                                   : run_unary (g.graph, "Relu", pick_value (&g));

      if (y != NULL)
        g_ptr_array_add (values, y);
    }
  for (guint i = 0; i < values->len; i++)
    if (cleave_result_get_n_uses (values->pdata[i]) == 0)
      run_output (g.graph, values->pdata[i]);
  return g.graph;
}

static CleaveTiling *
pick_split (GRand *rand, const CleaveNode *node, char **words)
{
  const CleaveShape *shape = &cleave_result_get_type (cleave_node_get_result (node, 0))->shape;
  const char *dims = pick (rand, 0, 2) == 0 ? "2,3" : pick (rand, 0, 4) == 0 ? "3,2" : "2";
  guint n = strlen (dims) > 1 ? 2 : 1, first = dims[0] == '3' ? 3 : 2;
  const gint64 chunks[] = { pick (rand, 1, (gint32) MIN (shape->dim[first], 6)),
                            pick (rand, 1, (gint32) MIN (shape->dim[5 - first], 3)) };

  *words = g_strdup_printf ("%s along %s into %d, %d", cleave_node_get_name (node), dims,
                            (int) chunks[0], n == 1 ? 1 : (int) chunks[1]);
  return cleave_tiling_by_num_chunks (dims, chunks, n);
}

static void
try_random (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (CleaveTiling) split = NULL;
  g_autofree char *words = NULL;
  CleaveRecursion recursion = { .depth = (guint) pick (rand, 2, 12),
                                .halo = (CleaveHalo) pick (rand, CLEAVE_HALO_CARRY,
                                                           CLEAVE_HALO_EXCHANGE) };
  CleaveGraph *graph = random_net (rand);
  guint n = count_computing (graph);
  CleaveNode *node;
  Trial trial;

  trial_init (&trial, graph, seed);
  if (recursion.halo == CLEAVE_HALO_EXCHANGE)
    recursion.strips_per_band = (guint) pick (rand, 0, 3);
  if (n > 0)
    {
      node = nth_computing (graph, (guint) pick (rand, 0, (gint32) n - 1));
      split = pick_split (rand, node, &words);
      trial.request =
          g_strdup_printf ("seed %u: %s, depth %u, %s, %u strips per band", seed, words,
                           recursion.depth, halos[recursion.halo], recursion.strips_per_band);
      check_split (&trial, node, split, recursion);
    }
  trial_clear (&trial);
}

START_TEST (random_networks_compute_nothing_twice)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (1500); seed++)
    try_random (seed);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "once", residual_networks_compute_nothing_twice,
                   random_networks_compute_nothing_twice, NULL);
}

CLEAVE_TEST_SUITE ("carry-once", add_tests)
