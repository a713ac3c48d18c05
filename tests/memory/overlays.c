/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Overlays: results of depthwise convolutions in the memory of their operand. The tests check the
 * bits against the interpreter, and that overlays save memory. */

#include "../../lib/ir/debug.h"
#include "../../lib/ir/overlay.h"
#include "../../lib/memory/buffers.h"

#include "graphs.h"
#include "orders.h"
#include "run-help.h"

#include "../../lib/memory/quantized-group.h"

#include <math.h>

typedef enum { FLOATS, LINEAR, SYMMETRIC, CONVERTED, INTEGERS } Form;

typedef struct
{
  Form form;
  CleaveElement element;
  guint n_spatial;
  gboolean never; /* no overlay is possible, since no kernel reads the rows in order */
} Kind;

static const Kind kinds[] = {
  { FLOATS, CLEAVE_FLOAT32, 2, FALSE },  { LINEAR, CLEAVE_INT8, 2, FALSE },
  { CONVERTED, CLEAVE_INT8, 2, FALSE },  { FLOATS, CLEAVE_FLOAT16, 2, FALSE },
  { FLOATS, CLEAVE_BFLOAT16, 2, FALSE }, { INTEGERS, CLEAVE_INT8, 2, FALSE },
  { FLOATS, CLEAVE_FLOAT32, 3, FALSE },  { FLOATS, CLEAVE_FLOAT32, 1, TRUE },
  { LINEAR, CLEAVE_INT8, 1, FALSE },     { CONVERTED, CLEAVE_INT8, 1, FALSE },
  { FLOATS, CLEAVE_FLOAT16, 1, FALSE },  { FLOATS, CLEAVE_FLOAT64, 2, TRUE },
  { SYMMETRIC, CLEAVE_INT8, 2, FALSE },  { SYMMETRIC, CLEAVE_INT8, 1, FALSE },
};

#define N_KINDS G_N_ELEMENTS (kinds)

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  const Kind *kind;
} Net;

static gint64
from_to (Net *net, gint32 least, gint32 most)
{
  return g_rand_int_range (net->rand, least, most + 1);
}

static CleaveResult *
random_constant (Net *net, CleaveElement element, CleaveShape shape)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, g_rand_int (net->rand), FALSE);

  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static CleaveResult *
scale (Net *net, float value)
{
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, &value, NULL);

  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static CleaveResult *
convert (Net *net, const char *op, CleaveResult *x, float by)
{
  CleaveAxisAttrs attrs = { 1 };
  CleaveResult *operands[] = { x, scale (net, by),
                               random_constant (net, CLEAVE_INT8, (CleaveShape){ 0 }) };

  return run_add (net->graph, op, operands, 3, &attrs);
}

static CleaveShape
weights_shape (const Net *net, gint64 n_out, gint64 n_in, const gint64 *kernel)
{
  CleaveShape shape = { .rank = 2 + net->kind->n_spatial, .dim = { n_out, n_in } };

  for (guint i = 0; i < net->kind->n_spatial; i++)
    shape.dim[2 + i] = kernel[i];
  return shape;
}

/* Returns a scale for a result, so that few bytes saturate. */
static float
find_scale (const CleaveResult *w)
{
  const CleaveShape *shape = &cleave_result_get_type (w)->shape;

  return 0.5f * sqrtf ((float) (cleave_shape_n_elements (shape) / shape->dim[0]));
}

static CleaveResult *
zero_point (Net *net)
{
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_INT8);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, "", NULL);

  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static CleaveResult *
add_linear (Net *net, CleaveResult *x, CleaveResult *w, const CleaveConvAttrs *attrs)
{
  CleaveShape scalar = { 0 };
  CleaveResult *operands[] = { x,
                               scale (net, 0.05f),
                               random_constant (net, CLEAVE_INT8, scalar),
                               w,
                               scale (net, 0.1f),
                               net->kind->form == SYMMETRIC
                                   ? zero_point (net)
                                   : random_constant (net, CLEAVE_INT8, scalar),
                               scale (net, find_scale (w)),
                               random_constant (net, CLEAVE_INT8, scalar) };

  return run_add (net->graph, "QLinearConv", operands, G_N_ELEMENTS (operands), attrs);
}

