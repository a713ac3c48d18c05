/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds QDQ groups that are a convolution or a matrix product of 8-bit values (qdq-conv.h). */

#include "qdq-search.h"

#include "../ops/conv-parts.h"

#include <math.h>

extern const CleaveOp cleave_op_conv, cleave_op_matmul, cleave_op_gemm, cleave_op_dequantize_linear;

static CleaveKernel
kernel (const CleaveCall *call)
{
  const CleaveQdqConv *conv = call->attrs;

  return !conv->is_product && cleave_conv_is_depthwise (call) ? CLEAVE_KERNEL_INTEGER_DEPTHWISE
                                                              : CLEAVE_KERNEL_INTEGER_CONV;
}

gboolean
cleave_is_qdq_conv (const CleaveCall *call)
{
  return call->op->kernel == kernel;
}

static const char *const operand_names[] = { "x", "w", NULL };
static const char *const result_names[] = { "y", NULL };

/* The record of an op that exists only in kernels: no graph contains a node of it. */
const CleaveOp cleave_op_qdq_conv = { .name = "QdqConv",
                                      .operands = operand_names,
                                      .results = result_names,
                                      .min_operands = 2,
                                      .flags = CLEAVE_OP_NOT_ONNX,
                                      .attrs_size = sizeof (CleaveQdqConv),
                                      .attrs = cleave_conv_attrs,
                                      .kernel = kernel };

void
cleave_qdq_conv_free (CleaveQdqConv *conv)
{
  if (conv == NULL)
    return;
  g_clear_pointer (&conv->w, cleave_tensor_unref);
  g_free (conv->w_scale);
  g_free (conv->bias);
  g_free (conv);
}

/* Reads the bias of n elements as floats into `bias`. Returns FALSE unless the bias is a
 * dequantized constant or a float constant. */
static gboolean
read_bias (CleaveQdqSearch *s, const CleaveBodyCall *conv, gint64 n, float *bias)
{
  enum { B = 2 };
  const CleaveBodyCall *call;
  g_autofree double *value = g_new (double, (gsize) n), *scale = g_new (double, (gsize) n);
  g_autofree double *zero = g_new (double, (gsize) n);
  guint from = B < conv->n_operands ? conv->from[B] : CLEAVE_BODY_ABSENT;

  if (from != CLEAVE_BODY_ABSENT &&
      (call = cleave_qdq_find_call (s, from, &cleave_op_dequantize_linear)) != NULL)
    {
      if (!cleave_qdq_read_numbers (s, call, VALUE, n, value) ||
          !cleave_qdq_read_scales (s, call, n, scale, zero))
        return FALSE;
      for (gint64 c = 0; c < n; c++)
        bias[c] = (float) (value[c] - zero[c]) * (float) scale[c];
      return TRUE;
    }
  if (!cleave_qdq_read_numbers (s, conv, B, n, value))
    return FALSE;
  for (gint64 c = 0; c < n; c++)
    bias[c] = (float) value[c];
  return TRUE;
}

/* Returns the dimension of the weights whose indices are the channels of the result. */
static guint
find_columns (const CleaveBodyCall *call)
{
  const CleaveGemmAttrs *a = call->attrs;

  return cleave_body_call_is (call, &cleave_op_conv) ||
                 (cleave_body_call_is (call, &cleave_op_gemm) && a->transB)
             ? 0
             : 1;
}

/* Reads the 8-bit weights and their n scales. Returns FALSE unless the weights are constant and
 * their zero point is 0 (int8) or 128 (uint8). Packing subtracts the 128. */
static gboolean
read_weights (const CleaveBodyCall *conv, gint64 n, CleaveQdqConv *to)
{
  g_autofree double *scale = g_new (double, (gsize) n), *zero = g_new (double, (gsize) n);
  CleaveElement element;

  if (conv->w_bytes == NULL || conv->w_scale == NULL ||
      (conv->w_axis != to->w_columns &&
       cleave_shape_n_elements (&cleave_tensor_get_type (conv->w_scale)->shape) != 1) ||
      !cleave_qdq_read_constant (conv->w_scale, n, scale) ||
      !cleave_qdq_read_constant (conv->w_zero, n, zero))
    return FALSE;
  element = cleave_tensor_get_type (conv->w_bytes)->element;
  for (gint64 c = 0; c < n; c++)
    {
      if (zero[c] != (element == CLEAVE_UINT8 ? 128 : 0))
        return FALSE;
      to->w_scale[c] = (float) scale[c];
    }
  to->w = cleave_tensor_ref (conv->w_bytes);
  return cleave_element_size (element) == 1;
}

