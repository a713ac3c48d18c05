/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteConv: CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED on integers. TfliteConvTranspose:
 * TRANSPOSE_CONV on integers.
 *
 * Adds up (x - x_zero_point) * (w - w_zero_point) and the bias, without taps in the padding. The
 * sum has 32 bits, or 64 bits with `wide`. Sums wrap around, so their order does not matter. Then
 * multiplies the sum by the channel's multiplier and shift (fixed-point.h), adds y_zero_point, and
 * clamps to [min, max]. The result has the element type of y_zero_point. Source:
 * reference/integer_ops/conv.h and transpose_conv.h. */

#include "conv-transpose.h"
#include "quantized.h"
#include "reference.h"
#include "tflite.h"

enum { X, X_ZERO, W, MULTIPLIER, SHIFT, Y_ZERO, B, W_ZERO };

/* The bounds of the result, and whether sums have 64 bits. */
typedef struct
{
  gint64 min, max;
  gboolean wide;
} End;

static End
conv_end (const CleaveCall *call)
{
  const CleaveTfliteConvAttrs *a = call->attrs;

  return (End){ a->min, a->max, a->wide };
}

static End
transpose_end (const CleaveCall *call)
{
  const CleaveTfliteConvTransposeAttrs *a = call->attrs;

  return (End){ a->min, a->max, a->wide };
}

static gboolean
check_elements (const CleaveCall *call, GError **error)
{
  return cleave_call_check_element (call, X, CLEAVE_ELEMENTS_TFLITE, error) &&
         cleave_call_check_element (call, W, CLEAVE_ELEMENTS_TFLITE, error) &&
         cleave_call_check_element (call, Y_ZERO, CLEAVE_ELEMENTS_TFLITE, error);
}

/* Checks the operands that must have an entry for each of `channels` channels of the result. Also
 * checks the bounds of the result. */
static gboolean
check_channels (const CleaveCall *call, gint64 channels, End end, GError **error)
{
  CleaveElement y = call->operands[Y_ZERO].element;
  guint integer = CLEAVE_ELEMENT_BIT (CLEAVE_INT32);

  return cleave_quantized_check (call, X_ZERO, CLEAVE_ELEMENT_BIT (call->operands[X].element), 1,
                                 error) &&
         cleave_quantized_check (call, Y_ZERO, CLEAVE_ELEMENT_BIT (y), 1, error) &&
         cleave_quantized_check (call, MULTIPLIER, integer, channels, error) &&
         cleave_quantized_check (call, SHIFT, integer, channels, error) &&
         cleave_quantized_check (call, W_ZERO, CLEAVE_ELEMENT_BIT (call->operands[W].element),
                                 channels, error) &&
         cleave_tflite_check_bounds (y, end.min, end.max, error) &&
         cleave_conv_check_bias (call, B, end.wide ? CLEAVE_INT64 : CLEAVE_INT32, channels, error);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  if (!check_elements (call, error) || !cleave_conv_infer (call, &results[0], error) ||
      !check_channels (call, call->operands[W].shape.dim[0], conv_end (call), error))
    return FALSE;
  results[0].element = call->operands[Y_ZERO].element;
  return TRUE;
}

static gboolean
infer_transpose (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  if (!check_elements (call, error) || !cleave_conv_transpose_infer (call, &results[0], error) ||
      !check_channels (call, results[0].shape.dim[cleave_call_dims (call).c], transpose_end (call),
                       error))
    return FALSE;
  results[0].element = call->operands[Y_ZERO].element;
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  if (operand == X || operand == W)
    cleave_conv_maps (call, operand, map);
  else
    cleave_quantized_maps (call, operand, cleave_call_dims (call).c, map);
}

static void
maps_transpose (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  if (operand == X || operand == W)
    cleave_conv_transpose_maps (call, operand, map);
  else
    cleave_quantized_maps (call, operand, cleave_call_dims (call).c, map);
}

typedef struct
{
  End end;
  const CleaveView *operands;
  const CleaveCall *call;
  CleaveElement x, w, y;
  gint64 channel;
  gint32 x_zero, w_zero, y_zero;
  guint64 sum; /* unsigned, so that the sum wraps around */
} State;

static void
begin (gpointer self, gint64 channel)
{
  State *s = self;

  s->channel = channel;
  s->w_zero = (gint32) cleave_quantized_load (s->call, s->operands, W_ZERO, channel);
  s->sum = !cleave_call_has (s->call, B)
               ? 0
               : (guint64) cleave_integer_load (s->operands[B].type.element,
                                                cleave_view_at (&s->operands[B], &channel));
}

/* Adds up the products of n elements of x, of the type X, and n elements of w, of the type W. */
#define ADD_UP(X, W)                                                                               \
  do                                                                                               \
    {                                                                                              \
      const X *values = x;                                                                         \
      const W *weights = w;                                                                        \
                                                                                                   \
      for (gint64 i = 0; i < n; i++)                                                               \
        sum += (guint64) ((gint64) (values[i * x_stride] - s->x_zero) *                            \
                          (weights[i * w_stride] - s->w_zero));                                    \
    }                                                                                              \
  while (0)

