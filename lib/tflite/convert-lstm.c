/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts UNIDIRECTIONAL_SEQUENCE_LSTM and reads the operands and options of all LSTM operators
 * (lstm.h). An LSTM on integers becomes a TfliteLstm; convert-lstm-floats.c converts an LSTM on
 * floats. */

#include "lstm.h"

#include <math.h>

enum { LSTM_NORMALIZATION = 20, LSTM_N_INPUTS = 24 };
enum { LSTM_ACTIVATION, LSTM_CELL_CLIP, LSTM_PROJECTION_CLIP, LSTM_TIME_MAJOR };
enum { BIDIRECTIONAL_TIME_MAJOR = 4 };

/* Fails if a required input is missing, or if the operator has an input that Cleave does not
 * support. */
static gboolean
check_lstm_inputs (const CleaveTfliteImport *import, GError **error)
{
  for (guint i = 0; i < LSTM_N_INPUTS; i++)
    {
      gboolean is_extra = (i >= LSTM_PEEPHOLES && i < LSTM_B) ||
                          (i >= LSTM_PROJECTION && i < CLEAVE_TFLITE_LSTM_HIDDEN) ||
                          i >= LSTM_NORMALIZATION;

      if (is_extra && cleave_tflite_input (import, i) != NULL)
        return cleave_tflite_refuse (error, "input %u, of %s, is not supported", i,
                                     i < LSTM_B               ? "a peephole"
                                     : i < LSTM_NORMALIZATION ? "a projection"
                                                              : "normalization of layers");
      if (!is_extra && cleave_tflite_input (import, i) == NULL)
        return cleave_tflite_refuse (error, "input %u is absent", i);
    }
  return TRUE;
}

static gboolean
check_lstm_shape (const CleaveTfliteImport *import,
                  guint i,
                  const CleaveShape *wanted,
                  GError **error)
{
  const CleaveShape *shape = &cleave_tflite_input_type (import, i)->shape;
  g_autofree char *is = NULL, *should = NULL;

  if (cleave_shape_equal (shape, wanted))
    return TRUE;
  is = cleave_shape_to_string (shape);
  should = cleave_shape_to_string (wanted);
  return cleave_tflite_refuse (error, "input %u is %s, it must be %s", i, is, should);
}

static gboolean
read_lstm_options (CleaveTfliteImport *import,
                   guint time_major,
                   gint64 fallback,
                   CleaveTfliteLstm *l,
                   GError **error)
{
  gint64 activation;

  if (!cleave_tflite_option (import, LSTM_ACTIVATION, 1, 0, &activation, error) ||
      !cleave_tflite_option_float (import, LSTM_CELL_CLIP, 0, &l->cell_clip, error) ||
      !cleave_tflite_option (import, time_major, 1, fallback, &l->time_major, error))
    return FALSE;
  if (activation != CLEAVE_TFLITE_TANH)
    return cleave_tflite_refuse (
        error, "activation %" G_GINT64_FORMAT " is not supported, only TANH is", activation);
  if (!(l->cell_clip >= 0 && isfinite (l->cell_clip)))
    return cleave_tflite_refuse (error, "the clip of the cell is %g", (double) l->cell_clip);
  return TRUE;
}

/* Reads the operands of one direction. `hidden` is the index of the input that is the hidden state;
 * the cell state is the next input. */
static gboolean
read_direction (CleaveTfliteImport *import, guint hidden, CleaveTfliteLstm *l, GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, LSTM_X)->shape;
  guint w = l->first, r = w + LSTM_R - LSTM_W, b = w + LSTM_B - LSTM_W;
  const CleaveShape *of_state = &cleave_tflite_input_type (import, r)->shape;
  CleaveShape wide, square, bias, state;

  if (x->rank != 3 || of_state->rank != 2)
    return cleave_tflite_refuse (error, "x must have 3 dimensions, the weights of the state 2");
  l->batch = x->dim[l->time_major != 0 ? 1 : 0];
  l->time = x->dim[l->time_major != 0 ? 0 : 1];
  l->inputs = x->dim[2];
  l->hidden = of_state->dim[1];
  wide = CLEAVE_SHAPE (l->hidden, l->inputs);
  square = CLEAVE_SHAPE (l->hidden, l->hidden);
  bias = CLEAVE_SHAPE (l->hidden);
  state = CLEAVE_SHAPE (l->batch, l->hidden);
  for (guint g = 0; g < N_GATES; g++)
    if (!check_lstm_shape (import, w + g, &wide, error) ||
        !check_lstm_shape (import, r + g, &square, error) ||
        !check_lstm_shape (import, b + g, &bias, error) ||
        !cleave_tflite_find_result (import, w + g, &l->w[g], error) ||
        !cleave_tflite_find_result (import, r + g, &l->r[g], error) ||
        !cleave_tflite_find_result (import, b + g, &l->b[g], error))
      return FALSE;
  return check_lstm_shape (import, hidden, &state, error) &&
         check_lstm_shape (import, hidden + 1, &state, error) &&
         cleave_tflite_find_result (import, LSTM_X, &l->x, error) &&
         cleave_tflite_find_state (import, hidden, &l->h, error) &&
         cleave_tflite_find_state (import, hidden + 1, &l->c, error);
}

