/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"

#include "../../../ops/recurrent.h"

#define cleave_recurrent_rnn CLEAVE_LEVELLED (cleave_recurrent_rnn)
#define cleave_recurrent_gru_reset CLEAVE_LEVELLED (cleave_recurrent_gru_reset)
#define cleave_recurrent_gru CLEAVE_LEVELLED (cleave_recurrent_gru)
#define cleave_recurrent_lstm CLEAVE_LEVELLED (cleave_recurrent_lstm)

/* Computes the gates of RNN, GRU and LSTM from their sums. recurrent.c calls one of these functions
 * for each sequence and time step, after it has multiplied the inputs by W and the states by R.
 *
 * The state of one sequence at one time step, with n hidden units. The functions overwrite the sums
 * of the gates, and update h and c. */
typedef struct
{
  gint64 n;
  const CleaveRecurrentFunction *functions;
  float clip;     /* limit on the magnitude of sums; infinity: no limit */
  const float *p; /* peephole weights of the gates i, o and f; NULL: none */
  float *sums;    /* sums of all gates in ONNX's order, n sums for each gate */
  float *h, *c;   /* hidden state and cell state, updated in place */
  float *reset;  /* GRU: reset gate times h; with linear_before_reset: the product R h plus the bias
                    of R */
  gboolean flag; /* value of the ONNX attribute input_forget (LSTM) or linear_before_reset (GRU) */
} CleaveRecurrentRow;

void cleave_recurrent_rnn (const CleaveRecurrentRow *row);
/* Computes reset = r * h, where r is the reset gate. The caller then multiplies this vector by R
 * and adds the products to the sums of the hidden gate. */
void cleave_recurrent_gru_reset (const CleaveRecurrentRow *row);
void cleave_recurrent_gru (const CleaveRecurrentRow *row);
void cleave_recurrent_lstm (const CleaveRecurrentRow *row);
