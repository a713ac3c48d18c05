/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies the nodes that the outputs need into a new graph, with the changes of a reduction.
 * rebuild.h lists the changes: for example, a node's results become inputs (`cut`), or the node
 * gives way to one of its operands (`bypass`). */

#include "rebuild.h"

#include <string.h>

#include "../../lib/ir/attrs.h"
#include "../../lib/ir/topology.h"

typedef struct
{
  const CleaveReduction *reduction;
  CleaveGraph *graph;   /* the graph that is built */
  GHashTable *values;   /* maps results of the old graph to results of the new graph */
  guint8 *is_live;      /* indexed by node id: an output depends on the node */
  GHashTable *readable; /* set of the results (CleaveResult) of the old graph that a node or an
                           output reads */
} Builder;

void
cleave_reduction_init (CleaveReduction *reduction, const CleaveGraph *graph)
{
  *reduction = (CleaveReduction){
    .cut = g_new0 (guint8, graph->n_ids + 1),
    .bypass = g_new (gint8, graph->n_ids + 1),
    .flat = g_new0 (guint8, graph->n_ids + 1),
    .outputs = g_ptr_array_new (),
  };
  memset (reduction->bypass, -1, graph->n_ids + 1);
  for (guint i = 0; i < graph->outputs->len; i++)
    g_ptr_array_add (reduction->outputs, cleave_graph_get_output (graph, i)->result);
}

void
cleave_reduction_clear (CleaveReduction *reduction)
{
  g_free (reduction->cut);
  g_free (reduction->bypass);
  g_free (reduction->flat);
  g_ptr_array_unref (reduction->outputs);
}

static void
mark_live (Builder *builder, const GPtrArray *order)
{
  const CleaveReduction *r = builder->reduction;

  for (guint i = 0; i < r->outputs->len; i++)
    {
      const CleaveResult *output = g_ptr_array_index (r->outputs, i);

      builder->is_live[output->node->id] = !r->cut[output->node->id];
      if (!r->cut[output->node->id])
        g_hash_table_add (builder->readable, (gpointer) output);
    }
  for (guint i = order->len; i > 0; i--)
    {
      const CleaveNode *node = g_ptr_array_index (order, i - 1);

      if (!builder->is_live[node->id] || r->cut[node->id])
        continue;
      for (guint k = 0; k < node->n_operands; k++)
        if (node->operands[k].result != NULL &&
            (r->bypass[node->id] < 0 || r->bypass[node->id] == (gint) k))
          {
            builder->is_live[node->operands[k].result->node->id] = TRUE;
            g_hash_table_add (builder->readable, node->operands[k].result);
          }
    }
}

static CleaveTensorType
shrink (const CleaveReduction *reduction, const CleaveTensorType *type)
{
  CleaveTensorType smaller = *type;

  for (guint d = 0; reduction->from > 0 && d < smaller.shape.rank; d++)
    if (smaller.shape.dim[d] == reduction->from)
      smaller.shape.dim[d] = reduction->to;
  return smaller;
}

static void
keep_value (Builder *builder, CleaveResult *from, CleaveResult *to)
{
  g_hash_table_insert (builder->values, from, to);
  if (from->name != NULL && !g_hash_table_contains (builder->graph->values, from->name))
    cleave_result_set_name (to, from->name);
}

/* Adds inputs that replace the results of a node. */
static void
add_inputs (Builder *builder, CleaveNode *node)
{
  for (guint i = 0; i < node->n_results; i++)
    {
      CleaveResult *result = &node->results[i];
      g_autofree char *name = i == 0 ? g_strdup (node->name) : cleave_result_dup_name (result);
      CleaveInputAttrs attrs = { shrink (builder->reduction, &result->type) };
      CleaveNode *input;

      if (!g_hash_table_contains (builder->readable, result) && !cleave_node_is_input (node))
        continue;
      input = cleave_graph_add (builder->graph, &cleave_op_input, name, NULL, 0, 1, &attrs, NULL);
      g_assert (input != NULL);
      g_ptr_array_add (builder->graph->inputs, &input->results[0]);
      keep_value (builder, result, &input->results[0]);
    }
}

static CleaveTensor *
crop (CleaveTensor *tensor, const CleaveTensorType *type, gboolean is_flat)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (tensor);
  CleaveTensor *cropped = cleave_tensor_new (type, NULL);
  gsize size = cleave_element_size (type->element);
  gint64 n = cropped == NULL ? 0 : cleave_shape_n_elements (&type->shape);
  const CleaveShape *old = &cleave_tensor_get_type (tensor)->shape;
  const guint8 *from = cleave_tensor_get_data (dense);
  guint8 *to = n == 0 ? NULL : cleave_tensor_get_mutable_data (cropped);

  for (gint64 i = 0; i < n; i++)
    {
      gint64 rest = i, at = 0, stride = 1;

      for (guint d = type->shape.rank; d > 0; d--)
        {
          at += rest % type->shape.dim[d - 1] * stride;
          rest /= type->shape.dim[d - 1];
          stride *= old->dim[d - 1];
        }
      memcpy (to + (gsize) i * size, from + (is_flat ? 0 : (gsize) at * size), size);
    }
  return cropped;
}

