/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops on bytes with scales and zero points. */

#include "trial.h"

#include "trial-ops.h"

/* Returns the integer types that QuantizeLinear can produce: types of 8 bits, and from opset 21 on
 * also types of 16 bits. */
static guint
quantized_set (const Trial *trial)
{
  return trial->opset >= 21 ? BYTES | SET (I16) | SET (U16) : BYTES;
}

/* Returns the type of scales: one scale for the whole value, or one for each index of dimension
 * `axis`. Sets `axis` to a random dimension, or to 0 if there is one scale. */
static TrialType
pick_factors (Trial *trial, const TrialType *x, guint element, guint *axis)
{
  *axis = 0;
  if (x->rank == 0 || !chance (trial, 40))
    return type_make (element, 0);
  *axis = (guint) pick (trial, x->rank);
  return type_make (element, 1, x->dim[*axis]);
}

static void
grow_quantize (Trial *trial, const char *op)
{
  guint x = use_any (trial, SET (F32) | SET (I32), 0, 6), scale, zero = 0, axis;
  TrialType type = type_of (trial, x), factors = pick_factors (trial, &type, F32, &axis);

  scale = use_new (trial, &factors, MODE_POSITIVE);
  type.element = U8;
  if (chance (trial, 70))
    {
      factors.element = type.element = pick_element (trial, quantized_set (trial));
      zero = use_new (trial, &factors, MODE_ANY);
    }
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, scale);
  if (zero != 0)
    add_in (trial, zero);
  if (factors.rank > 0)
    set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  add_out (trial, &type);
}

static void
grow_dequantize (Trial *trial, const char *op)
{
  guint x = use_any (trial, quantized_set (trial) | SET (I32), 0, 6), scale, zero = 0, axis;
  TrialType type = type_of (trial, x), factors = pick_factors (trial, &type, F32, &axis);

  scale = use_new (trial, &factors, MODE_POSITIVE);
  if (type.element != I32 && chance (trial, 70))
    {
      factors.element = type.element;
      zero = use_new (trial, &factors, MODE_ANY);
    }
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, scale);
  if (zero != 0)
    add_in (trial, zero);
  if (factors.rank > 0)
    set_int (trial, "axis", maybe_negative (trial, axis, type.rank));
  type.element = F32;
  add_out (trial, &type);
}

static void
grow_dynamic (Trial *trial, const char *op)
{
  guint x = use_any (trial, SET (F32), 0, 6);
  TrialType type = type_of (trial, x), scale = type_make (F32, 0), zero = type_make (U8, 0);

  type.element = U8;
  if (!need (trial, type_n_elements (&type) > 0))
    return;
  add_node (trial, op);
  add_in (trial, x);
  add_out (trial, &type);
  add_out (trial, &scale);
  add_out (trial, &zero);
}

void
trial_requantize (Trial *trial)
{
  guint value = trial->values->len - 1;
  TrialType type = type_of (trial, value), one = type_make (F32, 0);
  const char *const ops[] = { "QuantizeLinear", "DequantizeLinear" };
  guint element, scale, zero;

  if (type.element != F32)
    return;
  element = pick_element (trial, quantized_set (trial));
  scale = use_new (trial, &one, MODE_POSITIVE);
  zero = use_scalar (trial, element, MODE_ANY);
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    {
      type.element = i == 0 ? element : F32;
      add_node (trial, ops[i]);
      add_in (trial, value);
      add_in (trial, scale);
      add_in (trial, zero);
      value = add_out (trial, &type);
    }
}

typedef struct
{
  guint n;
  gint64 group, channels;
  gint64 kernel[2], strides[2], pads[4];
  TrialType weights, result;
} Conv;

