/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Public functions for two properties of the ONNX file that the exporter writes: the `doc_string`
 * of each node, and whether strips of a split become iterations of a `Loop`. The origin of the
 * graph stores both properties. */

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

/* Replaces the graph's origin by a copy that no other graph shares, so that it may be changed.
 * Returns the copy. */
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
 * @loops: whether to write strips as iterations of a `Loop`
 *
 * Sets whether strips of a split are written as iterations of a `Loop`. The `Loop` computes the
 * results of the unrolled strips. A runtime that frees the values of an iteration, such as ONNX
 * Runtime, needs less memory. A run of nodes becomes a `Loop` if
 *
 * - it has at least 3 iterations of the same nodes;
 * - each iteration reads the corresponding results of earlier iterations;
 * - later nodes read only final states, or the concatenated results of all iterations.
 *
 * If iterations and other nodes read the same weights, the file contains these weights twice.
 *
 * If ONNX Runtime is estimated to need less memory without static shapes, the shapes of
 * intermediate values are hidden, too. To hide shapes, the file reshapes each input to its own
 * shape, with a list of extents that a `Loop` of one iteration returns.
 *
 * Copies of the graph that were made before do not change.
 *
 * Since: 0.2
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
 * @docs: (array zero-terminated=1): a text for each node
 *
 * Sets the `doc_string` of nodes, and replaces an existing `doc_string`. Viewers of models show
 * this text. Copies of the graph that were made before keep their `doc_string`s. In the version of
 * ONNX that Cleave writes, nodes have no other metadata.
 *
 * Since: 0.1
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
 * Returns: (transfer none) (nullable): the `doc_string` of the node in the loaded file, or from
 *   [func@Cleave.onnx_set_node_docs]
 *
 * Since: 0.1
 */
const char *
cleave_onnx_get_node_doc (const CleaveGraph *graph, const char *name)
{
  g_return_val_if_fail (graph != NULL && name != NULL, NULL);
  return graph->origin == NULL
             ? NULL
             : g_hash_table_lookup (((const CleaveOnnxOrigin *) graph->origin)->node_docs, name);
}
