/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op that computes the first part of the sums of an RNN, GRU or LSTM with one direction, for
 * all steps at once: the biases plus W x. recurrent-steps.c continues these sums, and states the
 * order in which products are added. The result has the type of the sums. */

#include "products.h"
#include "recurrent.h"
#include "reference.h"

enum { X = CLEAVE_RECURRENT_SUMS_X, W = CLEAVE_RECURRENT_SUMS_W, B = CLEAVE_RECURRENT_SUMS_B };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  results[0] = call->operands[X];
  results[0].shape.dim[2] = call->operands[W].shape.dim[1];
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *own = &call->operands[operand].shape;

  for (guint d = 0; d < own->rank; d++)
    map[d] = operand == X && d < 2 ? cleave_dim_map_same (d) : cleave_dim_map_whole (own->dim[d]);
}

static gint64
macs (const CleaveCall *call)
{
  return cleave_saturated_mul (cleave_shape_n_elements (&call->results[0].shape),
                               call->operands[X].shape.dim[2]);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return call->operands[X].element == CLEAVE_FLOAT32 ? CLEAVE_KERNEL_RECURRENT_SUMS
                                                     : CLEAVE_KERNEL_REFERENCE;
}

static double
load_bias (const CleaveView *b, gint64 index)
{
  return cleave_real_load (b->type.element, cleave_view_element (b, index * b->stride[1]));
}

/* Returns a new array with the bias of each of the n columns of the result. */
static CleaveSum *
read_biases (const CleaveCall *call, const CleaveView *operands, gint64 n)
{
  gint64 n_joined = cleave_recurrent_count_joined (call->attrs, n);
  CleaveSum *biases = g_new0 (CleaveSum, (gsize) n);

  for (gint64 j = 0; cleave_call_has (call, B) && j < n; j++)
    {
      double bias =
          load_bias (&operands[B], j) + (j < n_joined ? load_bias (&operands[B], n + j) : 0);

      if (operands[X].type.element == CLEAVE_FLOAT64)
        biases[j].d = bias;
      else
        biases[j].f = (float) bias;
    }
  return biases;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *w = &operands[W], *y = &results[0];
  const CleaveSumOps *sums = cleave_sum_ops (x->type.element);
  const gint64 *dim = y->type.shape.dim;
  g_autofree CleaveSum *biases = read_biases (call, operands, dim[2]);
  gint64 at[3];

  for (at[0] = 0; at[0] < dim[0]; at[0]++)
    for (at[1] = 0; at[1] < dim[1]; at[1]++)
      for (at[2] = 0; at[2] < dim[2]; at[2]++)
        {
          CleaveSum sum = biases[at[2]];

          sums->add (&sum, cleave_view_element (x, at[0] * x->stride[0] + at[1] * x->stride[1]),
                     x->stride[2], cleave_view_element (w, at[2] * w->stride[1]), w->stride[2],
                     x->type.shape.dim[2]);
          sums->end (&sum, cleave_view_at (y, at));
        }
}

static const CleaveAttr attrs[] = {
  { "linear_before_reset", CLEAVE_ATTR_BOOL,
    CLEAVE_FIELD (CleaveRecurrentAttrs, linear_before_reset), .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};
static const char *const operand_names[] = { "X", "W", "B", NULL };
static const char *const result_names[] = { "Y", NULL };

const CleaveOp cleave_op_recurrent_sums = { .name = "RecurrentSums",
                                            .operands = operand_names,
                                            .results = result_names,
                                            .min_operands = 2,
                                            .flags = CLEAVE_OP_NOT_ONNX,
                                            .attrs_size = sizeof (CleaveRecurrentAttrs),
                                            .attrs = attrs,
                                            .infer = infer,
                                            .maps = maps,
                                            .macs = macs,
                                            .kernel = kernel,
                                            .compute = compute };
