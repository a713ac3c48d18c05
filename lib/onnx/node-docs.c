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

/* A copy that is the graph's alone. */
static CleaveOnnxOrigin *
own_origin (CleaveGraph *graph)
{
  CleaveOnnxOrigin *origin =
      graph->origin == NULL ? origin_new_empty () : cleave_onnx_origin_copy (graph->origin);

  if (graph->origin != NULL)
    g_atomic_rc_box_release_full (graph->origin, graph->origin_clear);
  cleave_graph_set_origin (graph, origin, cleave_onnx_origin_clear);
  return origin;
}

/**
 * cleave_onnx_set_loops:
 * @graph: a graph
 * @loops: whether there may be loops
 *
 * Says whether nodes that repeat, each time with the next rows, are written as the turns of a
 * `Loop`: strips of a split of equal sizes.  What such nodes compute is the same, and a runtime
 * that frees what a turn made needs less memory.  A run of nodes is left as it is where its turns
 * are fewer than 3, where they do not read the same of each other, or where what follows reads more
 * than their results together and what the last of them carry.  Weights that turns and other nodes
 * read are in the file twice.  Where ONNX Runtime is foreseen to need less if it does not know
 * shapes beforehand, since it then frees what it would keep for values of the same shape, inputs
 * are reshaped as a `Loop` of one turn says.  Copies of the graph that were made before are as they
 * were.
 */
void
cleave_onnx_set_loops (CleaveGraph *graph, gboolean loops)
{
  g_return_if_fail (graph != NULL);
  own_origin (graph)->has_loops = loops;
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
  origin = own_origin (graph);
  for (guint i = 0; names[i] != NULL && docs[i] != NULL; i++)
    cleave_onnx_origin_add_node_doc (origin, names[i], docs[i]);
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
