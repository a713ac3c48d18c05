/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Builds a smaller graph from a larger one, for the reducer (reduce.c).  A CleaveReduction says
 * what to leave out. */

/* Changes that make a graph smaller.  Arrays are indexed by node id. */
typedef struct
{
  guint8 *cut;             /* TRUE: the node is removed and its results become inputs */
  gint8 *bypass;           /* index of the operand that replaces the node's result; -1: none */
  guint8 *flat;            /* TRUE: all elements of this constant become equal to the first */
  gint64 from, to;         /* extents `from` of inputs and constants become `to`; 0: none */
  const CleaveNode *plain; /* this node's attribute `plain_attr` gets its default; NULL: none */
  const CleaveAttr *plain_attr;
  GPtrArray *outputs; /* CleaveResult: the outputs that stay */
} CleaveReduction;

/* Initializes a reduction that changes nothing. */
void cleave_reduction_init (CleaveReduction *reduction, const CleaveGraph *graph);
void cleave_reduction_clear (CleaveReduction *reduction);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveReduction, cleave_reduction_clear)

/* Returns a copy of the graph with the changes, without nodes that no output needs.  Names stay.
 * NULL if the changed operands of some node are not legal, or no output is left. */
CleaveGraph *cleave_reduction_build (const CleaveReduction *reduction, const CleaveGraph *graph);
