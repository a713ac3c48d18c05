/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op record of TfliteLstm with int8 operands. recurrent.c turns a TfliteLstm node into steps of
 * the bundle. */

#include <cleave/cleave-tflite.h>

#include "layer.h"
#include "op-help.h"
#include "ops.h"

enum { X, W, R, B, INITIAL_H, INITIAL_C };
#define N_GATES 4

/* Adds an array with one number for each row of `weights`: the bias of the row, minus `zero` times
 * the sum of the weights of the row. The numbers wrap around at 32 bits. `bias` is the index of the
 * operand with the biases; 0: all biases are 0. Returns the C expression of the array. */
static const char *
add_biases (
    const CleaveNode *node, guint weights, guint bias, gint64 zero, CleaveBundleLayer *layer)
{
  const CleaveShape *shape = &node->operands[weights].result->type.shape;
  const gint8 *w = cleave_bundle_constant (node, weights);
  g_autofree guint32 *sums = g_new (guint32, (gsize) shape->dim[0]);

  for (gint64 row = 0; row < shape->dim[0]; row++)
    {
      sums[row] = bias == 0 ? 0 : (guint32) cleave_bundle_integer (node, bias, row);
      for (gint64 i = 0; i < shape->dim[1]; i++)
        sums[row] -= (guint32) (zero * *w++);
    }
  return cleave_bundle_layer_add_array (layer, "int32_t", sums, (gsize) shape->dim[0]);
}

static const char *
add_constant (const CleaveNode *node, guint operand, const char *type, CleaveBundleLayer *layer)
{
  return cleave_bundle_layer_add_array (
      layer, type, cleave_bundle_constant (node, operand),
      (gsize) cleave_shape_n_elements (&node->operands[operand].result->type.shape));
}

/* Appends two fields to `fields`: an array of `n` multipliers, and an array of `n` shifts. Both
 * field names begin with `prefix`. Returns FALSE and sets the error if a multiplier is negative. */
static gboolean
print_factors (const CleaveNode *node,
               const char *prefix,
               const CleaveInts *multipliers,
               const CleaveInts *shifts,
               guint n,
               GString *fields,
               GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (fields, ", .%smultipliers = {", prefix);
  g_string_append_printf (text, ", .%sshifts = {", prefix);
  for (guint i = 0; i < n; i++)
    {
      gint64 multiplier = cleave_ints_at (multipliers, i, 0);

      if (!cleave_bundle_check_multiplier (node, multiplier, error))
        return FALSE;
      g_string_append_printf (fields, "%s %" G_GINT64_FORMAT, i == 0 ? "" : ",", multiplier);
      g_string_append_printf (text, "%s %d", i == 0 ? "" : ",",
                              cleave_bundle_shift (cleave_ints_at (shifts, i, 0)));
    }
  g_string_append_printf (fields, " }%s }", text->str);
  return TRUE;
}

static gboolean
print_numbers (const CleaveNode *node, GString *fields, GError **error)
{
  const CleaveTfliteLstmAttrs *a = node->attrs;
  CleaveInts multipliers = {
    .n = 3, .v = { a->forget_multiplier, a->input_multiplier, a->hidden_multiplier }
  };
  CleaveInts shifts = { .n = 3, .v = { a->forget_shift, a->input_shift, a->hidden_shift } };

  g_string_append_printf (fields,
                          ", .tanh_multiplier = %" G_GINT64_FORMAT
                          ", .tanh_shift = %" G_GINT64_FORMAT ", .h_zero = %" G_GINT64_FORMAT
                          ", .cell_clip = %" G_GINT64_FORMAT,
                          a->tanh_multiplier, a->tanh_shift, a->h_zero, a->cell_clip);
  return print_factors (node, "x_", &a->x_multipliers, &a->x_shifts, N_GATES, fields, error) &&
         print_factors (node, "h_", &a->h_multipliers, &a->h_shifts, N_GATES, fields, error) &&
         print_factors (node, "", &multipliers, &shifts, 3, fields, error);
}

static gboolean
describe (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTfliteLstmAttrs *a = node->attrs;
  const CleaveShape *x = &node->operands[X].result->type.shape;
  gint64 hidden = node->operands[R].result->type.shape.dim[1];
  CleaveBundleRecurrent recurrent = { .steps = x->dim[a->time_major ? 0 : 1],
                                      .columns = x->dim[a->time_major ? 1 : 0],
                                      .x = X,
                                      .h = INITIAL_H,
                                      .c = INITIAL_C,
                                      .h_bytes = (gsize) hidden,
                                      .c_bytes = 2 * (gsize) hidden,
                                      .state_bytes = 4 * (gsize) hidden,
                                      .is_batch_first = !a->time_major };
  g_autoptr (GString) fields = g_string_new (NULL);

  if (!cleave_bundle_need_element (node, X, CLEAVE_INT8, error) ||
      !cleave_bundle_need_constants (node, W, INITIAL_H, "weights and biases", error))
    return FALSE;
  g_string_printf (fields,
                   ".w = %s, .r = %s, .biases = %s, .r_biases = %s, .in = %" G_GINT64_FORMAT
                   ", .hidden = %" G_GINT64_FORMAT ", .steps = %" G_GINT64_FORMAT,
                   add_constant (node, W, "int8_t", layer), add_constant (node, R, "int8_t", layer),
                   add_biases (node, W, B, a->x_zero, layer),
                   add_biases (node, R, 0, a->h_zero, layer), x->dim[2], hidden, recurrent.steps);
  if (!cleave_bundle_has_variable_state (node, &recurrent))
    g_string_append_printf (fields, ", .h = %s, .c = %s",
                            add_constant (node, INITIAL_H, "int8_t", layer),
                            add_constant (node, INITIAL_C, "int16_t", layer));
  if (!print_numbers (node, fields, error))
    return FALSE;
  cleave_bundle_layer_set_kernel (layer, "lstm-s8", "cleave_lstm_end_s8");
  cleave_bundle_layer_set_params (layer, "CleaveLstmS8", fields->str);
  cleave_bundle_layer_set_recurrent (layer, "cleave_lstm_row_s8", &recurrent);
  cleave_bundle_layer_set_zero (layer, INITIAL_H, a->h_zero);
  return TRUE;
}

const CleaveBundleOp cleave_bundle_op_tflite_lstm = { "TfliteLstm", describe };
