/* SPDX-License-Identifier: 0BSD */

/* The recurrent layer GRU, with the gates Z (update), R (reset) and H (new state). */

#include "recurrent-f32.h"

/* Returns the sum of the gate H of unit j, before its activation. */
static float
gru_f32_new_state (const RecurrentStep *s, int32_t j)
{
  const CleaveRecurrentF32 *p = s->p;
  const int32_t at = 2 * p->hidden + j;
  float input, state;

  if (p->r_biases == NULL)
    return recurrent_gate (s, 2, j, s->c);
  input = recurrent_add (p->biases[at], p->w + at * p->in, s->x, p->in);
  state = recurrent_add (p->r_biases[j], p->r + at * p->hidden, s->h, p->hidden);
  state = recurrent_activate (p, 0, recurrent_gate (s, 1, j, s->h)) * state;
  return input + state;
}

static void
gru_f32_step (const RecurrentStep *s)
{
  const CleaveRecurrentF32 *p = s->p;

  for (int32_t j = 0; j < p->hidden && p->r_biases == NULL; j++)
    s->c[j] = recurrent_activate (p, 0, recurrent_gate (s, 1, j, s->h)) * s->h[j];
  for (int32_t j = 0; j < p->hidden; j++)
    {
      const float z = recurrent_activate (p, 0, recurrent_gate (s, 0, j, s->h));
      const float fresh = recurrent_activate (p, 1, gru_f32_new_state (s, j)) * (1 - z);
      const float kept = z * s->h[j];

      s->y[j] = fresh + kept;
    }
}

void
cleave_gru_row_f32 (const CleaveCall *call)
{
  for (int32_t column = call->begin; column < call->end; column++)
    {
      RecurrentStep s;

      recurrent_set_step (call, column, &s);
      gru_f32_step (&s);
    }
}

void
cleave_gru_end_f32 (const CleaveCall *call)
{
  recurrent_end (call);
}
