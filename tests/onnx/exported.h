/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Exports graphs. Checks the nodes of the file, or imports the file again. The suites export.c,
 * export-forms.c and export-pieces.c use these functions. A node is compared as a line such as
 * "Conv(x,w)->y". */

#include "graphs.h"
#include "test.h"

#include "../../lib/onnx/wire.h"
#include "interpret.h"
#include "models.h"

/* Asserts that no two nodes have the same name, since other runtimes refuse such a model. */
static inline void
check_node_names (const Model *model)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (size_t i = 0; i < model->graph->n_node; i++)
    ck_assert_msg (g_hash_table_add (names, model->graph->node[i]->name),
                   "two nodes are called '%s'", model->graph->node[i]->name);
}

static inline Model *
export_model (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  Model *model;

  cleave_assert_no_error (error);
  model = cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", &error);
  cleave_assert_no_error (error);
  check_node_names (model);
  return model;
}

/* Returns a line "Op(a,b)->c" for each node. */
static inline char *
list_nodes (const Model *model)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (size_t i = 0; i < model->graph->n_node; i++)
    {
      const Onnx__NodeProto *node = model->graph->node[i];

      g_string_append_printf (out, "%s(", node->op_type);
      for (size_t j = 0; j < node->n_input; j++)
        g_string_append_printf (out, "%s%s", j == 0 ? "" : ",", node->input[j]);
      g_string_append (out, ")->");
      for (size_t j = 0; j < node->n_output; j++)
        g_string_append_printf (out, "%s%s", j == 0 ? "" : ",", node->output[j]);
      g_string_append_c (out, '\n');
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static inline void
assert_nodes (const CleaveGraph *graph, const char *expected)
{
  g_autoptr (Model) model = export_model (graph);
  g_autofree char *nodes = list_nodes (model);

  ck_assert_str_eq (nodes, expected);
}

/* Asserts that the graph gives the same bits after export and import. */
static inline void
assert_same_again (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Model) model = export_model (graph); /* checks the names of the nodes */
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  g_autoptr (CleaveGraph) again =
      bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, NULL, &error);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) one = NULL, two = NULL;

  ck_assert_ptr_nonnull (model);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_graph_get_n_inputs (graph), cleave_graph_get_n_inputs (again));
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_ptr_array_add (
        inputs,
        cleave_random_tensor (cleave_result_get_type (cleave_graph_get_input (graph, i)), i, TRUE));
  one = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
  two = cleave_interpret (again, (CleaveTensor *const *) inputs->pdata);
  ck_assert_uint_eq (one->len, two->len);
  for (guint i = 0; i < one->len; i++)
    {
      ck_assert_str_eq (cleave_graph_get_output_name (graph, i),
                        cleave_graph_get_output_name (again, i));
      ck_assert_msg (cleave_tensor_equal (one->pdata[i], two->pdata[i]), "output %u", i);
    }
}

static inline CleaveResult *
add_input (CleaveGraph *graph, const char *name, const CleaveShape *shape)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, *shape };

  return cleave_graph_add_input (graph, name, &type, NULL);
}

static inline CleaveResult *
relu (CleaveGraph *graph, const char *name, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", name, x, NULL, NULL);
}
