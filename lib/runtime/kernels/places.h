/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Where convolutions, those of bytes among them, have their operands. */

#include "upcast.h"

#include "../../ops/conv-parts.h"
#include "../../ops/quantized.h"

/* Those that an op has not are as if absent. */
typedef struct
{
  guint w, bias, x_zero, w_zero, x_scale, w_scale, y_scale, y_zero;
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
                         .y_zero = cleave_quantized_find (call, "y_zero_point") };
}

/* The end of the last byte of a view. */
static inline const char *
cleave_places_end (const CleaveView *view)
{
  gint64 last = 0;

  for (guint d = 0; d < view->type.shape.rank; d++)
    last += (view->type.shape.dim[d] - 1) * view->stride[d];
  return (const char *) view->data + (last + 1) * (gint64) cleave_element_size (view->type.element);
}

/* Whether y lies over x.  What has no place yet, or is empty, lies over nothing. */
static inline gboolean
cleave_places_overlap (const CleaveView *x, const CleaveView *y)
{
  return x->data != NULL && y->data != NULL && cleave_shape_n_elements (&x->type.shape) > 0 &&
         cleave_shape_n_elements (&y->type.shape) > 0 &&
         (const char *) x->data < cleave_places_end (y) &&
         (const char *) y->data < cleave_places_end (x);
}

/* The number in an operand for a channel; 0 if it is absent. */
static inline double
cleave_places_load (const CleaveKernelInstance *instance, guint operand, gint64 channel)
{
  return cleave_quantized_load (&instance->call, instance->operands, operand, channel);
}

/* Whether the zero points of the weights may be other than what packing takes away. */
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

/* From element to element of an operand that has one for each channel; 0: it has one for all. */
static inline gint64
cleave_places_step (const CleaveView *view)
{
  return view->type.shape.rank == 0 || view->type.shape.dim[0] == 1 ? 0 : view->stride[0];
}

/* What is added to the sums of bytes and what they are multiplied by, as the reference kernel has
 * it, from left to right.  FALSE: there are no scales, the sums are the result. */
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

/* The bias of 16-bit floats as floats; NULL: there is none. */
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