/* Adds a convolution with the element type and form of `net->kind`, and at times a Relu. */
static CleaveResult *
add_conv (Net *net, CleaveResult *x, CleaveShape weights, const CleaveConvAttrs *attrs)
{
  CleaveResult *w = random_constant (net, net->kind->element, weights), *y;
  CleaveResult *operands[] = { x, w };

  if (net->kind->form == INTEGERS && attrs->group > 1)
    return run_add (net->graph, "ConvInteger", operands, 2, attrs);
  if (net->kind->form != FLOATS && net->kind->form != CONVERTED)
    return add_linear (net, x, w, attrs);
  if (net->kind->form == CONVERTED)
    {
      operands[0] = convert (net, "DequantizeLinear", x, 0.05f);
      operands[1] = convert (net, "DequantizeLinear", w, 0.1f);
    }
  y = run_add (net->graph, "Conv", operands, 2, attrs);
  if (from_to (net, 0, 1))
    y = run_unary (net->graph, "Relu", y);
  return net->kind->form == CONVERTED ? convert (net, "QuantizeLinear", y, find_scale (w)) : y;
}

static gint64
n_channels (const Net *net, const CleaveResult *x, CleaveLayout layout)
{
  const CleaveShape *shape = &cleave_result_get_type (x)->shape;

  return shape->dim[layout == CLEAVE_LAYOUT_NCHW ? 1 : shape->rank - 1];
}

static CleaveResult *
add_pointwise (Net *net, CleaveResult *x, gint64 n, CleaveLayout layout)
{
  CleaveConvAttrs attrs = { .group = 1, .layout = layout };
  const gint64 ones[] = { 1, 1, 1 };

  return add_conv (net, x, weights_shape (net, n, n_channels (net, x, layout), ones), &attrs);
}

static CleaveResult *
add_depthwise (Net *net, CleaveResult *x, CleaveLayout layout)
{
  gint64 n = n_channels (net, x, layout), kernel[3], times = from_to (net, 0, 3) == 0 ? 2 : 1;
  guint n_spatial = net->kind->n_spatial;
  CleaveConvAttrs attrs = { .group = n, .layout = layout };

  attrs.strides.n = attrs.dilations.n = n_spatial;
  attrs.pads.n = 2 * n_spatial;
  for (guint i = 0; i < n_spatial; i++)
    {
      kernel[i] = from_to (net, 1, n_spatial == 3 ? 3 : 5);
      attrs.strides.v[i] = from_to (net, 1, i == 0 ? 3 : 2);
      attrs.dilations.v[i] = from_to (net, 1, 2);
      attrs.pads.v[i] = from_to (net, 0, 3);
      attrs.pads.v[n_spatial + i] = from_to (net, 0, 3);
    }
  return add_conv (net, x, weights_shape (net, n * times, 1, kernel), &attrs);
}

static void
end_net (Net *net, CleaveResult *y, CleaveLayout layout)
{
  CleaveReduceAttrs rest = { .axes = CLEAVE_INTS (2, 3), .keepdims = TRUE };

  y = net->kind->form == INTEGERS ? run_add (net->graph, "ReduceMax", &y, 1, &rest)
                                  : add_pointwise (net, y, 2, layout);
  run_output (net->graph, y);
}

/* Makes a network of three layers: the first expands few channels to many, the second keeps or
 * doubles their number, and the third reduces them to few. */
