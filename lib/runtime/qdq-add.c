/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds QDQ groups that are a sum, a product or a mean of 8-bit values (qdq-conv.h). */

#include "qdq-search.h"

#include "../ops/axes.h"

#include <math.h>

/* Largest magnitude of scales and float constants. With this limit, no sum becomes infinite and no
 * product a NaN. */
#define MOST 0x1p100

extern const CleaveOp cleave_op_add, cleave_op_mul, cleave_op_global_average_pool,
    cleave_op_reduce_mean;

static CleaveKernel
kernel_of_add (const CleaveCall *call)
{
  return CLEAVE_KERNEL_CONVERT;
}

static const char *const operand_names[] = { "x", "y", NULL };
static const char *const result_names[] = { "z", NULL };

/* The record of an op that exists only in kernels: no graph contains a node of it. */
const CleaveOp cleave_op_qdq_add = { .name = "QdqAdd",
                                     .operands = operand_names,
                                     .results = result_names,
                                     .min_operands = 2,
                                     .flags = CLEAVE_OP_NOT_ONNX,
                                     .attrs_size = sizeof (CleaveQdqAdd),
                                     .kernel = kernel_of_add };

/* Reads operand `from`, a float constant whose magnitudes are at most MOST, into `x`. Returns FALSE
 * if the operand is not such a constant. */
static gboolean
read_constant (const CleaveQdqSearch *s, guint from, CleaveQdqX *x)
{
  g_autoptr (CleaveTensor) dense = NULL;
  const CleaveTensorType *type;
  const float *data;
  float most = 0;

  if (from >= s->body.n_outer || s->group->constants[from] == NULL)
    return FALSE;
  type = cleave_tensor_get_type (s->group->constants[from]);
  if (type->element != CLEAVE_FLOAT32)
    return FALSE;
  dense = cleave_tensor_dup_dense (s->group->constants[from]);
  data = cleave_tensor_get_data (dense);
  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    if (!(fabsf (data[i]) <= (float) MOST))
      return FALSE;
    else
      most = MAX (most, fabsf (data[i]));
  *x = (CleaveQdqX){ .from = from, .element = CLEAVE_FLOAT32, .scale = 1, .most = most };
  return TRUE;
}

static gboolean
read_terms (CleaveQdqSearch *s, const CleaveBodyCall *call, CleaveQdqAdd *to)
{
  guint n_constants = 0;

  for (guint i = 0; i < 2; i++)
    if (read_constant (s, call->from[i], &to->x[i]))
      n_constants++;
    else if (!cleave_qdq_read_x (s, call->from[i], &to->x[i]) ||
             !(fabsf (to->x[i].scale) <= (float) MOST))
      return FALSE;
  return n_constants < 2;
}

#define BYTE_MOST 255. /* largest magnitude of an 8-bit value minus its zero point */
#define LEAST_TOLERANCE                                                                            \
  0.375 /* smallest useful `tolerance`: with a smaller one, the fast path would leave too many     \
           results to the exact computation */

/* Plans the fast path: its factors, its addend and `tolerance`. If a result before rounding differs
 * from the nearest integer by less than `tolerance`, the float errors are too small to move it
 * across a half. Rounding then gives the integer of the reference kernel. Each float operation has
 * an error of at most 2^-24 of its result. The reference kernel multiplies or divides once for each
 * of the two terms, adds them, and quantizes the sum; the fast path has the same number of
 * operations. The sum of all errors is at most 12 times 2^-24 of the largest magnitude. */
