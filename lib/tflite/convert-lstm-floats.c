/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM on floats. The operators
 * become the LSTM of ONNX, whose gates have the order input, output, forget, cell. ONNX's op cannot
 * clip the cell state; an LSTM that clips the cell state is unrolled. */

#include "lstm.h"

/* Returns the constants of the four gates, concatenated in the order of ONNX, with one more
 * dimension of extent 1 for the direction. */
static CleaveResult *
stack_gates (CleaveTfliteImport *import,
             guint first,
             CleaveResult *const *gates,
             const CleaveShape *shape,
             GError **error)
{
  static const guint order[N_GATES] = { INPUT, OUTPUT, FORGET, CELL };
  CleaveResult *parts[N_GATES];

  for (guint g = 0; g < N_GATES; g++)
    {
      parts[g] = cleave_tflite_float_weights (import, first + order[g], gates[order[g]], error);
      if (parts[g] == NULL)
        return NULL;
    }
  return cleave_tflite_fold (
      import,
      cleave_tflite_add_reshape (import, cleave_tflite_stack_gates (import, parts, error), shape,
                                 error),
      error);
}

/* Returns x converted from the layout of the file to [time, batch, inputs], or back. `shape` is the
 * shape of the result. Adds a Transpose if time and batch must be exchanged and neither is 1. In
 * all other cases, adds a Reshape, which moves no data. */
static CleaveResult *
swap_time (CleaveTfliteImport *import,
           const CleaveTfliteLstm *l,
           CleaveResult *x,
           const CleaveShape *shape,
           GError **error)
{
  CleaveInts perm = CLEAVE_INTS (1, 0, 2);

  if (l->time_major != 0 || l->batch == 1 || l->time == 1)
    return cleave_tflite_add_reshape (import, x, shape, error);
  return x == NULL ? NULL : cleave_tflite_add_transpose (import, x, &perm, error);
}

/* Returns the biases of W in the order of ONNX, followed by zeros for the biases of R, which the
 * file lacks. */
static CleaveResult *
add_biases (CleaveTfliteImport *import, const CleaveTfliteLstm *l, GError **error)
{
  CleaveShape half = CLEAVE_SHAPE (1, N_GATES * l->hidden);
  g_autofree float *zeros = g_new0 (float, (gsize) half.dim[1]);
  CleaveTensorType type = { CLEAVE_FLOAT32, half };
  CleaveAxisAttrs attrs = { 1 };
  CleaveResult *parts[2] = { stack_gates (import, l->first + LSTM_B - LSTM_W, l->b, &half, error),
                             NULL };

  if (parts[0] == NULL)
    return NULL;
  parts[1] = cleave_tflite_add_constant (import, cleave_tensor_new_copy (&type, zeros, NULL));
  return cleave_tflite_fold (import, cleave_tflite_add (import, "Concat", parts, 2, &attrs, error),
                             error);
}

/* The results of an LSTM on floats: y is [time, batch, hidden], and both states are [batch,
 * hidden]. */
typedef struct
{
  CleaveResult *y, *h, *c;
} LstmResults;

static gboolean
add_lstm (CleaveTfliteImport *import,
          const CleaveTfliteLstm *l,
          CleaveDirection direction,
          CleaveResult *x,
          LstmResults *r,
          GError **error)
{
  CleaveShape w = CLEAVE_SHAPE (1, N_GATES * l->hidden, l->inputs);
  CleaveShape square = CLEAVE_SHAPE (1, N_GATES * l->hidden, l->hidden);
  CleaveShape y = CLEAVE_SHAPE (l->time, l->batch, l->hidden);
  CleaveShape state = CLEAVE_SHAPE (1, l->batch, l->hidden),
              flat = CLEAVE_SHAPE (l->batch, l->hidden);
  CleaveRecurrentAttrs attrs = { .hidden_size = l->hidden, .direction = direction };
  CleaveResult *operands[7] = { x };
  CleaveNode *node;

  if ((operands[1] = stack_gates (import, l->first, l->w, &w, error)) == NULL ||
      (operands[2] = stack_gates (import, l->first + LSTM_R - LSTM_W, l->r, &square, error)) ==
          NULL ||
      (operands[3] = add_biases (import, l, error)) == NULL ||
      (operands[5] = cleave_tflite_add_reshape (import, l->h, &state, error)) == NULL ||
      (operands[6] = cleave_tflite_add_reshape (import, l->c, &state, error)) == NULL)
    return FALSE;
  node = cleave_graph_add (import->graph, cleave_op_lookup ("LSTM"),
                           import->names[cleave_flat_integer (&import->op->outputs, 4, 0)],
                           operands, 7, 3, &attrs, error);
  if (node == NULL)
    return FALSE;
  r->y = cleave_tflite_add_reshape (import, cleave_node_get_result (node, 0), &y, error);
  r->h = cleave_tflite_add_reshape (import, cleave_node_get_result (node, 1), &flat, error);
  r->c = cleave_tflite_add_reshape (import, cleave_node_get_result (node, 2), &flat, error);
  return r->y != NULL && r->h != NULL && r->c != NULL;
}