static Net
make_net (guint32 seed, gint64 n_images)
{
  Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), &kinds[seed % N_KINDS] };
  guint n_spatial = net.kind->n_spatial;
  CleaveLayout layout = from_to (&net, 0, 1) ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC;
  CleaveTensorType type = { net.kind->element, { .rank = 2 + n_spatial, .dim = { n_images } } };
  CleaveResult *x;

  type.shape.dim[layout == CLEAVE_LAYOUT_NCHW ? 1 : 1 + n_spatial] = 2;
  for (guint i = 0; i < n_spatial; i++)
    type.shape.dim[i + (layout == CLEAVE_LAYOUT_NCHW ? 2 : 1)] =
        n_spatial == 3 ? from_to (&net, 7, 10) : from_to (&net, 9, 24);
  x = cleave_graph_add_input (net.graph, "x", &type, NULL);
  x = add_pointwise (&net, x, from_to (&net, 5, net.kind->form == SYMMETRIC ? 150 : 40), layout);
  end_net (&net, add_depthwise (&net, x, layout), layout);
  return net;
}

static void
clear (Net *net)
{
  cleave_graph_unref (net->graph);
  g_rand_free (net->rand);
}

/* Returns the number of nodes whose result overlays an operand when the graph runs. */
static guint
count_overlaid (const CleaveGraph *graph)
{
  g_autoptr (CleaveGraph) lowered = cleave_group_quantized (graph);
  g_autoptr (CleaveStorage) storage = NULL;
  g_autoptr (GPtrArray) order =
      cleave_order_with_storage (lowered == NULL ? graph : lowered, &storage, NULL);
  guint n = 0;

  for (guint i = 0; i < order->len; i++)
    n += cleave_storage_is_overlaid (storage, order->pdata[i]) ? 1 : 0;
  return n;
}

START_TEST (bits_are_the_same)
{
  guint n[N_KINDS] = { 0 }, n_graphs = CLEAVE_TRIALS (20 * N_KINDS);

  for (guint32 seed = 0; seed < n_graphs; seed++)
    {
      Net net = make_net (seed, 1);

      n[seed % N_KINDS] += count_overlaid (net.graph);
      run_assert_same (net.graph, seed);
      clear (&net);
    }
  for (guint k = 0; k < N_KINDS; k++)
    if (kinds[k].never)
      ck_assert_uint_eq (n[k], 0);
    else
      ck_assert_uint_gt (n[k], n_graphs / N_KINDS / 5);
}
END_TEST

/* Returns the shift of an overlay (overlay.h): the smallest legal distance from the begin of the
 * result to the begin of the operand, in elements of the operand. Computes the distance for every
 * row, unlike the library. The kernel reads `ahead` rows before it writes the first row. */
static gint64
ask_each_row (const CleaveCall *call, guint rows, gint64 ahead)
{
  const CleaveTensorType *x = &call->operands[0], *y = &call->results[0];
  gint64 x_row = cleave_tensor_type_n_bytes (x) / x->shape.dim[rows];
  gint64 y_row = cleave_tensor_type_n_bytes (y) / y->shape.dim[rows], most = 0;
  gint64 x_size = (gint64) cleave_element_size (x->element);
  CleaveRange chunk = cleave_range_whole (&y->shape);

  for (gint64 i = ahead; i < y->shape.dim[rows]; i++)
    {
      chunk.dim[rows] = (CleaveSpan){ i, i + 1 };
      most = MAX (most, (i + 1 - ahead) * y_row -
                            cleave_call_slice (call, 0, &chunk).range.dim[rows].begin * x_row);
    }
  return (most + x_size - 1) / x_size;
}

START_TEST (three_rows_decide_for_all)
{
  guint n_asked = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (100 * N_KINDS); seed++)
    {
      Net net = make_net (seed, 1);

      for (CleaveNode *node = net.graph->first; node != NULL; node = node->next)
        {
          g_auto (CleaveNodeCall) call = { 0 };
          gint64 shift, ahead = node->results[0].type.element == CLEAVE_FLOAT32 ? 0 : 1;
          guint rows;

          cleave_node_call_init (&call, node);
          if (node->op->kernel == NULL || !cleave_call_overlay (&call.call, 0, &rows, &shift))
            continue;
          ck_assert_int_eq (shift, ask_each_row (&call.call, rows, ahead));
          n_asked++;
        }
      clear (&net);
    }
  ck_assert_uint_gt (n_asked, 100);
}
END_TEST

