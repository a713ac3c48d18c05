/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions, products, poolings and functions between a DequantizeLinear and a QuantizeLinear.
 * The bits must equal the bits of the float computation, whether the kernel computes in integers or
 * not. */

#include "qdq-nets.h"

/* Adds an op that bounds the sums, such as a Relu or a Clip. */
static CleaveResult *
add_bound (Net *net, CleaveResult *y, float scale)
{
  CleaveClipAttrs clip = { .min = -scale * (float) draw (net, 0, 90) / 2,
                           .max = scale * (float) draw (net, 0, 200) / 2 };

  switch (draw (net, 0, 3))
    {
    case 0:
      return run_unary (net->graph, "Relu", y);
    case 1:
      return run_add (net->graph, "Clip", &y, 1, &clip);
    case 2:
      return run_unary (net->graph, "Relu", run_add (net->graph, "Clip", &y, 1, &clip));
    default:
      return y;
    }
}

static CleaveElement
draw_byte (Net *net)
{
  return draw (net, 0, 1) ? CLEAVE_INT8 : CLEAVE_UINT8;
}

typedef struct
{
  gint64 group, n, n_out, kernel; /* groups, input channels per group, output channels of all
                                     groups, extent of the square kernel */
} Sizes;

static CleaveResult *
add_conv (Net *net, CleaveResult *x, const Sizes *sizes)
{
  gint64 kernel = sizes->kernel, n = sizes->n, pad = draw (net, 0, (gint32) (kernel / 2));
  CleaveElement w_element = draw_byte (net), y_element = draw_byte (net);
  CleaveConvAttrs attrs = { .group = sizes->group, .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  CleaveShape scalar = { 0 }, w_shape = CLEAVE_SHAPE (sizes->n_out, n, kernel, kernel);
  int spread = (int) lrint (log2 (sqrt ((double) (n * kernel * kernel)) * 100));
  CleaveResult *operands[3], *y, *y_scale = add_floats (net, 1, spread);

  attrs.strides = CLEAVE_INTS (draw (net, 1, 2), draw (net, 1, 2));
  attrs.dilations = CLEAVE_INTS (1, draw (net, 1, n == 1 ? 1 : 2));
  operands[0] =
      convert (net, "DequantizeLinear", x, add_floats (net, 1, 0),
               add_bytes (net, cleave_result_get_type (x)->element, scalar, draw (net, 0, 1)));
  operands[1] = convert (net, "DequantizeLinear", add_bytes (net, w_element, w_shape, FALSE),
                         add_floats (net, draw (net, 0, 1) ? sizes->n_out : 1, 0),
                         add_bytes (net, w_element, scalar, draw (net, 0, 5) > 0));
  operands[2] = add_floats (net, sizes->n_out, spread);
  y = run_add (net->graph, "Conv", operands, draw (net, 0, 1) ? 3 : 2, &attrs);
  y = add_bound (net, y, (float) ldexp (1, spread));
  return convert (net, "QuantizeLinear", y, y_scale,
                  add_bytes (net, y_element, scalar, draw (net, 0, 1)));
}

static CleaveResult *
add_x (Net *net, gint64 n_channels, gint64 size)
{
  CleaveTensorType type = { draw_byte (net), CLEAVE_SHAPE (1, n_channels, size, size) };

  return cleave_graph_add_input (net->graph, "x", &type, NULL);
}

static void
make_dense (Net *net)
{
  gint64 n = draw (net, 1, 3) == 1 ? draw (net, 1, 300) : 4 * draw (net, 3, 40);
  Sizes sizes = { draw (net, 0, 4) == 0 ? 2 : 1, n, 0, draw (net, 0, 2) == 0 ? 3 : 1 };

  sizes.n_out = sizes.group * draw (net, 9, 80);
  run_output (net->graph, add_conv (net, add_x (net, sizes.group * n, draw (net, 5, 9)), &sizes));
}

/* Adds two depthwise convolutions. The result of the second may overlay the result of the first. */
static void
make_depthwise (Net *net)
{
  gint64 n = draw (net, 2, 200);
  Sizes first = { n, 1, n, draw (net, 1, 5) }, second = { n, 1, n, draw (net, 1, 3) };
  CleaveResult *y = add_conv (net, add_x (net, n, draw (net, 11, 19)), &first);

  run_output (net->graph, add_conv (net, y, &second));
}

static void
try_nets (gboolean exact, int reach)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (100); seed++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), exact, reach };

      if (seed % 5 < 3)
        make_dense (&net);
      else
        make_depthwise (&net);
      run_assert_same (net.graph, seed);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}

START_TEST (bits_are_those_of_floats) { try_nets (FALSE, 0); }
END_TEST