static gboolean
add_constant (Builder *builder, CleaveNode *node)
{
  CleaveTensor *value = cleave_node_get_constant (node);
  CleaveTensorType type = shrink (builder->reduction, &node->results[0].type);
  gboolean is_flat = builder->reduction->flat[node->id];
  g_autoptr (CleaveTensor) cropped = NULL;

  if (is_flat || !cleave_tensor_type_equal (&type, &node->results[0].type))
    {
      cropped = crop (value, &type, is_flat);
      value = cropped;
    }
  if (value == NULL)
    return FALSE;
  keep_value (builder, &node->results[0],
              cleave_graph_add_constant (builder->graph, node->name, value));
  return TRUE;
}

/* Returns a copy of the attributes of a node. If `reduction->plain` is this node, resets the
 * attribute `reduction->plain_attr` to its default. */
static gpointer
copy_attrs (const CleaveReduction *reduction, const CleaveNode *node)
{
  gpointer attrs = cleave_attrs_copy (node->op, node->attrs), fresh;

  if (reduction->plain != node)
    return attrs;
  fresh = cleave_attrs_copy (node->op, NULL);
  cleave_attr_swap (reduction->plain_attr, attrs, fresh);
  cleave_attrs_free (node->op, fresh);
  return attrs;
}

static gboolean
add_node (Builder *builder, CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  gboolean is_same = builder->reduction->plain != node;
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *old = node->operands[i].result;

      operands[i] = old == NULL ? NULL : g_hash_table_lookup (builder->values, old);
      is_same =
          is_same && (old == NULL || cleave_tensor_type_equal (&operands[i]->type, &old->type));
    }
  if (is_same)
    copy = cleave_graph_add_like (builder->graph, node, node->name, operands);
  else
    {
      gpointer attrs = copy_attrs (builder->reduction, node);

      copy = cleave_graph_add (builder->graph, node->op, node->name, operands, node->n_operands,
                               node->n_results, attrs, NULL);
      cleave_attrs_free (node->op, attrs);
    }
  for (guint i = 0; copy != NULL && i < node->n_results; i++)
    keep_value (builder, &node->results[i], &copy->results[i]);
  return copy != NULL;
}

static gboolean
add (Builder *builder, CleaveNode *node)
{
  const CleaveReduction *r = builder->reduction;
  gboolean is_live = builder->is_live[node->id];

  if (!is_live)
    return TRUE;
  if (r->cut[node->id] || cleave_node_is_input (node))
    add_inputs (builder, node);
  else if (cleave_node_get_constant (node) != NULL)
    return add_constant (builder, node);
  else if (r->bypass[node->id] >= 0)
    g_hash_table_insert (
        builder->values, &node->results[0],
        g_hash_table_lookup (builder->values, node->operands[(guint) r->bypass[node->id]].result));
  else
    return add_node (builder, node);
  return TRUE;
}

/* Returns the name of a value. If the value is an output of `graph`, returns the name of the
 * output. */
static char *
dup_output_name (const CleaveGraph *graph, const CleaveResult *result)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    if (cleave_graph_get_output (graph, i)->result == result)
      return g_strdup (cleave_graph_get_output_name (graph, i));
  return cleave_result_dup_name (result);
}

static gboolean
add_outputs (Builder *builder, const CleaveGraph *old)
{
  const CleaveReduction *r = builder->reduction;

  for (guint i = 0; i < r->outputs->len; i++)
    {
      CleaveResult *output = g_ptr_array_index (r->outputs, i);
      g_autofree char *name = dup_output_name (old, output);
      CleaveResult *value = g_hash_table_lookup (builder->values, output);

      if (!r->cut[output->node->id] && value != NULL)
        cleave_graph_add_output (builder->graph, name, value, NULL);
    }
  return builder->graph->outputs->len > 0;
}

CleaveGraph *
cleave_reduction_build (const CleaveReduction *reduction, const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  g_autoptr (CleaveGraph) built = cleave_graph_new (graph->name);
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) readable = g_hash_table_new (NULL, NULL);
  g_autofree guint8 *is_live = g_new0 (guint8, graph->n_ids + 1);
  Builder builder = { reduction, built, values, is_live, readable };

  if (order == NULL)
    return NULL;
  mark_live (&builder, order);
  for (guint i = 0; i < order->len; i++)
    if (!add (&builder, g_ptr_array_index (order, i)))
      return NULL;
  return add_outputs (&builder, graph) ? g_steal_pointer (&built) : NULL;
}