/* The library must not look at each row, since there are too many. */
START_TEST (very_many_rows_are_handled)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, G_GINT64_CONSTANT (100000000000), 100));

  run_output (graph, run_depthwise (graph, run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW)));
  ck_assert_uint_eq (count_overlaid (graph), 0); /* no overlay, since the depthwise convolution
                                                  * computes an output of the graph */
  run_output (graph,
              run_conv (graph, run_depthwise (graph, run_conv (graph, x, 8, 1, 0)), 1, 1, 0));
  ck_assert_uint_eq (count_overlaid (graph), 1);
}
END_TEST

/* A depthwise convolution with stride 2 overlays its operand, 48 channels of 40 x 40. The peak is
 * the operand and, for some element types, one row. Floats of 32 bits need one row of the result.
 * ConvInteger needs one row of the operand: a row of its 4-byte results overwrites two rows of
 * bytes. */
START_TEST (the_peak_is_that_of_the_larger_value)
{
  static const gint64 want[] = { (40 * 40 + 20) * 48 * 4, 40 * 40 * 48,     40 * 40 * 48,
                                 40 * 40 * 48 * 2,        40 * 40 * 48 * 2, (40 + 1) * 40 * 48 };

  for (guint k = 0; k < G_N_ELEMENTS (want); k++)
    {
      Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (k), &kinds[k] };
      CleaveTensorType type = { kinds[k].element, CLEAVE_SHAPE (1, 1, 40, 40) };
      CleaveConvAttrs attrs = { .group = 48,
                                .strides = CLEAVE_INTS (2, 2),
                                .pads = CLEAVE_INTS (1, 1, 1, 1) };
      CleaveResult *x = cleave_graph_add_input (net.graph, "x", &type, NULL);
      gint64 peak;

      x = add_pointwise (&net, x, 48, CLEAVE_LAYOUT_NCHW);
      end_net (&net, add_conv (&net, x, CLEAVE_SHAPE (48, 1, 3, 3), &attrs), CLEAVE_LAYOUT_NCHW);
      peak = cleave_graph_get_peak_bytes (net.graph, NULL);
      /* The input is live while the first convolution runs. */
      ck_assert_int_eq (peak, want[k] + 40 * 40 * (gint64) cleave_element_size (type.element));
      if (!cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE)) /* reference kernels do not run tile by
                                                           tile, so they need another arena */
        ck_assert_int_eq (run_get_stats (net.graph, 1).arena_bytes, peak);
      run_assert_same (net.graph, k);
      clear (&net);
    }
}
END_TEST

/* Each case prevents an overlay: a second image, an output, a join, or a second reader. */
START_TEST (overlays_that_are_impossible_are_left_out)
{
  for (guint32 seed = 0; seed < N_KINDS; seed++)
    {
      Net net = make_net (seed, 2);

      ck_assert_uint_eq (count_overlaid (net.graph), 0);
      run_assert_same (net.graph, seed);
      clear (&net);
    }
  for (guint what = 0; what < 3; what++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 16));
      CleaveResult *wide = run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW);
      CleaveResult *y = run_depthwise (graph, wide);

      if (what == 1)
        y = run_conv (
            graph, run_concat (graph, (CleaveResult *[]){ run_conv (graph, x, 3, 1, 0), y }, 2, 1),
            1, 1, CLEAVE_LAYOUT_NCHW);
      else if (what == 2)
        y = run_conv (graph, run_binary (graph, "Add", y, wide), 1, 1, CLEAVE_LAYOUT_NCHW);
      run_output (graph, y);
      ck_assert_uint_eq (count_overlaid (graph), 0);
      run_assert_same (graph, what);
    }
}
END_TEST

