/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tiles of quantized groups: a group that runs tile by tile has the same bits, and the values
 * inside the group are never whole in memory. */

#include "kernel-cases.h"
#include "quantized.h"

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  GPtrArray *values; /* array of CleaveResult: the quantized values that later nodes may read */
} Net;

static guint
below (Net *net, guint n)
{
  return (guint) g_rand_int_range (net->rand, 0, (gint32) n);
}

static CleaveResult *
pick (Net *net)
{
  return net->values->pdata[below (net, net->values->len)];
}

static CleaveResult *
add_conv (Net *net, CleaveResult *x, gboolean depthwise)
{
  gint64 channels = shape_of (x).dim[1], kernel = 1 + 2 * below (net, 3), pad = below (net, 3);
  gint64 stride = 1 + below (net, 2), out = depthwise ? channels : 1 + below (net, 9);
  CleaveConvAttrs attrs = { .group = depthwise ? channels : 1,
                            .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (pad, pad, pad, kernel / 2) };
  CleaveShape w = CLEAVE_SHAPE (out, depthwise ? 1 : channels, kernel, kernel);
  CleaveResult *bias =
      below (net, 2) ? NULL : run_constant (net->graph, &CLEAVE_SHAPE (out), below (net, 99));

  if (kernel == 3 && stride == 1 && below (net, 2) == 0)
    attrs.winograd = (CleaveInts){ 2, { below (net, 2), below (net, 2) } };
  return cleave_graph_add_conv (net->graph, NULL, x,
                                dequantized_weights (net->graph, w, below (net, 99)), bias, &attrs,
                                NULL);
}

static CleaveResult *
add_pool (Net *net, CleaveResult *x)
{
  gint64 kernel = 2 + below (net, 3), stride = 1 + below (net, 3);
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (kernel, kernel),
                            .strides = CLEAVE_INTS (stride, stride),
                            .pads = CLEAVE_INTS (1, 1, 1, 1) };

  return cleave_graph_add_pool (net->graph, below (net, 2) ? "MaxPool" : "AveragePool", NULL, x,
                                &attrs, NULL);
}

static CleaveResult *
add_matmul (Net *net, CleaveResult *x)
{
  CleaveShape shape = shape_of (x);

  if (below (net, 2))
    {
      CleaveTransposeAttrs attrs = { .perm = CLEAVE_INTS (0, 1, 3, 2) };

      return run_binary (net->graph, "MatMul", x, run_add (net->graph, "Transpose", &x, 1, &attrs));
    }
  return run_binary (net->graph, "MatMul", x,
                     dequantized_weights (net->graph, CLEAVE_SHAPE (shape.dim[3], 12), 5));
}

static CleaveResult *
add_joined (Net *net, CleaveResult *x)
{
  CleaveResult *operands[] = { x, dequantize (net->graph, pick (net)), x };
  CleaveShape a = shape_of (x), b = shape_of (operands[1]);

  if (a.dim[0] != b.dim[0] || a.dim[2] != b.dim[2] || a.dim[3] != b.dim[3])
    operands[1] = x;
  return run_concat (net->graph, operands, 3, 1);
}

static CleaveResult *
add_main (Net *net, CleaveResult *x)
{
  CleaveShape shape = shape_of (x);
  CleaveResult *y = NULL;

  switch (below (net, 12))
    {
    case 0:
    case 1:
      y = add_conv (net, x, FALSE);
      break;
    case 2:
      y = add_conv (net, x, TRUE);
      break;
    case 3:
      y = add_pool (net, x);
      break;
    case 4:
      y = add_matmul (net, x);
      break;
    case 5:
      y = add_joined (net, x);
      break;
    case 6:
      y = cleave_graph_add_softmax (net->graph, NULL, x, below (net, 4), NULL);
      break;
    case 7:
      y = run_add (net->graph, "Transpose", &x, 1,
                   &(CleaveTransposeAttrs){ .perm = CLEAVE_INTS (0, 2, 1, 3) });
      break;
    case 8:
      y = cleave_graph_add_reshape (
          net->graph, NULL, x,
          &CLEAVE_INTS (shape.dim[0], shape.dim[1], shape.dim[2] * shape.dim[3], 1), NULL);
      break;
    case 9:
      y = cleave_graph_add_global_pool (net->graph, "GlobalAveragePool", NULL, x,
                                        &(CleaveGlobalPoolAttrs){ 0 }, NULL);
      break;
    case 10:
      y = run_slice (net->graph, x,
                     CLEAVE_RANGE (0, shape.dim[0], 0, shape.dim[1], shape.dim[2] / 3, shape.dim[2],
                                   0, shape.dim[3]));
      break;
    }
  return y == NULL ? x : y;
}