gboolean
cleave_tflite_read_lstm (CleaveTfliteImport *import, CleaveTfliteLstm *l, GError **error)
{
  l->first = LSTM_W;
  return check_lstm_inputs (import, error) &&
         read_lstm_options (import, LSTM_TIME_MAJOR, 0, l, error) &&
         read_direction (import, CLEAVE_TFLITE_LSTM_HIDDEN, l, error);
}

/* Fails if a required input of either direction is missing, or if the operator has an input that
 * Cleave does not support. */
static gboolean
check_bidirectional_inputs (const CleaveTfliteImport *import, GError **error)
{
  for (guint i = 0; i < LSTM_N_BIDIRECTIONAL; i++)
    {
      guint of_direction = i < LSTM_BACK_W ? i : i - LSTM_BACK_W + LSTM_W;
      gboolean is_extra = i >= LSTM_AUXILIARY, is_absent = cleave_tflite_input (import, i) == NULL;

      if (i < CLEAVE_TFLITE_BIDIRECTIONAL_STATE)
        is_extra = (of_direction >= LSTM_PEEPHOLES && of_direction < LSTM_B) ||
                   of_direction >= LSTM_PROJECTION;
      if (is_extra && !is_absent)
        return cleave_tflite_refuse (error, "input %u, of %s, is not supported", i,
                                     i >= LSTM_AUXILIARY     ? "an auxiliary input"
                                     : of_direction < LSTM_B ? "a peephole"
                                                             : "a projection");
      if (!is_extra && is_absent)
        return cleave_tflite_refuse (error, "input %u is absent", i);
    }
  return TRUE;
}

gboolean
cleave_tflite_read_lstm_direction (CleaveTfliteImport *import,
                                   gboolean is_reverse,
                                   CleaveTfliteLstm *l,
                                   GError **error)
{
  l->first = is_reverse ? LSTM_BACK_W : LSTM_W;
  if (!check_bidirectional_inputs (import, error) ||
      !read_lstm_options (import, BIDIRECTIONAL_TIME_MAJOR, 1, l, error))
    return FALSE;
  if (l->cell_clip > 0)
    return cleave_tflite_refuse (error, "a clip of the cell is not supported");
  return read_direction (import, CLEAVE_TFLITE_BIDIRECTIONAL_STATE + (is_reverse ? 2 : 0), l,
                         error);
}

CleaveResult *
cleave_tflite_stack_gates (CleaveTfliteImport *import, CleaveResult *const *gates, GError **error)
{
  CleaveAxisAttrs attrs = { 0 };

  return cleave_tflite_fold (import, cleave_tflite_add (import, "Concat", gates, 4, &attrs, error),
                             error);
}

/* Reads the scale of weights, input `i`. Fails if the zero point of the weights is not 0. */
static gboolean
read_weight_scale (CleaveTfliteImport *import, guint i, float *scale, GError **error)
{
  CleaveTfliteScale s;

  if (!cleave_tflite_read_scale (cleave_tflite_input (import, i), &s, error))
    return FALSE;
  *scale = s.scale;
  return s.zero == 0 ||
         cleave_tflite_refuse (error, "input %u has the zero point %d, it must be 0", i, s.zero);
}

/* Appends to `multipliers` and `shifts` the factor of each gate, which converts its sum to units of
 * 2^-12. The weights of the gates are the inputs from `first` on. The value that the weights
 * multiply has the scale `scale`. */
