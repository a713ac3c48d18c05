/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Builds a smaller graph from a larger one, for the reducer (reduce.c). A CleaveReduction lists the
 * parts to leave out. */

/* Changes that make a graph smaller. Arrays are indexed by node id. */
typedef struct
{
  guint8 *cut;   /* TRUE: remove the node; its results become inputs */
  gint8 *bypass; /* index of the operand that replaces the node's result; -1: no replacement */
  guint8 *flat;  /* TRUE: all elements of the constant become equal to its first element */
  /* inputs and constants: each extent equal to `from` becomes `to`; `from` 0: no extent changes */
  gint64 from, to;
  const CleaveNode *plain; /* node whose attribute `plain_attr` gets its default; NULL: none */
  const CleaveAttr *plain_attr;
  GPtrArray *outputs; /* CleaveResult: the outputs that stay */
} CleaveReduction;

/* Initializes a reduction without changes. */
void cleave_reduction_init (CleaveReduction *reduction, const CleaveGraph *graph);
void cleave_reduction_clear (CleaveReduction *reduction);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveReduction, cleave_reduction_clear)

/* Returns a copy of the graph with the changes, without nodes that no output needs. Nodes keep
 * their names. Returns NULL if a node would get illegal operands, or if no output is left. */
CleaveGraph *cleave_reduction_build (const CleaveReduction *reduction, const CleaveGraph *graph);
