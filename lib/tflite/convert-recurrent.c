/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts RNN and UNIDIRECTIONAL_SEQUENCE_RNN on floats to the RNN of ONNX. The operator RNN has a
 * single time step. */

#include "convert.h"

enum { X, W, R, B, H };

/* Operands and options of an RNN or a UNIDIRECTIONAL_SEQUENCE_RNN. */
typedef struct
{
  gint64 time_major, batch, time, inputs, hidden;
  gboolean is_relu; /* whether the activation is RELU; FALSE: TANH */
} Rnn;

static gboolean
read_activation (CleaveTfliteImport *import, guint field, Rnn *rnn, GError **error)
{
  gint64 activation;

  if (!cleave_tflite_option (import, field, 1, 0, &activation, error))
    return FALSE;
  if (activation != CLEAVE_TFLITE_TANH && activation != CLEAVE_TFLITE_RELU)
    return cleave_tflite_refuse (
        error, "activation %" G_GINT64_FORMAT " is not supported, only TANH and RELU are",
        activation);
  rnn->is_relu = activation == CLEAVE_TFLITE_RELU;
  return TRUE;
}

static gboolean
read_rnn (CleaveTfliteImport *import, Rnn *rnn, GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, X)->shape;
  const CleaveShape *w = &cleave_tflite_input_type (import, W)->shape;
  gboolean is_sequence = import->op->code == CLEAVE_TFLITE_CODE_SEQUENCE_RNN;

  if (cleave_tflite_input_type (import, X)->element != CLEAVE_FLOAT32)
    return cleave_tflite_refuse (error, "the only element type of x that is supported is float32");
  if (x->rank != (is_sequence ? 3 : 2) || w->rank != 2)
    return cleave_tflite_refuse (error, "x has %u dimensions and its weights have %u", x->rank,
                                 w->rank);
  if (is_sequence && !cleave_tflite_option (import, 0, 1, 0, &rnn->time_major, error))
    return FALSE;
  rnn->batch = x->dim[is_sequence && rnn->time_major != 0 ? 1 : 0];
  rnn->time = is_sequence ? x->dim[rnn->time_major != 0 ? 0 : 1] : 1;
  rnn->inputs = x->dim[x->rank - 1];
  rnn->hidden = w->dim[0];
  return read_activation (import, is_sequence ? 1 : 0, rnn, error);
}

/* Returns x converted from the layout of the file to [time, batch, inputs], or back. `shape` is the
 * shape of the result. */
static CleaveResult *
swap_time (CleaveTfliteImport *import,
           const Rnn *rnn,
           CleaveResult *x,
           const CleaveShape *shape,
           GError **error)
{
  CleaveInts perm = CLEAVE_INTS (1, 0, 2);

  if (rnn->time_major != 0 || rnn->batch == 1 || rnn->time == 1)
    return cleave_tflite_add_reshape (import, x, shape, error);
  return x == NULL ? NULL : cleave_tflite_add_transpose (import, x, &perm, error);
}

/* Returns input `i`, weights of the shape `shape`, as a float constant. Dequantizes weights of
 * int8. */
static CleaveResult *
find_weights (CleaveTfliteImport *import, guint i, const CleaveShape *shape, GError **error)
{
  CleaveResult *w;

  if (!cleave_tflite_find_result (import, i, &w, error))
    return NULL;
  w = cleave_tflite_float_weights (import, i, w, error);
  return cleave_tflite_fold (import, cleave_tflite_add_reshape (import, w, shape, error), error);
}

/* Returns the bias of W, followed by zeros as the bias of R, which the file lacks. */
static CleaveResult *
add_biases (CleaveTfliteImport *import, const Rnn *rnn, GError **error)
{
  CleaveShape half = CLEAVE_SHAPE (1, rnn->hidden);
  CleaveTensorType type = { CLEAVE_FLOAT32, half };
  g_autofree float *zeros = g_new0 (float, (gsize) rnn->hidden);
  CleaveAxisAttrs attrs = { 1 };
  CleaveResult *parts[2] = { find_weights (import, B, &half, error), NULL };

  if (parts[0] == NULL)
    return NULL;
  parts[1] = cleave_tflite_add_constant (import, cleave_tensor_new_copy (&type, zeros, NULL));
  return cleave_tflite_fold (import, cleave_tflite_add (import, "Concat", parts, 2, &attrs, error),
                             error);
}

/* Adds an RNN of ONNX. Returns NULL on error. */
static CleaveNode *
add_rnn (CleaveTfliteImport *import, const Rnn *rnn, GError **error)
{
  CleaveShape x = CLEAVE_SHAPE (rnn->time, rnn->batch, rnn->inputs);
  CleaveShape w = CLEAVE_SHAPE (1, rnn->hidden, rnn->inputs);
  CleaveShape r = CLEAVE_SHAPE (1, rnn->hidden, rnn->hidden);
  CleaveShape state = CLEAVE_SHAPE (1, rnn->batch, rnn->hidden);
  CleaveRecurrentAttrs attrs = { .hidden_size = rnn->hidden };
  CleaveResult *operands[6] = { NULL };

  if (rnn->is_relu)
    attrs.activations = CLEAVE_INTS (CLEAVE_ACTIVATION_RELU);
  if (!cleave_tflite_find_result (import, X, &operands[0], error) ||
      !cleave_tflite_find_state (import, H, &operands[5], error) ||
      (operands[0] = swap_time (import, rnn, operands[0], &x, error)) == NULL ||
      (operands[1] = find_weights (import, W, &w, error)) == NULL ||
      (operands[2] = find_weights (import, R, &r, error)) == NULL ||
      (operands[3] = add_biases (import, rnn, error)) == NULL ||
      (operands[5] = cleave_tflite_add_reshape (import, operands[5], &state, error)) == NULL)
    return NULL;
  return cleave_graph_add (import->graph, cleave_op_lookup ("RNN"),
                           import->names[cleave_flat_integer (&import->op->outputs, 4, 0)],
                           operands, 6, 2, &attrs, error);
}

gboolean
cleave_tflite_convert_rnn (CleaveTfliteImport *import, GError **error)
{
  CleaveShape steps, state;
  CleaveResult *y, *h;
  CleaveNode *node;
  Rnn rnn = { 0 };

  if (!read_rnn (import, &rnn, error) || (node = add_rnn (import, &rnn, error)) == NULL)
    return FALSE;
  steps = CLEAVE_SHAPE (rnn.time, rnn.batch, rnn.hidden);
  state = CLEAVE_SHAPE (rnn.batch, rnn.hidden);
  y = cleave_tflite_add_reshape (import, cleave_node_get_result (node, 0), &steps, error);
  y = swap_time (import, &rnn, y, &cleave_tflite_output (import, 0)->type.shape, error);
  h = cleave_tflite_add_reshape (import, cleave_node_get_result (node, 1), &state, error);
  return cleave_tflite_set (import, 0, y, error) && cleave_tflite_set_state (import, H, h, error);
}
