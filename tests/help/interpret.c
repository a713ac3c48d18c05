/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs a graph node by node, in a topological order, with the reference kernel of each op. */

#include "interpret.h"

#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/view.h"

static void
keep (GHashTable *values, const CleaveResult *result, CleaveTensor *tensor)
{
  g_assert_true (
      cleave_tensor_type_equal (cleave_tensor_get_type (tensor), cleave_result_get_type (result)));
  g_hash_table_insert (values, (gpointer) result, tensor);
}

static CleaveView
view_of (GHashTable *values, const CleaveResult *result)
{
  CleaveTensor *tensor = result == NULL ? NULL : g_hash_table_lookup (values, result);

  return tensor == NULL ? (CleaveView){ 0 } : cleave_view_tensor (tensor);
}

static void
run_node (GHashTable *values, CleaveNode *node)
{
  guint n_operands = node->n_operands, n_results = node->n_results;
  g_autofree CleaveView *views = g_new0 (CleaveView, n_operands + n_results);
  g_auto (CleaveNodeCall) call;

  for (guint i = 0; i < n_operands; i++)
    views[i] = view_of (values, node->operands[i].result);
  for (guint i = 0; i < n_results; i++)
    {
      keep (values, &node->results[i], cleave_tensor_new (&node->results[i].type, NULL));
      views[n_operands + i] = view_of (values, &node->results[i]);
    }
  cleave_node_call_init (&call, node);
  g_assert_nonnull (node->op->compute);
  node->op->compute (&call.call, views, views + n_operands);
}

GPtrArray *
cleave_interpret (const CleaveGraph *graph, CleaveTensor *const *inputs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, &error);
  g_autoptr (GHashTable) values =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) cleave_tensor_unref);
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  g_assert_no_error (error);
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    keep (values, cleave_graph_get_input (graph, i), cleave_tensor_dup_dense (inputs[i]));
  for (guint i = 0; i < order->len; i++)
    if (!cleave_node_is_input (order->pdata[i]))
      run_node (values, order->pdata[i]);
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    g_ptr_array_add (outputs,
                     cleave_tensor_ref (g_hash_table_lookup (
                         values, cleave_operand_get_result (cleave_graph_get_output (graph, i)))));
  return outputs;
}

gboolean
cleave_interpret_into (CleaveGraph *graph,
                       CleaveTensor *const *inputs,
                       guint n_inputs,
                       CleaveTensor *const *outputs,
                       guint n_outputs,
                       gpointer n_calls,
                       GError **error)
{
  g_autoptr (GPtrArray) got = cleave_interpret (graph, inputs);

  for (guint i = 0; i < n_outputs; i++)
    {
      CleaveView to = cleave_view_tensor (outputs[i]), from = cleave_view_tensor (got->pdata[i]);

      cleave_view_copy (&to, &from);
    }
  if (n_calls != NULL)
    ++*(guint *) n_calls;
  return TRUE;
}
