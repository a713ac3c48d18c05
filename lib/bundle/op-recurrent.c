/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op records of RNN, GRU and LSTM with float32 operands and the forward direction.
 * prepare-recurrent.c rewrites nodes with other directions. recurrent.c turns a node into steps of
 * the bundle. */

#include <math.h>

#include "../ops/recurrent.h"
#include "layer.h"
#include "op-help.h"
#include "ops.h"

enum {
  X = CLEAVE_RECURRENT_X,
  W = CLEAVE_RECURRENT_W,
  R = CLEAVE_RECURRENT_R,
  B = CLEAVE_RECURRENT_B,
  LENGTHS = CLEAVE_RECURRENT_LENGTHS,
  INITIAL_H = CLEAVE_RECURRENT_INITIAL_H,
  INITIAL_C = CLEAVE_RECURRENT_INITIAL_C,
  P = CLEAVE_RECURRENT_P
};

static gboolean
has (const CleaveNode *node, guint operand)
{
  return operand < node->n_operands && node->operands[operand].result != NULL;
}

/* Returns the C name of an activation function; NULL if there is no kernel for it. */
static const char *
find_activation (CleaveActivation activation)
{
  static const struct
  {
    CleaveActivation activation;
    const char *name;
  } names[] = { { CLEAVE_ACTIVATION_TANH, "CLEAVE_TANH" },
                { CLEAVE_ACTIVATION_SIGMOID, "CLEAVE_SIGMOID" },
                { CLEAVE_ACTIVATION_RELU, "CLEAVE_RELU" },
                { CLEAVE_ACTIVATION_AFFINE, "CLEAVE_AFFINE" },
                { CLEAVE_ACTIVATION_LEAKY_RELU, "CLEAVE_LEAKY_RELU" },
                { CLEAVE_ACTIVATION_HARD_SIGMOID, "CLEAVE_HARD_SIGMOID" },
                { CLEAVE_ACTIVATION_SOFTSIGN, "CLEAVE_SOFTSIGN" } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i].activation == activation)
      return names[i].name;
  return NULL;
}

static void
print_floats (const char *name, const float *values, guint n, GString *fields)
{
  g_string_append_printf (fields, ", .%s = {", name);
  for (guint i = 0; i < n; i++)
    {
      g_string_append (fields, i == 0 ? " " : ", ");
      cleave_bundle_print_float (values[i], fields);
    }
  g_string_append (fields, " }");
}

static gboolean
print_activations (const CleaveNode *node, GString *fields, GError **error)
{
  CleaveRecurrentFunction functions[CLEAVE_RECURRENT_MAX_FUNCTIONS] = { 0 };
  float alpha[CLEAVE_RECURRENT_MAX_FUNCTIONS], beta[CLEAVE_RECURRENT_MAX_FUNCTIONS];
  g_auto (CleaveNodeCall) call = { 0 };

  cleave_recurrent_functions (cleave_node_call_init (&call, node), 0, functions);
  g_string_append (fields, ", .activations = {");
  for (guint i = 0; i < CLEAVE_RECURRENT_MAX_FUNCTIONS; i++)
    {
      const char *name = find_activation (functions[i].activation);

      if (name == NULL)
        return cleave_bundle_fail (node, error,
                                   "a bundle has no kernel for activation %u of this layer; it has "
                                   "Tanh, Sigmoid, Relu, Affine, LeakyRelu, HardSigmoid and "
                                   "Softsign",
                                   i);
      g_string_append_printf (fields, "%s %s", i == 0 ? "" : ",", name);
      alpha[i] = (float) functions[i].alpha;
      beta[i] = (float) functions[i].beta;
    }
  g_string_append (fields, " }");
  print_floats ("alpha", alpha, CLEAVE_RECURRENT_MAX_FUNCTIONS, fields);
  print_floats ("beta", beta, CLEAVE_RECURRENT_MAX_FUNCTIONS, fields);
  return TRUE;
}

static const char *
add_constant (const CleaveNode *node, guint operand, CleaveBundleLayer *layer)
{
  const CleaveResult *value = has (node, operand) ? node->operands[operand].result : NULL;

  if (value == NULL || !cleave_node_is_fixed (value->node))
    return "NULL";
  return cleave_bundle_layer_add_array (layer, "float", cleave_bundle_constant (node, operand),
                                        (gsize) cleave_shape_n_elements (&value->type.shape));
}

/* Appends the field `biases`: for each row, the sum of the biases of W and R. If a GRU multiplies R
 * h by the reset gate (linear_before_reset), also appends the field `r_biases` with the biases of R
 * for gate H. For this gate, `biases` then has only the biases of W. */