/* Adds an element-wise op. At times two nodes read its result, or it is an output. */
static CleaveResult *
add_element_wise (Net *net, CleaveResult *x)
{
  CleaveShape shape = shape_of (x);
  CleaveResult *other = pick (net);
  CleaveShape of_other = shape_of (other);

  switch (below (net, 9))
    {
    case 0:
      return run_unary (net->graph, "Relu", x);
    case 1:
      return cleave_graph_add_clip (net->graph, NULL, x, &(CleaveClipAttrs){ -1, 6 }, NULL);
    case 2:
      return run_binary (net->graph, "Mul", x, run_unary (net->graph, "Sigmoid", x));
    case 3:
      return run_hard_swish (net->graph, x, below (net, 2) == 0);
    case 4:
      return run_binary (
          net->graph, below (net, 2) ? "Add" : "Mul", x,
          run_constant (net->graph, &CLEAVE_SHAPE (shape.dim[1], 1, 1), below (net, 9)));
    case 5:
      return run_normalize_for_good (net->graph, x);
    case 6:
    case 7:
      if (cleave_shape_equal (&shape, &of_other))
        return run_binary (net->graph, "Add", below (net, 2) ? x : dequantize (net->graph, other),
                           below (net, 2) ? x : dequantize (net->graph, other));
      break;
    case 8:
      if (below (net, 4) == 0)
        run_output (net->graph, x);
      break;
    }
  return x;
}

static void
add_group (Net *net)
{
  gboolean by_channels = below (net, 4) == 0;
  CleaveResult *x =
      convert (net->graph, "DequantizeLinear", pick (net), 0.05f, below (net, 4) == 0);

  if (below (net, 5) == 0)
    x = add_element_wise (net, x);
  x = add_main (net, x);
  for (guint i = below (net, 4); i > 0; i--)
    x = add_element_wise (net, x);
  g_ptr_array_add (net->values, convert (net->graph, "QuantizeLinear", x, 0.5f, by_channels));
}

static CleaveGraph *
random_net (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  Net net = { cleave_graph_new (NULL), rand, values };
  gint64 rows = 1 + below (&net, 90), columns = 1 + below (&net, 60);

  g_ptr_array_add (values,
                   quantized_input (net.graph, CLEAVE_SHAPE (1 + (below (&net, 4) == 0),
                                                             1 + below (&net, 8), rows, columns)));
  for (guint i = 1 + below (&net, 4); i > 0; i--)
    add_group (&net);
  run_output (net.graph, values->pdata[values->len - 1]);
  if (below (&net, 3) == 0)
    run_output (net.graph, dequantize (net.graph, pick (&net)));
  return net.graph;
}

START_TEST (random_nets_have_the_same_bits)
{
  for (guint32 seed = 0; seed < KERNEL_TRIALS (60); seed++)
    {
      g_autoptr (CleaveGraph) graph = random_net (seed);

      run_assert_same (graph, seed);
    }
}
END_TEST

static CleaveResult *
add_linear_conv (CleaveGraph *graph, CleaveResult *x, CleaveShape w)
{
  CleaveConvAttrs attrs = { .group = w.dim[1] == 1 ? w.dim[0] : 1,
                            .pads = CLEAVE_INTS (w.dim[2] / 2, w.dim[2] / 2, w.dim[2] / 2,
                                                 w.dim[2] / 2) };
  CleaveResult *operands[] = { x,
                               scalar (graph, CLEAVE_FLOAT32, 0.05f),
                               scalar (graph, CLEAVE_INT8, 3),
                               random_bytes (graph, w, 1),
                               scalar (graph, CLEAVE_FLOAT32, 0.02f),
                               scalar (graph, CLEAVE_INT8, 0),
                               scalar (graph, CLEAVE_FLOAT32, 0.5f),
                               scalar (graph, CLEAVE_INT8, 3) };

  return run_add (graph, "QLinearConv", operands, G_N_ELEMENTS (operands), &attrs);
}

static CleaveGraph *
make_chain (gboolean linear)
{
  static const struct
  {
    gint64 out, in, kernel;
  } layers[] = { { 32, 8, 1 }, { 32, 1, 3 }, { 16, 32, 1 }, { 24, 16, 3 } };
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = quantized_input (graph, CLEAVE_SHAPE (1, 8, ROWS, ROWS));

  for (guint i = 0; i < G_N_ELEMENTS (layers); i++)
    {
      CleaveShape w =
          CLEAVE_SHAPE (layers[i].out, layers[i].in, layers[i].kernel, layers[i].kernel);

      x = linear ? add_linear_conv (graph, x, w) : add_float_conv (graph, x, w, i < 2);
    }
  run_output (graph, x);
  return graph;
}

