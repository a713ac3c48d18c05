/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "written-conv.h"

#include "../memory/quantized-group.h"
#include "../ops/conv-parts.h"
#include "../ops/quantized.h"
#include "../ops/reference.h"

#include <math.h>
#include <string.h>

extern const CleaveOp cleave_op_add, cleave_op_conv, cleave_op_relu, cleave_op_clip,
    cleave_op_quantize_linear, cleave_op_dequantize_linear;

static CleaveKernel
kernel (const CleaveCall *call)
{
  return cleave_conv_is_depthwise (call) ? CLEAVE_KERNEL_INTEGER_DEPTHWISE
                                         : CLEAVE_KERNEL_INTEGER_CONV;
}

gboolean
cleave_written_conv_is (const CleaveCall *call)
{
  return call->op->kernel == kernel;
}

static const char *const operand_names[] = { "x", "w", NULL };
static const char *const result_names[] = { "y", NULL };

/* For kernels alone: no graph holds it. */
const CleaveOp cleave_op_written_conv = { .name = "WrittenConv",
                                          .operands = operand_names,
                                          .results = result_names,
                                          .min_operands = 2,
                                          .flags = CLEAVE_OP_NOT_ONNX,
                                          .attrs_size = sizeof (CleaveWrittenConv),
                                          .attrs = cleave_conv_attrs,
                                          .kernel = kernel };

void
cleave_written_conv_free (CleaveWrittenConv *conv)
{
  if (conv == NULL)
    return;
  g_clear_pointer (&conv->w, cleave_tensor_unref);
  g_free (conv->w_scale);
  g_free (conv->bias);
  g_free (conv);
}

typedef struct
{
  const CleaveKernelInstance *group;
  CleaveBody body;
  guint n_seen; /* calls that have a place in the convolution */
} Search;

static gboolean
is_of (const CleaveBodyCall *call, const CleaveOp *op)
{
  return call->op == op;
}

/* The call that makes a value, of this op; NULL: it is another. */
static const CleaveBodyCall *
find_call (Search *s, guint from, const CleaveOp *op)
{
  guint index;

  if (!cleave_body_makes (&s->body, from, &index) ||
      !is_of (cleave_body_at (&s->body, index), op) ||
      cleave_body_at (&s->body, index)->n_readers > 1)
    return NULL;
  s->n_seen++;
  return cleave_body_at (&s->body, index);
}

/* `n` numbers of a constant, of which one may stand for all; 0 if there is none. */
static gboolean
read_constant (const CleaveTensor *constant, gint64 n, double *to)
{
  CleaveView view;
  gint64 n_there;

  memset (to, 0, (gsize) n * sizeof *to);
  if (constant == NULL)
    return TRUE;
  view = cleave_view_tensor (constant);
  n_there = cleave_shape_n_elements (&view.type.shape);
  if (view.type.shape.rank > 1 || (n_there != 1 && n_there != n))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      gint64 at = n_there == 1 ? 0 : i;

      to[i] = cleave_real_load (
          view.type.element, view.type.shape.rank == 0 ? view.data : cleave_view_at (&view, &at));
    }
  return TRUE;
}

/* The same of an operand of a call, which is a constant or absent. */
static gboolean
read_numbers (const Search *s, const CleaveBodyCall *call, guint operand, gint64 n, double *to)
{
  guint from = operand < call->n_operands ? call->from[operand] : CLEAVE_BODY_ABSENT;
  const CleaveTensor *constant = NULL;

  if (from != CLEAVE_BODY_ABSENT)
    {
      constant = from < s->body.n_outer ? s->group->constants[from] : NULL;
      if (constant == NULL)
        return FALSE;
    }
  return read_constant (constant, n, to);
}

enum { VALUE, SCALE, ZERO };

/* Of a DequantizeLinear or a QuantizeLinear, for `n` indices of its first axis. */
static gboolean
read_scales (const Search *s, const CleaveBodyCall *call, gint64 n, double *scale, double *zero)
{
  const CleaveAxisAttrs *a = call->attrs;

  if (n > 1 && a->axis != 0 && cleave_shape_n_elements (&call->operands[SCALE].shape) != 1)
    return FALSE;
  return read_numbers (s, call, SCALE, n, scale) && read_numbers (s, call, ZERO, n, zero);
}