static gboolean
pick_conv (Trial *trial, const TrialType *x, Conv *conv)
{
  *conv = (Conv){ .n = x->rank - 2, .group = 1, .channels = 1 + pick (trial, 18) };
  if (x->dim[1] <= 0)
    return FALSE;
  if (chance (trial, 40))
    {
      conv->group = x->dim[1];
      conv->channels = x->dim[1] * (1 + pick (trial, 2));
    }
  conv->weights =
      type_make (0, x->rank, conv->channels, x->dim[1] / conv->group, (gint64) 0, (gint64) 0);
  conv->result = *x;
  conv->result.dim[1] = conv->channels;
  for (guint i = 0; i < conv->n; i++)
    {
      gint64 room;

      conv->kernel[i] = 1 + pick (trial, 3);
      conv->strides[i] = 1 + pick (trial, 2);
      conv->pads[i] = pick (trial, conv->kernel[i]);
      conv->pads[conv->n + i] = pick (trial, conv->kernel[i]);
      conv->weights.dim[2 + i] = conv->kernel[i];
      room = x->dim[2 + i] + conv->pads[i] + conv->pads[conv->n + i] - conv->kernel[i];
      if (room < 0)
        return FALSE;
      conv->result.dim[2 + i] = room / conv->strides[i] + 1;
    }
  return TRUE;
}

static void
end_conv (Trial *trial, const Conv *conv)
{
  gint64 taps = conv->weights.dim[1];

  for (guint i = 0; i < conv->n; i++)
    taps *= conv->kernel[i];
  if (conv->group > 1)
    set_int (trial, "group", conv->group);
  set_ints (trial, "strides", conv->strides, conv->n);
  set_ints (trial, "pads", conv->pads, 2 * conv->n);
  add_out (trial, &conv->result);
  if (!trial->failed)
    add_work (trial, taps * type_n_elements (&conv->result));
}

static void
grow_qlinear_conv (Trial *trial, const char *op)
{
  guint x = use_any (trial, BYTES, 3, 4), in[9] = { x }, n = 8;
  TrialType type = type_of (trial, x), one = type_make (F32, 0), bias, factors;
  gboolean each = chance (trial, 40);
  Conv conv;

  if (!need (trial, pick_conv (trial, &type, &conv)))
    return;
  conv.weights.element = chance (trial, 50) ? type.element : I8;
  conv.result.element = type.element;
  factors = each ? type_make (F32, 1, conv.channels) : one;
  in[1] = use_new (trial, &one, MODE_POSITIVE);
  in[2] = use_scalar (trial, type.element, MODE_ANY);
  in[3] = use_new (trial, &conv.weights, MODE_WIDE);
  in[4] = use_new (trial, &factors, MODE_POSITIVE);
  factors.element = conv.weights.element;
  in[5] = use_new (trial, &factors, MODE_ANY);
  in[6] = use_new (trial, &one, MODE_POSITIVE);
  in[7] = use_scalar (trial, conv.result.element, MODE_ANY);
  bias = type_make (I32, 1, conv.channels);
  if (chance (trial, 50))
    in[n++] = use_new (trial, &bias, MODE_ANY);
  add_node (trial, op);
  for (guint i = 0; i < n; i++)
    add_in (trial, in[i]);
  end_conv (trial, &conv);
}

static void
grow_conv_integer (Trial *trial, const char *op)
{
  guint x = use_any (trial, BYTES, 3, 4), w, zeros[2] = { 0, 0 };
  TrialType type = type_of (trial, x), factors;
  Conv conv;

  if (!need (trial, pick_conv (trial, &type, &conv)))
    return;
  conv.weights.element = pick_element (trial, BYTES);
  conv.result.element = I32;
  w = use_new (trial, &conv.weights, MODE_WIDE);
  factors = chance (trial, 30) ? type_make (conv.weights.element, 1, conv.channels)
                               : type_make (conv.weights.element, 0);
  if (chance (trial, 60))
    zeros[0] = use_scalar (trial, type.element, MODE_ANY);
  if (chance (trial, 60))
    zeros[1] = use_new (trial, &factors, MODE_ANY);
  add_node (trial, op);
  add_in (trial, x);
  add_in (trial, w);
  for (guint i = 0; i < 2; i++)
    add_in (trial, zeros[i]);
  end_conv (trial, &conv);
}

const TrialOp trial_quantized[] = {
  { "QuantizeLinear", grow_quantize, 6 },       { "DequantizeLinear", grow_dequantize, 6 },
  { "DynamicQuantizeLinear", grow_dynamic, 4 }, { "QLinearConv", grow_qlinear_conv, 6 },
  { "ConvInteger", grow_conv_integer, 6 },      { NULL, NULL, 0 },
};