/* Every sum is a tie between two bytes, so the kernel computes every sum again in floats. */
START_TEST (ties_are_those_of_floats) { try_nets (TRUE, 0); }
END_TEST

START_TEST (scales_may_be_of_any_size)
{
  try_nets (FALSE, 3);
  try_nets (FALSE, 40);
  try_nets (TRUE, 40);
}
END_TEST

/* Adds a pooling with the same scale and zero point before and after it, or with different ones. */
static void
make_pool (Net *net)
{
  gint64 kernel = draw (net, 1, 3), pad = draw (net, 0, (gint32) kernel - 1);
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (kernel, kernel),
                            .strides = CLEAVE_INTS (draw (net, 1, 2), draw (net, 1, 2)),
                            .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  CleaveResult *x = add_x (net, draw (net, 1, 70), draw (net, 4, 9)), *y;
  CleaveElement element = cleave_result_get_type (x)->element;
  CleaveResult *scale = add_floats (net, 1, 0);
  CleaveResult *zero = add_bytes (net, element, (CleaveShape){ 0 }, draw (net, 0, 1));

  y = run_add (net->graph, "MaxPool",
               (CleaveResult *[]){ convert (net, "DequantizeLinear", x, scale, zero) }, 1, &attrs);
  if (draw (net, 0, 1))
    {
      y = add_bound (net, y, 1);
      scale = add_floats (net, 1, draw (net, -1, 1));
      zero = add_bytes (net, draw_byte (net), (CleaveShape){ 0 }, draw (net, 0, 1));
    }
  run_output (net->graph, convert (net, "QuantizeLinear", y, scale, zero));
}

START_TEST (poolings_are_those_of_floats)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (80); seed++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), seed % 2 == 0, 0 };

      make_pool (&net);
      run_assert_same (net.graph, seed);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}
END_TEST

static CleaveResult *
add_term (Net *net, const char *name, const CleaveTensorType *type)
{
  return convert (net, "DequantizeLinear", cleave_graph_add_input (net->graph, name, type, NULL),
                  add_floats (net, 1, 0),
                  add_bytes (net, type->element, (CleaveShape){ 0 }, draw (net, 0, 1)));
}

/* Adds an Add. Each operand has an element type, a scale and a zero point of its own. The second
 * operand may have one element for each channel. It may also be a constant, which is at times a
 * scalar. */
static void
make_add (Net *net)
{
  gint64 n = draw (net, 1, 70), side = draw (net, 1, 9), kind = draw (net, 0, 3);
  CleaveTensorType types[2] = { CLEAVE_TYPE (CLEAVE_INT8, 1, n, side, side),
                                CLEAVE_TYPE (CLEAVE_INT8, 1, n, side, side) };
  CleaveResult *terms[2], *y;
  guint second = (guint) draw (net, 0, 1);

  for (guint i = 0; i < 2; i++)
    {
      types[i].element = draw_byte (net);
      if (i == second && kind == 1)
        types[i].shape = CLEAVE_SHAPE (1, n, 1, 1);
      if (i == second && kind > 1)
        terms[i] = run_add (
            net->graph, "Reshape", (CleaveResult *[]){ add_floats (net, kind == 2 ? n : 1, 1) }, 1,
            &(CleaveReshapeAttrs){ .shape = CLEAVE_INTS (kind == 2 ? n : 1, 1, 1) });
      else
        terms[i] = add_term (net, i == 0 ? "a" : "b", &types[i]);
    }
  y = add_bound (net, run_add (net->graph, draw (net, 0, 1) ? "Add" : "Mul", terms, 2, NULL), 4);
  run_output (net->graph,
              convert (net, "QuantizeLinear", y, add_floats (net, 1, draw (net, -2, 3)),
                       add_bytes (net, draw_byte (net), (CleaveShape){ 0 }, draw (net, 0, 1))));
}

START_TEST (sums_and_products_of_two_values_are_those_of_floats)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (120); seed++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), seed % 2 == 0,
                  seed % 3 == 0 ? 60 : 0 };

      make_add (&net);
      run_assert_same (net.graph, seed);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}
END_TEST

/* Adds a mean: a GlobalAveragePool or a ReduceMean. */
static void
make_mean (Net *net)
{
  gint64 n = draw (net, 1, 90), side = draw (net, 1, 40), n_batches = draw (net, 1, 2);
  CleaveTensorType type = { draw_byte (net), CLEAVE_SHAPE (n_batches, n, side, draw (net, 1, 20)) };
  CleaveReduceAttrs attrs = { .axes = CLEAVE_INTS (2, 3), .keepdims = draw (net, 0, 1) };
  CleaveResult *y = add_term (net, "x", &type);

  y = draw (net, 0, 1) ? run_add (net->graph, "GlobalAveragePool", &y, 1, NULL)
                       : run_add (net->graph, "ReduceMean", &y, 1, &attrs);
  y = add_bound (net, y, 4);
  run_output (net->graph,
              convert (net, "QuantizeLinear", y, add_floats (net, 1, draw (net, -2, 3)),
                       add_bytes (net, draw_byte (net), (CleaveShape){ 0 }, draw (net, 0, 1))));
}

