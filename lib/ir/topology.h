/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Nodes so that each follows those it reads; among several that could come next, the one built
 * first.  NULL and CLEAVE_ERROR_CYCLE, naming the nodes of one cycle, if there is none.  O(V + E),
 * but for a heap's logarithm. */
GPtrArray *cleave_topology_sort (const CleaveGraph *graph, GError **error);

/* The arrays of the functions below are by id; what they say of ids that no node has means nothing.
 */

/* Weakly connected components of the graph that is left when the nodes with `without[id]` are
 * taken out: the component of each node (G_MAXUINT for those taken out); returns how many.  These
 * are the parallel subgraphs. */
guint
cleave_topology_components (const CleaveGraph *graph, const gboolean *without, guint *component);
/* Nodes that can be reached from `nodes`, forwards along uses or backwards along operands,
 * themselves included. */
void cleave_topology_reach (const CleaveGraph *graph,
                            CleaveNode *const *nodes,
                            guint n_nodes,
                            gboolean forwards,
                            gboolean *reached);
