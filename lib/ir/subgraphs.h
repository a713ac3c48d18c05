/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* clang-format off */
/* Finds the parallel subgraphs of a graph: groups of nodes that can run at the same time. Drawings
 * frame them, reports count them, and the schedule runs them on different threads.
 *
 *          x          Work is each node that depends on an input and that an output depends on, except
 *        /   \        for inputs, constants, views and joins.  A node of the work is *alone* if all
 *    Slice   Slice    other work comes before or after it.
 *      |       |
 *    Conv    Conv     Remove from the graph the nodes that are alone, inputs, constants, joins, and
 *      |       |      views of removed nodes.  The rest falls into connected components.  Components
 *    Relu    Relu     between the same two lone nodes can run at the same time.  If there are at least
 *        \   /        two, each is a parallel subgraph.
 *      Assemble
 *          |          In the drawing, Gemm is alone, and there are two subgraphs { Slice, Conv, Relu }.
 *        Gemm         A chain has none.
 *
 * Some joins are not removed. A join that adds rows of neighboring pieces to one piece belongs to
 * that piece. The piece is its only operand that is not a view, or the only one that no earlier
 * node has read. If one piece only hands rows to another, the two run one after the other and are
 * one subgraph (strips of a band). If they hand rows to each other, they are two (bands that run
 * side by side). */
/* clang-format on */

/* Sets subgraph[id] of each node to the number of its subgraph, or to G_MAXUINT if it is in none.
 * Subgraphs are numbered in the order of building. Returns their number; a graph with a cycle has
 * none. Linear in nodes and uses. */
guint cleave_subgraphs_find (const CleaveGraph *graph, guint *subgraph);
/* Numbers subgraphs as cleave_subgraphs_find() does, and also components that no other component
 * can run beside. A single band of strips is an example. */
guint cleave_subgraphs_find_bands (const CleaveGraph *graph, guint *band);
