/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The steps of RNN, GRU and LSTM.
 *
 * A gate is W x + R h + the biases, each product added up in eight partial sums (lanes.h) in
 * float32, or in float64 for float64; what follows is computed as float64.  States are rounded to
 * the element type at each step: they lie in the results, h in the rows of Y, c in Y_c; Y_h keeps
 * what a GRU resets, until the last state goes there.  Rows behind a sequence's length are 0; a
 * length is kept between 0 and what X has.  A clip bounds the sums of the gates, and not the cell
 * state on its way into the new h, as in ONNX Runtime. */

#include <math.h>

#include "elementwise-math.h"
#include "lines.h"
#include "recurrent.h"

#define N_LANES 8

/* Elements of a view, `step` apart; no view: nothing but zeros. */
typedef struct
{
  const CleaveView *view;
  gint64 offset, step;
} Row;

/* One sequence in one direction. */
typedef struct
{
  const CleaveCall *call;
  const CleaveView *operands, *results;
  gint64 direction, batch, hidden, n_inputs;
  double clip; /* infinity: none */
  CleaveRecurrentFunction functions[CLEAVE_RECURRENT_MAX_FUNCTIONS];
  Row x, h, y, last_h, c; /* of this step; h is that of the one before */
} Walk;

static gpointer
row_at (const Row *row, gint64 i)
{
  return cleave_view_element (row->view, row->offset + i * row->step);
}

static double
row_load (const Row *row, gint64 i)
{
  return row->view == NULL ? 0 : cleave_real_load (row->view->type.element, row_at (row, i));
}

static void
row_store (const Row *row, gint64 i, double value)
{
  cleave_real_store (row->view->type.element, row_at (row, i), value);
}

/* Products */

#define DOT(name, T)                                                                               \
  static void name (T *lane, const T *x, const T *w, gint64 n)                                     \
  {                                                                                                \
    gint64 whole = n - n % N_LANES;                                                                \
                                                                                                   \
    for (gint64 i = 0; i < whole; i += N_LANES)                                                    \
      for (guint j = 0; j < N_LANES; j++)                                                          \
        lane[j] += x[i + j] * w[i + j];                                                            \
    for (gint64 i = whole; i < n; i++)                                                             \
      lane[i - whole] += x[i] * w[i];                                                              \
  }                                                                                                \
  static T name##_join (T *lane)                                                                   \
  {                                                                                                \
    for (guint half = N_LANES / 2; half > 0; half /= 2)                                            \
      for (guint j = 0; j < half; j++)                                                             \
        lane[j] += lane[j + half];                                                                 \
    return lane[0];                                                                                \
  }

DOT (dot_f32, float)
DOT (dot_f64, double)

static double
dot (const Row *x, const Row *w, gint64 n)
{
  CleaveWide wide = x->view == NULL ? CLEAVE_WIDE_F32 : cleave_wide_of (x->view->type.element);
  float lane_f32[N_LANES] = { 0 };
  double lane_f64[N_LANES] = { 0 };
  CleaveLineBuffer buffers[2];

  for (gint64 i = 0; x->view != NULL && i < n; i += CLEAVE_LINE)
    {
      gint64 length = MIN (n - i, CLEAVE_LINE);
      gconstpointer xs =
          cleave_line_read (x->view, x->offset + i * x->step, x->step, length, wide, &buffers[0]);
      gconstpointer ws =
          cleave_line_read (w->view, w->offset + i * w->step, w->step, length, wide, &buffers[1]);

      if (wide == CLEAVE_WIDE_F32)
        dot_f32 (lane_f32, xs, ws, length);
      else
        dot_f64 (lane_f64, xs, ws, length);
    }
  return wide == CLEAVE_WIDE_F32 ? (double) dot_f32_join (lane_f32) : dot_f64_join (lane_f64);
}

/* W or R times a vector, for unit `j` of a gate. */
static double
product (const Walk *walk, guint operand, guint gate, gint64 j, const Row *x)
{
  const CleaveView *w = &walk->operands[operand];
  Row row = { w, walk->direction * w->stride[0] + (gate * walk->hidden + j) * w->stride[1],
              w->stride[2] };

  return dot (x, &row, w->type.shape.dim[2]);
}

/* Entry `index` of an operand that has a list for each direction; 0 if it is absent. */
static double
parameter (const Walk *walk, guint operand, gint64 index)
{
  gint64 at[] = { walk->direction, index };
  const CleaveView *view = &walk->operands[operand];

  if (!cleave_call_has (walk->call, operand))
    return 0;
  return cleave_real_load (view->type.element, cleave_view_at (view, at));
}

/* The bias that goes with W; that of R is as many entries further. */
static double
bias_w (const Walk *walk, guint gate, gint64 j)
{
  return parameter (walk, CLEAVE_RECURRENT_B, gate * walk->hidden + j);
}

