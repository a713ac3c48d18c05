/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteMatMul: BATCH_MATMUL on integers. Adds up (a - a_zero) * (b - b_zero). The sum has 32 bits
 * for int8, and 64 bits for int16. Sums wrap around, so their order does not matter. Then
 * multiplies the sum by the multiplier and the shift of the attributes (fixed-point.h), adds
 * y_zero, and clamps. Source: reference/batch_matmul.h. */

#include "matmul-parts.h"
#include "reference.h"
#include "tflite.h"

enum { A, B };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteBinaryAttrs *a = call->attrs;
  CleaveElement element = call->operands[A].element;

  results[0].element = element;
  return cleave_call_check_element (call, A, CLEAVE_ELEMENTS_TFLITE, error) &&
         cleave_call_check_same_element (call, A, B, error) &&
         cleave_call_check_rank (call, A, 1, CLEAVE_MAX_RANK, error) &&
         cleave_call_check_rank (call, B, 1, CLEAVE_MAX_RANK, error) &&
         cleave_matmul_infer (&call->operands[A].shape, &call->operands[B].shape, &results[0].shape,
                              error) &&
         cleave_tflite_check_zero ("a_zero", element, a->a_zero, error) &&
         cleave_tflite_check_zero ("b_zero", element, a->b_zero, error) &&
         cleave_tflite_check_zero ("y_zero", element, a->y_zero, error) &&
         cleave_tflite_check_factor (a->multiplier, a->shift, error) &&
         cleave_tflite_check_bounds (element, a->min, a->max, error);
}

/* A stack of matrices, and its strides along the dimensions of the result. */
typedef struct
{
  const CleaveView *view;
  gint64 stride[CLEAVE_MAX_RANK], k_stride;
} Side;

static gint64
load (const Side *side, gint64 from, gint64 k)
{
  return cleave_integer_load (side->view->type.element,
                              cleave_view_element (side->view, from + k * side->k_stride));
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTfliteBinaryAttrs *attrs = call->attrs;
  const CleaveView *y = &results[0];
  CleaveElement element = y->type.element;
  Side a = { .view = &operands[A] }, b = { .view = &operands[B] };
  CleaveMatmulDims dims = cleave_matmul_dims (&a.view->type.shape, &b.view->type.shape);
  gint64 at[CLEAVE_MAX_RANK], n = cleave_matmul_length (&call->operands[A].shape);

  a.k_stride = cleave_matmul_strides (&dims, CLEAVE_MATMUL_A, a.view, a.stride);
  b.k_stride = cleave_matmul_strides (&dims, CLEAVE_MATMUL_B, b.view, b.stride);
  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      gint64 a_at = cleave_index_offset (dims.rank, at, a.stride);
      gint64 b_at = cleave_index_offset (dims.rank, at, b.stride), value;
      guint64 sum = 0; /* unsigned, so that the sum wraps around */

      for (gint64 k = 0; k < n; k++)
        sum +=
            (guint64) ((load (&a, a_at, k) - attrs->a_zero) * (load (&b, b_at, k) - attrs->b_zero));
      value = element == CLEAVE_INT16
                  ? cleave_fixed_multiply_wide ((gint64) sum, (gint32) attrs->multiplier,
                                                (gint) attrs->shift)
                  : cleave_fixed_multiply ((gint32) (guint32) sum, (gint32) attrs->multiplier,
                                           (gint) attrs->shift);
      cleave_tflite_store (element, cleave_view_at (y, at),
                           CLAMP (value + attrs->y_zero, attrs->min, attrs->max));
    }
}

#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteBinaryAttrs, field)
static const CleaveAttr attrs[] = {
  INT (a_zero), INT (b_zero), INT (y_zero), INT (multiplier),
  INT (shift),  INT (min),    INT (max),    { 0 },
};
#undef INT

const CleaveOp cleave_op_tflite_mat_mul = {
  .name = "TfliteMatMul",
  .operands = (const char *const[]){ "A", "B", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteBinaryAttrs),
  .attrs = attrs,
  .infer = infer,
  .maps = cleave_matmul_maps_pair,
  .macs = cleave_matmul_macs,
  .compute = compute,
};