/* Begins a network with a quantized group that has ops before or after its convolution. */
static Net
begin_group (CleaveResult **x, guint32 seed)
{
  Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), &kinds[2] };
  CleaveTensorType type = { CLEAVE_INT8, CLEAVE_SHAPE (1, 1, 12, 12) };
  CleaveResult *in = cleave_graph_add_input (net.graph, "x", &type, NULL);

  g_assert (net.kind->form == CONVERTED);
  *x = add_pointwise (&net, in, 24, CLEAVE_LAYOUT_NCHW);
  return net;
}

static CleaveResult *
add_windows (Net *net, CleaveResult *x, CleaveInts strides, CleaveInts pads)
{
  CleaveConvAttrs attrs = { .group = 24, .strides = strides, .pads = pads };
  CleaveResult *w = random_constant (net, CLEAVE_INT8, CLEAVE_SHAPE (24, 1, 3, 3));
  CleaveResult *operands[] = { x, convert (net, "DequantizeLinear", w, 0.1f) };

  return run_add (net->graph, "Conv", operands, 2, &attrs);
}

static CleaveResult *
dequantize (Net *net, CleaveResult *x)
{
  return convert (net, "DequantizeLinear", x, 0.05f);
}

static CleaveResult *
transpose_rows (Net *net, CleaveResult *x)
{
  return run_add (net->graph, "Transpose", &x, 1,
                  &(CleaveTransposeAttrs){ .perm = CLEAVE_INTS (0, 1, 3, 2) });
}

static CleaveResult *
turn_over (Net *net, CleaveResult *x)
{
  CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (11),
                             .ends = CLEAVE_INTS (G_MININT64),
                             .axes = CLEAVE_INTS (2),
                             .steps = CLEAVE_INTS (-1) };

  return run_add (net->graph, "Slice", &x, 1, &attrs);
}

/* A result can only overlay an operand if its group reads all rows of the operand in order. No
 * group of this test does so. */
START_TEST (groups_decide_in_which_order_rows_are_read)
{
  const CleaveInts once = CLEAVE_INTS (1, 1), same = CLEAVE_INTS (1, 1, 1, 1);

  for (guint what = 0; what < 5; what++)
    {
      CleaveResult *x, *y, *other;
      Net net = begin_group (&x, what);

      if (what < 2)
        y = add_windows (&net,
                         (what == 0 ? transpose_rows : turn_over) (&net, dequantize (&net, x)),
                         once, same);
      else if (what == 2)
        {
          other = add_pointwise (&net, x, 24, CLEAVE_LAYOUT_NCHW);
          y = add_windows (
              &net, run_binary (net.graph, "Mul", dequantize (&net, x), dequantize (&net, other)),
              once, same);
        }
      else if (what == 3) /* with twice the stride and the same number of rows, the residual
                           * addition reads later rows than it writes */
        y = run_binary (net.graph, "Add", dequantize (&net, x),
                        add_windows (&net, dequantize (&net, x), CLEAVE_INTS (2, 2),
                                     CLEAVE_INTS (0, 0, 13, 13)));
      else
        y = run_binary (
            net.graph, "Add", dequantize (&net, x),
            add_windows (&net, transpose_rows (&net, dequantize (&net, x)), once, same));
      y = convert (&net, "QuantizeLinear", y, 1.5f);
      if (what == 2) /* a later node reads x again */
        y = add_pointwise (&net, run_concat (net.graph, (CleaveResult *[]){ y, x }, 2, 1), 2,
                           CLEAVE_LAYOUT_NCHW);
      run_output (net.graph, add_pointwise (&net, y, 2, CLEAVE_LAYOUT_NCHW));
      if (!cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE)) /* with reference kernels, the nodes of a
                                                         * quantized group run one by one */
        ck_assert_uint_eq (count_overlaid (net.graph), 0);
      run_assert_same (net.graph, what);
      clear (&net);
    }
}
END_TEST

/* A row is larger than a tile, so tiles are cut along columns, and an overlaid result goes through
 * scratch. */