static double
bias_r (const Walk *walk, guint gate, gint64 j)
{
  gint64 rows = walk->operands[CLEAVE_RECURRENT_R].type.shape.dim[1];

  return parameter (walk, CLEAVE_RECURRENT_B, rows + gate * walk->hidden + j);
}

/* W x + R h and both biases; `h` is the state, or what has been made of it. */
static double
sum_gate (const Walk *walk, guint gate, gint64 j, const Row *h)
{
  return product (walk, CLEAVE_RECURRENT_W, gate, j, &walk->x) +
         product (walk, CLEAVE_RECURRENT_R, gate, j, h) + bias_w (walk, gate, j) +
         bias_r (walk, gate, j);
}

/* Activations */

static double
apply (const CleaveRecurrentFunction *f, double a)
{
  switch (f->activation)
    {
    case CLEAVE_ACTIVATION_TANH:
      return tanh (a);
    case CLEAVE_ACTIVATION_SIGMOID:
      return cleave_f64_sigmoid (a);
    case CLEAVE_ACTIVATION_RELU:
      return a < 0 ? 0 : a;
    case CLEAVE_ACTIVATION_AFFINE:
      return f->alpha * a + f->beta;
    case CLEAVE_ACTIVATION_LEAKY_RELU:
      return a < 0 ? f->alpha * a : a;
    case CLEAVE_ACTIVATION_THRESHOLDED_RELU:
      return a < f->alpha ? 0 : a;
    case CLEAVE_ACTIVATION_SCALED_TANH:
      return f->alpha * tanh (f->beta * a);
    case CLEAVE_ACTIVATION_HARD_SIGMOID:
      return fmin (fmax (f->alpha * a + f->beta, 0), 1);
    case CLEAVE_ACTIVATION_ELU:
      return a < 0 ? f->alpha * expm1 (a) : a;
    case CLEAVE_ACTIVATION_SOFTSIGN:
      return a / (1 + fabs (a));
    case CLEAVE_ACTIVATION_SOFTPLUS:
      return cleave_f64_softplus (a);
    }
  return a;
}

static double
activate (const Walk *walk, guint function, double a)
{
  double low = a < -walk->clip ? -walk->clip : a;

  return apply (&walk->functions[function], low > walk->clip ? walk->clip : low);
}

/* One step of each */

static void
step_rnn (const Walk *walk)
{
  for (gint64 j = 0; j < walk->hidden; j++)
    row_store (&walk->y, j, activate (walk, 0, sum_gate (walk, 0, j, &walk->h)));
}

enum { GRU_Z, GRU_R, GRU_H };

/* What the new state is made of, before its activation. */
static double
sum_new_state (const Walk *walk, gint64 j, gboolean linear_before_reset)
{
  double r, linear;

  if (!linear_before_reset)
    return sum_gate (walk, GRU_H, j, &walk->last_h);
  r = activate (walk, 0, sum_gate (walk, GRU_R, j, &walk->h));
  linear = product (walk, CLEAVE_RECURRENT_R, GRU_H, j, &walk->h) + bias_r (walk, GRU_H, j);
  return product (walk, CLEAVE_RECURRENT_W, GRU_H, j, &walk->x) + bias_w (walk, GRU_H, j) +
         r * linear;
}

static void
step_gru (const Walk *walk)
{
  const CleaveRecurrentAttrs *a = walk->call->attrs;

  for (gint64 j = 0; j < walk->hidden && !a->linear_before_reset; j++)
    row_store (&walk->last_h, j,
               activate (walk, 0, sum_gate (walk, GRU_R, j, &walk->h)) * row_load (&walk->h, j));
  for (gint64 j = 0; j < walk->hidden; j++)
    {
      double z = activate (walk, 0, sum_gate (walk, GRU_Z, j, &walk->h));
      double fresh = activate (walk, 1, sum_new_state (walk, j, a->linear_before_reset));

      row_store (&walk->y, j, (1 - z) * fresh + z * row_load (&walk->h, j));
    }
}

enum { LSTM_I, LSTM_O, LSTM_F, LSTM_C };

static void
step_lstm (const Walk *walk)
{
  const CleaveRecurrentAttrs *a = walk->call->attrs;

  for (gint64 j = 0; j < walk->hidden; j++)
    {
      double sums[4], peepholes[3], c = row_load (&walk->c, j), i, f, o;

      for (guint gate = 0; gate < 4; gate++)
        sums[gate] = sum_gate (walk, gate, j, &walk->h);
      for (guint gate = 0; gate < 3; gate++)
        peepholes[gate] = parameter (walk, CLEAVE_RECURRENT_P, gate * walk->hidden + j);
      i = activate (walk, 0, sums[LSTM_I] + peepholes[LSTM_I] * c);
      f = a->input_forget ? 1 - i : activate (walk, 0, sums[LSTM_F] + peepholes[LSTM_F] * c);
      c = f * c + i * activate (walk, 1, sums[LSTM_C]);
      o = activate (walk, 0, sums[LSTM_O] + peepholes[LSTM_O] * c);
      row_store (&walk->c, j, c);
      row_store (&walk->y, j, o * apply (&walk->functions[2], c));
    }
}

