/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits typical blocks of networks from their last node. The pieces of a block are parallel
 * subgraphs, or carry halos and compute nothing twice. If a block cannot be split up to its input,
 * the report has the reason. */

#include "graphs.h"
#include "interpret.h"
#include "test.h"

#include <string.h>

static CleaveResult *
conv_strided (
    CleaveGraph *graph, const char *name, CleaveResult *x, gint64 channels, gint64 k, gint64 stride)
{
  CleaveConvAttrs attrs = { .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (k / 2, k / 2, k / 2, k / 2) };
  gint64 from = cleave_result_get_type (x)->shape.dim[1];
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (channels, from, k, k));

  return cleave_graph_add_conv (graph, name, x, w, NULL, &attrs, NULL);
}

static CleaveResult *
conv (CleaveGraph *graph, const char *name, CleaveResult *x, gint64 channels, gint64 k)
{
  return conv_strided (graph, name, x, channels, k, 1);
}

static CleaveResult *
add (CleaveGraph *graph,
     const char *op,
     const char *name,
     CleaveResult *const *x,
     guint n,
     gconstpointer attrs)
{
  g_autoptr (GError) error = NULL;
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup (op), name, x, n, 1, attrs, &error);

  cleave_assert_no_error (error);
  return cleave_node_get_result (node, 0);
}

static CleaveResult *
unary (CleaveGraph *graph, const char *op, const char *name, CleaveResult *x)
{
  return add (graph, op, name, &x, 1, NULL);
}

static CleaveResult *
binary (CleaveGraph *graph, const char *op, const char *name, CleaveResult *a, CleaveResult *b)
{
  CleaveResult *operands[] = { a, b };

  return add (graph, op, name, operands, 2, NULL);
}

static CleaveResult *
concat (CleaveGraph *graph, const char *name, CleaveResult *a, CleaveResult *b)
{
  CleaveResult *operands[] = { a, b };

  return cleave_graph_add_concat (graph, name, operands, 2, 1, NULL);
}

static CleaveResult *
pool (CleaveGraph *graph, const char *name, CleaveResult *x, gint64 k, gint64 stride, gint64 pad)
{
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (k, k),
                            .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (pad, pad, pad, pad) };

  return add (graph, "MaxPool", name, &x, 1, &attrs);
}

/* The functions below add the nodes of a block. A block reads x, which has the shape 1x4x16x16, and
 * its last node is "end". */

static CleaveResult *
residual (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *start = unary (graph, "Relu", "start", x);
  CleaveResult *y = unary (graph, "Relu", "r", conv (graph, "c1", start, 4, 3));

  return binary (graph, "Add", "end", start, conv (graph, "c2", y, 4, 3));
}

static CleaveResult *
projected (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *start = unary (graph, "Relu", "start", x);
  CleaveResult *y = unary (graph, "Relu", "r", conv_strided (graph, "c1", start, 8, 3, 2));

  return binary (graph, "Add", "end", conv (graph, "c2", y, 8, 3),
                 conv_strided (graph, "projection", start, 8, 1, 2));
}

static CleaveResult *
inception (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *start = conv (graph, "start", x, 4, 3);
  CleaveResult *branches[] = {
    conv (graph, "a", start, 2, 1),
    conv (graph, "b2", conv (graph, "b1", start, 2, 1), 2, 3),
    conv (graph, "c2", conv (graph, "c1", start, 2, 1), 2, 5),
    conv (graph, "d2", pool (graph, "d1", start, 3, 1, 1), 2, 1),
  };

  return conv (graph, "end", cleave_graph_add_concat (graph, "all", branches, 4, 1, NULL), 4, 3);
}

static CleaveResult *
dense (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *y = concat (graph, "cat1", x, conv (graph, "c1", x, 2, 3));

  y = concat (graph, "cat2", y, unary (graph, "Relu", "r", conv (graph, "c2", y, 2, 3)));
  return conv (graph, "end", y, 4, 1);
}

static CleaveResult *
u_net (CleaveGraph *graph, CleaveResult *x)
{
  CleaveConvTransposeAttrs twice = { .strides = CLEAVE_INTS (2, 2) };
  CleaveResult *skip = unary (graph, "Relu", "skip", conv (graph, "down", x, 4, 3));
  CleaveResult *middle = conv (graph, "middle", pool (graph, "pool", skip, 2, 2, 0), 8, 3);
  CleaveResult *w = cleave_test_weights (graph, "wu", CLEAVE_SHAPE (8, 4, 2, 2));
  CleaveResult *up = cleave_test_add (graph, "ConvTranspose", "up",
                                      (CleaveResult *[]){ middle, w, NULL }, 3, &twice, NULL);

  return conv (graph, "end", concat (graph, "cat", up, skip), 4, 3);
}

