/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "origin.h"

#include <cleave/cleave-onnx.h>

#include "../ir/graph-private.h"

static CleaveOnnxOrigin *
origin_new_empty (void)
{
  Onnx__GraphProto graph = ONNX__GRAPH_PROTO__INIT;
  Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;

  model.graph = &graph;
  return cleave_onnx_origin_new (&model);
}

/**
 * cleave_onnx_set_node_docs:
 * @graph: a graph
 * @names: (array zero-terminated=1): names of nodes
 * @docs: (array zero-terminated=1): a text for each
 *
 * Says what is to be written as the `doc_string` of nodes, which viewers of models show; a node
 * that has one gets the new one.  Copies of the graph that were made before keep theirs.  Nodes
 * have no other metadata in the version of ONNX that is written.
 */
void
cleave_onnx_set_node_docs (CleaveGraph *graph, const char *const *names, const char *const *docs)
{
  CleaveOnnxOrigin *origin;

  g_return_if_fail (graph != NULL && names != NULL && docs != NULL);
  origin = graph->origin == NULL ? origin_new_empty () : cleave_onnx_origin_copy (graph->origin);
  for (guint i = 0; names[i] != NULL && docs[i] != NULL; i++)
    cleave_onnx_origin_add_node_doc (origin, names[i], docs[i]);
  if (graph->origin != NULL)
    g_atomic_rc_box_release_full (graph->origin, graph->origin_clear);
  cleave_graph_set_origin (graph, origin, cleave_onnx_origin_clear);
}

/**
 * cleave_onnx_get_node_doc:
 * @graph: a graph
 * @name: the name of a node
 *
 * Returns: (transfer none) (nullable): the `doc_string` that the node had in the file that the
 *   graph was loaded from, or was given
 */
const char *
cleave_onnx_get_node_doc (const CleaveGraph *graph, const char *name)
{
  g_return_val_if_fail (graph != NULL && name != NULL, NULL);
  return graph->origin == NULL
             ? NULL
             : g_hash_table_lookup (((const CleaveOnnxOrigin *) graph->origin)->node_docs, name);
}