START_TEST (both_forms_need_the_same_memory)
{
  g_autoptr (CleaveGraph) linear = make_chain (TRUE), floats = make_chain (FALSE);
  gint64 peak = cleave_graph_get_peak_bytes (linear, NULL);

  /* The peak has the result of the depthwise convolution, the additional row of its overlay, and
   * the next value. */
  ck_assert_int_eq (peak, (32 + 16) * ROWS * ROWS + 32 * ROWS);
  ck_assert_int_eq (cleave_graph_get_peak_bytes (floats, NULL), peak);
  if (g_getenv ("CLEAVE_DEBUG") == NULL)
    {
      CleaveProgramStats stats = run_get_stats (floats, 1);

      ck_assert_int_eq (stats.peak_activation_bytes, peak);
      ck_assert_int_eq (stats.arena_bytes, peak);
      ck_assert_int_lt (stats.scratch_bytes, 128 << 10);
      ck_assert_uint_eq (stats.n_nodes, cleave_graph_count_operators (floats));
    }
  run_assert_same (floats, 1);
}
END_TEST

START_TEST (strips_need_even_less_memory)
{
  g_autoptr (CleaveGraph) graph = make_chain (FALSE), strips = cleave_graph_copy (graph);
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("2", (const gint64[]){ 4 }, 1);
  CleaveRecursion recursion = { .depth = 100, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;

  report = cleave_split_node_recursively (
      cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (strips, 0))),
      split, NULL, &recursion, &error);
  cleave_assert_no_error (error);
  ck_assert_int_lt (cleave_graph_get_peak_bytes (strips, NULL),
                    cleave_graph_get_peak_bytes (graph, NULL));
  run_assert_same (strips, 3);
}
END_TEST

static gint64
get_peak_of_strips (gboolean linear, gint64 n_strips)
{
  g_autoptr (CleaveGraph) graph = make_chain (linear);
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("2", &n_strips, 1);
  CleaveRecursion recursion = { .depth = 100, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;

  report = cleave_split_node_recursively (
      cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (graph, 0))),
      split, NULL, &recursion, &error);
  cleave_assert_no_error (error);
  return cleave_graph_get_peak_bytes (graph, NULL);
}

/* In both forms, QLinear and QDQ, strips carry rows as bytes. */
START_TEST (strips_of_both_forms_need_the_same_memory)
{
  for (gint64 n_strips = 4; n_strips <= 20; n_strips += 8)
    ck_assert_int_le (get_peak_of_strips (FALSE, n_strips), get_peak_of_strips (TRUE, n_strips));
}
END_TEST

static CleaveFitPlan *
fit (gboolean linear)
{
  g_autoptr (CleaveGraph) graph = make_chain (linear);
  const CleaveFitOptions options = { .max_added_macs = -1, .exclude_inputs = TRUE };
  g_autoptr (GError) error = NULL;
  CleaveFitPlan *plan = cleave_fit_plan_new (graph, &options, &error);

  cleave_assert_no_error (error);
  return plan;
}

/* The fit of the QLinear form and the fit of the QDQ form have the same segments with the same
 * estimates. */
START_TEST (both_forms_are_fitted_alike)
{
  g_autoptr (CleaveFitPlan) linear = fit (TRUE), floats = fit (FALSE);
  guint n = cleave_fit_plan_get_n_segments (linear);

  ck_assert_int_eq (cleave_fit_plan_get_totals (floats)->arena_after,
                    cleave_fit_plan_get_totals (linear)->arena_after);
  ck_assert_uint_eq (cleave_fit_plan_get_n_segments (floats), n);
  for (guint i = 0; i < n; i++)
    {
      const CleaveFitSegment *a = cleave_fit_plan_get_segment (linear, i);
      const CleaveFitSegment *b = cleave_fit_plan_get_segment (floats, i);

      ck_assert_uint_eq (b->n_strips, a->n_strips);
      ck_assert_uint_eq (b->n_columns, a->n_columns);
      ck_assert_int_eq (b->n_bytes, a->n_bytes);
    }
}
END_TEST

/* The split for threads also cuts the QuantizeLinear after each convolution, although this node
 * alone has too little work to be cut. If the QuantizeLinear stayed whole, the pieces of the
 * convolution would be joined as floats, which need four times the memory of bytes. */
