/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* The parallel subgraphs of a graph: what a drawing frames and a report counts.
 *
 *          x                    Inputs, constants and what nobody reads are no work; neither are
 * views and joins. /   \                  A node is *alone* if all other work comes before or after
 * it.  Take out the nodes Slice   Slice              that are alone, inputs, constants, joins, and
 * the views of what was taken out: the |       |                rest falls into components.  Those
 * that no lone node parts can run at the same Conv    Conv               time; where there are at
 * least two, each is a parallel subgraph. |       | Relu    Relu               A join with one
 * operand that is not a view is not taken out, as it only adds rows \     /                 of
 * neighbours to a piece.  Pieces that hand such rows one way follow each other, Assemble so they
 * are one subgraph (strips of a band); those that hand them both ways are |                    two
 * (bands that run side by side and meet at their seams). Gemm
 *
 * Here there are two: { Slice, Conv, Relu } twice.  A chain has none. */

/* The subgraph of each node by `mark` (cleave_graph_number), G_MAXUINT for those in none, numbered
 * in the order of building; returns how many.  A graph with a cycle has none.  Linear in nodes and
 * uses. */
guint cleave_subgraphs_find (const CleaveGraph *graph, guint *subgraph);
guint cleave_subgraphs_count (const CleaveGraph *graph);
