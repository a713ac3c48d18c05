/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Networks with depthwise convolutions whose results can overlay their operand. */

#include "overlay-nets.h"

#include "../../lib/memory/buffers.h"
#include "../../lib/memory/quantized-group.h"

#include <math.h>

#include "graphs.h"
#include "orders.h"
#include "run-help.h"

const OverlayKind overlay_kinds[OVERLAY_N_KINDS] = {
  { OVERLAY_FLOATS, CLEAVE_FLOAT32, 2, FALSE },  { OVERLAY_LINEAR, CLEAVE_INT8, 2, FALSE },
  { OVERLAY_CONVERTED, CLEAVE_INT8, 2, FALSE },  { OVERLAY_FLOATS, CLEAVE_FLOAT16, 2, FALSE },
  { OVERLAY_FLOATS, CLEAVE_BFLOAT16, 2, FALSE }, { OVERLAY_INTEGERS, CLEAVE_INT8, 2, FALSE },
  { OVERLAY_FLOATS, CLEAVE_FLOAT32, 3, FALSE },  { OVERLAY_FLOATS, CLEAVE_FLOAT32, 1, TRUE },
  { OVERLAY_LINEAR, CLEAVE_INT8, 1, FALSE },     { OVERLAY_CONVERTED, CLEAVE_INT8, 1, FALSE },
  { OVERLAY_FLOATS, CLEAVE_FLOAT16, 1, FALSE },  { OVERLAY_FLOATS, CLEAVE_FLOAT64, 2, TRUE },
  { OVERLAY_SYMMETRIC, CLEAVE_INT8, 2, FALSE },  { OVERLAY_SYMMETRIC, CLEAVE_INT8, 1, FALSE },
};

static gint64
from_to (OverlayNet *net, gint32 least, gint32 most)
{
  return g_rand_int_range (net->rand, least, most + 1);
}

CleaveResult *
overlay_random_constant (OverlayNet *net, CleaveElement element, CleaveShape shape)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, g_rand_int (net->rand), FALSE);

  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static CleaveResult *
scale (OverlayNet *net, float value)
{
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, &value, NULL);

  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

CleaveResult *
overlay_convert (OverlayNet *net, const char *op, CleaveResult *x, float by)
{
  CleaveAxisAttrs attrs = { 1 };
  CleaveResult *operands[] = { x, scale (net, by),
                               overlay_random_constant (net, CLEAVE_INT8, (CleaveShape){ 0 }) };

  return run_add (net->graph, op, operands, 3, &attrs);
}

static CleaveShape
weights_shape (const OverlayNet *net, gint64 n_out, gint64 n_in, const gint64 *kernel)
{
  CleaveShape shape = { .rank = 2 + net->kind->n_spatial, .dim = { n_out, n_in } };

  for (guint i = 0; i < net->kind->n_spatial; i++)
    shape.dim[2 + i] = kernel[i];
  return shape;
}

/* Returns a scale for the result of a convolution with the weights `w`. With this scale, few bytes
 * of the result saturate. */
static float
find_scale (const CleaveResult *w)
{
  const CleaveShape *shape = &cleave_result_get_type (w)->shape;

  return 0.5f * sqrtf ((float) (cleave_shape_n_elements (shape) / shape->dim[0]));
}

static CleaveResult *
zero_point (OverlayNet *net)
{
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_INT8);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, "", NULL);

  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static CleaveResult *
add_linear (OverlayNet *net, CleaveResult *x, CleaveResult *w, const CleaveConvAttrs *attrs)
{
  CleaveShape scalar = { 0 };
  CleaveResult *operands[] = { x,
                               scale (net, 0.05f),
                               overlay_random_constant (net, CLEAVE_INT8, scalar),
                               w,
                               scale (net, 0.1f),
                               net->kind->form == OVERLAY_SYMMETRIC
                                   ? zero_point (net)
                                   : overlay_random_constant (net, CLEAVE_INT8, scalar),
                               scale (net, find_scale (w)),
                               overlay_random_constant (net, CLEAVE_INT8, scalar) };

  return run_add (net->graph, "QLinearConv", operands, G_N_ELEMENTS (operands), attrs);
}