START_TEST (means_are_those_of_floats)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (80); seed++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), seed % 2 == 0,
                  seed % 3 == 0 ? 60 : 0 };

      make_mean (&net);
      run_assert_same (net.graph, seed);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}
END_TEST

/* Adds a MatMul of rows, or a Gemm with a bias and with weights that are transposed or not. */
static void
make_product (Net *net)
{
  gint64 k = draw (net, 0, 1) ? draw (net, 1, 300) : 4 * draw (net, 2, 200);
  gint64 n = draw (net, 9, 80), m = draw (net, 1, 20);
  gboolean is_gemm = draw (net, 0, 1), turned = is_gemm && draw (net, 0, 1);
  CleaveGemmAttrs gemm = { .alpha = 1, .beta = 1, .transB = turned };
  int spread = (int) lrint (log2 (sqrt ((double) k) * 100));
  CleaveElement element = draw_byte (net), w_element = draw_byte (net);
  CleaveShape shape = is_gemm || draw (net, 0, 1) ? CLEAVE_SHAPE (m, k) : CLEAVE_SHAPE (2, m, k);
  CleaveTensorType type = { element, shape };
  CleaveAxisAttrs axis = { turned ? 0 : 1 };
  CleaveResult *operands[3], *w[3], *y;
  gint64 n_scales = draw (net, 0, 1) ? n : 1;

  operands[0] = add_term (net, "x", &type);
  w[0] = add_bytes (net, w_element, turned ? CLEAVE_SHAPE (n, k) : CLEAVE_SHAPE (k, n), FALSE);
  w[1] = add_floats (net, n_scales, 0);
  w[2] = add_bytes (net, w_element, n_scales == 1 ? (CleaveShape){ 0 } : CLEAVE_SHAPE (n), TRUE);
  operands[1] = run_add (net->graph, "DequantizeLinear", w, 3, &axis);
  operands[2] = add_floats (net, n, spread);
  y = is_gemm ? run_add (net->graph, "Gemm", operands, draw (net, 0, 3) ? 3 : 2, &gemm)
              : run_add (net->graph, "MatMul", operands, 2, NULL);
  y = add_bound (net, y, (float) ldexp (1, spread));
  run_output (net->graph,
              convert (net, "QuantizeLinear", y, add_floats (net, 1, spread),
                       add_bytes (net, draw_byte (net), (CleaveShape){ 0 }, draw (net, 0, 1))));
}

static void
try_products (gboolean exact, int reach)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (80); seed++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), exact, reach };

      make_product (&net);
      run_assert_same (net.graph, seed);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}

START_TEST (products_are_those_of_floats)
{
  try_products (FALSE, 0);
  try_products (TRUE, 0);
  try_products (FALSE, 3);
  try_products (FALSE, 40);
}
END_TEST

/* Adds one or two element-wise ops. The second op also reads x, or the value between the two ops is
 * quantized. */
static CleaveResult *
add_function (Net *net, CleaveResult *x, CleaveResult *scale, CleaveResult *zero)
{
  static const char *const names[] = { "Sigmoid", "Tanh", "HardSwish", "Neg", "Exp", "Softplus" };
  CleaveResult *y, *of, *half = add_floats (net, 1, -1);

  x = convert (net, "DequantizeLinear", x, scale, zero);
  y = of = run_unary (net->graph, names[draw (net, 0, 5)], x);
  if (draw (net, 0, 1))
    {
      CleaveResult *s = add_floats (net, 1, -6);
      CleaveResult *z = add_bytes (net, draw_byte (net), (CleaveShape){ 0 }, draw (net, 0, 1));

      y = convert (net, "DequantizeLinear", convert (net, "QuantizeLinear", y, s, z), s, z);
      if (draw (net, 0, 3) == 0)
        run_output (net->graph, of);
    }
  switch (draw (net, 0, 3))
    {
    case 0:
      return run_add (net->graph, "Mul", (CleaveResult *[]){ x, y }, 2, NULL);
    case 1:
      return run_add (net->graph, "Add", (CleaveResult *[]){ y, half }, 2, NULL);
    case 2:
      return run_add (net->graph, "Div", (CleaveResult *[]){ half, y }, 2, NULL);
    default:
      return y;
    }
}

