/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The table of nodes of `cleave info --nodes`. cmd-info.c prints it after the sizes of the model,
 * as text or as JSON. Each line has a node's name, op, result types and cost. */

#include "json.h"

/* Prints the nodes that compute, in the order of the graph, with op, result types and cost. Marks
 * the step at which a run on one thread has its peak. */
gboolean cleave_node_table_print (const CleaveGraph *graph, GError **error);
/* Adds the table of cleave_node_table_print() to JSON. `with_steps`: includes the live bytes while
 * each node runs, for which the function makes a memory plan. */
gboolean cleave_node_table_add_json (CleaveJson *json,
                                     const CleaveGraph *graph,
                                     gboolean with_steps,
                                     GError **error);
