/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the types and the steps of RNN, GRU and LSTM share. */

#include "../ir/op.h"

extern const CleaveOp cleave_op_rnn, cleave_op_gru, cleave_op_lstm;

/* Operands; the first five are those of all three. */
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
