/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Copies parts of a graph into another graph. */

/* Returns the value of the new graph for a value of the old one. */
typedef CleaveResult *(*CleaveMapValue) (gpointer data, CleaveResult *value);

/* Adds a copy of a node of another graph to `graph`, with the names of its results. `map` gives the
 * operands of the copy; a missing operand stays missing. */
CleaveNode *
cleave_extract_node (CleaveGraph *graph, const CleaveNode *node, CleaveMapValue map, gpointer data);
/* Gives `graph` the inputs, the outputs and the order of `from`. `map` gives the values. */
void cleave_extract_ends (CleaveGraph *graph,
                          const CleaveGraph *from,
                          CleaveMapValue map,
                          gpointer data);
/* Maps by the ids of nodes: `nodes` is an array with the new node of each id of the old graph. */
CleaveResult *cleave_extract_map_by_id (gpointer nodes, CleaveResult *value);
