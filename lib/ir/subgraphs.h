/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Finds the parallel subgraphs of a graph: groups of nodes that can run at the same time. lib/dot
 * frames them in drawings, reports of splits count them, and the schedule search
 * (lib/runtime/plan/schedule-search.c) runs them on different threads. */

#include <cleave/cleave-graph.h>

/* clang-format off */
/* Definition:
 *
 *          x          A *compute node* depends on an input, and an output depends on it; inputs,
 *        /   \        constants, views and joins are no compute nodes.  A compute node is *alone* if
 *    Slice   Slice    each other compute node must run before or after this node.
 *      |       |
 *    Conv    Conv     Remove from the graph the nodes that are alone, inputs, constants, joins, and
 *      |       |      views of removed nodes.  The other nodes form connected components.  Components
 *    Relu    Relu     between the same two alone nodes can run at the same time.  If there are at least
 *        \   /        two, each is a parallel subgraph.
 *      Assemble
 *          |          In the drawing, Gemm is alone, and there are two subgraphs { Slice, Conv, Relu }.
 *        Gemm         A graph that is a chain has no parallel subgraph.
 *
 * Some joins are not removed. If a join adds rows of neighboring pieces to one piece, the join
 * belongs to that piece. The piece is the only operand of the join that is not a view, or the only
 * operand that no earlier node has read.
 *
 * Pieces that hand rows to each other:
 * - If piece A hands rows to piece B, and B hands none to A, then B runs after A. Both are in one
 *   subgraph, as the strips of a band are.
 * - If each of A and B hands rows to the other, they are in two subgraphs, as bands that run side by
 *   side are. */
/* clang-format on */

/* Sets subgraph[id] of each node to the number of its subgraph, or to G_MAXUINT if the node is in
 * no subgraph. Numbers follow the order in which nodes were built. Returns the number of subgraphs;
 * a graph with a cycle has none. Takes time linear in nodes and uses. */
guint cleave_subgraphs_find (const CleaveGraph *graph, guint *subgraph);
/* Sets band[id] of each node to the number of its band, or to G_MAXUINT if the node is in no band.
 * Every subgraph is a band. A connected component that cannot run at the same time as another
 * component is a band, although it is no subgraph. An example is a graph whose strips form a single
 * band. Returns the number of bands. */
guint cleave_subgraphs_find_bands (const CleaveGraph *graph, guint *band);
