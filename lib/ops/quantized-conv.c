/* SPDX-License-Identifier: GPL-2.0-or-later */

/* QLinearConv and ConvInteger: convolutions of bytes.
 *
 * Both ops add (x - x_zero_point) * (w - w_zero_point) in 32-bit integers that wrap around, so the
 * order does not matter. Padding is skipped: its elements equal the zero point. QLinearConv then
 * adds the bias and multiplies the sum by x_scale * w_scale / y_scale, from left to right in
 * float32. Last, QLinearConv rounds to the nearest integer, ties to even, adds y_zero_point, and
 * clamps to the range of the type. */

#include "build.h"
#include "conv-parts.h"
#include "quantized.h"
#include "reference.h"

/* The operand indices of the zero points, which differ between QLinearConv and ConvInteger. */
typedef struct
{
  guint w_zero, x_zero;
} Places;

enum { X }; /* X is operand 0 of both ops */
enum { X_SCALE = 1, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, B };
enum { INTEGER_W = 1, INTEGER_X_ZERO, INTEGER_W_ZERO };

static const Places linear_places = { .w_zero = W_ZERO, .x_zero = X_ZERO };
static const Places integer_places = { .w_zero = INTEGER_W_ZERO, .x_zero = INTEGER_X_ZERO };

/* Checks X, W and their zero points, and infers the shape of y. */
static gboolean
infer_places (const CleaveCall *call, const Places *p, CleaveTensorType *y, GError **error)
{
  guint w = cleave_conv_weights (call);

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_BYTE, error) ||
      !cleave_call_check_element (call, w, CLEAVE_ELEMENTS_BYTE, error) ||
      !cleave_conv_infer (call, y, error))
    return FALSE;
  return cleave_quantized_check (call, p->x_zero, CLEAVE_ELEMENT_BIT (call->operands[X].element), 1,
                                 error) &&
         cleave_quantized_check (call, p->w_zero, CLEAVE_ELEMENT_BIT (call->operands[w].element),
                                 call->operands[w].shape.dim[0], error);
}

static gboolean
infer_integer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  if (!infer_places (call, &integer_places, &results[0], error))
    return FALSE;
  results[0].element = CLEAVE_INT32;
  return TRUE;
}

static gboolean
infer_linear (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  gint64 channels = call->operands[W].shape.dim[0];
  guint scale = CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32);

  if (!infer_places (call, &linear_places, &results[0], error) ||
      !cleave_quantized_check (call, X_SCALE, scale, 1, error) ||
      !cleave_quantized_check (call, W_SCALE, scale, channels, error) ||
      !cleave_quantized_check (call, Y_SCALE, scale, 1, error) ||
      !cleave_quantized_check (call, Y_ZERO, CLEAVE_ELEMENTS_BYTE, 1, error) ||
      !cleave_conv_check_bias (call, B, CLEAVE_INT32, channels, error))
    return FALSE;
  results[0].element = call->operands[Y_ZERO].element;
  return TRUE;
}

/* Sets the maps of X and W as for Conv. Each other operand is a scalar, or has one element for
 * each channel of the result. */
static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  if (operand == X || operand == cleave_conv_weights (call))
    cleave_conv_maps (call, operand, map);
  else
    cleave_quantized_maps (call, operand, cleave_call_dims (call).c, map);
}

typedef struct
{
  const CleaveCall *call;
  const CleaveView *operands;
  const Places *places;
  CleaveElement element_x, element_w;
  gint64 channel;
  gint32 x_zero, w_zero;
  guint32 sum; /* unsigned, so that the sum wraps around */
} State;

static void
begin (gpointer self, gint64 channel)
{
  State *s = self;

  s->channel = channel;
  s->x_zero = (gint32) cleave_quantized_load (s->call, s->operands, s->places->x_zero, 0);
  s->w_zero = (gint32) cleave_quantized_load (s->call, s->operands, s->places->w_zero, channel);
  s->sum = 0;
}

static void
add (gpointer self, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n)
{
  State *s = self;
  CleaveByteDot dot = { x, w, x_stride, w_stride, s->x_zero, s->w_zero };

  s->sum += cleave_byte_dot (s->element_x, s->element_w, &dot, n);
}

static void
end_integer (gpointer self, gpointer y)
{
  const State *s = self;

  *(guint32 *) y = s->sum;
}

static void
end_linear (gpointer self, gpointer y)
{
  const State *s = self;
  guint32 bias = (guint32) (gint64) cleave_quantized_load (s->call, s->operands, B, s->channel);
  float scale = (float) cleave_quantized_load (s->call, s->operands, X_SCALE, 0) *
                (float) cleave_quantized_load (s->call, s->operands, W_SCALE, s->channel) /
                (float) cleave_quantized_load (s->call, s->operands, Y_SCALE, 0);

  cleave_quantized_store (s->operands[Y_ZERO].type.element, y,
                          (float) (gint32) (s->sum + bias) * scale,
                          cleave_quantized_load (s->call, s->operands, Y_ZERO, 0));
}

static void
compute_places (const CleaveCall *call,
                const CleaveView *operands,
                const CleaveView *y,
                const Places *places,
                const CleaveConvSteps *steps)
{
  State state = { .call = call,
                  .operands = operands,
                  .places = places,
                  .element_x = call->operands[X].element,
                  .element_w = call->operands[cleave_conv_weights (call)].element };
  CleaveConvWalk walk = cleave_conv_init_walk (call);

  cleave_conv_walk (&walk, &operands[X], &operands[cleave_conv_weights (call)], y, steps, &state);
}

static void
compute_linear (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  static const CleaveConvSteps steps = { begin, add, end_linear };

  compute_places (call, operands, &results[0], &linear_places, &steps);
}

static void
compute_integer (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  static const CleaveConvSteps steps = { begin, add, end_integer };

  compute_places (call, operands, &results[0], &integer_places, &steps);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return cleave_conv_is_depthwise (call) ? CLEAVE_KERNEL_INTEGER_DEPTHWISE
                                         : CLEAVE_KERNEL_INTEGER_CONV;
}

/* Fields that the records of QLinearConv and ConvInteger share. */
#define CONV_OF_BYTES                                                                              \
  .results = (const char *const[]){ "y", NULL }, .attrs_size = sizeof (CleaveConvAttrs),           \
  .attrs = cleave_quantized_conv_attrs, .maps = maps, .narrow = cleave_conv_narrow,                \
  .layout = cleave_call_letters, .macs = cleave_conv_macs, .kernel = kernel

const CleaveOp cleave_op_qlinear_conv = {
  .name = "QLinearConv",
  CONV_OF_BYTES,
  .operands = (const char *const[]){ "x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point",
                                     "y_scale", "y_zero_point", "B", NULL },
  .min_operands = 8,
  .infer = infer_linear,
  .compute = compute_linear,
};

const CleaveOp cleave_op_conv_integer = {
  .name = "ConvInteger",
  CONV_OF_BYTES,
  .operands = (const char *const[]){ "x", "w", "x_zero_point", "w_zero_point", NULL },
  .min_operands = 2,
  .infer = infer_integer,
  .compute = compute_integer,
};
