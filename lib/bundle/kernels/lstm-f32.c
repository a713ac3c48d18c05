/* SPDX-License-Identifier: 0BSD */

/* The recurrent layer LSTM, with the gates input, output, forget and cell. */

#include "recurrent-f32.h"

enum { LSTM_INPUT, LSTM_OUTPUT, LSTM_FORGET, LSTM_CELL };

/* Returns gate `gate` of unit j after its activation function. All gates except the cell gate may
 * have peephole weights. */
static float
lstm_f32_gate (const RecurrentStep *s, int32_t gate, int32_t j)
{
  const CleaveRecurrentF32 *p = s->p;
  float sum = recurrent_gate (s, gate, j, s->h);

  if (p->peepholes != NULL && gate != LSTM_CELL)
    {
      const float product = p->peepholes[gate * p->hidden + j] * s->c[j];

      sum = sum + product;
    }
  return recurrent_activate (p, gate == LSTM_CELL, sum);
}

static void
lstm_f32_step (const RecurrentStep *s)
{
  const CleaveRecurrentF32 *p = s->p;

  for (int32_t j = 0; j < p->hidden; j++)
    {
      const float input = lstm_f32_gate (s, LSTM_INPUT, j);
      const float added = input * lstm_f32_gate (s, LSTM_CELL, j);
      float kept = 1 - input;

      if (!p->is_coupled)
        kept = lstm_f32_gate (s, LSTM_FORGET, j);
      kept = kept * s->c[j];
      s->c[j] = kept + added;
      s->y[j] = lstm_f32_gate (s, LSTM_OUTPUT, j) * recurrent_apply (p, 2, s->c[j]);
    }
}

void
cleave_lstm_row_f32 (const CleaveCall *call)
{
  for (int32_t column = call->begin; column < call->end; column++)
    {
      RecurrentStep s;

      recurrent_set_step (call, column, &s);
      lstm_f32_step (&s);
    }
}

void
cleave_lstm_end_f32 (const CleaveCall *call)
{
  recurrent_end (call);
}
