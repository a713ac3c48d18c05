/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Gemm.
 *
 * Order of the sum of one result element, in every kernel: +0; then one fused multiply-add for each
 * index of dimension K, in ascending order (products.h). The sum is multiplied by alpha, unless
 * alpha is 1. If C is present, C is added, or beta * C if beta is not 1. */

#include "build.h"
#include "products.h"
#include "reference.h"

#include <math.h>

enum { A, B, C };

/* reduced_dim() returns the dimension of A or B that is summed (K). kept_dim() returns the other
 * dimension, which is a dimension of the result. */
static guint
reduced_dim (const CleaveCall *call, guint operand)
{
  const CleaveGemmAttrs *a = call->attrs;

  return (operand == A) != (operand == A ? a->transA : a->transB) ? 1 : 0;
}

static guint
kept_dim (const CleaveCall *call, guint operand)
{
  return 1 - reduced_dim (call, operand);
}

static gint64
reduction_length (const CleaveCall *call)
{
  return call->operands[A].shape.dim[reduced_dim (call, A)];
}

static gboolean
is_whole_number (double value)
{
  return fabs (value) <= 0x1p53 && value == (double) (gint64) value;
}

static gboolean
check_types (const CleaveCall *call, GError **error)
{
  const CleaveGemmAttrs *a = call->attrs;

  if (!cleave_call_check_element (call, A, CLEAVE_ELEMENTS_SUM, error) ||
      !cleave_call_check_same_element (call, A, B, error) ||
      !cleave_call_check_rank (call, A, 2, 2, error) ||
      !cleave_call_check_rank (call, B, 2, 2, error))
    return FALSE;
  if (!cleave_element_is_float (call->operands[A].element) &&
      !(is_whole_number (a->alpha) && is_whole_number (a->beta)))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "alpha and beta must be whole numbers for integers");
  return TRUE;
}

/* Checks that C can be broadcast to the result. */
static gboolean
check_c (const CleaveCall *call, const CleaveShape *y, GError **error)
{
  const CleaveShape *c = &call->operands[C].shape;
  g_autofree char *text_c = NULL, *text_y = NULL;
  CleaveShape both;

  if (!cleave_call_check_same_element (call, A, C, error))
    return FALSE;
  if (cleave_shape_broadcast (c, y, &both) && cleave_shape_equal (&both, y))
    return TRUE;
  text_c = cleave_shape_to_string (c);
  text_y = cleave_shape_to_string (y);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "C is %s and cannot be broadcast to %s", text_c,
                      text_y);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveShape *a = &call->operands[A].shape, *b = &call->operands[B].shape;
  CleaveTensorType y = { .element = call->operands[A].element, .shape = { .rank = 2 } };

  if (!check_types (call, error))
    return FALSE;
  if (reduction_length (call) != b->dim[reduced_dim (call, B)])
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "A and B must have equal inner dimensions, but A has %" G_GINT64_FORMAT
                        " and B has %" G_GINT64_FORMAT,
                        reduction_length (call), b->dim[reduced_dim (call, B)]);
  y.shape.dim[0] = a->dim[kept_dim (call, A)];
  y.shape.dim[1] = b->dim[kept_dim (call, B)];
  if (cleave_call_has (call, C) && !check_c (call, &y.shape, error))
    return FALSE;
  results[0] = y;
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  if (operand == C)
    {
      cleave_maps_broadcast (&call->operands[C].shape, &call->results[0].shape, map);
      return;
    }
  map[reduced_dim (call, operand)] = cleave_dim_map_whole (reduction_length (call));
  map[kept_dim (call, operand)] = cleave_dim_map_same (operand);
}

