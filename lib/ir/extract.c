/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies nodes, inputs and outputs of a graph into another graph. */

#include "extract.h"

#include "graph-private.h"

CleaveNode *
cleave_graph_add_like (CleaveGraph *graph,
                       const CleaveNode *node,
                       const char *name,
                       CleaveResult *const *operands)
{
  g_autofree CleaveTensorType *types = g_new (CleaveTensorType, node->n_results + 1);

  for (guint i = 0; i < node->n_results; i++)
    types[i] = node->results[i].type;
  return cleave_graph_add_checked (graph, node->op, name, operands, node->n_operands, types,
                                   node->n_results, cleave_attrs_copy (node->op, node->attrs));
}

CleaveNode *
cleave_extract_node (CleaveGraph *graph, const CleaveNode *node, CleaveMapValue map, gpointer data)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      operands[i] = map (data, node->operands[i].result);
  copy = cleave_graph_add_like (graph, node, node->name, operands);
  for (guint i = 0; i < node->n_results; i++)
    if (node->results[i].name != NULL)
      cleave_result_set_name (&copy->results[i], node->results[i].name);
  return copy;
}

void
cleave_extract_ends (CleaveGraph *graph, const CleaveGraph *from, CleaveMapValue map, gpointer data)
{
  graph->exclude_inputs = from->exclude_inputs;
  for (guint i = 0; i < from->inputs->len; i++)
    g_ptr_array_add (graph->inputs, map (data, g_ptr_array_index (from->inputs, i)));
  for (guint i = 0; i < from->outputs->len; i++)
    cleave_graph_add_output (graph, cleave_graph_get_output_name (from, i),
                             map (data, cleave_graph_get_output (from, i)->result), NULL);
  graph->keeps_order = from->keeps_order;
}

CleaveResult *
cleave_extract_map_by_id (gpointer nodes, CleaveResult *value)
{
  CleaveNode *const *by_id = nodes;

  return &by_id[value->node->id]->results[value->index];
}