/* The Relus and Clips before it, as bounds of the sum: what was found is done after the next. */
static gboolean
read_bounds (Search *s, guint *from, float *least, float *most)
{
  *least = -INFINITY;
  *most = INFINITY;
  for (;;)
    {
      CleaveClipAttrs inner = { .min = 0, .max = INFINITY };
      const CleaveBodyCall *call = find_call (s, *from, &cleave_op_relu);
      float low = *least, high = *most;

      if (call == NULL && (call = find_call (s, *from, &cleave_op_clip)) != NULL)
        inner = *(const CleaveClipAttrs *) call->attrs;
      if (call == NULL)
        return TRUE;
      if (!(inner.min <= inner.max))
        return FALSE;
      *least = MIN (MAX ((float) inner.min, low), high);
      *most = MIN (MAX ((float) inner.max, low), high);
      *from = call->from[0];
    }
}

/* A bias is dequantised, or a constant of floats. */
static gboolean
read_bias (Search *s, const CleaveBodyCall *conv, gint64 n, float *bias)
{
  enum { B = 2 };
  const CleaveBodyCall *call;
  g_autofree double *value = g_new (double, n), *scale = g_new (double, n);
  g_autofree double *zero = g_new (double, n);
  guint from = B < conv->n_operands ? conv->from[B] : CLEAVE_BODY_ABSENT;

  if (from != CLEAVE_BODY_ABSENT &&
      (call = find_call (s, from, &cleave_op_dequantize_linear)) != NULL)
    {
      if (!read_numbers (s, call, VALUE, n, value) || !read_scales (s, call, n, scale, zero))
        return FALSE;
      for (gint64 c = 0; c < n; c++)
        bias[c] = (float) (value[c] - zero[c]) * (float) scale[c];
      return TRUE;
    }
  if (!read_numbers (s, conv, B, n, value))
    return FALSE;
  for (gint64 c = 0; c < n; c++)
    bias[c] = (float) value[c];
  return TRUE;
}

