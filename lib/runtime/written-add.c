/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "written-search.h"

#include "../ops/axes.h"

#include <math.h>

/* Of scales and constants: no sum is infinite, and no product a NaN. */
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

/* For kernels alone: no graph holds them. */
const CleaveOp cleave_op_written_add = { .name = "WrittenAdd",
                                         .operands = operand_names,
                                         .results = result_names,
                                         .min_operands = 2,
                                         .flags = CLEAVE_OP_NOT_ONNX,
                                         .attrs_size = sizeof (CleaveWrittenAdd),
                                         .kernel = kernel_of_add };

/* Floats that are known, and no large ones. */
static gboolean
read_constant (const CleaveWrittenSearch *s, guint from, CleaveWrittenX *x)
{
  g_autoptr (CleaveTensor) dense = NULL;
  const CleaveTensorType *type;
  const float *data;

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
  *x = (CleaveWrittenX){ from, CLEAVE_FLOAT32, 1, 0 };
  return TRUE;
}

static gboolean
read_terms (CleaveWrittenSearch *s, const CleaveBodyCall *call, CleaveWrittenAdd *to)
{
  guint n_constants = 0;

  for (guint i = 0; i < 2; i++)
    if (read_constant (s, call->from[i], &to->x[i]))
      n_constants++;
    else if (!cleave_written_read_x (s, call->from[i], &to->x[i]) ||
             !(fabsf (to->x[i].scale) <= (float) MOST))
      return FALSE;
  return n_constants < 2;
}

CleaveWrittenAdd *
cleave_written_add_find (const CleaveKernelInstance *group)
{
  CleaveWrittenSearch s = { group, cleave_group_get_body (&group->call), 0 };
  g_autofree CleaveWrittenAdd *add = g_new0 (CleaveWrittenAdd, 1);
  const CleaveBodyCall *call;
  guint from;

  if (!cleave_written_read_end (&s, &add->end, &from))
    return NULL;
  if ((call = cleave_written_find_call (&s, from, &cleave_op_add)) == NULL)
    {
      call = cleave_written_find_call (&s, from, &cleave_op_mul);
      add->is_product = TRUE;
    }
  if (call == NULL || !read_terms (&s, call, add) || s.n_seen != s.body.calls->len)
    return NULL;
  return g_steal_pointer (&add);
}

static CleaveKernel
kernel_of_mean (const CleaveCall *call)
{
  return CLEAVE_KERNEL_BYTE_MEAN;
}

const CleaveOp cleave_op_written_mean = { .name = "WrittenMean",
                                          .operands = operand_names,
                                          .results = result_names,
                                          .min_operands = 1,
                                          .flags = CLEAVE_OP_NOT_ONNX,
                                          .attrs_size = sizeof (CleaveWrittenMean),
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

CleaveWrittenMean *
cleave_written_mean_find (const CleaveKernelInstance *group)
{
  CleaveWrittenSearch s = { group, cleave_group_get_body (&group->call), 0 };
  g_autofree CleaveWrittenMean *mean = g_new0 (CleaveWrittenMean, 1);
  const CleaveBodyCall *call;
  guint from;

  if (!cleave_written_read_end (&s, &mean->end, &from))
    return NULL;
  if ((call = cleave_written_find_call (&s, from, &cleave_op_global_average_pool)) != NULL)
    {
      mean->axes = axes_of_pool (call);
      mean->keepdims = TRUE;
    }
  else if ((call = cleave_written_find_call (&s, from, &cleave_op_reduce_mean)) != NULL)
    {
      mean->axes = axes_of_mean (call);
      mean->keepdims = ((const CleaveReduceAttrs *) call->attrs)->keepdims;
      mean->has_doubles = TRUE;
    }
  if (call == NULL || mean->axes == 0 || !cleave_written_read_x (&s, call->from[0], &mean->x) ||
      s.n_seen != s.body.calls->len ||
      !(mean->x.scale >= (float) (1 / MOST) && mean->x.scale <= (float) MOST))
    return NULL;
  return g_steal_pointer (&mean);
}