START_TEST (tiles_of_columns_go_through_scratch)
{
  Net net = { cleave_graph_new (NULL), g_rand_new_with_seed (1), &kinds[2] };
  CleaveTensorType type = { CLEAVE_INT8, CLEAVE_SHAPE (1, 1, 6, 400) };
  CleaveConvAttrs attrs = { .group = 96, .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *x = cleave_graph_add_input (net.graph, "x", &type, NULL);

  x = add_conv (&net, add_pointwise (&net, x, 96, CLEAVE_LAYOUT_NCHW), CLEAVE_SHAPE (96, 1, 3, 3),
                &attrs);
  run_output (net.graph, add_pointwise (&net, x, 1, CLEAVE_LAYOUT_NCHW));
  ck_assert_uint_eq (count_overlaid (net.graph), 1);
  run_assert_same (net.graph, 1);
  clear (&net);
}
END_TEST

/* Adds a depthwise convolution of x whose weights are a Slice of x (if `is_view`) or are computed
 * from x. */
static CleaveResult *
add_depthwise_by_part (CleaveGraph *graph, CleaveResult *x, gboolean is_view)
{
  CleaveResult *w = run_slice (graph, x, CLEAVE_RANGE (0, 1, 0, 16, 3, 4, 5, 6));
  CleaveConvAttrs attrs = { .group = 16 };

  w = run_add (graph, "Transpose", &w, 1,
               &(CleaveTransposeAttrs){ .perm = CLEAVE_INTS (1, 0, 2, 3) });
  if (!is_view)
    w = run_unary (graph, "Sigmoid", w);
  return run_add (graph, "Conv", (CleaveResult *[]){ x, w }, 2, &attrs);
}

/* No result overlays a join. No result overlays a value if the same node also reads a part of the
 * value. An earlier node may read a part. */
START_TEST (parts_of_an_operand_prevent_an_overlay)
{
  for (guint what = 0; what < 3; what++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *in = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 16));
      CleaveResult *a = run_conv (graph, in, 16, 1, CLEAVE_LAYOUT_NCHW);
      CleaveResult *y;

      if (what == 0)
        a = run_concat (
            graph, (CleaveResult *[]){ a, run_conv (graph, in, 16, 3, CLEAVE_LAYOUT_NCHW) }, 2, 1);
      y = what == 0 ? run_depthwise (graph, a) : add_depthwise_by_part (graph, a, what == 2);
      run_output (graph, run_conv (graph, y, 1, 1, CLEAVE_LAYOUT_NCHW));
      ck_assert_uint_eq (count_overlaid (graph), what == 1 ? 1 : 0);
      run_assert_same (graph, what);
    }
}
END_TEST

/* The Assemble has two overlapping parts. If the depthwise convolution overlaid its operand inside
 * the Assemble, it could overwrite the part that is already there. */
START_TEST (results_inside_a_join_are_not_overlaid)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 16));
  CleaveResult *spot =
      run_unary (graph, "Sigmoid", run_slice (graph, x, CLEAVE_RANGE (0, 1, 0, 2, 0, 4, 0, 4)));
  CleaveResult *wide = run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW), *parts[2], *y;
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 1, 3, 5, 8, 12, 2, 6),
                           CLEAVE_RANGE (0, 1, 0, 16, 0, 16, 0, 16) };

  parts[0] = spot;
  parts[1] = run_depthwise (graph, wide);
  y = run_assemble (graph, parts, ranges, 2);
  run_output (graph, run_conv (graph, y, 1, 1, CLEAVE_LAYOUT_NCHW));
  ck_assert_uint_eq (count_overlaid (graph), 0);
  run_assert_same (graph, 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "overlays", bits_are_the_same, three_rows_decide_for_all, very_many_rows_are_handled,
      the_peak_is_that_of_the_larger_value, overlays_that_are_impossible_are_left_out,
      groups_decide_in_which_order_rows_are_read, tiles_of_columns_go_through_scratch,
      results_inside_a_join_are_not_overlaid, parts_of_an_operand_prevent_an_overlay, NULL);
}

CLEAVE_TEST_SUITE ("overlays", add_tests)
