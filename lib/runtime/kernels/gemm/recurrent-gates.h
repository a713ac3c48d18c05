/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"

#include "../../../ops/recurrent.h"

#define cleave_recurrent_rnn CLEAVE_LEVELLED (cleave_recurrent_rnn)
#define cleave_recurrent_gru_reset CLEAVE_LEVELLED (cleave_recurrent_gru_reset)
#define cleave_recurrent_gru CLEAVE_LEVELLED (cleave_recurrent_gru)
#define cleave_recurrent_lstm CLEAVE_LEVELLED (cleave_recurrent_lstm)

/* What a step of one sequence makes of the sums of its gates, which are overwritten; n units. */
typedef struct
{
  gint64 n;
  const CleaveRecurrentFunction *functions;
  float clip;     /* infinity: none */
  const float *p; /* of the gates i, o, f; NULL: none */
  float *sums;    /* of all gates, in ONNX's order, one gate after the other */
  float *h, *c;   /* the states, which become the new ones */
  float *reset;   /* of a GRU: r h, or its R h and that bias where it is reset afterwards */
  gboolean flag;  /* input_forget, or linear_before_reset */
} CleaveRecurrentRow;

void cleave_recurrent_rnn (const CleaveRecurrentRow *row);
/* reset = r h, of which the last gate's product is made. */
void cleave_recurrent_gru_reset (const CleaveRecurrentRow *row);
void cleave_recurrent_gru (const CleaveRecurrentRow *row);
void cleave_recurrent_lstm (const CleaveRecurrentRow *row);
