/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Finds the operands of convolutions, including quantized ones, by their names, since each op has
 * its own operand order. The kernels of lib/runtime/kernels/integers find all operands with these
 * functions, and convolutions of 16-bit floats find their bias. Example: the weights are operand 1
 * of a Conv and operand 3 of a QLinearConv. */

#include "upcast.h"

#include "../../ops/conv-parts.h"
#include "../../ops/quantized.h"

/* Indices of operands. An index is G_MAXUINT if the op has no such operand. */
typedef struct
{
  guint w, bias, x_zero, w_zero, x_scale, w_scale, y_scale, y_zero, multiplier, shift;
} CleavePlaces;

static inline CleavePlaces
cleave_places_find (const CleaveCall *call)
{
  return (CleavePlaces){ .w = cleave_conv_weights (call),
                         .bias = cleave_quantized_find (call, "B"),
                         .x_zero = cleave_quantized_find (call, "x_zero_point"),
                         .w_zero = cleave_quantized_find (call, "w_zero_point"),
                         .x_scale = cleave_quantized_find (call, "x_scale"),
                         .w_scale = cleave_quantized_find (call, "w_scale"),
                         .y_scale = cleave_quantized_find (call, "y_scale"),
                         .y_zero = cleave_quantized_find (call, "y_zero_point"),
                         .multiplier = cleave_quantized_find (call, "multiplier"),
                         .shift = cleave_quantized_find (call, "shift") };
}

/* Returns the address after the last byte of a view. */
static inline const char *
cleave_places_end (const CleaveView *view)
{
  gint64 last = 0;

  for (guint d = 0; d < view->type.shape.rank; d++)
    last += (view->type.shape.dim[d] - 1) * view->stride[d];
  return (const char *) view->data + (last + 1) * (gint64) cleave_element_size (view->type.element);
}

/* Returns whether x and y overlap in memory. A view without address or without elements overlaps
 * nothing. */
static inline gboolean
cleave_places_overlap (const CleaveView *x, const CleaveView *y)
{
  return x->data != NULL && y->data != NULL && cleave_shape_n_elements (&x->type.shape) > 0 &&
         cleave_shape_n_elements (&y->type.shape) > 0 &&
         (const char *) x->data < cleave_places_end (y) &&
         (const char *) y->data < cleave_places_end (x);
}

/* Returns the element of a per-channel operand for channel `channel`. If the operand has one
 * element, returns this element; if the operand is absent, returns 0. */
static inline double
cleave_places_load (const CleaveKernelInstance *instance, guint operand, gint64 channel)
{
  return cleave_quantized_load (&instance->call, instance->operands, operand, channel);
}

/* Returns whether a zero point of the weights may differ from the number that packing subtracts: 0
 * for int8, 128 for uint8. */
static inline gboolean
cleave_places_have_w_zeros (const CleavePlaces *p, const CleaveKernelInstance *instance)
{
  gint32 none = instance->operands[p->w].type.element == CLEAVE_UINT8 ? 128 : 0;

  if (!cleave_call_has (&instance->call, p->w_zero))
    return none != 0;
  if (instance->constants[p->w_zero] == NULL)
    return TRUE;
  for (gint64 c = 0; c < instance->operands[p->w].type.shape.dim[0]; c++)
    if ((gint32) cleave_places_load (instance, p->w_zero, c) != none)
      return TRUE;
  return FALSE;
}

/* Returns the distance in elements between the channels of a per-channel operand; 0 if one element
 * serves all channels. */
static inline gint64
cleave_places_step (const CleaveView *view)
{
  return view->type.shape.rank == 0 || view->type.shape.dim[0] == 1 ? 0 : view->stride[0];
}

/* Reads, for each channel, the bias that is added to the integer sum and the scale by which the sum
 * is multiplied. The scale is x_scale * w_scale / y_scale, computed from left to right, since the
 * reference kernel rounds in this order. Returns FALSE if the op has no scales, so that the integer
 * sums are the result. */
static inline gboolean
cleave_places_read_scales (const CleavePlaces *p,
                           const CleaveKernelInstance *instance,
                           gint64 n_channels,
                           gint32 *bias,
                           float *scale)
{
  gboolean has_bias = cleave_call_has (&instance->call, p->bias);
  const gint32 none = 0, *from = has_bias ? instance->operands[p->bias].data : &none;
  gboolean has_scales = cleave_call_has (&instance->call, p->y_scale);
  float x = (float) cleave_places_load (instance, p->x_scale, 0);
  float y = (float) cleave_places_load (instance, p->y_scale, 0);
  gint64 step = has_bias ? cleave_places_step (&instance->operands[p->bias]) : 0;

  for (gint64 c = 0; c < n_channels; c++)
    bias[c] = from[c * step];
  if (has_scales)
    {
      const CleaveView *w = &instance->operands[p->w_scale];
      const float *scales = w->data;

      step = cleave_places_step (w);
      for (gint64 c = 0; c < n_channels; c++)
        scale[c] = x * scales[c * step] / y;
    }
  return has_scales;
}

/* Returns whether the op, such as TfliteConv, multiplies sums by fixed-point factors. */
static inline gboolean
cleave_places_are_fixed (const CleavePlaces *p, const CleaveKernelInstance *instance)
{
  return cleave_call_has (&instance->call, p->multiplier);
}

/* Reads the fixed-point multiplier and shift of each channel. Stores zeros for `n_more` channels
 * after the last channel. */
static inline void
cleave_places_read_factors (const CleavePlaces *p,
                            const CleaveKernelInstance *instance,
                            gint64 n_channels,
                            gint64 n_more,
                            gint32 *multiplier,
                            gint32 *shift)
{
  for (gint64 c = 0; c < n_channels; c++)
    {
      multiplier[c] = (gint32) cleave_places_load (instance, p->multiplier, c);
      shift[c] = (gint32) cleave_places_load (instance, p->shift, c);
    }
  for (gint64 c = n_channels; c < n_channels + n_more; c++)
    multiplier[c] = shift[c] = 0;
}

/* Converts a bias of 16-bit floats to float32 in `to`. Returns the float bias; NULL if the node has
 * no bias. */
static inline const float *
cleave_places_read_bias (const CleavePlaces *p, const CleaveKernelInstance *instance, float *to)
{
  const CleaveView *bias;

  if (!cleave_call_has (&instance->call, p->bias))
    return NULL;
  bias = &instance->operands[p->bias];
  cleave_upcast (bias->type.element, bias->data, bias->stride[0], 0, to, bias->type.shape.dim[0]);
  return to;
}