static void
plan_fast_path (CleaveQdqAdd *add)
{
  double factor[2], largest[2], zero[2], most, tolerance, all = 1 / (double) add->end.scale;

  for (guint i = 0; i < 2; i++)
    {
      const CleaveQdqX *x = &add->x[i];

      factor[i] = x->element == CLEAVE_FLOAT32 ? 1 : x->scale;
      zero[i] = x->zero + (x->element == CLEAVE_INT8 ? 128 : 0);
      if (!(fabs (factor[i]) >= 1 / MOST))
        return;
      largest[i] = x->element == CLEAVE_FLOAT32 ? x->most : BYTE_MOST * fabs (factor[i]);
    }
  most = fabs (all) * (add->is_product ? largest[0] * largest[1] : largest[0] + largest[1]);
  if (add->is_product)
    factor[0] *= factor[1];
  for (guint i = 0; i < 2; i++)
    {
      add->factor[i] = (float) (factor[i] * all);
      if (!(fabs (factor[i] * all) >= 1 / MOST))
        return;
    }
  if (!add->is_product)
    add->addend = (float) (-all * (zero[0] * factor[0] + zero[1] * factor[1]));
  tolerance = 0.5 - 0x1p-20 - 12.5 * 0x1p-24 * most;
  add->tolerance = tolerance >= LEAST_TOLERANCE ? (float) tolerance : 0;
}

CleaveQdqAdd *
cleave_qdq_add_find (const CleaveKernelInstance *group)
{
  CleaveQdqSearch s = { group, cleave_group_get_body (&group->call), 0 };
  g_autofree CleaveQdqAdd *add = g_new0 (CleaveQdqAdd, 1);
  const CleaveBodyCall *call;
  guint from;

  if (!cleave_qdq_read_end (&s, &add->end, &from))
    return NULL;
  if ((call = cleave_qdq_find_call (&s, from, &cleave_op_add)) == NULL)
    {
      call = cleave_qdq_find_call (&s, from, &cleave_op_mul);
      add->is_product = TRUE;
    }
  if (call == NULL || !read_terms (&s, call, add) || s.n_seen != s.body.calls->len)
    return NULL;
  plan_fast_path (add);
  return g_steal_pointer (&add);
}

static CleaveKernel
kernel_of_mean (const CleaveCall *call)
{
  return CLEAVE_KERNEL_BYTE_MEAN;
}

const CleaveOp cleave_op_qdq_mean = { .name = "QdqMean",
                                      .operands = operand_names,
                                      .results = result_names,
                                      .min_operands = 1,
                                      .flags = CLEAVE_OP_NOT_ONNX,
                                      .attrs_size = sizeof (CleaveQdqMean),
                                      .kernel = kernel_of_mean };

static guint
axes_of_pool (const CleaveBodyCall *call)
{
  const CleaveGlobalPoolAttrs *a = call->attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, call->operands[0].shape.rank);
  guint axes = 0;

  for (guint i = 0; i < dims.n_spatial; i++)
    axes |= 1u << (dims.h + i);
  return axes;
}

static guint
axes_of_mean (const CleaveBodyCall *call)
{
  const CleaveReduceAttrs *a = call->attrs;
  guint axes = 0;

  for (guint i = 0; i < a->axes.n; i++)
    axes |= 1u << a->axes.v[i];
  return axes;
}

CleaveQdqMean *
cleave_qdq_mean_find (const CleaveKernelInstance *group)
{
  CleaveQdqSearch s = { group, cleave_group_get_body (&group->call), 0 };
  g_autofree CleaveQdqMean *mean = g_new0 (CleaveQdqMean, 1);
  const CleaveBodyCall *call;
  guint from;

  if (!cleave_qdq_read_end (&s, &mean->end, &from))
    return NULL;
  if ((call = cleave_qdq_find_call (&s, from, &cleave_op_global_average_pool)) != NULL)
    {
      mean->axes = axes_of_pool (call);
      mean->keepdims = TRUE;
    }
  else if ((call = cleave_qdq_find_call (&s, from, &cleave_op_reduce_mean)) != NULL)
    {
      mean->axes = axes_of_mean (call);
      mean->keepdims = ((const CleaveReduceAttrs *) call->attrs)->keepdims;
      mean->has_doubles = TRUE;
    }
  if (call == NULL || mean->axes == 0 || !cleave_qdq_read_x (&s, call->from[0], &mean->x) ||
      s.n_seen != s.body.calls->len ||
      !(mean->x.scale >= (float) (1 / MOST) && mean->x.scale <= (float) MOST))
    return NULL;
  return g_steal_pointer (&mean);
}