static void
print_biases (const CleaveNode *node, gint64 rows, CleaveBundleLayer *layer, GString *fields)
{
  const CleaveRecurrentAttrs *a = node->attrs;
  gboolean is_apart = node->op == &cleave_op_gru && a->linear_before_reset;
  gint64 n_joined = is_apart ? rows / 3 * 2 : rows;
  g_autofree float *sums = g_new0 (float, (gsize) rows), *zeros = g_new0 (float, (gsize) rows);
  const float *b = has (node, B) ? cleave_bundle_constant (node, B) : NULL;

  for (gint64 i = 0; i < rows && b != NULL; i++)
    sums[i] = i < n_joined ? b[i] + b[rows + i] : b[i];
  g_string_append_printf (fields, ", .biases = %s",
                          cleave_bundle_layer_add_array (layer, "float", sums, (gsize) rows));
  if (is_apart)
    g_string_append_printf (fields, ", .r_biases = %s",
                            cleave_bundle_layer_add_array (layer, "float",
                                                           b == NULL ? zeros : b + rows + n_joined,
                                                           (gsize) (rows - n_joined)));
}

static gboolean
check_operands (const CleaveNode *node, const CleaveBundleRecurrent *recurrent, GError **error)
{
  const CleaveRecurrentAttrs *a = node->attrs;
  const gint32 *lengths;

  if (a->direction != CLEAVE_DIRECTION_FORWARD)
    return cleave_bundle_fail (node, error, "a bundle has no kernel for this direction");
  if (!cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error) ||
      !cleave_bundle_need_constants (node, W, INITIAL_H, "weights, biases and lengths", error) ||
      !cleave_bundle_need_constants (node, P, node->n_operands, "peepholes", error))
    return FALSE;
  lengths = has (node, LENGTHS) ? cleave_bundle_constant (node, LENGTHS) : NULL;
  for (gint64 i = 0; lengths != NULL && i < recurrent->columns; i++)
    if (lengths[i] < recurrent->steps)
      return cleave_bundle_fail (node, error,
                                 "a bundle needs sequences of %" G_GINT64_FORMAT
                                 " steps, but one has %d; leave out sequence_lens",
                                 recurrent->steps, lengths[i]);
  return TRUE;
}

static gboolean
describe (const CleaveNode *node, const char *name, CleaveBundleLayer *layer, GError **error)
{
  const CleaveRecurrentAttrs *a = node->attrs;
  CleaveRecurrentDims dims = cleave_recurrent_dims (a);
  const CleaveShape *x = &node->operands[X].result->type.shape;
  gint64 hidden = a->hidden_size, rows = node->operands[R].result->type.shape.dim[1];
  CleaveBundleRecurrent recurrent = { .steps = x->dim[dims.x_time],
                                      .columns = x->dim[dims.x_batch],
                                      .x = X,
                                      .h = INITIAL_H,
                                      .c = INITIAL_C,
                                      .h_bytes = 4 * (gsize) hidden,
                                      .c_bytes = 4 * (gsize) hidden,
                                      .state_bytes = 12 * (gsize) hidden,
                                      .is_batch_first = a->layout != 0 };
  g_autofree char *file = g_strdup_printf ("%s-f32", name);
  g_autofree char *kernel = g_strdup_printf ("cleave_%s_end_f32", name);
  g_autofree char *sums = g_strdup_printf ("cleave_%s_row_f32", name);
  g_autoptr (GString) fields = g_string_new (NULL);

  if (!check_operands (node, &recurrent, error))
    return FALSE;
  g_string_printf (fields, ".w = %s, .r = %s, .peepholes = %s", add_constant (node, W, layer),
                   add_constant (node, R, layer), add_constant (node, P, layer));
  print_biases (node, rows, layer, fields);
  if (!cleave_bundle_has_variable_state (node, &recurrent))
    g_string_append_printf (fields, ", .h = %s, .c = %s", add_constant (node, INITIAL_H, layer),
                            add_constant (node, INITIAL_C, layer));
  g_string_append_printf (fields,
                          ", .in = %" G_GINT64_FORMAT ", .hidden = %" G_GINT64_FORMAT
                          ", .steps = %" G_GINT64_FORMAT ", .is_coupled = %d, .clip = ",
                          x->dim[2], hidden, recurrent.steps, a->input_forget);
  cleave_bundle_print_float (a->clip > 0 ? (float) a->clip : INFINITY, fields);
  if (!print_activations (node, fields, error))
    return FALSE;
  cleave_bundle_layer_set_kernel (layer, file, kernel);
  cleave_bundle_layer_set_params (layer, "CleaveRecurrentF32", fields->str);
  cleave_bundle_layer_set_recurrent (layer, sums, &recurrent);
  return TRUE;
}

static gboolean
describe_rnn (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe (node, "rnn", layer, error);
}

static gboolean
describe_gru (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe (node, "gru", layer, error);
}

static gboolean
describe_lstm (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe (node, "lstm", layer, error);
}

const CleaveBundleOp cleave_bundle_op_rnn = { "RNN", describe_rnn };
const CleaveBundleOp cleave_bundle_op_gru = { "GRU", describe_gru };
const CleaveBundleOp cleave_bundle_op_lstm = { "LSTM", describe_lstm };
