/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"

#include "../../../ops/recurrent.h"

#define cleave_recurrent_rnn CLEAVE_LEVELLED (cleave_recurrent_rnn)
#define cleave_recurrent_gru_reset CLEAVE_LEVELLED (cleave_recurrent_gru_reset)
#define cleave_recurrent_gru CLEAVE_LEVELLED (cleave_recurrent_gru)
#define cleave_recurrent_lstm CLEAVE_LEVELLED (cleave_recurrent_lstm)

/* The state of one sequence at one step; n units. The functions overwrite the gates' sums and
 * update h and c. */
typedef struct
{
  gint64 n;
  const CleaveRecurrentFunction *functions;
  float clip;     /* clipping threshold; infinity: no clipping */
  const float *p; /* peephole weights of the gates i, o, f; NULL: none */
  float *sums;    /* sums of all gates in ONNX's order, one gate after the other */
  float *h, *c;   /* states, updated in place */
  float *reset;   /* GRU: r * h, or R h and its bias with linear_before_reset */
  gboolean flag;  /* the attribute input_forget (LSTM) or linear_before_reset (GRU) */
} CleaveRecurrentRow;

void cleave_recurrent_rnn (const CleaveRecurrentRow *row);
/* Computes reset = r * h, which the product of the last gate reads. */
void cleave_recurrent_gru_reset (const CleaveRecurrentRow *row);
void cleave_recurrent_gru (const CleaveRecurrentRow *row);
void cleave_recurrent_lstm (const CleaveRecurrentRow *row);