/* Adds a squeeze-and-excitation block. All chunks read the single value that the squeeze computes.
 */
static CleaveResult *
squeeze_excite (CleaveGraph *graph, CleaveResult *x)
{
  CleaveResult *a = conv (graph, "a", x, 4, 3);
  CleaveResult *squeezed = unary (graph, "GlobalAveragePool", "squeeze", a);
  CleaveResult *s = unary (graph, "Sigmoid", "gate", conv (graph, "excite", squeezed, 4, 1));

  return conv (graph, "end", binary (graph, "Mul", "scale", a, s), 4, 3);
}

typedef struct
{
  const char *name;
  CleaveResult *(*make) (CleaveGraph *graph, CleaveResult *x);
  guint n_per_band;  /* number of parallel subgraphs in a band */
  const char *stays; /* the node that stays whole, and the reason */
} Block;

static const Block blocks[] = {
  { "residual", residual, 1, NULL },
  { "projected residual", projected, 1, NULL },
  { "inception", inception, 2, NULL },
  { "dense", dense, 1, NULL },
  { "U-net", u_net, 1, NULL },
  { "squeeze and excite", squeeze_excite, 1,
    "gate: one-piece: Mul 'scale' needs the whole value for one piece" },
};

typedef struct
{
  CleaveGraph *graph;
  GPtrArray *inputs, *expected;
} Trial;

static void
trial_init (Trial *trial)
{
  trial->inputs = cleave_random_inputs (trial->graph, 1, FALSE);
  trial->expected = cleave_interpret (trial->graph, (CleaveTensor *const *) trial->inputs->pdata);
}

static void
trial_end (Trial *trial)
{
  g_autoptr (GPtrArray) got = NULL;
  g_autoptr (GError) error = NULL;

  cleave_graph_validate (trial->graph, &error);
  cleave_assert_no_error (error);
  got = cleave_interpret (trial->graph, (CleaveTensor *const *) trial->inputs->pdata);
  ck_assert_int_eq (cleave_compare_outputs (trial->expected, got), -1);
  g_ptr_array_unref (trial->inputs);
  g_ptr_array_unref (trial->expected);
  cleave_graph_unref (trial->graph);
}

/* Returns the sum of the MACs of all nodes, without the nodes whose names are in `but`. The test
 * compares the sum with the MACs that the report has for parallel subgraphs. */
static gint64
count_macs (const CleaveGraph *graph, const char *const *but)
{
  gint64 macs = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    if (but == NULL || !g_strv_contains (but, cleave_node_get_name (node)))
      macs += cleave_node_get_macs (node);
  return macs;
}

static void
check_stays (const Block *block, const CleaveSplitReport *report)
{
  g_autofree char *got = NULL;
  const CleaveUnsplitNode *stay;

  ck_assert_uint_eq (cleave_split_report_get_n_not_split (report), block->stays != NULL);
  if (block->stays == NULL)
    return;
  stay = cleave_split_report_get_not_split (report, 0);
  got = g_strdup_printf ("%s: %s: %s", stay->name, cleave_not_split_get_name (stay->reason),
                         stay->message);
  ck_assert_str_eq (got, block->stays);
}

static void
check_block (const Block *block, gint64 n_bands, CleaveRecursion recursion)
{
  static const char *const whole[] = { "excite", NULL };
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("2", &n_bands, 1);
  Trial trial = { .graph = cleave_graph_new (NULL) };
  CleaveResult *x = cleave_test_input (trial.graph, "x", CLEAVE_SHAPE (1, 4, 16, 16));
  g_autoptr (CleaveSplitReport) report = NULL;
  const CleaveSplitTotals *totals;

  cleave_graph_add_output (trial.graph, "y", block->make (trial.graph, x), NULL);
  trial_init (&trial);
  report = cleave_split_node_recursively (cleave_graph_find_node (trial.graph, "end"), split, NULL,
                                          &recursion, NULL);
  totals = cleave_split_report_get_totals (report);
  check_stays (block, report);
  ck_assert_int_eq (totals->macs_after, count_macs (trial.graph, NULL));
  if (recursion.halo == CLEAVE_HALO_CARRY)
    ck_assert_msg (totals->macs_after == totals->macs_before, "%s: something is computed twice",
                   block->name);
  else
    {
      ck_assert_msg (totals->n_parallel_subgraphs == n_bands * block->n_per_band,
                     "%s in %d: %u subgraphs", block->name, (int) n_bands,
                     totals->n_parallel_subgraphs);
      ck_assert_int_eq (totals->parallel_macs, count_macs (trial.graph, whole));
    }
  trial_end (&trial);
}