static gint64
macs (const CleaveCall *call)
{
  return cleave_saturated_mul (cleave_shape_n_elements (&call->results[0].shape),
                               reduction_length (call));
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  CleaveElement element = call->operands[A].element;

  if (element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16)
    return CLEAVE_KERNEL_UPCAST_GEMM;
  return element == CLEAVE_FLOAT32 ? CLEAVE_KERNEL_GEMM : CLEAVE_KERNEL_PRODUCTS_GEMM;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveGemmAttrs *attrs = call->attrs;
  const CleaveView *a = &operands[A], *b = &operands[B], *y = &results[0];
  const CleaveSumOps *ops = cleave_sum_ops (y->type.element);
  guint k_a = reduced_dim (call, A), k_b = reduced_dim (call, B);
  gint64 stride_c[CLEAVE_MAX_RANK] = { 0 }, at[CLEAVE_MAX_RANK];

  if (cleave_call_has (call, C))
    cleave_view_broadcast_strides (&operands[C], 2, stride_c);
  for (gboolean more = cleave_index_first (&y->type.shape, at); more;
       more = cleave_index_next (&y->type.shape, at))
    {
      CleaveSum sum;

      ops->begin (&sum, NULL);
      ops->add (&sum, cleave_view_element (a, at[0] * a->stride[1 - k_a]), a->stride[k_a],
                cleave_view_element (b, at[1] * b->stride[1 - k_b]), b->stride[k_b],
                reduction_length (call));
      if (attrs->alpha != 1)
        ops->scale (&sum, attrs->alpha);
      if (cleave_call_has (call, C))
        ops->add_scaled (&sum,
                         cleave_view_element (&operands[C], cleave_index_offset (2, at, stride_c)),
                         attrs->beta);
      ops->end (&sum, cleave_view_at (y, at));
    }
}

static const CleaveAttr attrs_table[] = {
  { "alpha", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveGemmAttrs, alpha), .fallback = 1 },
  { "beta", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveGemmAttrs, beta), .fallback = 1 },
  { "transA", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveGemmAttrs, transA) },
  { "transB", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveGemmAttrs, transB) },
  { 0 },
};

const CleaveOp cleave_op_gemm = {
  .name = "Gemm",
  .operands = (const char *const[]){ "A", "B", "C", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveGemmAttrs),
  .attrs = attrs_table,
  .infer = infer,
  .maps = maps,
  .macs = macs,
  .kernel = kernel,
  .compute = compute,
};

/**
 * cleave_graph_add_gemm:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `gemm`
 * @a: (transfer none): `[M, K]`, or `[K, M]` with `transA`
 * @b: (transfer none): `[K, N]`, or `[N, K]` with `transB`
 * @c: (transfer none) (nullable): added to the product; broadcast to `[M, N]`. %NULL for none
 * @attrs: (nullable): factors and transpositions; %NULL for `alpha` and `beta` of 1. If @attrs is
 * not %NULL, set `alpha` and `beta` too: 0 does not stand for the default of 1
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a matrix product: [ONNX Gemm](https://onnx.ai/onnx/operators/onnx__Gemm.html).
 *
 * The result is `[M, N]`: `alpha * A * B + beta * C`. The node can be split along both dimensions;
 * K is never cut.
 *
 * Operands are of one of the four float types, or 32- or 64-bit integers, which wrap around and
 * need integers as `alpha` and `beta`. Sums of float16 and bfloat16 are float32.
 *
 * Fails, and leaves the graph unchanged, with
 *
 * - %CLEAVE_ERROR_SHAPE if the shapes of the operands do not match;
 * - %CLEAVE_ERROR_ELEMENT_TYPE if their element types do not match or are not supported;
 * - %CLEAVE_ERROR_ATTRIBUTE if `alpha` or `beta` is no integer and the operands are integers.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_gemm (CleaveGraph *graph,
                       const char *name,
                       CleaveResult *a,
                       CleaveResult *b,
                       CleaveResult *c,
                       const CleaveGemmAttrs *attrs,
                       GError **error)
{
  return cleave_build (graph, &cleave_op_gemm, name, (CleaveResult *[]){ a, b, c }, 3, attrs,
                       error);
}