/* All steps */

typedef void (*Step) (const Walk *walk);

static Row
time_row (const CleaveView *view, guint time_dim, guint batch_dim, gint64 time, gint64 batch)
{
  guint last = view->type.shape.rank - 1;

  return (Row){ view, time * view->stride[time_dim] + batch * view->stride[batch_dim],
                view->stride[last] };
}

static Row
x_row (const Walk *walk, gint64 time)
{
  CleaveRecurrentDims dims = cleave_recurrent_dims (walk->call->attrs);

  return time_row (&walk->operands[CLEAVE_RECURRENT_X], dims.x_time, dims.x_batch, time,
                   walk->batch);
}

static Row
y_row (const Walk *walk, gint64 time)
{
  CleaveRecurrentDims dims = cleave_recurrent_dims (walk->call->attrs);
  const CleaveView *y = &walk->results[CLEAVE_RECURRENT_Y];
  Row row = time_row (y, dims.y_time, dims.y_batch, time, walk->batch);

  row.offset += walk->direction * y->stride[dims.y_direction];
  return row;
}

static Row
state_row (const Walk *walk, const CleaveView *view)
{
  CleaveRecurrentDims dims = cleave_recurrent_dims (walk->call->attrs);

  return time_row (view, dims.state_direction, dims.state_batch, walk->direction, walk->batch);
}

static Row
initial_row (const Walk *walk, guint operand)
{
  return cleave_call_has (walk->call, operand) ? state_row (walk, &walk->operands[operand])
                                               : (Row){ NULL, 0, 0 };
}

static void
copy_row (const Walk *walk, const Row *to, const Row *from)
{
  for (gint64 j = 0; j < walk->hidden; j++)
    row_store (to, j, row_load (from, j));
}

static gint64
length_of (const Walk *walk, gint64 n_times)
{
  const CleaveView *lengths = &walk->operands[CLEAVE_RECURRENT_LENGTHS];

  if (!cleave_call_has (walk->call, CLEAVE_RECURRENT_LENGTHS))
    return n_times;
  return CLAMP (*(const gint32 *) cleave_view_at (lengths, &walk->batch), 0, n_times);
}

static void
run_sequence (Walk *walk, Step step, gint64 n_times)
{
  const CleaveRecurrentAttrs *a = walk->call->attrs;
  gboolean backwards = a->direction == CLEAVE_DIRECTION_REVERSE || walk->direction == 1;
  gint64 length = length_of (walk, n_times);
  const Row zeros = { NULL, 0, 0 };

  walk->h = initial_row (walk, CLEAVE_RECURRENT_INITIAL_H);
  walk->last_h = state_row (walk, &walk->results[CLEAVE_RECURRENT_Y_H]);
  if (walk->call->n_results > CLEAVE_RECURRENT_Y_C)
    {
      Row first = initial_row (walk, CLEAVE_RECURRENT_INITIAL_C);

      walk->c = state_row (walk, &walk->results[CLEAVE_RECURRENT_Y_C]);
      copy_row (walk, &walk->c, &first);
    }
  for (gint64 i = 0; i < length; i++, walk->h = walk->y)
    {
      gint64 time = backwards ? length - 1 - i : i;

      walk->x = x_row (walk, time);
      walk->y = y_row (walk, time);
      step (walk);
    }
  copy_row (walk, &walk->last_h, &walk->h);
  for (gint64 time = length; time < n_times; time++)
    {
      Row row = y_row (walk, time);

      copy_row (walk, &row, &zeros);
    }
}

static void
run (const CleaveCall *call, const CleaveView *operands, const CleaveView *results, Step step)
{
  const CleaveRecurrentAttrs *a = call->attrs;
  CleaveRecurrentDims dims = cleave_recurrent_dims (a);
  const CleaveShape *y = &results[CLEAVE_RECURRENT_Y].type.shape;
  Walk walk = { .call = call,
                .operands = operands,
                .results = results,
                .hidden = y->dim[3],
                .clip = a->clip > 0 ? a->clip : INFINITY };

  for (; walk.direction < y->dim[dims.y_direction]; walk.direction++)
    {
      cleave_recurrent_functions (call, (guint) walk.direction, walk.functions);
      for (walk.batch = 0; walk.batch < y->dim[dims.y_batch]; walk.batch++)
        run_sequence (&walk, step, y->dim[dims.y_time]);
    }
}

void
cleave_rnn_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  run (call, operands, results, step_rnn);
}

void
cleave_gru_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  run (call, operands, results, step_gru);
}

void
cleave_lstm_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  run (call, operands, results, step_lstm);
}
