/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op of a quantized group: its record, and access to the group's calls (quantized-group.h). */

#include "quantized-group.h"

typedef struct
{
  GArray *calls; /* CleaveBodyCall: the calls of the group; each call comes after the calls whose
                  * results it reads */
} GroupAttrs;

static void
clear_call (gpointer data)
{
  CleaveBodyCall *call = data;

  cleave_attrs_free (call->op, call->attrs);
  g_free (call->from);
  g_free (call->operands);
  g_clear_pointer (&call->w_bytes, cleave_tensor_unref);
  g_clear_pointer (&call->w_scale, cleave_tensor_unref);
  g_clear_pointer (&call->w_zero, cleave_tensor_unref);
}

GArray *
cleave_body_calls_new (void)
{
  GArray *calls = g_array_new (FALSE, TRUE, sizeof (CleaveBodyCall));

  g_array_set_clear_func (calls, clear_call);
  return calls;
}

CleaveCall
cleave_body_call (const CleaveBody *body, guint index)
{
  const CleaveBodyCall *call = cleave_body_at (body, index);

  return (CleaveCall){ .op = call->op,
                       .attrs = call->attrs,
                       .n_operands = call->n_operands,
                       .n_results = 1,
                       .operands = call->operands,
                       .results = &call->result };
}

CleaveBody
cleave_group_get_body (const CleaveCall *call)
{
  const GroupAttrs *a = call->attrs;

  return (CleaveBody){ a->calls, call->n_operands };
}

/* Finds the main call, which determines maps and layout of the group. Returns FALSE if all calls
 * are element-wise. */
static gboolean
find_main (const CleaveBody *body, guint *index)
{
  gboolean found = FALSE;

  *index = 0;
  for (guint i = 0; i < body->calls->len; i++)
    if (!cleave_body_at (body, i)->by_elements && (!found || cleave_body_at (body, i)->is_main))
      {
        *index = i;
        found = TRUE;
      }
  return found;
}

/* Finds the only call that reads the value number `from`, and the index of the operand. Returns
 * FALSE if no call or several calls read the value. */
static gboolean
find_reader (const CleaveBody *body, guint from, guint *index, guint *operand)
{
  guint n_readers = 0;

  for (guint i = 0; i < body->calls->len; i++)
    for (guint o = 0; o < cleave_body_at (body, i)->n_operands; o++)
      if (cleave_body_at (body, i)->from[o] == from)
        {
          n_readers++;
          *index = i;
          *operand = o;
        }
  return n_readers == 1;
}

/* Follows the operand `outer` of the group through element-wise calls to the main call or, if the
 * group has no main call, to the last call. Sets `index` to the index of the call at the end of
 * this path, and `operand` to the operand at which the path enters this call. Returns FALSE if a
 * value on the path has several readers, or if a call on the path changes the shape. */
static gboolean
follow (const CleaveBody *body, guint outer, guint *index, guint *operand)
{
  guint main, from = outer;
  gboolean has_main = find_main (body, &main);

  while (find_reader (body, from, index, operand))
    {
      const CleaveBodyCall *call = cleave_body_at (body, *index);

      if (has_main && *index == main)
        return TRUE;
      if (!call->by_elements ||
          !cleave_shape_equal (&call->operands[*operand].shape, &call->result.shape))
        return FALSE;
      if (*index + 1 == body->calls->len)
        return TRUE;
      from = body->n_outer + *index;
    }
  return FALSE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  CleaveBody body = cleave_group_get_body (call);
  const CleaveShape *x = &call->operands[operand].shape;
  guint index, of_inner;

  if (!find_main (&body, &index) && cleave_shape_equal (x, &call->results[0].shape))
    {
      for (guint d = 0; d < x->rank; d++)
        map[d] = cleave_dim_map_same (d);
      return;
    }

  if (follow (&body, operand, &index, &of_inner))
    {
      CleaveCall inner = cleave_body_call (&body, index);

      inner.op->maps (&inner, of_inner, map);
    }
  else
    for (guint d = 0; d < x->rank; d++)
      map[d] = cleave_dim_map_whole (x->dim[d]);
}

/* Sets `main` to the main call of a group. Returns FALSE if the group has no main call. */
static gboolean
get_main (const CleaveCall *call, CleaveCall *main)
{
  CleaveBody body = cleave_group_get_body (call);
  guint index;

  if (!find_main (&body, &index))
    return FALSE;
  *main = cleave_body_call (&body, index);
  return TRUE;
}

static const char *
layout (const CleaveCall *call)
{
  CleaveCall main;

  return !get_main (call, &main) || main.op->layout == NULL ? NULL : main.op->layout (&main);
}

static gint64
macs (const CleaveCall *call)
{
  CleaveBody body = cleave_group_get_body (call);
  gint64 sum = 0;

  for (guint i = 0; i < body.calls->len; i++)
    {
      CleaveCall inner = cleave_body_call (&body, i);

      if (inner.op->macs != NULL)
        sum = cleave_saturated_add (sum, inner.op->macs (&inner));
    }
  return sum;
}

/* Returns the kernel family of the group: the kernel family of the main call, since a group
 * computes rows in the order of its main call. */
static CleaveKernel
kernel (const CleaveCall *call)
{
  CleaveCall main;

  return !get_main (call, &main) || main.op->kernel == NULL ? CLEAVE_KERNEL_REFERENCE
                                                            : main.op->kernel (&main);
}

static const CleaveAttr attrs_table[] = {
  { "calls", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (GroupAttrs, calls), .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

static const char *const operand_names[] = { "X", NULL };
static const char *const result_names[] = { "Y", NULL };

#define GROUP                                                                                      \
  .name = "QuantizedGroup", .operands = operand_names, .results = result_names, .min_operands = 1, \
  .attrs_size = sizeof (GroupAttrs), .attrs = attrs_table, .maps = maps, .layout = layout,         \
  .macs = macs, .kernel = kernel

const CleaveOp cleave_op_quantized_group = { GROUP, .flags = CLEAVE_OP_NOT_ONNX };
const CleaveOp cleave_op_quantized_group_in_place = { GROUP, .flags = CLEAVE_OP_NOT_ONNX |
                                                                      CLEAVE_OP_IN_PLACE };

gboolean
cleave_node_is_group (const CleaveNode *node)
{
  return node->op->maps == maps;
}

CleaveNode *
cleave_group_add (CleaveGraph *graph,
                  const char *name,
                  GArray *calls,
                  CleaveResult *const *operands,
                  guint n_operands)
{
  CleaveBody body = { calls, n_operands };
  GroupAttrs *attrs = g_new0 (GroupAttrs, 1);
  guint main;

  attrs->calls = calls;
  return cleave_graph_add_checked (
      graph,
      find_main (&body, &main) ? &cleave_op_quantized_group : &cleave_op_quantized_group_in_place,
      name, operands, n_operands, &cleave_body_at (&body, calls->len - 1)->result, 1, attrs);
}
