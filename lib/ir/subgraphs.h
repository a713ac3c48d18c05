/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* clang-format off */
/* The parallel subgraphs of a graph: what a drawing frames and a report counts.
 *
 *          x          Inputs, constants and what nobody reads are no work; neither are views and joins.
 *        /   \        A node is *alone* if all other work comes before or after it.  Take out the nodes
 *    Slice   Slice    that are alone, inputs, constants, joins, and the views of what was taken out:
 *      |       |      the rest falls into components.  Those that no lone node parts can run at the
 *    Conv    Conv     same time; where there are at least two, each is a parallel subgraph.
 *      |       |
 *    Relu    Relu     A join that adds rows of neighbours to one piece is of that piece: the only
 *        \   /        operand that is not a view, or the only one that nothing read before.  Pieces
 *      Assemble       that hand such rows one way follow each other, so they are one subgraph (strips
 *          |          of a band); those that hand them both ways are two (bands that run side by side
 *        Gemm         and meet at their seams).
 *
 * Here there are two: { Slice, Conv, Relu } twice.  A chain has none. */
/* clang-format on */

/* The subgraph of each node by id, G_MAXUINT for those in none, numbered
 * in the order of building; returns how many.  A graph with a cycle has none.  Linear in nodes and
 * uses. */
guint cleave_subgraphs_find (const CleaveGraph *graph, guint *subgraph);
/* Likewise, and also those with none beside them: a band whose strips follow each other is one. */
guint cleave_subgraphs_find_bands (const CleaveGraph *graph, guint *band);
