/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes all nodes of a graph that depend on constants alone (cleave_bundle_fold_constants()). */

#include "../ir/evaluate.h"

#include "model.h"

static void
replace (CleaveGraph *graph, CleaveResult *result, CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_is_dense (tensor)
                                       ? cleave_tensor_ref (tensor)
                                       : cleave_tensor_dup_dense (tensor);

  cleave_result_replace_uses (result, cleave_graph_add_constant (graph, NULL, dense));
}

gboolean
cleave_bundle_fold_constants (CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];
      g_autoptr (GPtrArray) tensors = NULL;

      if (!cleave_node_is_fixed (node) || !cleave_node_is_used (node))
        continue;
      if (cleave_node_get_constant (node) != NULL)
        {
          CleaveTensor *tensor = cleave_node_get_constant (node);

          if (!cleave_tensor_is_dense (tensor))
            replace (graph, &node->results[0], tensor);
          continue;
        }
      tensors = cleave_evaluate (node, error);
      if (tensors == NULL)
        return FALSE;
      for (guint r = 0; r < node->n_results; r++)
        if (node->results[r].n_uses > 0)
          replace (graph, &node->results[r], tensors->pdata[r]);
    }
  return TRUE;
}
