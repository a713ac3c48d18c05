/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* RNN, GRU and LSTM: declarations shared by their records (recurrent.c) and their reference kernels
 * (recurrent-steps.c). */

#include "../ir/op.h"

extern const CleaveOp cleave_op_rnn, cleave_op_gru, cleave_op_lstm;

/* The products of X and W plus the biases, which a node computes for all steps before its first
 * step. Only programs have this op, no graph of a user. It reads the attribute linear_before_reset.
 */
extern const CleaveOp cleave_op_recurrent_sums;
enum { CLEAVE_RECURRENT_SUMS_X, CLEAVE_RECURRENT_SUMS_W, CLEAVE_RECURRENT_SUMS_B };

/* Returns how many of the n sums of all gates begin with both biases. In a GRU with
 * linear_before_reset, the sums of the last gate do not: R h, with its bias, is multiplied first.
 */
static inline gint64
cleave_recurrent_count_joined (const CleaveRecurrentAttrs *attrs, gint64 n)
{
  return attrs->linear_before_reset ? n / 3 * 2 : n;
}

/* Operands. If W is absent, X is the result of cleave_op_recurrent_sums. */
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

/* Results */
enum { CLEAVE_RECURRENT_Y, CLEAVE_RECURRENT_Y_H, CLEAVE_RECURRENT_Y_C };

/* The indices of dimensions: of X and Y, and of the states Y_h, Y_c, initial_h and initial_c. */
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

/* Sets the activation functions of one direction, in ONNX's order. */
void cleave_recurrent_functions (const CleaveCall *call,
                                 guint direction,
                                 CleaveRecurrentFunction *functions);

void
cleave_rnn_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
void
cleave_gru_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
void
cleave_lstm_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
