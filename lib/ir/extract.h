/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Copies nodes of a graph into another graph. cleave_graph_copy() copies all nodes.
 * lib/memory/quantized-lowering.c builds a graph with a node for each quantized group, and
 * passes/ranks/build.c builds the graph of one rank. A map (CleaveMapValue) gives the value of the
 * new graph that an operand reads. */

#include <cleave/cleave-graph.h>

/* Returns the value of the new graph that takes the place of `value` of the old graph. `data` is
 * the argument `data` of cleave_extract_node() or cleave_extract_ends(). */
typedef CleaveResult *(*CleaveMapValue) (gpointer data, CleaveResult *value);

/* Adds to `graph` a copy of `node`, a node of another graph, with the names of its results. Calls
 * `map` for each operand of `node`. An operand that is absent in `node` is also absent in the
 * copy. */
CleaveNode *
cleave_extract_node (CleaveGraph *graph, const CleaveNode *node, CleaveMapValue map, gpointer data);
/* Gives `graph` the inputs, the outputs and the flag keeps_order of `from`. `map` returns the value
 * of `graph` for a value of `from`. */
void cleave_extract_ends (CleaveGraph *graph,
                          const CleaveGraph *from,
                          CleaveMapValue map,
                          gpointer data);
/* Returns the copy of `value`; can be passed as a CleaveMapValue. `nodes` is an array of
 * CleaveNode: entry i is the copy of the node with the id i. */
CleaveResult *cleave_extract_map_by_id (gpointer nodes, CleaveResult *value);
