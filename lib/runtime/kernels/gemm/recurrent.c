/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of RNN, GRU and LSTM. One product multiplies W by the inputs of a block of time
 * steps; the results are the initial sums of the gates. Each time step then adds the products of R
 * and the state to its sums, and computes the gates in vectors (recurrent-gates.c). */

#include "direct.h"
#include "recurrent-gates.h"
#include "recurrent-walk.h"

#include <math.h>
#include <string.h>

enum { W = CLEAVE_RECURRENT_W, R = CLEAVE_RECURRENT_R };

/* Number of rows of X that one product multiplies. With 64 rows, a product reads W once for many
 * rows, and the sums (four gates of 256 units) fill half of an L2 cache (measured). */
#define BLOCK_ROWS 64

/* The following functions plan a layer. */

/* Sets the pointers of `walk` to the arrays in the scratch at `at`. Returns the bytes of all
 * arrays. `at` NULL: only computes the bytes. */
static gsize
lay_out (const CleaveRecurrentPlan *plan, char *at, CleaveRecurrentWalk *walk)
{
  gsize units = (gsize) plan->n, columns = (gsize) plan->n_columns, batch = (gsize) plan->n_batch;
  gsize rows = (gsize) plan->n_steps * batch, used = 0;
  const struct
  {
    float **to;
    gsize n;
  } parts[] = { { &walk->x, plan->has_sums ? 0 : rows * (gsize) plan->n_inputs },
                { &walk->sums, rows * columns },
                { &walk->bias, columns },
                { &walk->bias_r, columns },
                { &walk->p, plan->is_lstm ? 3 * units : 0 },
                { &walk->h, batch * units },
                { &walk->c, plan->is_lstm ? batch * units : 0 },
                { &walk->reset, plan->is_gru ? batch * units : 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      if (at != NULL)
        *parts[i].to = (float *) (gpointer) (at + used);
      used += cleave_recurrent_round_up (parts[i].n * sizeof (float));
    }
  return used;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveRecurrentAttrs *a = instance->call.attrs;
  CleaveRecurrentDims dims = cleave_recurrent_dims (a);
  const CleaveShape *y = &instance->results[0].type.shape;
  CleaveRecurrentPlan *plan = g_new0 (CleaveRecurrentPlan, 1);
  CleaveRecurrentWalk none;

  plan->has_sums = !cleave_call_has (&instance->call, W);
  if ((!plan->has_sums && !cleave_recurrent_plan_matrix (instance, weights, W, &plan->w)) ||
      !cleave_recurrent_plan_matrix (instance, weights, R, &plan->r))
    {
      g_free (plan);
      return FALSE;
    }
  plan->element = instance->results[0].type.element;
  plan->n = y->dim[3];
  plan->n_columns = instance->operands[R].type.shape.dim[1];
  plan->n_inputs = instance->operands[CLEAVE_RECURRENT_X].type.shape.dim[2];
  plan->n_times = y->dim[dims.y_time];
  plan->n_batch = y->dim[dims.y_batch];
  plan->n_directions = y->dim[dims.y_direction];
  plan->n_steps = CLAMP (BLOCK_ROWS / MAX (plan->n_batch, 1), 1, MAX (plan->n_times, 1));
  plan->is_gru =
      plan->n_columns == 3 * plan->n; /* an RNN has one gate, a GRU three, an LSTM four */
  plan->is_lstm = plan->n_columns == 4 * plan->n;
  *n_scratch = lay_out (plan, NULL, &none) + cleave_recurrent_bytes_of_matrix (&plan->w) +
               cleave_recurrent_bytes_of_matrix (&plan->r);
  *state = plan;
  return TRUE;
}

/* The following functions multiply rows by W and R. */

/* Sets the sums of `n_rows` rows of X to the products of the rows with W, plus biases. */
static void
multiply_inputs (const CleaveRecurrentWalk *walk, gint64 n_rows)
{
  CleaveDirect d = { .x = walk->x,
                     .bias = walk->bias,
                     .y = walk->sums,
                     .n = n_rows,
                     .x_step = walk->plan->n_inputs,
                     .y_step = walk->plan->n_columns };

  cleave_recurrent_multiply (&walk->plan->w, walk->w, walk->direction, 0, walk->plan->n_columns, &d,
                             FALSE);
}

/* Multiplies the states h by the columns of R for n_gates gates, from gate `gate` on. Adds the
 * products to y. */
static void
multiply_states (const CleaveRecurrentWalk *walk,
                 const float *h,
                 guint gate,
                 guint n_gates,
                 float *y,
                 gint64 step)
{
  gint64 n = walk->plan->n;
  CleaveDirect d = { .x = h,
                     .y = y + gate * n,
                     .adds = TRUE,
                     .n = walk->plan->n_batch,
                     .x_step = n,
                     .y_step = walk->plan->n_columns };

  cleave_recurrent_multiply (&walk->plan->r, walk->r, walk->direction, gate * n,
                             (gate + n_gates) * n, &d, step % 2 != 0);
}

/* Computes R h plus its bias for the last gate of a GRU with linear_before_reset. The result stays
 * separate from W x, since the reset gate multiplies it first. */
static void
multiply_apart (const CleaveRecurrentWalk *walk, gint64 step)
{
  gint64 n = walk->plan->n;
  CleaveDirect d = { .x = walk->h,
                     .bias = walk->bias_r + 2 * n,
                     .y = walk->reset,
                     .n = walk->plan->n_batch,
                     .x_step = n,
                     .y_step = n };

  cleave_recurrent_multiply (&walk->plan->r, walk->r, walk->direction, 2 * n, 3 * n, &d,
                             step % 2 != 0);
}

/* The following functions compute the steps. */

static void
make_gates (const CleaveRecurrentWalk *walk,
            float *sums,
            gint64 step,
            void (*gates) (const CleaveRecurrentRow *))
{
  const CleaveRecurrentAttrs *a = walk->instance->call.attrs;
  const CleaveRecurrentPlan *plan = walk->plan;
  gboolean has_p = cleave_call_has (&walk->instance->call, CLEAVE_RECURRENT_P);

  for (gint64 b = 0; b < plan->n_batch; b++)
    {
      CleaveRecurrentRow row = { .n = plan->n,
                                 .functions = walk->functions,
                                 .clip = a->clip > 0 ? (float) a->clip : INFINITY,
                                 .p = plan->is_lstm && has_p ? walk->p : NULL,
                                 .sums = sums + b * plan->n_columns,
                                 .h = walk->h + b * plan->n,
                                 .c = walk->c + b * plan->n,
                                 .reset = walk->reset + b * plan->n,
                                 .flag = plan->is_lstm ? a->input_forget : a->linear_before_reset };
      gint64 length = cleave_recurrent_length_of (walk, b);

      if (step >= length)
        continue;
      gates (&row);
      if (gates == cleave_recurrent_gru_reset)
        cleave_recurrent_round (walk, row.reset);
      else
        {
          cleave_recurrent_round (walk, row.h);
          if (plan->is_lstm)
            cleave_recurrent_round (walk, row.c);
          cleave_recurrent_write_row (walk, cleave_recurrent_time_of (walk, step, length), b,
                                      row.h);
        }
    }
}

static void
run_step (const CleaveRecurrentWalk *walk, gint64 step, float *sums)
{
  const CleaveRecurrentAttrs *a = walk->instance->call.attrs;

  if (walk->plan->is_lstm)
    {
      multiply_states (walk, walk->h, 0, 4, sums, step);
      make_gates (walk, sums, step, cleave_recurrent_lstm);
    }
  else if (!walk->plan->is_gru)
    {
      multiply_states (walk, walk->h, 0, 1, sums, step);
      make_gates (walk, sums, step, cleave_recurrent_rnn);
    }
  else
    {
      multiply_states (walk, walk->h, 0, 2, sums, step);
      if (a->linear_before_reset)
        multiply_apart (walk, step);
      else
        {
          make_gates (walk, sums, step, cleave_recurrent_gru_reset);
          multiply_states (walk, walk->reset, 2, 1, sums, step);
        }
      make_gates (walk, sums, step, cleave_recurrent_gru);
    }
}

static void
run_direction (const CleaveRecurrentWalk *walk)
{
  const CleaveRecurrentPlan *plan = walk->plan;

  cleave_recurrent_read_biases (walk);
  cleave_recurrent_read_states (walk, CLEAVE_RECURRENT_INITIAL_H, walk->h);
  if (plan->is_lstm)
    {
      cleave_recurrent_read_list (walk, CLEAVE_RECURRENT_P, 0, 3 * plan->n, walk->p);
      cleave_recurrent_read_states (walk, CLEAVE_RECURRENT_INITIAL_C, walk->c);
    }
  for (gint64 step = 0, n_steps; step < plan->n_times; step += n_steps)
    {
      n_steps = MIN (plan->n_steps, plan->n_times - step);
      cleave_recurrent_read_inputs (walk, step, n_steps, plan->has_sums ? walk->sums : walk->x);
      if (!plan->has_sums)
        multiply_inputs (walk, n_steps * plan->n_batch);
      for (gint64 i = 0; i < n_steps; i++)
        run_step (walk, step + i, walk->sums + i * plan->n_batch * plan->n_columns);
    }
  cleave_recurrent_write_states (walk, CLEAVE_RECURRENT_Y_H, walk->h);
  if (plan->is_lstm)
    cleave_recurrent_write_states (walk, CLEAVE_RECURRENT_Y_C, walk->c);
  for (gint64 b = 0; b < plan->n_batch; b++)
    for (gint64 time = cleave_recurrent_length_of (walk, b); time < plan->n_times; time++)
      cleave_recurrent_write_row (walk, time, b, NULL);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const CleaveRecurrentAttrs *a = instance->call.attrs;
  const CleaveRecurrentPlan *plan = state;
  char *at = scratch;
  CleaveRecurrentWalk walk = { .plan = plan, .instance = instance };

  if (!plan->has_sums)
    walk.w = cleave_recurrent_pack_matrix (&plan->w, &instance->operands[W], &at);
  walk.r = cleave_recurrent_pack_matrix (&plan->r, &instance->operands[R], &at);
  lay_out (plan, at, &walk);
  for (; walk.direction < plan->n_directions; walk.direction++)
    {
      walk.backwards = a->direction == CLEAVE_DIRECTION_REVERSE || walk.direction == 1;
      cleave_recurrent_functions (&instance->call, (guint) walk.direction, walk.functions);
      run_direction (&walk);
    }
}

/* Returns whether runs read the memory of operand `operand`. If W or R is a packed constant, runs
 * read the packed copy instead. */
static gboolean
reads (gconstpointer state, guint operand)
{
  const CleaveRecurrentPlan *plan = state;

  return (operand != W || plan->w.packed == NULL) && (operand != R || plan->r.packed == NULL);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_recurrent);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_recurrent) = {
  .prepare = prepare, .run = run, .free = g_free, .reads = reads
};
