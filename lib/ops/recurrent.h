/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* RNN, GRU and LSTM: declarations shared by their records (recurrent.c), their reference kernels
 * (recurrent-steps.c), the op for the sums over X (recurrent-sums.c), the fast kernels
 * (lib/runtime/kernels/gemm) and the bundle (lib/bundle/op-recurrent.c).
 *
 *   X, W, B -> cleave_op_recurrent_sums -> RNN, GRU or LSTM without W -> Y    (in a program) */

#include "../ir/op.h"

extern const CleaveOp cleave_op_rnn, cleave_op_gru, cleave_op_lstm;

/* The op that adds up the biases and the products of X and W, for all steps of a recurrent node at
 * once. A program runs this op before the recurrent node, and the graph of a user never has it. The
 * op reads only one attribute, linear_before_reset. */
extern const CleaveOp cleave_op_recurrent_sums;
enum { CLEAVE_RECURRENT_SUMS_X, CLEAVE_RECURRENT_SUMS_W, CLEAVE_RECURRENT_SUMS_B };

/* A step computes n sums: one for each unit of each gate. Returns how many of these sums have, as
 * their first summand, the bias of W plus the bias of R. In a GRU with linear_before_reset, the
 * sums of the last gate have the bias of W alone there, since the reset gate multiplies the bias of
 * R. */
static inline gint64
cleave_recurrent_count_joined (const CleaveRecurrentAttrs *attrs, gint64 n)
{
  return attrs->linear_before_reset ? n / 3 * 2 : n;
}

/* Indices of operands. If W is absent, X is the result of cleave_op_recurrent_sums. */
enum {
  CLEAVE_RECURRENT_X,
  CLEAVE_RECURRENT_W,
  CLEAVE_RECURRENT_R,
  CLEAVE_RECURRENT_B,
  CLEAVE_RECURRENT_LENGTHS,
  CLEAVE_RECURRENT_INITIAL_H,
  CLEAVE_RECURRENT_INITIAL_C,
  CLEAVE_RECURRENT_P
};

/* Indices of the results of a recurrent node */
enum { CLEAVE_RECURRENT_Y, CLEAVE_RECURRENT_Y_H, CLEAVE_RECURRENT_Y_C };

/* The indices of the dimensions of X and Y, and of the states Y_h, Y_c, initial_h and initial_c. */
typedef struct
{
  guint x_time, x_batch, y_time, y_batch, y_direction, state_batch, state_direction;
} CleaveRecurrentDims;

static inline CleaveRecurrentDims
cleave_recurrent_dims (const CleaveRecurrentAttrs *attrs)
{
  if (attrs->layout == 0)
    return (CleaveRecurrentDims){ .x_batch = 1, .y_direction = 1, .y_batch = 2, .state_batch = 1 };
  return (CleaveRecurrentDims){ .x_time = 1, .y_time = 1, .y_direction = 2, .state_direction = 1 };
}

#define CLEAVE_RECURRENT_MAX_FUNCTIONS 3

/* An activation function with its parameters. */
typedef struct
{
  CleaveActivation activation;
  double alpha, beta;
} CleaveRecurrentFunction;

/* Sets the activation functions of one direction, in the order in which ONNX lists them. */
void cleave_recurrent_functions (const CleaveCall *call,
                                 guint direction,
                                 CleaveRecurrentFunction *functions);

void
cleave_rnn_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
void
cleave_gru_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
void
cleave_lstm_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