static void
add (gpointer self, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n)
{
  State *s = self;
  CleaveByteDot dot = { x, w, x_stride, w_stride, s->x_zero, s->w_zero };
  guint64 sum = 0;

  if (s->x == CLEAVE_INT8 && s->w == CLEAVE_INT8)
    sum = (guint64) (gint64) (gint32) cleave_byte_dot (CLEAVE_INT8, CLEAVE_INT8, &dot, n);
  else if (s->x == CLEAVE_INT8)
    ADD_UP (gint8, gint16);
  else if (s->w == CLEAVE_INT8)
    ADD_UP (gint16, gint8);
  else
    ADD_UP (gint16, gint16);
  s->sum += sum;
}

static void
end (gpointer self, gpointer y)
{
  const State *s = self;
  gint32 multiplier = (gint32) cleave_quantized_load (s->call, s->operands, MULTIPLIER, s->channel);
  gint shift = (gint) cleave_quantized_load (s->call, s->operands, SHIFT, s->channel);
  gint64 value = s->end.wide ? cleave_fixed_multiply_wide ((gint64) s->sum, multiplier, shift)
                             : cleave_fixed_multiply ((gint32) (guint32) s->sum, multiplier, shift);

  cleave_tflite_store (s->y, y, CLAMP (value + s->y_zero, s->end.min, s->end.max));
}

static void
run (const CleaveCall *call,
     const CleaveView *operands,
     const CleaveView *y,
     const CleaveConvWalk *walk,
     End bounds)
{
  static const CleaveConvSteps steps = { begin, add, end };
  State state = { .end = bounds,
                  .operands = operands,
                  .call = call,
                  .x = operands[X].type.element,
                  .w = operands[W].type.element,
                  .y = y->type.element,
                  .x_zero = (gint32) cleave_quantized_load (call, operands, X_ZERO, 0),
                  .y_zero = (gint32) cleave_quantized_load (call, operands, Y_ZERO, 0) };

  cleave_conv_walk (walk, &operands[X], &operands[W], y, &steps, &state);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveConvWalk walk = cleave_conv_init_walk (call);

  run (call, operands, &results[0], &walk, conv_end (call));
}

static void
compute_transpose (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveConvWalk walk = cleave_conv_transpose_init_walk (call);

  run (call, operands, &results[0], &walk, transpose_end (call));
}

#define COMMON(type)                                                                               \
  { "layout", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (type, conv.layout), .names = cleave_layout_names,    \
    .flags = CLEAVE_ATTR_NOT_ONNX },                                                               \
      { "group", CLEAVE_ATTR_INT, CLEAVE_FIELD (type, conv.group), .fallback = 1,                  \
        CLEAVE_AT_LEAST (1) },                                                                     \
      { "strides", CLEAVE_ATTR_INTS, CLEAVE_FIELD (type, conv.strides), .fallback = 1,             \
        CLEAVE_AT_LEAST (1) },                                                                     \
      { "dilations", CLEAVE_ATTR_INTS, CLEAVE_FIELD (type, conv.dilations), .fallback = 1,         \
        CLEAVE_AT_LEAST (1) },                                                                     \
      { "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (type, conv.pads), CLEAVE_AT_LEAST (0) },           \
      CLEAVE_TFLITE_INT (type, min), CLEAVE_TFLITE_INT (type, max),                                \
  {                                                                                                \
    "wide", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (type, wide), .flags = CLEAVE_ATTR_NOT_ONNX             \
  }
static const CleaveAttr conv_attrs[] = { COMMON (CleaveTfliteConvAttrs), { 0 } };
static const CleaveAttr transpose_attrs[] = {
  COMMON (CleaveTfliteConvTransposeAttrs),
  { "output_padding", CLEAVE_ATTR_INTS,
    CLEAVE_FIELD (CleaveTfliteConvTransposeAttrs, conv.output_padding), CLEAVE_AT_LEAST (0) },
  { 0 },
};
#undef COMMON

/* Returns the fast kernel for int8 operands, 32-bit sums and int8 results; otherwise returns the
 * reference kernel. */
static CleaveKernel
kernel (const CleaveCall *call)
{
  const CleaveTfliteConvAttrs *a = call->attrs;

  if (call->operands[X].element != CLEAVE_INT8 || call->operands[W].element != CLEAVE_INT8 ||
      call->operands[Y_ZERO].element != CLEAVE_INT8 || a->wide)
    return CLEAVE_KERNEL_REFERENCE;
  return cleave_conv_is_depthwise (call) ? CLEAVE_KERNEL_INTEGER_DEPTHWISE
                                         : CLEAVE_KERNEL_INTEGER_CONV;
}

static const char *const operand_names[] = { "x",          "x_zero_point", "w",
                                             "multiplier", "shift",        "y_zero_point",
                                             "B",          "w_zero_point", NULL };
static const char *const result_names[] = { "y", NULL };

const CleaveOp cleave_op_tflite_conv = {
  .name = "TfliteConv",
  .operands = operand_names,
  .results = result_names,
  .min_operands = 6,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteConvAttrs),
  .attrs = conv_attrs,
  .infer = infer,
  .maps = maps,
  .narrow = cleave_conv_narrow,
  .layout = cleave_call_letters,
  .macs = cleave_conv_macs,
  .kernel = kernel,
  .compute = compute,
};

const CleaveOp cleave_op_tflite_conv_transpose = {
  .name = "TfliteConvTranspose",
  .operands = operand_names,
  .results = result_names,
  .min_operands = 6,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteConvTransposeAttrs),
  .attrs = transpose_attrs,
  .infer = infer_transpose,
  .maps = maps_transpose,
  .narrow = cleave_conv_transpose_narrow,
  .layout = cleave_call_letters,
  .macs = cleave_conv_transpose_macs,
  .compute = compute_transpose,
};
