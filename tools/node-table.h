/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"

/* The nodes that compute, in the order of the graph: what each is, makes, and costs; and where the
 * peak of a run on one thread is. */
gboolean cleave_node_table_print (const CleaveGraph *graph, GError **error);
/* Without steps, nothing is said of what is in use while a node runs, which takes a plan of a run.
 */
gboolean cleave_node_table_add_json (CleaveJson *json,
                                     const CleaveGraph *graph,
                                     gboolean with_steps,
                                     GError **error);
