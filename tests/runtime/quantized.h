/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes quantized networks in two forms, QLinear and QDQ, and measures the memory that they need.
 * The suites quantized-groups.c and quantized-tiles.c compare the outputs of both forms with each
 * other and with the outputs of cleave_interpret(). */

#include "../../lib/memory/quantized-group.h"
#include "graphs.h"
#include "run-help.h"

#include <string.h>

static inline CleaveResult *
scalar (CleaveGraph *graph, CleaveElement element, float value)
{
  CleaveTensorType type = CLEAVE_SCALAR (element);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);

  if (element == CLEAVE_FLOAT32)
    *(float *) cleave_tensor_get_mutable_data (tensor) = value;
  else
    *(gint8 *) cleave_tensor_get_mutable_data (tensor) = (gint8) value;
  return cleave_graph_add_constant (graph, NULL, tensor);
}

static inline CleaveResult *
scales (CleaveGraph *graph, gint64 n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, n);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  float *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < n; i++)
    data[i] = 0.01f * (float) (i % 7 + 1);
  return cleave_graph_add_constant (graph, NULL, tensor);
}

static inline CleaveResult *
random_bytes (CleaveGraph *graph, CleaveShape shape, guint32 seed)
{
  CleaveTensorType type = { CLEAVE_INT8, shape };
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, seed, FALSE);

  return cleave_graph_add_constant (graph, NULL, tensor);
}

static inline CleaveResult *
quantized_input (CleaveGraph *graph, CleaveShape shape)
{
  CleaveTensorType type = { CLEAVE_INT8, shape };
  g_autofree char *name = g_strdup_printf ("q%u", cleave_graph_get_n_inputs (graph));

  return cleave_graph_add_input (graph, name, &type, NULL);
}

static inline CleaveShape
shape_of (const CleaveResult *x)
{
  return cleave_result_get_type (x)->shape;
}

/* Adds a QuantizeLinear or a DequantizeLinear with one scale or, if `by_channels`, with a scale for
 * each index of dimension 1. */
static inline CleaveResult *
convert (CleaveGraph *graph, const char *op, CleaveResult *x, float scale, gboolean by_channels)
{
  CleaveShape shape = shape_of (x);
  CleaveAxisAttrs attrs = { 1 };
  CleaveResult *operands[] = { x, NULL, NULL };

  if (by_channels && shape.rank > 1)
    {
      operands[1] = scales (graph, shape.dim[1]);
      operands[2] = random_bytes (graph, CLEAVE_SHAPE (shape.dim[1]), 3);
    }
  else
    {
      operands[1] = scalar (graph, CLEAVE_FLOAT32, scale);
      operands[2] = scalar (graph, CLEAVE_INT8, 3);
    }
  return run_add (graph, op, operands, 3, &attrs);
}

static inline CleaveResult *
dequantize (CleaveGraph *graph, CleaveResult *x)
{
  return convert (graph, "DequantizeLinear", x, 0.05f, FALSE);
}

static inline CleaveResult *
quantize (CleaveGraph *graph, CleaveResult *x)
{
  return convert (graph, "QuantizeLinear", x, 0.5f, FALSE);
}

static inline CleaveResult *
dequantized_weights (CleaveGraph *graph, CleaveShape shape, guint32 seed)
{
  CleaveAxisAttrs attrs = { 0 };
  CleaveResult *operands[] = { random_bytes (graph, shape, seed), scales (graph, shape.dim[0]),
                               random_bytes (graph, CLEAVE_SHAPE (shape.dim[0]), seed + 1) };

  return run_add (graph, "DequantizeLinear", operands, 3, &attrs);
}

/* The functions below make a network in two forms: of integer ops (QLinearConv), and of float ops
 * between DequantizeLinear and QuantizeLinear. */

#define ROWS 60

static inline CleaveResult *
add_float_conv (CleaveGraph *graph, CleaveResult *x, CleaveShape w, gboolean clips)
{
  CleaveConvAttrs attrs = { .group = w.dim[1] == 1 ? w.dim[0] : 1,
                            .pads = CLEAVE_INTS (w.dim[2] / 2, w.dim[2] / 2, w.dim[2] / 2,
                                                 w.dim[2] / 2) };
  CleaveResult *y = cleave_graph_add_conv (graph, NULL, dequantize (graph, x),
                                           dequantized_weights (graph, w, 1), NULL, &attrs, NULL);

  if (clips)
    y = cleave_graph_add_clip (graph, NULL, y, &(CleaveClipAttrs){ 0, 6 }, NULL);
  return quantize (graph, y);
}
