/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Copies parts of a graph into another graph. */

/* Maps a value of one graph, `value`, to the value of another graph that takes its place. `data` is
 * the argument of the function that calls the map. */
typedef CleaveResult *(*CleaveMapValue) (gpointer data, CleaveResult *value);

/* Adds to `graph` a copy of `node` of another graph, with the names of its results. `map` returns
 * the value of `graph` for each operand of `node`; the copy lacks operands that `node` lacks. */
CleaveNode *
cleave_extract_node (CleaveGraph *graph, const CleaveNode *node, CleaveMapValue map, gpointer data);
/* Gives `graph` the inputs, the outputs and the order of `from`. `map` returns the value of `graph`
 * for a value of `from`. */
void cleave_extract_ends (CleaveGraph *graph,
                          const CleaveGraph *from,
                          CleaveMapValue map,
                          gpointer data);
/* A map for the functions above. `nodes` is an array of CleaveNode: entry i is the copy of the node
 * with the id i. */
CleaveResult *cleave_extract_map_by_id (gpointer nodes, CleaveResult *value);
