/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The dynamic part of a model, between import and export. The dynamic part is plain data, not a
 * graph.
 *
 *     model:   image ─► Conv … ─► boxes ─► NonMaxSuppression ─► Gather ─► output
 *              └──── static part ────┘    └────────── dynamic part ──────────┘
 *
 * The graph is the static part. Its outputs are the model's static outputs and the values that the
 * dynamic part reads. */

#include "dynamic.h"

#include "../ir/boxed.h"
#include "../ir/graph-private.h"
#include "origin.h"

static void
clear_node (gpointer data)
{
  CleaveOnnxDynamicNode *node = data;

  g_free ((char *) node->name);
  g_free ((char *) node->op);
  g_free ((char *) node->value);
  g_free ((char *) node->reason);
}

static void
clear_constant (gpointer data)
{
  CleaveOnnxDynamicConstant *constant = data;

  g_free (constant->name);
  cleave_tensor_unref (constant->tensor);
}

static void
list_type_free (CleaveOnnxListType *type)
{
  g_free (type->text);
  g_free (type);
}

static void
clear (gpointer data)
{
  CleaveOnnxDynamic *dynamic = data;

  g_array_unref (dynamic->nodes);
  g_array_unref (dynamic->opsets);
  g_clear_pointer (&dynamic->graph, g_bytes_unref);
  g_array_unref (dynamic->constants);
  g_ptr_array_unref (dynamic->reads);
  g_hash_table_unref (dynamic->made);
  g_hash_table_unref (dynamic->texts);
  g_hash_table_unref (dynamic->lists);
  g_strfreev (dynamic->inputs);
  g_strfreev (dynamic->outputs);
}

CleaveOnnxDynamic *
cleave_onnx_dynamic_new (void)
{
  CleaveOnnxDynamic *dynamic = g_atomic_rc_box_new0 (CleaveOnnxDynamic);

  dynamic->nodes = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxDynamicNode));
  g_array_set_clear_func (dynamic->nodes, clear_node);
  dynamic->opsets = g_array_new (FALSE, FALSE, sizeof (gint64));
  dynamic->constants = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxDynamicConstant));
  g_array_set_clear_func (dynamic->constants, clear_constant);
  dynamic->reads = g_ptr_array_new_with_free_func (g_free);
  dynamic->made = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  dynamic->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  dynamic->lists =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) list_type_free);
  return dynamic;
}

void
cleave_onnx_dynamic_add_node (CleaveOnnxDynamic *dynamic,
                              const CleaveOnnxDynamicNode *node,
                              gint64 opset)
{
  CleaveOnnxDynamicNode copy = *node;

  copy.name = g_strdup (node->name);
  copy.op = g_strdup (node->op);
  copy.value = g_strdup (node->value);
  copy.reason = g_strdup (node->reason);
  g_array_append_val (dynamic->nodes, copy);
  g_array_append_val (dynamic->opsets, opset);
}

void
cleave_onnx_dynamic_add_constant (CleaveOnnxDynamic *dynamic,
                                  const char *name,
                                  CleaveTensor *tensor)
{
  CleaveOnnxDynamicConstant constant = { g_strdup (name), cleave_tensor_ref (tensor) };

  g_array_append_val (dynamic->constants, constant);
}

gint64
cleave_onnx_dynamic_get_opset (const CleaveOnnxDynamic *dynamic)
{
  gint64 opset = 0;

  for (guint i = 0; i < dynamic->opsets->len; i++)
    opset = MAX (opset, g_array_index (dynamic->opsets, gint64, i));
  return opset;
}

/**
 * cleave_onnx_get_dynamic:
 * @graph: a graph
 *
 * Returns the dynamic part of the model that a graph was read from. If a model has a dynamic part,
 * the graph is the static part: all other nodes of the model. The first outputs of the graph are
 * the static outputs of the model. All further outputs are the values that the dynamic part reads.
 * Passes change the static part alone, and [func@Cleave.onnx_save] writes the static and the
 * dynamic part as one model.
 *
 * Returns: (transfer none) (nullable): the dynamic part; %NULL if all nodes are in the graph
 *
 * Since: 0.2
 */
CleaveOnnxDynamic *
cleave_onnx_get_dynamic (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, NULL);
  return graph->origin == NULL ? NULL : ((const CleaveOnnxOrigin *) graph->origin)->dynamic;
}

/**
 * cleave_onnx_dynamic_get_n_nodes:
 * @dynamic: the dynamic part of a model
 *
 * Returns: the number of nodes of the dynamic part, without nodes of inner graphs
 *
 * Since: 0.2
 */
guint
cleave_onnx_dynamic_get_n_nodes (const CleaveOnnxDynamic *dynamic)
{
  g_return_val_if_fail (dynamic != NULL, 0);
  return dynamic->nodes->len;
}

