/* SPDX-License-Identifier: 0BSD */

/* The recurrent layer RNN, which has one gate. */

#include "recurrent-f32.h"

static void
rnn_f32_step (const RecurrentStep *s)
{
  for (int32_t j = 0; j < s->p->hidden; j++)
    s->y[j] = recurrent_activate (s->p, 0, recurrent_gate (s, 0, j, s->h));
}

void
cleave_rnn_row_f32 (const CleaveCall *call)
{
  for (int32_t column = call->begin; column < call->end; column++)
    {
      RecurrentStep s;

      recurrent_set_step (call, column, &s);
      rnn_f32_step (&s);
    }
}

void
cleave_rnn_end_f32 (const CleaveCall *call)
{
  recurrent_end (call);
}