gint32
cleave_qdq_conv_round (const CleaveQdqConv *conv, float sum)
{
  const float beyond =
      1 << 20; /* limit on results before the conversion to an integer: 2^20 lies outside the range
                  of 8 bits for any zero point, and a float holds it exactly */
  float value = MIN (sum / conv->y_scale, beyond);

  return CLAMP ((gint32) rintf (MAX (value, -beyond)), conv->least, conv->most);
}

/* Returns whether a matrix [..., N, M, K] can be read as N images with M pixels of K channels: all
 * dimensions before the last three have extent 1. */
static gboolean
is_of_rows (const CleaveShape *shape)
{
  for (guint d = 0; d + 3 < shape->rank; d++)
    if (shape->dim[d] != 1)
      return FALSE;
  return shape->rank >= 2;
}

CleaveView
cleave_qdq_conv_view (const CleaveQdqConv *conv, const CleaveView *view)
{
  guint rank = view->type.shape.rank;
  CleaveView pixels = *view;

  if (!conv->is_product)
    return pixels;
  pixels.type.shape =
      CLEAVE_SHAPE (rank < 3 ? 1 : view->type.shape.dim[rank - 3], view->type.shape.dim[rank - 1],
                    view->type.shape.dim[rank - 2], 1);
  pixels.stride[0] = rank < 3 ? 0 : view->stride[rank - 3];
  pixels.stride[1] = view->stride[rank - 1];
  pixels.stride[2] = view->stride[rank - 2];
  pixels.stride[3] = 0;
  return pixels;
}

/* Returns whether a call multiplies a matrix by constant weights, with a bias or without one, and
 * adds nothing else. */
static gboolean
is_product (const CleaveBodyCall *call)
{
  const CleaveGemmAttrs *a = call->attrs;

  if (!cleave_body_call_is (call, &cleave_op_gemm) &&
      !cleave_body_call_is (call, &cleave_op_matmul))
    return FALSE;
  return call->operands[1].shape.rank == 2 && is_of_rows (&call->operands[0].shape) &&
         is_of_rows (&call->result.shape) &&
         (cleave_body_call_is (call, &cleave_op_matmul) ||
          (!a->transA && a->alpha == 1 && a->beta == 1));
}

static const CleaveBodyCall *
find_main (CleaveQdqSearch *s, guint from, CleaveQdqConv *to)
{
  const CleaveBodyCall *call = cleave_qdq_find_call (s, from, &cleave_op_conv);

  if (call != NULL)
    {
      to->conv = *(const CleaveConvAttrs *) call->attrs;
      return call;
    }
  call = cleave_qdq_find_call (s, from, &cleave_op_matmul);
  if (call == NULL)
    call = cleave_qdq_find_call (s, from, &cleave_op_gemm);
  to->is_product = TRUE;
  return call != NULL && is_product (call) ? call : NULL;
}

/* Makes the view of the weights in the layout of a convolution. The weights of a matrix product are
 * [K, N] or [N, K]. */
static void
view_weights (CleaveQdqConv *to)
{
  CleaveView w = cleave_view_tensor (to->w);
  guint n = to->w_columns, k = 1 - n;

  to->w_view = w;
  if (!to->is_product)
    return;
  to->w_view.type.shape = CLEAVE_SHAPE (w.type.shape.dim[n], w.type.shape.dim[k], 1, 1);
  to->w_view.stride[0] = w.stride[n];
  to->w_view.stride[1] = w.stride[k];
  to->w_view.stride[2] = to->w_view.stride[3] = 0;
}

static gboolean
read_group (CleaveQdqSearch *s, CleaveQdqConv *to)
{
  const CleaveBodyCall *conv;
  CleaveQdqEnd end;
  CleaveQdqX x;
  guint from;
  gint64 n;

  if (!cleave_qdq_read_end (s, &end, &from) || (conv = find_main (s, from, to)) == NULL)
    return FALSE;
  to->w_columns = find_columns (conv);
  n = conv->operands[1].shape.dim[to->w_columns];
  to->w_scale = g_new0 (float, (gsize) n);
  to->bias = g_new0 (float, (gsize) n);
  if (!cleave_qdq_read_x (s, conv->from[0], &x) || x.from != 0 || !read_weights (conv, n, to) ||
      !read_bias (s, conv, n, to->bias) || s->n_seen != s->body.calls->len)
    return FALSE;
  to->x_scale = x.scale;
  to->x_zero = x.zero;
  to->y_scale = end.scale;
  to->y_zero = end.zero;
  to->least = end.least;
  to->most = end.most;
  view_weights (to);
  return TRUE;
}

CleaveQdqConv *
cleave_qdq_conv_find (const CleaveKernelInstance *group)
{
  CleaveQdqSearch s = { group, cleave_group_get_body (&group->call), 0 };
  CleaveQdqConv *conv = g_new0 (CleaveQdqConv, 1);

  if (read_group (&s, conv))
    return conv;
  cleave_qdq_conv_free (conv);
  return NULL;
}