START_TEST (blocks_become_parallel_subgraphs)
{
  for (gint64 n = 2; n <= 4; n++)
    check_block (&blocks[_i], n, (CleaveRecursion){ .depth = 30 });
}
END_TEST

START_TEST (blocks_are_carried_without_recomputation)
{
  for (gint64 n = 2; n <= 8; n++)
    check_block (&blocks[_i], n, (CleaveRecursion){ .depth = 30, .halo = CLEAVE_HALO_CARRY });
}
END_TEST

/* The block has two results of different extents. The value that both results need is cut once for
 * both results. */
START_TEST (a_block_may_have_two_results)
{
  for (guint i = 0; i < 2; i++)
    {
      const gint64 two = 2;
      CleaveRecursion recursion = { .depth = 9, .halo = (CleaveHalo) i };
      g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("H", &two, 1);
      Trial trial = { .graph = cleave_graph_new (NULL) };
      CleaveResult *x = cleave_test_input (trial.graph, "x", CLEAVE_SHAPE (1, 4, 16, 16));
      CleaveResult *start = conv (trial.graph, "start", x, 4, 3);
      CleaveResult *ends[] = { conv (trial.graph, "large", start, 4, 5),
                               conv_strided (trial.graph, "small", start, 4, 3, 2) };
      CleaveSplitRequest requests[2];
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autofree char *got = NULL;

      for (guint e = 0; e < 2; e++)
        {
          cleave_graph_add_output (trial.graph, e == 0 ? "a" : "b", ends[e], NULL);
          requests[e] = (CleaveSplitRequest){ cleave_result_get_node (ends[e]), split, NULL };
        }
      trial_init (&trial);
      report = cleave_split_nodes_recursively (trial.graph, requests, 2, &recursion, NULL);
      got = cleave_describe_split (report, "start");
      ck_assert_str_eq (got, i == 0 ? "start.0 0:1,0:4,0:10,0:16 start.1 0:1,0:4,6:16,0:16"
                                    : "start.0 0:1,0:4,0:10,0:16 start.1 0:1,0:4,10:16,0:16");
      ck_assert_uint_eq (cleave_split_report_get_totals (report)->n_parallel_subgraphs,
                         i == 0 ? 2 : 0);
      trial_end (&trial);
    }
}
END_TEST

/* A global pooling needs all rows of its operand, but each channel separately. */
START_TEST (a_global_pooling_ends_a_region_of_rows)
{
  Trial trial = { .graph = cleave_graph_new (NULL) };
  CleaveResult *x = cleave_test_input (trial.graph, "x", CLEAVE_SHAPE (2, 4, 6, 6));
  CleaveResult *pooled =
      unary (trial.graph, "GlobalMaxPool", "pool", conv (trial.graph, "c", x, 4, 3));
  const gint64 counts[] = { 2, 2 };
  CleaveRecursion recursion = { .depth = 9 };
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("N,C", counts, 2);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autofree char *got = NULL;

  cleave_graph_add_output (trial.graph, "y", unary (trial.graph, "Relu", "end", pooled), NULL);
  trial_init (&trial);
  report = cleave_split_node_recursively (cleave_graph_find_node (trial.graph, "end"), split, NULL,
                                          &recursion, NULL);
  got = cleave_describe_split (report, "c");
  ck_assert_str_eq (got, "c.0 0:1,0:2,0:6,0:6 c.1 0:1,2:4,0:6,0:6 c.2 1:2,0:2,0:6,0:6 "
                         "c.3 1:2,2:4,0:6,0:6");
  trial_end (&trial);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *loop = tcase_create ("blocks");

  tcase_add_loop_test (loop, blocks_become_parallel_subgraphs, 0, G_N_ELEMENTS (blocks));
  tcase_add_loop_test (loop, blocks_are_carried_without_recomputation, 0, G_N_ELEMENTS (blocks));
  suite_add_tcase (suite, loop);
  cleave_add_case (suite, "ends", a_block_may_have_two_results,
                   a_global_pooling_ends_a_region_of_rows, NULL);
}

CLEAVE_TEST_SUITE ("split-blocks", add_tests)
