/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"

#include "../../../ops/recurrent.h"

#define cleave_recurrent_rnn CLEAVE_LEVELLED (cleave_recurrent_rnn)
#define cleave_recurrent_gru_reset CLEAVE_LEVELLED (cleave_recurrent_gru_reset)
#define cleave_recurrent_gru CLEAVE_LEVELLED (cleave_recurrent_gru)
#define cleave_recurrent_lstm CLEAVE_LEVELLED (cleave_recurrent_lstm)

/* The state of one sequence at one time step, with n hidden units. The functions below overwrite
 * the sums of the gates, and update h and c. */
typedef struct
{
  gint64 n;
  const CleaveRecurrentFunction *functions;
  float clip;     /* limit on the magnitude of sums; infinity: none */
  const float *p; /* peephole weights of the gates i, o and f; NULL: none */
  float *sums;    /* sums of all gates in ONNX's order, n sums for each gate */
  float *h, *c;   /* hidden state and cell state, updated in place */
  float *reset;   /* GRU: reset gate times h; with linear_before_reset: R h plus the bias of R */
  gboolean flag;  /* value of the ONNX attribute input_forget (LSTM) or linear_before_reset (GRU) */
} CleaveRecurrentRow;

void cleave_recurrent_rnn (const CleaveRecurrentRow *row);
/* Computes reset = r * h, where r is the reset gate. The sums of the hidden gate add R times this
 * vector. */
void cleave_recurrent_gru_reset (const CleaveRecurrentRow *row);
void cleave_recurrent_gru (const CleaveRecurrentRow *row);
void cleave_recurrent_lstm (const CleaveRecurrentRow *row);
