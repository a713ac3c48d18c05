/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random networks between DequantizeLinear and QuantizeLinear, for tests that integer kernels give
 * the bits of the float computation. Each test of the suites qdq-conv.c and qdq-sums.c builds
 * networks with one kind of layer. */

#include "../../lib/ir/debug.h"
#include "../../lib/runtime/kernels.h"
#include "interpret.h"
#include "run-help.h"

#include <math.h>
#include <string.h>

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  gboolean exact; /* scales are powers of two: sums are exact, and many sums are ties */
  int reach;      /* scales are from about 2^-reach to about 2^reach */
} Net;

static inline gint32
draw (Net *net, gint32 least, gint32 most)
{
  return g_rand_int_range (net->rand, least, most + 1);
}

static inline float
draw_scale (Net *net, int about)
{
  double mantissa = net->exact ? 1 : g_rand_double_range (net->rand, 1, 2);

  return (float) ldexp (mantissa,
                        about + (net->reach == 0 ? 0 : draw (net, -net->reach, net->reach)));
}

static inline CleaveResult *
add_floats (Net *net, gint64 n, int about)
{
  CleaveTensorType type = n == 1 ? CLEAVE_SCALAR (CLEAVE_FLOAT32) : CLEAVE_TYPE (CLEAVE_FLOAT32, n);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  float *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < n; i++)
    data[i] = draw_scale (net, about);
  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static inline CleaveResult *
add_bytes (Net *net, CleaveElement element, CleaveShape shape, gboolean is_middle)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new (&type, NULL);
  guint8 *data = cleave_tensor_get_mutable_data (tensor);

  for (gint64 i = 0; i < cleave_tensor_type_n_bytes (&type); i++)
    data[i] = is_middle ? (element == CLEAVE_UINT8 ? 128 : 0) : (guint8) draw (net, 0, 255);
  return cleave_graph_add_constant (net->graph, NULL, tensor);
}

static inline CleaveResult *
convert (Net *net, const char *op, CleaveResult *x, CleaveResult *scale, CleaveResult *zero)
{
  CleaveAxisAttrs attrs = { 0 };
  CleaveResult *operands[] = { x, scale, zero };

  return run_add (net->graph, op, operands, 3, &attrs);
}
