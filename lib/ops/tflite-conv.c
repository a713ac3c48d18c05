/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteConv: CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED on integers.
 *
 * Adds up (x - x_zero_point) * w, and the bias, in wrapping integers of 32 bits, or of 64 with
 * `wide`, so that no order matters; padding is skipped. Multiplies the sum by a multiplier and a
 * shift of the channel (fixed-point.h), adds y_zero_point, and clamps to [min, max]. Source:
 * reference/integer_ops/conv.h. */

#include "conv-parts.h"
#include "quantized.h"
#include "reference.h"
#include "tflite.h"

enum { X, X_ZERO, W, MULTIPLIER, SHIFT, Y_ZERO, B };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteConvAttrs *a = call->attrs;
  gint64 channels = call->operands[W].shape.rank == 0 ? 0 : call->operands[W].shape.dim[0];
  guint integer = CLEAVE_ELEMENT_BIT (CLEAVE_INT32), own;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_TFLITE, error) ||
      !cleave_call_check_element (call, W, CLEAVE_ELEMENT_BIT (CLEAVE_INT8), error) ||
      !cleave_conv_infer (call, &results[0], error))
    return FALSE;
  own = CLEAVE_ELEMENT_BIT (call->operands[X].element);
  return cleave_quantized_check (call, X_ZERO, own, 1, error) &&
         cleave_quantized_check (call, Y_ZERO, own, 1, error) &&
         cleave_quantized_check (call, MULTIPLIER, integer, channels, error) &&
         cleave_quantized_check (call, SHIFT, integer, channels, error) &&
         cleave_tflite_check_bounds (call->operands[X].element, a->min, a->max, error) &&
         cleave_conv_check_bias (call, B, a->wide ? CLEAVE_INT64 : CLEAVE_INT32, channels, error);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  if (operand == X || operand == W)
    cleave_conv_maps (call, operand, map);
  else
    cleave_quantized_maps (call, operand, cleave_call_dims (call).c, map);
}

typedef struct
{
  const CleaveTfliteConvAttrs *attrs;
  const CleaveView *operands;
  const CleaveCall *call;
  CleaveElement element;
  gint64 channel;
  gint32 x_zero, y_zero;
  guint64 sum; /* wraps around */
} State;

static void
begin (gpointer self, gint64 channel)
{
  State *s = self;

  s->channel = channel;
  s->sum = !cleave_call_has (s->call, B)
               ? 0
               : (guint64) cleave_integer_load (s->operands[B].type.element,
                                                cleave_view_at (&s->operands[B], &channel));
}

static void
add (gpointer self, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n)
{
  State *s = self;
  const gint16 *values = x;
  const gint8 *weights = w;

  if (s->element == CLEAVE_INT8)
    {
      CleaveByteDot dot = { x, w, x_stride, w_stride, s->x_zero, 0 };

      s->sum += (guint64) (gint64) (gint32) cleave_byte_dot (CLEAVE_INT8, CLEAVE_INT8, &dot, n);
      return;
    }
  for (gint64 i = 0; i < n; i++)
    s->sum += (guint64) ((gint64) (values[i * x_stride] - s->x_zero) * weights[i * w_stride]);
}

static void
end (gpointer self, gpointer y)
{
  const State *s = self;
  gint32 multiplier = (gint32) cleave_quantized_load (s->call, s->operands, MULTIPLIER, s->channel);
  gint shift = (gint) cleave_quantized_load (s->call, s->operands, SHIFT, s->channel);
  gint64 value = s->attrs->wide
                     ? cleave_fixed_multiply_wide ((gint64) s->sum, multiplier, shift)
                     : cleave_fixed_multiply ((gint32) (guint32) s->sum, multiplier, shift);

  cleave_tflite_store (s->element, y, CLAMP (value + s->y_zero, s->attrs->min, s->attrs->max));
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  static const CleaveConvSteps steps = { begin, add, end };
  State state = { .attrs = call->attrs,
                  .operands = operands,
                  .call = call,
                  .element = operands[X].type.element,
                  .x_zero = (gint32) cleave_quantized_load (call, operands, X_ZERO, 0),
                  .y_zero = (gint32) cleave_quantized_load (call, operands, Y_ZERO, 0) };
  CleaveConvWalk walk = cleave_conv_init_walk (call);

  cleave_conv_walk (&walk, &operands[X], &operands[W], &results[0], &steps, &state);
}

static const CleaveAttr attrs[] = {
  { "layout", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveTfliteConvAttrs, conv.layout),
    .names = cleave_layout_names, .flags = CLEAVE_ATTR_NOT_ONNX },
  { "group", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveTfliteConvAttrs, conv.group), .fallback = 1,
    CLEAVE_AT_LEAST (1) },
  { "strides", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTfliteConvAttrs, conv.strides), .fallback = 1,
    CLEAVE_AT_LEAST (1) },
  { "dilations", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTfliteConvAttrs, conv.dilations),
    .fallback = 1, CLEAVE_AT_LEAST (1) },
  { "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTfliteConvAttrs, conv.pads),
    CLEAVE_AT_LEAST (0) },
  CLEAVE_TFLITE_INT (CleaveTfliteConvAttrs, min),
  CLEAVE_TFLITE_INT (CleaveTfliteConvAttrs, max),
  { "wide", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveTfliteConvAttrs, wide),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

const CleaveOp cleave_op_tflite_conv = {
  .name = "TfliteConv",
  .operands = (const char *const[]){ "x", "x_zero_point", "w", "multiplier", "shift",
                                     "y_zero_point", "B", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 6,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteConvAttrs),
  .attrs = attrs,
  .infer = infer,
  .maps = maps,
  .narrow = cleave_conv_narrow,
  .layout = cleave_call_letters,
  .macs = cleave_conv_macs,
  .compute = compute,
};