/**
 * cleave_onnx_dynamic_get_node:
 * @dynamic: the dynamic part of a model
 * @index: less than the number of nodes
 *
 * Returns: (transfer none): a node, in the order of a run
 *
 * Since: 0.2
 */
const CleaveOnnxDynamicNode *
cleave_onnx_dynamic_get_node (const CleaveOnnxDynamic *dynamic, guint index)
{
  g_return_val_if_fail (dynamic != NULL && index < dynamic->nodes->len, NULL);
  return &g_array_index (dynamic->nodes, CleaveOnnxDynamicNode, index);
}

/**
 * cleave_onnx_dynamic_get_outputs:
 * @dynamic: the dynamic part of a model
 *
 * Returns the names of all outputs of the model, in the order of the model, including the outputs
 * of the static part.
 *
 * Returns: (transfer none) (array zero-terminated=1): the names
 *
 * Since: 0.2
 */
const char *const *
cleave_onnx_dynamic_get_outputs (const CleaveOnnxDynamic *dynamic)
{
  g_return_val_if_fail (dynamic != NULL, NULL);
  return (const char *const *) dynamic->outputs;
}

/**
 * cleave_onnx_dynamic_get_inputs:
 * @dynamic: the dynamic part of a model
 *
 * Returns the names of the inputs of the model that are no inputs of the graph: sequences and
 * optional values, in the order of the model.
 *
 * Returns: (transfer none) (array zero-terminated=1): the names
 *
 * Since: 0.2
 */
const char *const *
cleave_onnx_dynamic_get_inputs (const CleaveOnnxDynamic *dynamic)
{
  g_return_val_if_fail (dynamic != NULL, NULL);
  return (const char *const *) dynamic->inputs;
}

/**
 * cleave_onnx_dynamic_get_list_type:
 * @dynamic: the dynamic part of a model
 * @name: the name of an input or an output of the model
 * @tensor: (out caller-allocates) (optional): the declared type of the tensors in the list; an
 *   extent of -1 is free
 *
 * Returns the type of an input or an output that is a list of tensors: `seq(float32)`,
 * `optional(float32)` or `optional(seq(float32))`, with any element type.
 *
 * Returns: (nullable): the type; %NULL if the value is a tensor
 *
 * Since: 0.2
 */
const char *
cleave_onnx_dynamic_get_list_type (const CleaveOnnxDynamic *dynamic,
                                   const char *name,
                                   CleaveTensorType *tensor)
{
  const CleaveOnnxListType *type;

  g_return_val_if_fail (dynamic != NULL && name != NULL, NULL);
  type = g_hash_table_lookup (dynamic->lists, name);
  if (tensor != NULL)
    *tensor = type == NULL ? (CleaveTensorType){ 0 } : type->tensor;
  return type == NULL ? NULL : type->text;
}

/**
 * cleave_onnx_dynamic_computes:
 * @dynamic: the dynamic part of a model
 * @output: the name of an output of the model
 *
 * Returns: whether a node of the dynamic part computes the output
 *
 * Since: 0.2
 */
gboolean
cleave_onnx_dynamic_computes (const CleaveOnnxDynamic *dynamic, const char *output)
{
  g_return_val_if_fail (dynamic != NULL && output != NULL, FALSE);
  return g_hash_table_contains (dynamic->made, output);
}

/**
 * cleave_onnx_dynamic_has_strings:
 * @dynamic: the dynamic part of a model
 * @output: the name of an output, or of an input of the model
 *
 * Returns whether an input or an output contains strings. A tensor of strings has elements of
 * uint8, and one more dimension as the last: the bytes of each string in UTF-8, then zeros.
 *
 * Returns: %TRUE if the elements are strings
 *
 * Since: 0.2
 */
gboolean
cleave_onnx_dynamic_has_strings (const CleaveOnnxDynamic *dynamic, const char *output)
{
  g_return_val_if_fail (dynamic != NULL && output != NULL, FALSE);
  return g_hash_table_contains (dynamic->texts, output);
}

/**
 * cleave_onnx_dynamic_ref:
 * @dynamic: the dynamic part of a model
 *
 * Takes a reference to the dynamic part, which may outlive its graph.
 *
 * Returns: (transfer full): @dynamic
 *
 * Since: 0.2
 */
/**
 * cleave_onnx_dynamic_unref:
 * @dynamic: (nullable) (transfer full): the dynamic part of a model
 *
 * Drops a reference to the dynamic part.
 *
 * Since: 0.2
 */
CLEAVE_DEFINE_COUNTED (CleaveOnnxDynamic, onnx_dynamic, clear)
