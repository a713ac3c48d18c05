/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes an expensive node of the dynamic part by a function of the caller, which has faster
 * kernels than the import. The node becomes a graph of its own: operand 0 is its input, and the
 * other operands are constants, so that kernels may pack them. */

#include "import.h"

#include "../../ir/evaluate.h"
#include "../../ir/graph-private.h"

/* Least number of kernel steps for which a node is compiled to a program. The reference kernels
 * take some 10 ms for them, and compiling takes less than 1 ms. */
#define MIN_WORK (1 << 22)

gboolean
cleave_onnx_is_expensive (const CleaveOnnxImport *import,
                          const CleaveCall *call,
                          CleaveTensor *const *operands)
{
  return import->compute != NULL && call->n_operands > 0 && operands[0] != NULL &&
         cleave_evaluate_call_work (call, operands) >= MIN_WORK;
}

static CleaveNode *
build (CleaveGraph *graph, const CleaveCall *call, CleaveTensor *const *operands, GError **error)
{
  g_autofree CleaveResult **values = g_new0 (CleaveResult *, call->n_operands);
  CleaveNode *node;

  values[0] = cleave_graph_add_input (graph, "input", &call->operands[0], error);
  if (values[0] == NULL)
    return NULL;
  for (guint i = 1; i < call->n_operands; i++)
    if (operands[i] != NULL)
      values[i] = cleave_graph_add_constant (graph, "constant", operands[i]);
  node = cleave_graph_add (graph, call->op, "node", values, call->n_operands, call->n_results,
                           call->attrs, error);
  for (guint i = 0; node != NULL && i < call->n_results; i++)
    {
      g_autofree char *name = g_strdup_printf ("output%u", i);

      if (!cleave_graph_add_output (graph, name, cleave_node_get_result (node, i), error))
        return NULL;
    }
  return node;
}

GPtrArray *
cleave_onnx_compute (CleaveOnnxImport *import,
                     const CleaveCall *call,
                     CleaveTensor *const *operands,
                     GError **error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("node");
  g_autoptr (CleaveTensor) input = cleave_tensor_dup_dense (operands[0]);
  g_autoptr (GPtrArray) results =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < call->n_results; i++)
    {
      CleaveTensor *result = cleave_tensor_new (&call->results[i], error);

      if (result == NULL)
        return NULL;
      g_ptr_array_add (results, result);
    }
  if (build (graph, call, operands, error) == NULL ||
      !import->compute (graph, &input, 1, (CleaveTensor *const *) results->pdata, results->len,
                        import->compute_data, error))
    return NULL;
  return g_steal_pointer (&results);
}