/* Largest number of time steps of an LSTM that clips the cell state. The import unrolls such an
 * LSTM; each step adds about 16 nodes. */
#define MAX_STEPS 512

/* Returns rows [begin, end) of a value along dimension 0. */
static CleaveResult *
take_rows (CleaveTfliteImport *import, CleaveResult *x, gint64 begin, gint64 end, GError **error)
{
  CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (begin),
                             .ends = CLEAVE_INTS (end),
                             .axes = CLEAVE_INTS (0) };

  return cleave_tflite_add_unary (import, "Slice", x, &attrs, error);
}

/* Returns gate `g` after its activation. `sums` has the sums of all gates, [batch, 4 * hidden]. */
static CleaveResult *
activate_gate (
    CleaveTfliteImport *import, CleaveResult *sums, guint g, gint64 hidden, GError **error)
{
  CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (g * hidden),
                             .ends = CLEAVE_INTS ((g + 1) * hidden),
                             .axes = CLEAVE_INTS (1) };
  CleaveResult *part = cleave_tflite_add_unary (import, "Slice", sums, &attrs, error);

  return cleave_tflite_add_unary (import, g == CELL ? "Tanh" : "Sigmoid", part, NULL, error);
}

/* Adds the nodes of a time step, and sets the states in `r` to the states after the step. `sums`
 * has the products of x and its weights, plus the biases. */
static gboolean
add_step (CleaveTfliteImport *import,
          const CleaveTfliteLstm *l,
          CleaveResult *sums,
          CleaveResult *weights,
          LstmResults *r,
          GError **error)
{
  CleaveGemmAttrs product = { .alpha = 1, .beta = 1, .transB = TRUE };
  CleaveClipAttrs clip = { (double) -l->cell_clip, (double) l->cell_clip };
  CleaveResult *gates[N_GATES], *kept, *added;

  if (sums == NULL)
    return FALSE;
  sums = cleave_tflite_add (import, "Gemm", (CleaveResult *[]){ r->h, weights, sums }, 3, &product,
                            error);
  for (guint g = 0; g < N_GATES; g++)
    if ((gates[g] = activate_gate (import, sums, g, l->hidden, error)) == NULL)
      return FALSE;
  kept = cleave_tflite_add_binary (import, "Mul", gates[FORGET], r->c, error);
  added = cleave_tflite_add_binary (import, "Mul", gates[INPUT], gates[CELL], error);
  r->c = cleave_tflite_add_unary (
      import, "Clip", cleave_tflite_add_binary (import, "Add", kept, added, error), &clip, error);
  r->h = cleave_tflite_add_unary (import, "Tanh", r->c, NULL, error);
  r->h = cleave_tflite_add_binary (import, "Mul", r->h, gates[OUTPUT], error);
  return r->h != NULL;
}

/* Returns one matrix or one bias for all gates: four constants, the inputs from `first` on,
 * concatenated. */
static CleaveResult *
stack_all (CleaveTfliteImport *import, guint first, CleaveResult *const *gates, GError **error)
{
  CleaveResult *parts[N_GATES];

  for (guint g = 0; g < N_GATES; g++)
    if ((parts[g] = cleave_tflite_float_weights (import, first + g, gates[g], error)) == NULL)
      return NULL;
  return cleave_tflite_stack_gates (import, parts, error);
}