CleaveResult *
overlay_add_conv (OverlayNet *net,
                  CleaveResult *x,
                  CleaveShape weights,
                  const CleaveConvAttrs *attrs)
{
  CleaveResult *w = overlay_random_constant (net, net->kind->element, weights), *y;
  CleaveResult *operands[] = { x, w };

  if (net->kind->form == OVERLAY_INTEGERS && attrs->group > 1)
    return run_add (net->graph, "ConvInteger", operands, 2, attrs);
  if (net->kind->form != OVERLAY_FLOATS && net->kind->form != OVERLAY_CONVERTED)
    return add_linear (net, x, w, attrs);
  if (net->kind->form == OVERLAY_CONVERTED)
    {
      operands[0] = overlay_convert (net, "DequantizeLinear", x, 0.05f);
      operands[1] = overlay_convert (net, "DequantizeLinear", w, 0.1f);
    }
  y = run_add (net->graph, "Conv", operands, 2, attrs);
  if (from_to (net, 0, 1))
    y = run_unary (net->graph, "Relu", y);
  return net->kind->form == OVERLAY_CONVERTED
             ? overlay_convert (net, "QuantizeLinear", y, find_scale (w))
             : y;
}

static gint64
n_channels (const OverlayNet *net, const CleaveResult *x, CleaveLayout layout)
{
  const CleaveShape *shape = &cleave_result_get_type (x)->shape;

  return shape->dim[layout == CLEAVE_LAYOUT_NCHW ? 1 : shape->rank - 1];
}

CleaveResult *
overlay_add_pointwise (OverlayNet *net, CleaveResult *x, gint64 n, CleaveLayout layout)
{
  CleaveConvAttrs attrs = { .group = 1, .layout = layout };
  const gint64 ones[] = { 1, 1, 1 };

  return overlay_add_conv (net, x, weights_shape (net, n, n_channels (net, x, layout), ones),
                           &attrs);
}

static CleaveResult *
add_depthwise (OverlayNet *net, CleaveResult *x, CleaveLayout layout)
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
  return overlay_add_conv (net, x, weights_shape (net, n * times, 1, kernel), &attrs);
}

void
overlay_end_net (OverlayNet *net, CleaveResult *y, CleaveLayout layout)
{
  CleaveReduceAttrs rest = { .axes = CLEAVE_INTS (2, 3), .keepdims = TRUE };

  y = net->kind->form == OVERLAY_INTEGERS ? run_add (net->graph, "ReduceMax", &y, 1, &rest)
                                          : overlay_add_pointwise (net, y, 2, layout);
  run_output (net->graph, y);
}

OverlayNet
overlay_make_net (guint32 seed, gint64 n_images)
{
  OverlayNet net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed),
                     &overlay_kinds[seed % OVERLAY_N_KINDS] };
  guint n_spatial = net.kind->n_spatial;
  CleaveLayout layout = from_to (&net, 0, 1) ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC;
  CleaveTensorType type = { net.kind->element, { .rank = 2 + n_spatial, .dim = { n_images } } };
  CleaveResult *x;

  type.shape.dim[layout == CLEAVE_LAYOUT_NCHW ? 1 : 1 + n_spatial] = 2;
  for (guint i = 0; i < n_spatial; i++)
    type.shape.dim[i + (layout == CLEAVE_LAYOUT_NCHW ? 2 : 1)] =
        n_spatial == 3 ? from_to (&net, 7, 10) : from_to (&net, 9, 24);
  x = cleave_graph_add_input (net.graph, "x", &type, NULL);
  x = overlay_add_pointwise (
      &net, x, from_to (&net, 5, net.kind->form == OVERLAY_SYMMETRIC ? 150 : 40), layout);
  overlay_end_net (&net, add_depthwise (&net, x, layout), layout);
  return net;
}

void
overlay_clear (OverlayNet *net)
{
  cleave_graph_unref (net->graph);
  g_rand_free (net->rand);
}

guint
overlay_count (const CleaveGraph *graph)
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