static void
make_function (Net *net)
{
  gint64 n = draw (net, 1, 70), side = draw (net, 1, 9);
  CleaveTensorType type = { draw_byte (net), CLEAVE_SHAPE (1, n, side, side) };
  CleaveResult *x = cleave_graph_add_input (net->graph, "x", &type, NULL);
  CleaveShape one = draw (net, 0, 1) ? CLEAVE_SHAPE (1) : (CleaveShape){ 0 };

  x = add_function (net, x, add_floats (net, 1, -4),
                    add_bytes (net, type.element, one, draw (net, 0, 1)));
  if (draw (net, 0, 4) == 0)
    x = run_add (net->graph, "Softmax", &x, 1, &(CleaveAxisAttrs){ draw (net, 0, 1) });
  run_output (net->graph,
              convert (net, "QuantizeLinear", add_bound (net, x, 4), add_floats (net, 1, -5),
                       add_bytes (net, draw_byte (net), (CleaveShape){ 0 }, draw (net, 0, 1))));
}

START_TEST (functions_of_a_byte_are_those_of_floats)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (120); seed++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), seed % 2 == 0,
                  seed % 3 == 0 ? 60 : 0 };

      make_function (&net);
      run_assert_same (net.graph, seed);
      cleave_graph_unref (net.graph);
      g_rand_free (net.rand);
    }
}
END_TEST

/* Adds a Slice and a DequantizeLinear for each of `n_parts` parts of x, as in a split graph, and
 * joins them. */
static CleaveResult *
dequantize_parts (Net *net, CleaveResult *x, gint64 n_parts)
{
  CleaveShape shape = cleave_result_get_type (x)->shape, scalar = { 0 };
  CleaveResult *scale = add_floats (net, 1, 0), *zero = add_bytes (net, CLEAVE_UINT8, scalar, TRUE);
  CleaveResult *parts[2];

  for (gint64 i = 0; i < n_parts; i++)
    {
      CleaveRange rows = cleave_range_whole (&shape);

      rows.dim[2] = (CleaveSpan){ i * shape.dim[2] / n_parts, (i + 1) * shape.dim[2] / n_parts };
      parts[i] = convert (net, "DequantizeLinear", run_slice (net->graph, x, rows), scale, zero);
    }
  return n_parts == 1 ? parts[0] : run_concat (net->graph, parts, (guint) n_parts, 2);
}

/* Returns whether a level computes QDQ convolutions in integers. */
static gboolean
sums_bytes (const char *level)
{
  static const char *const levels[] = { "v4 with vnni", "avxvnni", "dot", "i8mm" };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if (g_str_has_prefix (level, levels[i]))
      return TRUE;
  return FALSE;
}

/* Weights that are joined from parts stay bytes. Dequantized weights would be packed as floats,
 * which take four times the memory. */
static void
try_weights_of_parts (gint64 n_parts)
{
  enum { N = 64 };
  Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (1), FALSE, 0 };
  g_autofree char *level = cleave_kernel_dup_level ();
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT8, 1, N, 9, 9);
  CleaveShape scalar = { 0 };
  CleaveResult *operands[2];

  operands[0] =
      dequantize_parts (&net, cleave_graph_add_input (net.graph, "x", &type, NULL), n_parts);
  operands[1] = convert (&net, "DequantizeLinear",
                         add_bytes (&net, CLEAVE_INT8, CLEAVE_SHAPE (N, N, 3, 3), FALSE),
                         add_floats (&net, N, 0), add_bytes (&net, CLEAVE_INT8, scalar, TRUE));
  run_output (net.graph,
              convert (&net, "QuantizeLinear", run_add (net.graph, "Conv", operands, 2, NULL),
                       add_floats (&net, 1, 11), add_bytes (&net, CLEAVE_UINT8, scalar, TRUE)));
  run_assert_same (net.graph, 0);
  if (sums_bytes (level) && !cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE))
    ck_assert_int_lt (run_get_stats (net.graph, 1).weight_bytes, N * N * 9 * 12 / 10);
  cleave_graph_unref (net.graph);
  g_rand_free (net.rand);
}

START_TEST (weights_of_parts_stay_bytes)
{
  try_weights_of_parts (1);
  try_weights_of_parts (2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "qdq-conv", weights_of_parts_stay_bytes, poolings_are_those_of_floats,
                   means_are_those_of_floats, products_are_those_of_floats,
                   functions_of_a_byte_are_those_of_floats,
                   sums_and_products_of_two_values_are_those_of_floats, bits_are_those_of_floats,
                   ties_are_those_of_floats, scales_may_be_of_any_size, NULL);
}

CLEAVE_TEST_SUITE ("qdq-conv", add_tests)
