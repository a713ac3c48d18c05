/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of cleave_op_recurrent_sums (lib/ops/recurrent-sums.c): X times W plus biases,
 * for all time steps of a recurrent layer. These are the initial sums of the gates. X has a row of
 * inputs for each time step and each sequence of the batch. One product multiplies all rows of X
 * that are evenly spaced. */

#include "recurrent-walk.h"

enum { X = CLEAVE_RECURRENT_SUMS_X, W = CLEAVE_RECURRENT_SUMS_W, B = CLEAVE_RECURRENT_SUMS_B };

typedef struct
{
  CleaveRecurrentMatrix w;
  guint inner;           /* dimension of X, 0 or 1: a product multiplies the rows of X along this
                          * dimension */
  gint64 n_rows, n_runs; /* number of rows of one product; number of products */
} Plan;

/* Plans one product for the two leading dimensions together, if their strides allow this. Otherwise
 * plans products along the longer of the two dimensions: one for each index of the shorter
 * dimension. */
static void
plan_rows (Plan *plan, const CleaveView *x, const CleaveView *y)
{
  const gint64 *dim = x->type.shape.dim;

  if (x->stride[0] == dim[1] * x->stride[1] && y->stride[0] == dim[1] * y->stride[1])
    {
      plan->inner = 1;
      plan->n_rows = dim[0] * dim[1];
      plan->n_runs = 1;
      return;
    }
  plan->inner = dim[1] >= dim[0] ? 1 : 0;
  plan->n_rows = dim[plan->inner];
  plan->n_runs = dim[1 - plan->inner];
}

/* Prepares an instance. Returns FALSE unless the rows are contiguous. */
static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  Plan *plan;

  if ((x->stride[2] != 1 && x->type.shape.dim[2] > 1) ||
      (y->stride[2] != 1 && y->type.shape.dim[2] > 1))
    return FALSE;
  plan = g_new0 (Plan, 1);
  if (!cleave_recurrent_plan_matrix (instance, weights, W, &plan->w))
    {
      g_free (plan);
      return FALSE;
    }
  plan_rows (plan, x, y);
  *n_scratch = cleave_recurrent_round_up ((gsize) y->type.shape.dim[2] * sizeof (float)) +
               cleave_recurrent_bytes_of_matrix (&plan->w);
  *state = plan;
  return TRUE;
}

/* Writes the bias of each column to `to`: the sum of the biases of W and R. If R h is computed
 * separately for a gate (GRU with linear_before_reset), the gate's columns get the bias of W only.
 * Without B, writes zeros. */
static void
read_biases (const CleaveKernelInstance *instance, float *to)
{
  const CleaveView *b = &instance->operands[B];
  gint64 n = instance->results[0].type.shape.dim[2];
  gint64 n_joined = cleave_recurrent_count_joined (instance->call.attrs, n);
  gboolean has = cleave_call_has (&instance->call, B);
  const float *from = has ? b->data : NULL;

  for (gint64 j = 0; j < n; j++)
    to[j] = !has ? 0 : from[j * b->stride[1]] + (j < n_joined ? from[(n + j) * b->stride[1]] : 0);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *plan = state;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  float *bias = scratch;
  char *at = scratch;
  const float *w;

  read_biases (instance, bias);
  at += cleave_recurrent_round_up ((gsize) y->type.shape.dim[2] * sizeof (float));
  w = cleave_recurrent_pack_matrix (&plan->w, &instance->operands[W], &at);
  for (gint64 i = 0; i < plan->n_runs; i++)
    {
      CleaveDirect d = { .x = (const float *) x->data + i * x->stride[1 - plan->inner],
                         .bias = bias,
                         .y = (float *) y->data + i * y->stride[1 - plan->inner],
                         .n = plan->n_rows,
                         .x_step = x->stride[plan->inner],
                         .y_step = y->stride[plan->inner] };

      cleave_recurrent_multiply (&plan->w, w, 0, 0, y->type.shape.dim[2], &d, FALSE);
    }
}

/* Returns whether runs read the memory of operand `operand`. If W is a packed constant, runs read
 * the packed copy instead. */
static gboolean
reads (gconstpointer state, guint operand)
{
  return operand != W || ((const Plan *) state)->w.packed == NULL;
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_recurrent_sums);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_recurrent_sums) = {
  .prepare = prepare, .run = run, .free = g_free, .reads = reads
};
