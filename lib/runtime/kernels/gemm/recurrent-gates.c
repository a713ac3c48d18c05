/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the gates of recurrent layers, for all hidden units of one sequence at a time. Each
 * operation is a loop over the units, so that compilers vectorize it for every activation
 * function. */

#include "recurrent-gates.h"

#include "../functions.h"
#include "../loops.h"

#include "../../../ops/activations.h"

static void
clip_to (float clip, float *v, gint64 n)
{
  for (gint64 j = 0; j < n; j++)
    {
      float low = cleave_f32_select (v[j] < -clip, -clip, v[j]);

      v[j] = cleave_f32_select (low > clip, clip, low);
    }
}

static void
apply (const CleaveRecurrentFunction *f, float *v, gint64 n)
{
  float alpha = (float) f->alpha, beta = (float) f->beta;

  switch (f->activation)
    {
    case CLEAVE_ACTIVATION_TANH:
      cleave_line_tanh (v, v, n);
      break;
    case CLEAVE_ACTIVATION_SIGMOID:
      cleave_line_sigmoid (v, v, n);
      break;
/* A loop for one activation function. The loop has no branches, so that compilers vectorize it. */
#define CASE(name)                                                                                 \
  case CLEAVE_ACTIVATION_##name:                                                                   \
    CLEAVE_INDEPENDENT                                                                             \
    for (gint64 j = 0; j < n; j++)                                                                 \
      v[j] = cleave_f32_activate (CLEAVE_ACTIVATION_##name, alpha, beta, v[j]);                    \
    break;
      CASE (RELU)
      CASE (AFFINE)
      CASE (LEAKY_RELU)
      CASE (THRESHOLDED_RELU)
      CASE (SCALED_TANH)
      CASE (HARD_SIGMOID)
      CASE (ELU)
      CASE (SOFTSIGN)
      CASE (SOFTPLUS)
#undef CASE
    }
}

/* Limits the sums of n hidden units to the clip value, and applies the activation function with
 * index `function` to them. */
static void
activate (const CleaveRecurrentRow *row, guint function, float *v, gint64 n)
{
  if (row->clip < INFINITY)
    clip_to (row->clip, v, n);
  apply (&row->functions[function], v, n);
}

void
cleave_recurrent_rnn (const CleaveRecurrentRow *row)
{
  activate (row, 0, row->sums, row->n);
  memcpy (row->h, row->sums, (gsize) row->n * sizeof (float));
}

enum { GRU_Z, GRU_R, GRU_H };

void
cleave_recurrent_gru_reset (const CleaveRecurrentRow *row)
{
  float *r = row->sums + GRU_R * row->n, *reset = row->reset;

  activate (row, 0, row->sums, 2 * row->n);
  CLEAVE_INDEPENDENT
  for (gint64 j = 0; j < row->n; j++)
    reset[j] = r[j] * row->h[j];
}

void
cleave_recurrent_gru (const CleaveRecurrentRow *row)
{
  float *z = row->sums, *fresh = row->sums + GRU_H * row->n, *h = row->h;
  const float *r = row->sums + GRU_R * row->n, *linear = row->reset;

  if (row->flag)
    {
      activate (row, 0, row->sums, 2 * row->n);
      CLEAVE_INDEPENDENT
      for (gint64 j = 0; j < row->n; j++)
        fresh[j] += r[j] * linear[j];
    }
  activate (row, 1, fresh, row->n);
  CLEAVE_INDEPENDENT
  for (gint64 j = 0; j < row->n; j++)
    h[j] = (1 - z[j]) * fresh[j] + z[j] * h[j];
}

enum { LSTM_I, LSTM_O, LSTM_F, LSTM_C };

static void
add_peephole (const CleaveRecurrentRow *row, guint gate)
{
  float *sum = row->sums + gate * row->n;
  const float *p = row->p + gate * row->n, *c = row->c;

  CLEAVE_INDEPENDENT
  for (gint64 j = 0; j < row->n; j++)
    sum[j] += p[j] * c[j];
}

/* Applies the activation functions of the LSTM gates i, o and f in one loop. With peepholes, gate o
 * depends on the new cell state, so this function leaves gate o out. */
static void
open_gates (const CleaveRecurrentRow *row)
{
  float *i = row->sums + LSTM_I * row->n, *f = row->sums + LSTM_F * row->n;

  if (row->p == NULL)
    {
      activate (row, 0, row->sums, 3 * row->n);
    }
  else
    {
      add_peephole (row, LSTM_I);
      add_peephole (row, LSTM_F);
      activate (row, 0, i, row->n);
      activate (row, 0, f, row->n);
    }
  for (gint64 j = 0; row->flag && j < row->n; j++)
    f[j] = 1 - i[j];
}

void
cleave_recurrent_lstm (const CleaveRecurrentRow *row)
{
  float *i = row->sums + LSTM_I * row->n, *o = row->sums + LSTM_O * row->n;
  float *f = row->sums + LSTM_F * row->n, *g = row->sums + LSTM_C * row->n;
  float *c = row->c, *h = row->h;

  open_gates (row);
  activate (row, 1, g, row->n);
  CLEAVE_INDEPENDENT
  for (gint64 j = 0; j < row->n; j++)
    g[j] = c[j] = f[j] * c[j] + i[j] * g[j];
  if (row->p != NULL)
    {
      add_peephole (row, LSTM_O);
      activate (row, 0, o, row->n);
    }
  apply (&row->functions[2], g, row->n);
  CLEAVE_INDEPENDENT
  for (gint64 j = 0; j < row->n; j++)
    h[j] = o[j] * g[j];
}