/* Weights are constant bytes whose zero points are what packing takes away. */
static gboolean
read_weights (const CleaveBodyCall *conv, gint64 n, CleaveWrittenConv *to)
{
  g_autofree double *scale = g_new (double, n), *zero = g_new (double, n);
  CleaveElement element;

  if (conv->w_bytes == NULL || conv->w_scale == NULL ||
      (conv->w_axis != 0 &&
       cleave_shape_n_elements (&cleave_tensor_get_type (conv->w_scale)->shape) != 1) ||
      !read_constant (conv->w_scale, n, scale) || !read_constant (conv->w_zero, n, zero))
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

static gboolean
read_x (Search *s, const CleaveBodyCall *conv, CleaveWrittenConv *to)
{
  const CleaveBodyCall *call = find_call (s, conv->from[0], &cleave_op_dequantize_linear);
  double scale, zero;

  if (call == NULL || call->from[VALUE] != 0 ||
      cleave_element_size (call->operands[0].element) != 1 ||
      !read_scales (s, call, 1, &scale, &zero))
    return FALSE;
  to->x_scale = (float) scale;
  to->x_zero = (gint32) zero;
  return TRUE;
}

/* Less the zero point. */
static gint32
quantise (float value, const CleaveWrittenConv *conv, CleaveElement element)
{
  gint8 byte = 0;

  cleave_quantized_store (element, &byte, value / conv->y_scale, conv->y_zero);
  return (element == CLEAVE_INT8 ? byte : (guint8) byte) - conv->y_zero;
}

gint32
cleave_written_conv_round (const CleaveWrittenConv *conv, float sum)
{
  const float beyond = 1 << 20; /* all bytes, and within integers */
  float value = MIN (sum / conv->y_scale, beyond);

  return CLAMP ((gint32) rintf (MAX (value, -beyond)), conv->least, conv->most);
}

/* The end of the group, with bounds; `from` gets what is before these. */
static gboolean
read_end (Search *s, CleaveWrittenConv *to, guint *from)
{
  const CleaveBodyCall *end = cleave_body_at (&s->body, s->body.calls->len - 1);
  double scale, zero;
  float least, most;

  s->n_seen = 1;
  *from = end->from[VALUE];
  if (!is_of (end, &cleave_op_quantize_linear) || !read_scales (s, end, 1, &scale, &zero) ||
      !read_bounds (s, from, &least, &most) || !((float) scale > 0))
    return FALSE;
  to->y_scale = (float) scale;
  to->y_zero = (gint32) zero;
  to->least = quantise (least, to, end->result.element);
  to->most = quantise (most, to, end->result.element);
  return TRUE;
}

static gboolean
read_group (Search *s, CleaveWrittenConv *to)
{
  const CleaveBodyCall *conv;
  guint from;
  gint64 n;

  if (!read_end (s, to, &from) || (conv = find_call (s, from, &cleave_op_conv)) == NULL)
    return FALSE;
  n = conv->operands[1].shape.dim[0];
  to->w_scale = g_new0 (float, n);
  to->bias = g_new0 (float, n);
  to->conv = *(const CleaveConvAttrs *) conv->attrs;
  return read_x (s, conv, to) && read_weights (conv, n, to) && read_bias (s, conv, n, to->bias) &&
         s->n_seen == s->body.calls->len;
}

CleaveWrittenConv *
cleave_written_conv_find (const CleaveKernelInstance *group)
{
  Search s = { group, cleave_group_get_body (&group->call), 0 };
  CleaveWrittenConv *conv = g_new0 (CleaveWrittenConv, 1);

  if (read_group (&s, conv))
    return conv;
  cleave_written_conv_free (conv);
  return NULL;
}

static CleaveKernel
kernel_of_add (const CleaveCall *call)
{
  return CLEAVE_KERNEL_CONVERT;
}

const CleaveOp cleave_op_written_add = { .name = "WrittenAdd",
                                         .operands = operand_names,
                                         .results = result_names,
                                         .min_operands = 2,
                                         .flags = CLEAVE_OP_NOT_ONNX,
                                         .attrs_size = sizeof (CleaveWrittenAdd),
                                         .kernel = kernel_of_add };

/* Scales are such that no sum is infinite. */
static gboolean
read_term (Search *s, const CleaveBodyCall *add, guint term, CleaveWrittenAdd *to)
{
  const CleaveBodyCall *call = find_call (s, add->from[term], &cleave_op_dequantize_linear);
  double scale, zero;

  if (call == NULL || call->from[VALUE] >= s->body.n_outer ||
      s->group->constants[call->from[VALUE]] != NULL ||
      cleave_element_size (call->operands[0].element) != 1 ||
      !cleave_shape_equal (&call->operands[0].shape, &add->result.shape) ||
      !read_scales (s, call, 1, &scale, &zero) || !(fabs (scale) <= 0x1p100))
    return FALSE;
  to->from[term] = call->from[VALUE];
  to->scale[term] = (float) scale;
  to->zero[term] = (gint32) zero;
  return TRUE;
}

CleaveWrittenAdd *
cleave_written_add_find (const CleaveKernelInstance *group)
{
  Search s = { group, cleave_group_get_body (&group->call), 0 };
  g_autofree CleaveWrittenAdd *add = g_new0 (CleaveWrittenAdd, 1);
  CleaveWrittenConv numbers = { 0 };
  const CleaveBodyCall *call;
  guint from;

  if (!read_end (&s, &numbers, &from) || (call = find_call (&s, from, &cleave_op_add)) == NULL ||
      !read_term (&s, call, 0, add) || !read_term (&s, call, 1, add) ||
      s.n_seen != s.body.calls->len)
    return NULL;
  add->y_scale = numbers.y_scale;
  add->y_zero = numbers.y_zero;
  add->least = numbers.least;
  add->most = numbers.most;
  return g_steal_pointer (&add);
}
