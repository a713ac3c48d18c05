/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the types and the steps of RNN, GRU and LSTM share. */

#include "../ir/op.h"

extern const CleaveOp cleave_op_rnn, cleave_op_gru, cleave_op_lstm;

/* What a node makes of X before its first step, for programs alone: no graph holds it.  Of the
 * attributes, linear_before_reset counts. */
extern const CleaveOp cleave_op_recurrent_sums;
enum { CLEAVE_RECURRENT_SUMS_X, CLEAVE_RECURRENT_SUMS_W, CLEAVE_RECURRENT_SUMS_B };

/* How many of n sums begin with both biases: not those of a GRU to which R h comes apart. */
static inline gint64
cleave_recurrent_count_joined (const CleaveRecurrentAttrs *attrs, gint64 n)
{
  return attrs->linear_before_reset ? n / 3 * 2 : n;
}

/* Operands; the first five are those of all three.  Where W is absent, X is what
 * cleave_op_recurrent_sums makes. */
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

/* Results. */
enum { CLEAVE_RECURRENT_Y, CLEAVE_RECURRENT_Y_H, CLEAVE_RECURRENT_Y_C };

/* Where values have their dimensions: X and Y; Y_h, Y_c and the initial states. */
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

/* An activation with its numbers. */
typedef struct
{
  CleaveActivation activation;
  double alpha, beta;
} CleaveRecurrentFunction;

/* What one direction applies, in ONNX's order. */
void cleave_recurrent_functions (const CleaveCall *call,
                                 guint direction,
                                 CleaveRecurrentFunction *functions);

void
cleave_rnn_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
void
cleave_gru_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
void
cleave_lstm_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