static gboolean
add_clipped_lstm (CleaveTfliteImport *import,
                  const CleaveTfliteLstm *l,
                  CleaveResult *x,
                  LstmResults *r,
                  GError **error)
{
  CleaveGemmAttrs product = { .alpha = 1, .beta = 1, .transB = TRUE };
  CleaveShape rows = CLEAVE_SHAPE (l->time * l->batch, l->inputs);
  CleaveShape y = CLEAVE_SHAPE (l->time, l->batch, l->hidden);
  g_autofree CleaveResult **steps = g_new (CleaveResult *, (gsize) l->time);
  CleaveAxisAttrs attrs = { 0 };
  CleaveResult *w, *weights, *b, *sums;

  if (l->time < 1 || l->time > MAX_STEPS)
    return cleave_tflite_refuse (
        error, "it has a clip of the cell and %" G_GINT64_FORMAT " steps, 1 to %d are supported",
        l->time, MAX_STEPS);
  if ((w = stack_all (import, LSTM_W, l->w, error)) == NULL ||
      (weights = stack_all (import, LSTM_R, l->r, error)) == NULL ||
      (b = stack_all (import, LSTM_B, l->b, error)) == NULL ||
      (x = cleave_tflite_add_reshape (import, x, &rows, error)) == NULL)
    return FALSE;
  sums = cleave_tflite_add (import, "Gemm", (CleaveResult *[]){ x, w, b }, 3, &product, error);
  *r = (LstmResults){ NULL, l->h, l->c };
  for (gint64 t = 0; t < l->time; t++)
    {
      CleaveResult *part =
          l->time == 1 ? sums : take_rows (import, sums, t * l->batch, (t + 1) * l->batch, error);

      if (!add_step (import, l, part, weights, r, error))
        return FALSE;
      steps[t] = r->h;
    }
  r->y = l->time == 1 ? r->h
                      : cleave_tflite_add (import, "Concat", steps, (guint) l->time, &attrs, error);
  r->y = cleave_tflite_add_reshape (import, r->y, &y, error);
  return r->y != NULL;
}

gboolean
cleave_tflite_convert_lstm (CleaveTfliteImport *import, GError **error)
{
  CleaveShape time_first;
  CleaveResult *x;
  LstmResults r;
  CleaveTfliteLstm l;

  if (!cleave_tflite_read_lstm (import, &l, error))
    return FALSE;
  time_first = CLEAVE_SHAPE (l.time, l.batch, l.inputs);
  x = swap_time (import, &l, l.x, &time_first, error);
  if (x == NULL ||
      !(l.cell_clip > 0 ? add_clipped_lstm (import, &l, x, &r, error)
                        : add_lstm (import, &l, CLEAVE_DIRECTION_FORWARD, x, &r, error)))
    return FALSE;
  return cleave_tflite_set (
             import, 0,
             swap_time (import, &l, r.y, &cleave_tflite_output (import, 0)->type.shape, error),
             error) &&
         cleave_tflite_set_state (import, CLEAVE_TFLITE_LSTM_HIDDEN, r.h, error) &&
         cleave_tflite_set_state (import, CLEAVE_TFLITE_LSTM_CELL, r.c, error);
}

/* Adds the nodes of one direction of BIDIRECTIONAL_SEQUENCE_LSTM. Returns the result of the
 * direction, in the layout of the file. */
static CleaveResult *
add_direction (CleaveTfliteImport *import, gboolean is_reverse, GError **error)
{
  guint hidden = CLEAVE_TFLITE_BIDIRECTIONAL_STATE + (is_reverse ? 2 : 0);
  CleaveShape time_first, batch_first;
  CleaveTfliteLstm l;
  CleaveResult *x;
  LstmResults r;

  if (!cleave_tflite_read_lstm_direction (import, is_reverse, &l, error))
    return NULL;
  time_first = CLEAVE_SHAPE (l.time, l.batch, l.inputs);
  x = swap_time (import, &l, l.x, &time_first, error);
  if (x == NULL ||
      !add_lstm (import, &l, is_reverse ? CLEAVE_DIRECTION_REVERSE : CLEAVE_DIRECTION_FORWARD, x,
                 &r, error) ||
      !cleave_tflite_set_state (import, hidden, r.h, error) ||
      !cleave_tflite_set_state (import, hidden + 1, r.c, error))
    return NULL;
  batch_first = l.time_major != 0 ? CLEAVE_SHAPE (l.time, l.batch, l.hidden)
                                  : CLEAVE_SHAPE (l.batch, l.time, l.hidden);
  return swap_time (import, &l, r.y, &batch_first, error);
}

gboolean
cleave_tflite_convert_bidirectional_lstm (CleaveTfliteImport *import, GError **error)
{
  enum { MERGE_OUTPUTS = 3 };
  CleaveAxisAttrs attrs = { 2 };
  CleaveResult *y[2];
  gint64 merged;

  if (!cleave_tflite_option (import, MERGE_OUTPUTS, 1, 0, &merged, error))
    return FALSE;
  if (import->op->outputs.n != (merged != 0 ? 1 : 2))
    return cleave_tflite_refuse (error, "it has %u outputs, it must have %d", import->op->outputs.n,
                                 merged != 0 ? 1 : 2);
  for (guint i = 0; i < 2; i++)
    if ((y[i] = add_direction (import, i == 1, error)) == NULL)
      return FALSE;
  if (merged != 0)
    return cleave_tflite_set (import, 0, cleave_tflite_add (import, "Concat", y, 2, &attrs, error),
                              error);
  return cleave_tflite_set (import, 0, y[0], error) && cleave_tflite_set (import, 1, y[1], error);
}
