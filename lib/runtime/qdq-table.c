/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds QDQ groups that a table from bytes to bytes computes (qdq-conv.h). */

#include "qdq-conv.h"

#include "../ir/view.h"
#include "../memory/quantized-group.h"
#include "../ops/quantized.h"

#include <math.h>
#include <string.h>

#define N_BYTES 256

extern const CleaveOp cleave_op_max_pool, cleave_op_dequantize_linear;

static CleaveKernel
kernel (const CleaveCall *call)
{
  return CLEAVE_KERNEL_CONVERT;
}

static const char *const operand_names[] = { "x", NULL };
static const char *const result_names[] = { "y", NULL };

/* The record of an op that exists only in kernels: no graph contains a node of it. */
const CleaveOp cleave_op_qdq_table = { .name = "QdqTable",
                                       .operands = operand_names,
                                       .results = result_names,
                                       .min_operands = 1,
                                       .flags = CLEAVE_OP_NOT_ONNX,
                                       .attrs_size = sizeof (CleaveQdqTable),
                                       .kernel = kernel };

/* An evaluation of the calls of a group, once for all 256 values of a byte. The evaluation replaces
 * the group's 8-bit operand by a value of 256 elements, which has the rank of the group's result.
 * The dimension that is largest in the result gets the extent 256, all other dimensions get 1.
 * Example: for a result [1, 8, 14, 14], the value is [1, 1, 256, 1]. All calls must be
 * element-wise, except for one MaxPool that reads a DequantizeLinear. */
typedef struct
{
  const CleaveKernelInstance *group;
  CleaveBody body;
  CleaveShape shape;
  const CleaveBodyCall *pool; /* the group's MaxPool; NULL: the group has none. The evaluation does
                               * not compute the MaxPool: the result is equal to the operand */
  guint8 bytes[N_BYTES];
  CleaveView *values; /* indexed by call: the result of the call for all 256 bytes */
} Evaluation;

static gboolean
find_shape (Evaluation *e)
{
  const CleaveShape *y = &e->group->results[0].type.shape;
  guint along = 0;

  e->shape.rank = y->rank;
  for (guint d = 0; d < y->rank; d++)
    {
      e->shape.dim[d] = 1;
      along = y->dim[d] > y->dim[along] ? d : along;
    }
  if (y->rank == 0 || y->dim[along] == 1)
    return FALSE;
  e->shape.dim[along] = N_BYTES;
  return TRUE;
}

static gboolean
find_operand (Evaluation *e, guint from, guint *outer, CleaveView *view)
{
  guint made;

  if (from == CLEAVE_BODY_ABSENT)
    {
      *view = (CleaveView){ .type = { .element = CLEAVE_NONE } };
      return TRUE;
    }
  if (cleave_body_makes (&e->body, from, &made))
    {
      *view = e->values[made];
      return TRUE;
    }
  if (e->group->constants[from] != NULL)
    {
      *view = cleave_view_tensor (e->group->constants[from]);
      return cleave_shape_n_elements (&view->type.shape) == 1;
    }
  if ((*outer != CLEAVE_BODY_ABSENT && *outer != from) ||
      !cleave_is_byte (e->group->operands[from].type.element))
    return FALSE;
  *outer = from;
  *view = cleave_view_dense (&(CleaveTensorType){ e->group->operands[from].type.element, e->shape },
                             e->bytes);
  return TRUE;
}

/* Evaluates a call of the group. If the call reads the group's 8-bit operand, sets `outer` to the
 * index of this operand. Returns FALSE if a table cannot replace the call. */
static gboolean
evaluate_call (Evaluation *e, guint index, guint *outer)
{
  const CleaveBodyCall *body_call = cleave_body_at (&e->body, index);
  g_autofree CleaveView *operands = g_new0 (CleaveView, MAX (body_call->n_operands, 1));
  g_autofree CleaveTensorType *types = g_new0 (CleaveTensorType, MAX (body_call->n_operands, 1));
  CleaveTensorType type = { body_call->result.element, e->shape };
  CleaveCall call = cleave_body_call (&e->body, index);

  if (body_call->op->compute == NULL || body_call->result.shape.rank != e->shape.rank ||
      (!body_call->by_elements && body_call != e->pool))
    return FALSE;
  for (guint i = 0; i < body_call->n_operands; i++)
    {
      if (!find_operand (e, body_call->from[i], outer, &operands[i]))
        return FALSE;
      types[i] = operands[i].type;
    }
  e->values[index] = body_call == e->pool
                         ? operands[0]
                         : cleave_view_dense (&type, g_malloc0 (N_BYTES * sizeof (double)));
  call.operands = types;
  call.results = &type;
  if (body_call != e->pool)
    call.op->compute (&call, operands, &e->values[index]);
  return TRUE;
}

static gboolean
evaluate (Evaluation *e, CleaveQdqTable *to)
{
  guint n = e->body.calls->len;
  gboolean fits = TRUE;

  to->from = CLEAVE_BODY_ABSENT;
  e->values = g_new0 (CleaveView, n);
  for (guint i = 0; i < N_BYTES; i++)
    e->bytes[i] = (guint8) i;
  for (guint i = 0; fits && i < n; i++)
    fits = evaluate_call (e, i, &to->from);
  fits = fits && to->from != CLEAVE_BODY_ABSENT;
  if (fits)
    memcpy (to->table, e->values[n - 1].data, N_BYTES);
  for (guint i = 0; i < n; i++)
    if (cleave_body_at (&e->body, i) != e->pool)
      g_free (e->values[i].data);
  g_free (e->values);
  return fits;
}

/* Returns whether a call is a MaxPool whose operand is dequantized with a positive scale, so that
 * dequantizing keeps the order of values. Stores the call in `e->pool`. */
static gboolean
find_pool (Evaluation *e, guint index)
{
  const CleaveBodyCall *call = cleave_body_at (&e->body, index), *from;
  guint made, outer = CLEAVE_BODY_ABSENT;
  CleaveView scale;
  float value;

  if (!cleave_body_call_is (call, &cleave_op_max_pool) ||
      !cleave_body_makes (&e->body, call->from[0], &made) || call->n_operands != 1)
    return FALSE;
  from = cleave_body_at (&e->body, made);
  if (!cleave_body_call_is (from, &cleave_op_dequantize_linear) || from->n_readers != 1 ||
      !find_operand (e, from->from[1], &outer, &scale) || scale.type.element != CLEAVE_FLOAT32 ||
      outer != CLEAVE_BODY_ABSENT)
    return FALSE;
  memcpy (&value, scale.data, sizeof value);
  e->pool = call;
  return value > 0 && isfinite (value);
}

CleaveQdqTable *
cleave_qdq_table_find (const CleaveKernelInstance *group)
{
  Evaluation e = { .group = group, .body = cleave_group_get_body (&group->call) };
  g_autofree CleaveQdqTable *table = g_new0 (CleaveQdqTable, 1);

  if (cleave_element_size (group->results[0].type.element) != 1 || !find_shape (&e))
    return NULL;
  for (guint i = 0; i < e.body.calls->len; i++)
    if (!cleave_body_at (&e.body, i)->by_elements)
      {
        if (e.pool != NULL || !find_pool (&e, i))
          return NULL;
        table->has_pool = TRUE;
        table->pool = cleave_body_call (&e.body, i);
      }
  if (!evaluate (&e, table))
    return NULL;
  table->is_same = TRUE;
  for (guint i = 0; i < N_BYTES; i++)
    table->is_same &= table->table[i] == i;
  return g_steal_pointer (&table);
}
