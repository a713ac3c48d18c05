/* SPDX-License-Identifier: 0BSD */

/* The common parts of the recurrent layers in rnn-f32.c, gru-f32.c and lstm-f32.c: sums of gates,
 * activations, and the copy of the results. A sum begins with the biases; then W x is added, then R
 * h, one fused multiply-add after the other. */

#ifndef CLEAVE_RECURRENT_F32_H
#define CLEAVE_RECURRENT_F32_H

#include "gates-f32.h"

/* One time step of one sequence of the batch. */
typedef struct
{
  const CleaveRecurrentF32 *p;
  const float *x, *h; /* input of the step, and the state h before the step */
  float *y;           /* the state h after the step */
  float
      *c; /* LSTM: the cell state, which the step updates; GRU: space for h times the reset gate */
} RecurrentStep;

static inline float
recurrent_add (float sum, const float *w, const float *x, int32_t n)
{
  for (; n > 0; n--)
    sum = cleave_fma (*x++, *w++, sum);
  return sum;
}

/* Returns the sum of gate `gate` of unit j: biases, W x and R h. `h` is the state before the step,
 * or that state after the reset gate. */
static inline float
recurrent_gate (const RecurrentStep *s, int32_t gate, int32_t j, const float *h)
{
  const CleaveRecurrentF32 *p = s->p;
  const int32_t at = gate * p->hidden + j;
  const float sum = recurrent_add (p->biases[at], p->w + at * p->in, s->x, p->in);

  return recurrent_add (sum, p->r + at * p->hidden, h, p->hidden);
}

static inline float
recurrent_apply (const CleaveRecurrentF32 *p, int32_t function, float a)
{
  const float alpha = p->alpha[function], beta = p->beta[function];

  switch (p->activations[function])
    {
    case CLEAVE_TANH:
      return tanh_f32_of (a);
    case CLEAVE_SIGMOID:
      return sigmoid_f32_of (a);
    case CLEAVE_RELU:
      return a < 0 ? 0 : a;
    case CLEAVE_LEAKY_RELU:
      return a < 0 ? alpha * a : a;
    case CLEAVE_SOFTSIGN:
      return a / (1 + fabsf (a));
    default: /* CLEAVE_AFFINE and CLEAVE_HARD_SIGMOID */
      a = alpha * a;
      a = a + beta;
      if (p->activations[function] == CLEAVE_AFFINE)
        return a;
      a = a < 0 ? 0 : a;
      return a > 1 ? 1 : a;
    }
}

/* Clamps `a` to the layer's [-clip, clip], and applies an activation function. */
static inline float
recurrent_activate (const CleaveRecurrentF32 *p, int32_t function, float a)
{
  a = a < -p->clip ? -p->clip : a;
  return recurrent_apply (p, function, a > p->clip ? p->clip : a);
}

/* Sets n elements of the initial state to `from`, or to zeros if `from` is NULL. */
static inline void
recurrent_start (float *to, const float *from, int32_t n)
{
  for (int32_t j = 0; j < n; j++)
    to[j] = from == NULL ? 0 : from[j];
}

/* Prepares `s` for time step number call->row of one sequence. The column `column` of each value
 * belongs to this sequence. In time step 0, sets the initial state: from operand 1, from constants,
 * or to zeros. */
static inline void
recurrent_set_step (const CleaveCall *call, int32_t column, RecurrentStep *s)
{
  const CleaveRecurrentF32 *p = call->params;
  const CleaveRows *x = &call->x[0], *start = &call->x[1];
  float *state = (float *) (void *) call->y + (column - call->begin) * 3 * p->hidden;
  const float *h = p->h, *c = p->c;

  if (call->row == 0 && p->has_start)
    {
      h = (const float *) cleave_row (start, 0) + (column - start->begin) * 2 * p->hidden;
      c = h + p->hidden;
    }
  if (call->row == 0)
    {
      const int32_t at = p->has_start ? 0 : column * p->hidden;

      recurrent_start (state, h == NULL ? h : h + at, p->hidden);
      recurrent_start (state + 2 * p->hidden, c == NULL ? c : c + at, p->hidden);
    }
  s->p = p;
  s->x = (const float *) cleave_row (x, call->row) + (column - x->begin) * p->in;
  s->h = state + (call->row & 1) * p->hidden;
  s->y = state + (~call->row & 1) * p->hidden;
  s->c = state + 2 * p->hidden;
}

/* Copies h, and c if the result has c, from the state to the result. If the result has a row for
 * each step, copies the state after step call->row; otherwise copies the state after the last
 * step. */
static inline void
recurrent_end (const CleaveCall *call)
{
  const CleaveRecurrentF32 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const int32_t row = p->has_all_steps ? call->row : p->steps - 1;
  const float *state = (const float *) cleave_row (x, row);
  float *y = (float *) (void *) call->y;

  state += (call->begin - x->begin) * 3 * p->hidden;
  for (int32_t column = call->begin; column < call->end; column++)
    {
      recurrent_start (y, state + (~row & 1) * p->hidden, p->hidden);
      y += p->hidden;
      if (p->has_cell)
        {
          recurrent_start (y, state + 2 * p->hidden, p->hidden);
          y += p->hidden;
        }
      state += 3 * p->hidden;
    }
}

#endif
