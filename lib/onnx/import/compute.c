/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes expensive nodes that cannot be part of a chain (chain.h), such as nodes in the body of a
 * Loop. A function of the caller runs a graph that contains only the node. Operands that the model
 * stores are constants of that graph. So kernels may pack these operands, and the caller can use
 * one program for the equal graphs of several runs. All other operands are inputs of that graph. */

#include "dynamic.h"

#include "../../ir/debug.h"
#include "../../ir/evaluate.h"
#include "../../ir/graph-private.h"

/* The function import->compute computes a node with at least this much work
 * (cleave_evaluate_call_work(), about one step for each MAC). It compiles the node, which takes
 * less than 1 ms. The reference kernels would take about 10 ms or more. */
#define MIN_WORK (1 << 22)

gboolean
cleave_onnx_is_expensive (const CleaveOnnxImport *import,
                          const CleaveCall *call,
                          CleaveTensor *const *operands)
{
  return import->compute != NULL && call->n_operands > 0 && operands[0] != NULL &&
         (cleave_debug_is_on (CLEAVE_DEBUG_EXPENSIVE) ||
          cleave_evaluate_call_work (call, operands) >= MIN_WORK);
}

/* Returns whether operand `index` becomes an input of the graph: the model does not store the
 * operand. If the model stores all operands, operand 0 becomes an input. */
static gboolean
is_input (const GPtrArray *operands, guint index)
{
  const CleaveOnnxValue *value = operands->pdata[index];
  gboolean all_stored = TRUE;

  for (guint i = 0; i < operands->len; i++)
    all_stored = all_stored && (operands->pdata[i] == NULL ||
                                ((const CleaveOnnxValue *) operands->pdata[i])->is_stored);
  return value != NULL && (!value->is_stored || (all_stored && index == 0));
}

static gboolean
add_operands (CleaveGraph *graph,
              const CleaveCall *call,
              const GPtrArray *operands,
              CleaveResult **values,
              GPtrArray *inputs,
              GError **error)
{
  for (guint i = 0; i < operands->len; i++)
    {
      const CleaveOnnxValue *operand = operands->pdata[i];
      g_autofree char *name = g_strdup_printf ("operand%u", i);

      if (operand == NULL)
        continue;
      if (!is_input (operands, i))
        {
          values[i] = cleave_graph_add_constant (graph, name, operand->constant);
          continue;
        }
      values[i] = cleave_graph_add_input (graph, name, &call->operands[i], error);
      if (values[i] == NULL)
        return FALSE;
      g_ptr_array_add (inputs, cleave_tensor_dup_dense (operand->constant));
    }
  return TRUE;
}

/* Builds a graph with one node, which has the op and the attributes of `call`. Appends the tensors
 * of the graph's inputs to `inputs`. */
static gboolean
build (CleaveGraph *graph,
       const CleaveCall *call,
       const GPtrArray *operands,
       GPtrArray *inputs,
       GError **error)
{
  g_autofree CleaveResult **values = g_new0 (CleaveResult *, call->n_operands);
  CleaveNode *node;

  if (!add_operands (graph, call, operands, values, inputs, error))
    return FALSE;
  node = cleave_graph_add (graph, call->op, "node", values, call->n_operands, call->n_results,
                           call->attrs, error);
  for (guint i = 0; node != NULL && i < call->n_results; i++)
    {
      g_autofree char *name = g_strdup_printf ("output%u", i);

      if (!cleave_graph_add_output (graph, name, cleave_node_get_result (node, i), error))
        return FALSE;
    }
  return node != NULL;
}

GPtrArray *
cleave_onnx_compute (CleaveOnnxImport *import,
                     const CleaveCall *call,
                     const GPtrArray *operands,
                     GError **error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("node");
  g_autoptr (GPtrArray) results =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < call->n_results; i++)
    {
      CleaveTensor *result = cleave_tensor_new (&call->results[i], error);

      if (result == NULL)
        return NULL;
      g_ptr_array_add (results, result);
    }
  if (!build (graph, call, operands, inputs, error) ||
      !import->compute (graph, (CleaveTensor *const *) inputs->pdata, inputs->len,
                        (CleaveTensor *const *) results->pdata, results->len, import->compute_data,
                        error))
    return NULL;
  return g_steal_pointer (&results);
}