static gboolean
read_gate_factors (CleaveTfliteImport *import,
                   guint first,
                   float scale,
                   CleaveInts *multipliers,
                   CleaveInts *shifts,
                   GError **error)
{
  for (guint g = 0; g < N_GATES; g++)
    {
      CleaveTfliteFactor factor;
      float weights;

      if (!read_weight_scale (import, first + g, &weights, error) ||
          !cleave_tflite_read_factor ((double) (scale * weights) * 0x1p12, &factor, error))
        return FALSE;
      multipliers->v[multipliers->n++] = factor.multiplier;
      shifts->v[shifts->n++] = factor.shift;
    }
  return TRUE;
}

/* Reads the factors of the cell state, and the bound to which the cell state is clamped. Fails if
 * the scale of the cell state is not a power of two. */
static gboolean
read_cell (CleaveTfliteImport *import,
           const CleaveTfliteLstm *l,
           const CleaveTfliteScale *h,
           const CleaveTfliteScale *c,
           CleaveTfliteLstmAttrs *a,
           GError **error)
{
  double scale = (double) c->scale, power = round (log2 (scale));
  CleaveTfliteFactor forget, input, hidden;
  gint shift;

  if (c->zero != 0 || fabs (log2 (scale) - power) > 1e-3 || power < -30 || power > 4)
    return cleave_tflite_refuse (error,
                                 "the cell state has the scale %g and the zero point %d; they must "
                                 "be a power of two and 0",
                                 scale, c->zero);
  shift = 12 + (gint) power;
  a->tanh_multiplier = shift < 0 ? 3 : (gint64) 3 << shift;
  a->tanh_shift = shift < 0 ? -shift : 0;
  if (!cleave_tflite_read_factor (0x1p-15 * scale / scale, &forget, error) ||
      !cleave_tflite_read_factor (0x1p-30 / scale, &input, error) ||
      !cleave_tflite_read_factor (0x1p-30 / (double) h->scale, &hidden, error))
    return FALSE;
  a->forget_multiplier = forget.multiplier;
  a->forget_shift = forget.shift;
  a->input_multiplier = input.multiplier;
  a->input_shift = input.shift;
  a->hidden_multiplier = hidden.multiplier;
  a->hidden_shift = hidden.shift;
  a->cell_clip = (gint64) MIN ((double) l->cell_clip / scale, G_MAXINT16);
  if (l->cell_clip > 0 && a->cell_clip == 0)
    return cleave_tflite_refuse (error, "the clip of the cell is below its scale");
  return TRUE;
}

gboolean
cleave_tflite_convert_integer_lstm (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteLstmAttrs a = { 0 };
  CleaveTfliteScale x, h, c, y;
  CleaveResult *operands[6];
  CleaveNode *node;
  CleaveTfliteLstm l;

  if (!cleave_tflite_read_lstm (import, &l, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, LSTM_X), &x, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, CLEAVE_TFLITE_LSTM_HIDDEN), &h,
                                 error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, CLEAVE_TFLITE_LSTM_CELL), &c,
                                 error) ||
      !cleave_tflite_read_scale (cleave_tflite_output (import, 0), &y, error) ||
      !read_gate_factors (import, LSTM_W, x.scale, &a.x_multipliers, &a.x_shifts, error) ||
      !read_gate_factors (import, LSTM_R, h.scale, &a.h_multipliers, &a.h_shifts, error) ||
      !read_cell (import, &l, &h, &c, &a, error))
    return FALSE;
  a.time_major = l.time_major != 0;
  a.x_zero = x.zero;
  a.h_zero = h.zero;
  operands[0] = l.x;
  operands[1] = cleave_tflite_stack_gates (import, l.w, error);
  operands[2] = operands[1] == NULL ? NULL : cleave_tflite_stack_gates (import, l.r, error);
  operands[3] = operands[2] == NULL ? NULL : cleave_tflite_stack_gates (import, l.b, error);
  operands[4] = l.h;
  operands[5] = l.c;
  node = operands[3] == NULL
             ? NULL
             : cleave_graph_add (import->graph, cleave_op_lookup ("TfliteLstm"),
                                 import->names[cleave_flat_integer (&import->op->outputs, 4, 0)],
                                 operands, 6, 3, &a, error);
  return node != NULL && cleave_tflite_set (import, 0, cleave_node_get_result (node, 0), error) &&
         cleave_tflite_set_state (import, CLEAVE_TFLITE_LSTM_HIDDEN,
                                  cleave_node_get_result (node, 1), error) &&
         cleave_tflite_set_state (import, CLEAVE_TFLITE_LSTM_CELL, cleave_node_get_result (node, 2),
                                  error);
}
