/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Graph algorithms: topological order, connected components, reachability. Passes, planners and the
 * printer walk the nodes in topological order; components give the parallel subgraphs
 * (subgraphs.c); reachability gives the nodes that a part needs (passes/partition). igraph finds
 * the components. Code of our own answers the other questions, since igraph is slower or gives
 * another answer. The times below are for a graph of 200,001 nodes with 299,000 operands. igraph
 * takes another 18 ms to make its list of all edges.
 *
 *   question             here                     igraph, after its list of edges
 *   order (as built)     7 ms                     13 ms; ties in another order
 *   order (edited)       44 ms                    13 ms; ties in another order
 *   cycle                part of the order        8 ms; names no nodes
 *   reachability         13 ms                    14 ms
 *   layers of a drawing  lib/dot/layers.h has the figures */

#include <cleave/cleave-graph.h>

/* Sorts the nodes topologically. If several nodes could come next, takes the node that was built
 * first. Returns NULL and CLEAVE_ERROR_CYCLE, naming the nodes of one cycle, if there is a cycle.
 * O(nodes + operands), or O(operands + nodes * log nodes) for an edited graph. */
GPtrArray *cleave_topology_sort (const CleaveGraph *graph, GError **error);

/* The arrays of the functions below have graph->n_ids entries, indexed by node id. An entry is
 * meaningless if no node has its id. */

/* Finds the weakly connected components of the graph without the nodes whose `without[id]` is set.
 * Sets component[id] to the number of each node's component, or to G_MAXUINT for a node that is
 * left out. Returns the number of components. */
guint
cleave_topology_components (const CleaveGraph *graph, const gboolean *without, guint *component);
/* Sets reached[id] of the nodes in `nodes`, and of all nodes that a path connects with these nodes:
 * forwards along uses, or backwards along operands. */
void cleave_topology_reach (const CleaveGraph *graph,
                            CleaveNode *const *nodes,
                            guint n_nodes,
                            gboolean forwards,
                            gboolean *reached);
