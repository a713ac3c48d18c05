/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the begin and the end of a quantized group: the DequantizeLinears of its operands, and its
 * QuantizeLinear with the Relus and Clips before it. A call is one op of the group. The functions
 * count in `n_seen` the calls that they match. */

#include "qdq-search.h"

#include "../ops/quantized.h"
#include "../ops/reference.h"

#include <math.h>
#include <string.h>

extern const CleaveOp cleave_op_relu, cleave_op_clip, cleave_op_quantize_linear,
    cleave_op_dequantize_linear;

const CleaveBodyCall *
cleave_qdq_find_call (CleaveQdqSearch *s, guint from, const CleaveOp *op)
{
  guint index;

  if (!cleave_body_makes (&s->body, from, &index) ||
      !cleave_body_call_is (cleave_body_at (&s->body, index), op) ||
      cleave_body_at (&s->body, index)->n_readers > 1)
    return NULL;
  s->n_seen++;
  return cleave_body_at (&s->body, index);
}

gboolean
cleave_qdq_read_constant (const CleaveTensor *constant, gint64 n, double *to)
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

gboolean
cleave_qdq_read_numbers (
    const CleaveQdqSearch *s, const CleaveBodyCall *call, guint operand, gint64 n, double *to)
{
  guint from = operand < call->n_operands ? call->from[operand] : CLEAVE_BODY_ABSENT;
  const CleaveTensor *constant = NULL;

  if (from != CLEAVE_BODY_ABSENT)
    {
      constant = from < s->body.n_outer ? s->group->constants[from] : NULL;
      if (constant == NULL)
        return FALSE;
    }
  return cleave_qdq_read_constant (constant, n, to);
}

gboolean
cleave_qdq_read_scales (
    const CleaveQdqSearch *s, const CleaveBodyCall *call, gint64 n, double *scale, double *zero)
{
  const CleaveAxisAttrs *a = call->attrs;

  if (n > 1 && a->axis != 0 && cleave_shape_n_elements (&call->operands[SCALE].shape) != 1)
    return FALSE;
  return cleave_qdq_read_numbers (s, call, SCALE, n, scale) &&
         cleave_qdq_read_numbers (s, call, ZERO, n, zero);
}

/* Reads the chain of Relus and Clips that ends at value `from`, and combines their bounds into
 * `least` and `most`. Sets `from` to the value before the chain. The loop finds the last op of the
 * chain first. Returns FALSE if the minimum of a Clip exceeds its maximum. */
static gboolean
read_bounds (CleaveQdqSearch *s, guint *from, float *least, float *most)
{
  *least = -INFINITY;
  *most = INFINITY;
  for (;;)
    {
      CleaveClipAttrs inner = { .min = 0, .max = INFINITY };
      const CleaveBodyCall *call = cleave_qdq_find_call (s, *from, &cleave_op_relu);
      float low = *least, high = *most;

      if (call == NULL && (call = cleave_qdq_find_call (s, *from, &cleave_op_clip)) != NULL)
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

gboolean
cleave_qdq_read_x (CleaveQdqSearch *s, guint from, CleaveQdqX *x)
{
  const CleaveBodyCall *call = cleave_qdq_find_call (s, from, &cleave_op_dequantize_linear);
  double scale, zero;

  if (call == NULL || call->from[VALUE] >= s->body.n_outer ||
      s->group->constants[call->from[VALUE]] != NULL ||
      cleave_element_size (call->operands[0].element) != 1 ||
      !cleave_qdq_read_scales (s, call, 1, &scale, &zero))
    return FALSE;
  *x = (CleaveQdqX){ .from = call->from[VALUE],
                     .element = call->operands[0].element,
                     .scale = (float) scale,
                     .zero = (gint32) zero };
  return TRUE;
}

/* Quantizes `value` with the QuantizeLinear `end` at the end of a group. Returns the 8-bit number
 * minus the zero point. */
static gint32
quantize (float value, const CleaveQdqEnd *end)
{
  gint8 byte = 0;

  cleave_quantized_store (end->element, &byte, value / end->scale, end->zero);
  return (end->element == CLEAVE_INT8 ? byte : (guint8) byte) - end->zero;
}

gboolean
cleave_qdq_read_end (CleaveQdqSearch *s, CleaveQdqEnd *to, guint *from)
{
  const CleaveBodyCall *end = cleave_body_at (&s->body, s->body.calls->len - 1);
  double scale, zero;
  float least, most;

  s->n_seen = 1;
  *from = end->from[VALUE];
  if (!cleave_body_call_is (end, &cleave_op_quantize_linear) ||
      cleave_element_size (end->result.element) != 1 ||
      !cleave_qdq_read_scales (s, end, 1, &scale, &zero) || !read_bounds (s, from, &least, &most) ||
      !((float) scale > 0))
    return FALSE;
  *to = (CleaveQdqEnd){ end->result.element, (float) scale, (gint32) zero, 0, 0 };
  to->least = quantize (least, to);
  to->most = quantize (most, to);
  return TRUE;
}
