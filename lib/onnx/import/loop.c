/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads Loop by unrolling it: each iteration becomes nodes of the graph. The number of iterations
 * and the conditions must be constant. */

#include "iterations.h"
#include "node.h"

/* Number of the body's inputs that come before the states: the iteration number and the condition.
 */
#define N_FIXED 2

/* Reads a constant of one element into `number`. If the operand is absent, sets `number` to
 * `fallback`. */
static gboolean
read_constant (const CleaveOnnxIterations *loop,
               CleaveOnnxValue *value,
               CleaveElement element,
               gint64 fallback,
               gint64 *number,
               GError **error)
{
  const char *what = element == CLEAVE_BOOL ? "condition" : "number of iterations";
  const CleaveTensorType *type = value == NULL ? NULL : cleave_onnx_value_type (value);
  g_autoptr (CleaveTensor) dense = NULL;

  *number = fallback;
  if (value == NULL)
    return TRUE;
  if (type->element != element || cleave_shape_n_elements (&type->shape) != 1)
    return cleave_onnx_node_fail (loop->node, error, "its %s must be one %s", what,
                                  element == CLEAVE_BOOL ? "bool" : "int64");
  if (cleave_onnx_value_constant (loop->node->import, value) == NULL)
    return cleave_onnx_node_fail (loop->node, error,
                                  "its %s must be constant, since loops are unrolled; it %s", what,
                                  cleave_onnx_why_unknown (loop->node->import, value));
  dense = cleave_tensor_dup_dense (value->constant);
  *number = element == CLEAVE_BOOL ? *(const guint8 *) cleave_tensor_get_data (dense) != 0
                                   : *(const gint64 *) cleave_tensor_get_data (dense);
  return TRUE;
}

/* Defines the inputs of the body: the iteration number, the condition TRUE, and the current
 * states. */
static gboolean
bind_inputs (const CleaveOnnxIterations *loop, gint64 iteration, GError **error)
{
  CleaveOnnxImport *import = loop->node->import;
  const CleaveTensorType number = { .element = CLEAVE_INT64 }, flag = { .element = CLEAVE_BOOL };
  const guint8 yes = 1;

  for (guint i = 0; i < loop->body->n_input; i++)
    {
      CleaveOnnxValue *value = i == 0   ? cleave_onnx_constant (loop->node, &number, &iteration)
                               : i == 1 ? cleave_onnx_constant (loop->node, &flag, &yes)
                                        : loop->states->pdata[i - N_FIXED];

      if (!cleave_onnx_bind_as (import, loop->body->input[i]->name, value, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
judge (const CleaveOnnxIterations *loop, CleaveOnnxValue *first, gboolean *goes_on, GError **error)
{
  gint64 number;

  if (!read_constant (loop, first, CLEAVE_BOOL, TRUE, &number, error))
    return FALSE;
  *goes_on = number != 0;
  return TRUE;
}

gboolean
cleave_onnx_read_loop (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  g_auto (CleaveOnnxIterations) loop = { .node = node,
                                         .body = cleave_onnx_find_graph (proto, "body"),
                                         .n_first = 1,
                                         .bind = bind_inputs,
                                         .judge = judge };
  gint64 n_iterations, goes_on;

  loop.n_states = node->operands->len < N_FIXED ? 0 : node->operands->len - N_FIXED;
  if (!cleave_onnx_iterations_init (&loop, proto, N_FIXED + loop.n_states, N_FIXED, error) ||
      !read_constant (&loop, cleave_onnx_node_operand (node, 0), CLEAVE_INT64, G_MAXINT64,
                      &n_iterations, error) ||
      !read_constant (&loop, cleave_onnx_node_operand (node, 1), CLEAVE_BOOL, TRUE, &goes_on,
                      error))
    return FALSE;
  return cleave_onnx_take_iterations (&loop, goes_on != 0 ? n_iterations : 0, error) &&
         cleave_onnx_give_iterations (&loop, NULL, NULL, error);
}
