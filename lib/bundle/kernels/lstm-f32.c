/* SPDX-License-Identifier: 0BSD */

/* The recurrent layer LSTM, with the gates input, output, forget and cell. */

#include "recurrent-f32.h"

/* Applies the activation function to gate `gate` of unit j and returns the result. `sum` is the
 * gate's sum, to which a peephole is added if there is one. */
static float
lstm_f32_gate (const RecurrentStep *s, int32_t gate, int32_t j, float sum)
{
  const CleaveRecurrentF32 *p = s->p;

  if (p->peepholes != NULL)
    {
      const float product = p->peepholes[gate * p->hidden + j] * s->c[j];

      sum = sum + product;
    }
  return recurrent_activate (p, 0, sum);
}

static void
lstm_f32_step (const RecurrentStep *s)
{
  enum { INPUT, OUTPUT, FORGET, CELL };
  const CleaveRecurrentF32 *p = s->p;

  for (int32_t j = 0; j < p->hidden; j++)
    {
      const float input = lstm_f32_gate (s, INPUT, j, recurrent_gate (s, INPUT, j, s->h));
      const float added = input * recurrent_activate (p, 1, recurrent_gate (s, CELL, j, s->h));
      float kept = 1 - input;

      if (!p->is_coupled)
        kept = lstm_f32_gate (s, FORGET, j, recurrent_gate (s, FORGET, j, s->h));
      kept = kept * s->c[j];
      s->c[j] = kept + added;
      s->y[j] = lstm_f32_gate (s, OUTPUT, j, recurrent_gate (s, OUTPUT, j, s->h)) *
                recurrent_apply (p, 2, s->c[j]);
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
