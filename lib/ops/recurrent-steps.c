/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The reference kernels of RNN, GRU and LSTM.
 *
 * Order of operations: the sum of a gate begins with the sum of its biases; then W x is added, then
 * R h, one fused multiply-add after the other (products.h). All further operations are rounded to
 * the type of the sums.
 *
 * States are stored in the results, so they are rounded to the element type at each step: h in the
 * rows of Y, c in Y_c. Y_h holds the reset state of a GRU until it gets the last state. Rows of Y
 * behind the length of a sequence are 0; a length is clamped to the steps of X. As in ONNX Runtime,
 * `clip` bounds the sums of gates, but not the cell state from which h is computed. */

#include <math.h>

#include "activations.h"
#include "products.h"
#include "recurrent.h"
#include "reference.h"

/* A row of a view; `step`: distance of its elements. If the view is NULL, all elements are 0. */
typedef struct
{
  const CleaveView *view;
  gint64 offset, step;
} Row;

/* The state of the computation of one sequence in one direction. */
typedef struct
{
  const CleaveCall *call;
  const CleaveView *operands, *results;
  gint64 direction, batch, hidden, n_inputs;
  const CleaveSumOps *sums;
  gboolean is_double;
  double clip; /* bound of the magnitude of the sums of gates; infinity if there is no clip */
  CleaveRecurrentFunction functions[CLEAVE_RECURRENT_MAX_FUNCTIONS];
  Row x, h, y, last_h, c; /* rows of the current step: `h` is the state before the step, `y` the
                           * state after the step */
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

/* Returns a value rounded to the type of the sums. */
static double
rounded (const Walk *walk, double value)
{
  return walk->is_double ? value : (double) (float) value;
}

static void
row_store (const Walk *walk, const Row *row, gint64 i, double value)
{
  cleave_real_store (row->view->type.element, row_at (row, i), rounded (walk, value));
}

static CleaveSum
begin_sum (const Walk *walk, double bias)
{
  CleaveSum sum = { .f = (float) bias };

  if (walk->is_double)
    sum.d = bias;
  return sum;
}

static double
end_sum (const Walk *walk, const CleaveSum *sum)
{
  return walk->is_double ? sum->d : (double) sum->f;
}

/* Adds the product of the vector x and a row of weights to `sum`. `operand` is the index of W or R;
 * the row belongs to unit `j` of the gate `gate` in this operand. */
static void
add_product (const Walk *walk, CleaveSum *sum, guint operand, guint gate, gint64 j, const Row *x)
{
  static const double zero = 0;
  const CleaveView *w = &walk->operands[operand];
  gint64 at = walk->direction * w->stride[0] + (gate * walk->hidden + j) * w->stride[1];

  walk->sums->add (sum, x->view == NULL ? &zero : row_at (x, 0), x->view == NULL ? 0 : x->step,
                   cleave_view_element (w, at), w->stride[2], w->type.shape.dim[2]);
}

/* Returns entry `index` of the current direction's list in operand number `operand`, or 0 if the
 * operand is absent. */
static double
parameter (const Walk *walk, guint operand, gint64 index)
{
  gint64 at[] = { walk->direction, index };
  const CleaveView *view = &walk->operands[operand];

  if (!cleave_call_has (walk->call, operand))
    return 0;
  return cleave_real_load (view->type.element, cleave_view_at (view, at));
}

/* bias_w() returns the bias of W, and bias_r() the bias of R, of unit `j` of a gate. In the operand
 * B, all biases of W come before the biases of R. */
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

static gboolean
has_sums (const Walk *walk)
{
  return !cleave_call_has (walk->call, CLEAVE_RECURRENT_W);
}

/* Returns W x plus `bias`, for unit `j` of a gate. If cleave_op_recurrent_sums has computed this
 * sum, loads the sum. */
static CleaveSum
sum_inputs (const Walk *walk, guint gate, gint64 j, double bias)
{
  CleaveSum sum =
      begin_sum (walk, has_sums (walk) ? row_load (&walk->x, gate * walk->hidden + j) : bias);

  if (!has_sums (walk))
    add_product (walk, &sum, CLEAVE_RECURRENT_W, gate, j, &walk->x);
  return sum;
}

/* Returns the sum of unit `j` of a gate: both biases, W x and R h. `h` is the state, or the reset
 * state of a GRU. */
static double
sum_gate (const Walk *walk, guint gate, gint64 j, const Row *h)
{
  CleaveSum sum = sum_inputs (walk, gate, j, bias_w (walk, gate, j) + bias_r (walk, gate, j));

  add_product (walk, &sum, CLEAVE_RECURRENT_R, gate, j, h);
  return end_sum (walk, &sum);
}

/* Returns R h plus the bias of R, for unit `j` of a gate. */
static double
sum_state (const Walk *walk, guint gate, gint64 j)
{
  CleaveSum sum = begin_sum (walk, bias_r (walk, gate, j));

  add_product (walk, &sum, CLEAVE_RECURRENT_R, gate, j, &walk->h);
  return end_sum (walk, &sum);
}

static double
apply (const Walk *walk, guint function, double a)
{
  const CleaveRecurrentFunction *f = &walk->functions[function];

  if (walk->is_double)
    return cleave_f64_activate (f->activation, f->alpha, f->beta, a);
  return (double) cleave_f32_activate (f->activation, (float) f->alpha, (float) f->beta, (float) a);
}

static double
activate (const Walk *walk, guint function, double a)
{
  double clip = rounded (walk, walk->clip), low = a < -clip ? -clip : a;

  return apply (walk, function, low > clip ? clip : low);
}

/* The functions below compute a step of an RNN, a GRU or an LSTM. */

static void
step_rnn (const Walk *walk)
{
  for (gint64 j = 0; j < walk->hidden; j++)
    row_store (walk, &walk->y, j, activate (walk, 0, sum_gate (walk, 0, j, &walk->h)));
}

enum { GRU_Z, GRU_R, GRU_H };

/* Returns the sum of the gate H of a GRU, before its activation. */
static double
sum_new_state (const Walk *walk, gint64 j, gboolean linear_before_reset)
{
  CleaveSum input;
  double r;

  if (!linear_before_reset)
    return sum_gate (walk, GRU_H, j, &walk->last_h);
  r = activate (walk, 0, sum_gate (walk, GRU_R, j, &walk->h));
  input = sum_inputs (walk, GRU_H, j, bias_w (walk, GRU_H, j));
  return rounded (walk, end_sum (walk, &input) + rounded (walk, r * sum_state (walk, GRU_H, j)));
}

static void
step_gru (const Walk *walk)
{
  const CleaveRecurrentAttrs *a = walk->call->attrs;

  for (gint64 j = 0; j < walk->hidden && !a->linear_before_reset; j++)
    row_store (walk, &walk->last_h, j,
               activate (walk, 0, sum_gate (walk, GRU_R, j, &walk->h)) * row_load (&walk->h, j));
  for (gint64 j = 0; j < walk->hidden; j++)
    {
      double z = activate (walk, 0, sum_gate (walk, GRU_Z, j, &walk->h));
      double fresh = activate (walk, 1, sum_new_state (walk, j, a->linear_before_reset));

      row_store (walk, &walk->y, j,
                 rounded (walk, rounded (walk, 1 - z) * fresh) +
                     rounded (walk, z * row_load (&walk->h, j)));
    }
}

enum { LSTM_I, LSTM_O, LSTM_F, LSTM_C };

/* Returns the output of unit `j` of a gate: adds the peephole, P times the cell state `c`, to the
 * sum, and applies the first activation function. */
static double
gate_with_peephole (const Walk *walk, guint gate, gint64 j, double sum, double c)
{
  double p = parameter (walk, CLEAVE_RECURRENT_P, gate * walk->hidden + j);

  if (cleave_call_has (walk->call, CLEAVE_RECURRENT_P))
    sum = rounded (walk, sum + rounded (walk, p * c));
  return activate (walk, 0, sum);
}

static void
step_lstm (const Walk *walk)
{
  const CleaveRecurrentAttrs *a = walk->call->attrs;

  for (gint64 j = 0; j < walk->hidden; j++)
    {
      double sums[4], c = row_load (&walk->c, j), i, f, o;

      for (guint gate = 0; gate < 4; gate++)
        sums[gate] = sum_gate (walk, gate, j, &walk->h);
      i = gate_with_peephole (walk, LSTM_I, j, sums[LSTM_I], c);
      f = a->input_forget ? rounded (walk, 1 - i)
                          : gate_with_peephole (walk, LSTM_F, j, sums[LSTM_F], c);
      c = rounded (walk,
                   rounded (walk, f * c) + rounded (walk, i * activate (walk, 1, sums[LSTM_C])));
      o = gate_with_peephole (walk, LSTM_O, j, sums[LSTM_O], c);
      row_store (walk, &walk->c, j, c);
      row_store (walk, &walk->y, j, o * apply (walk, 2, c));
    }
}

/* The kernels below run all steps of all sequences. */

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
    row_store (walk, to, j, row_load (from, j));
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
                .sums = cleave_sum_ops (results[CLEAVE_RECURRENT_Y].type.element),
                .is_double = results[CLEAVE_RECURRENT_Y].type.element == CLEAVE_FLOAT64,
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