START_TEST (threads_need_little_more_memory)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = quantized_input (graph, CLEAVE_SHAPE (1, 32, 20, 20));
  g_autoptr (CleaveSplitReport) report = NULL;

  for (guint i = 0; i < 12; i++)
    x = add_float_conv (graph, x, CLEAVE_SHAPE (32, 32, 3, 3), FALSE);
  run_output (graph, x);
  ck_assert_int_eq (cleave_graph_get_peak_bytes (graph, NULL), 2 * 12800);
  report = cleave_split_for_threads (graph, 2, NULL);
  ck_assert_uint_ge (cleave_split_report_get_n_split (report), 12);
  cleave_clean_up (graph, NULL, NULL);
  ck_assert_int_le (cleave_graph_get_peak_bytes_with_threads (graph, 2, NULL), 3 * 12800);
  run_assert_same (graph, 4);
}
END_TEST

/* The split for threads counts values in bytes, and takes the fewest strips that halve the peak. */
START_TEST (strips_are_chosen_by_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = quantized_input (graph, CLEAVE_SHAPE (1, 8, 400, 400));
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), want = NULL, got = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;
  gint64 peak;

  x = add_float_conv (graph, x, CLEAVE_SHAPE (32, 8, 1, 1), TRUE);
  x = add_float_conv (graph, x, CLEAVE_SHAPE (32, 1, 3, 3), TRUE);
  run_output (graph, add_float_conv (graph, x, CLEAVE_SHAPE (4, 32, 1, 1), FALSE));
  want = run_graph (graph, inputs, 1);
  peak = cleave_graph_get_peak_bytes (graph, NULL);
  report = cleave_split_for_threads (graph, 1, NULL);
  ck_assert_uint_gt (cleave_split_report_get_n_split (report), 0);
  cleave_clean_up (graph, NULL, NULL);
  ck_assert_int_le (cleave_graph_get_peak_bytes (graph, NULL), peak / 2);
  ck_assert_uint_le (cleave_graph_count_operators (graph), 200);
  got = run_graph (graph, inputs, 1);
  ck_assert (cleave_tensor_equal (got->pdata[0], want->pdata[0]));
}
END_TEST

/* Returns the tile of the only group in a graph; `dims` are the dimensions of its result, outermost
 * first. */
static CleaveShape
tile_of (const CleaveGraph *graph, const guint *dims)
{
  g_autoptr (CleaveGraph) lowered = cleave_group_quantized (graph);
  const gint64 weights[8] = { 0 };
  CleaveShape tile = { 0 };
  guint n_groups = 0;

  for (CleaveNode *node = lowered->first; node != NULL; node = node->next)
    if (node->op == &cleave_op_quantized_group)
      {
        g_auto (CleaveNodeCall) call = { 0 };
        CleaveBody body = cleave_group_get_body (cleave_node_call_init (&call, node));

        ck_assert (cleave_tile_choose (&body, weights, dims, &tile));
        n_groups++;
      }
  ck_assert_uint_eq (n_groups, 1);
  return tile;
}

/* A tile of a product of two dequantized matrices is the whole product of one attention head, which
 * fits into scratch. With tiles of half of this product, the program would dequantize one of the
 * matrices twice. */
START_TEST (matrices_are_dequantized_once)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 4, 64, 128)));
  CleaveResult *y = dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 4, 128, 64)));
  const guint dims[] = { 0, 1, 2, 3 };
  CleaveShape tile;

  run_output (graph, quantize (graph, run_binary (graph, "MatMul", x, y)));
  run_assert_same (graph, 3);
  tile = tile_of (graph, dims);
  ck_assert (cleave_shape_equal (&tile, &CLEAVE_SHAPE (1, 1, 64, 64)));
}
END_TEST

/* Tiles do not cut channels, even if halos make a cut of rows expensive, since kernels are slow if
 * a pixel has few channels. */
START_TEST (tiles_do_not_cut_channels)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (3, 3), .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *x = dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 96, 20, 20)));
  const guint dims[] = { 0, 2, 3, 1 };

  run_output (
      graph, quantize (graph, cleave_graph_add_pool (graph, "AveragePool", NULL, x, &attrs, NULL)));
  run_assert_same (graph, 4);
  ck_assert_int_eq (tile_of (graph, dims).dim[1], 96);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "bits", random_nets_have_the_same_bits, NULL);
  cleave_add_case (suite, "memory", both_forms_need_the_same_memory, strips_need_even_less_memory,
                   strips_of_both_forms_need_the_same_memory, both_forms_are_fitted_alike,
                   threads_need_little_more_memory, strips_are_chosen_by_bytes,
                   matrices_are_dequantized_once, tiles_do_not_cut_channels, NULL);
}

CLEAVE_TEST_SUITE ("quantized-tiles", add_tests)
