/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* What a smaller graph leaves out of another one.  The arrays go by the ids of its nodes. */
typedef struct
{
  guint8 *cut;             /* its results are inputs */
  gint8 *bypass;           /* this operand takes the place of its result; -1: none does */
  guint8 *flat;            /* of a constant: all elements are as the first */
  gint64 from, to;         /* of inputs and constants: dimensions of `from` have `to` elements */
  const CleaveNode *plain; /* this node's attribute has its default */
  const CleaveAttr *plain_attr;
  GPtrArray *outputs; /* CleaveResult: the only ones that stay */
} CleaveReduction;

/* Leaves nothing out. */
void cleave_reduction_init (CleaveReduction *reduction, const CleaveGraph *graph);
void cleave_reduction_clear (CleaveReduction *reduction);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveReduction, cleave_reduction_clear)

/* The graph without it, and without all that nothing needs then; names stay.  NULL: there is no
 * such graph, since nodes refuse what is left of their operands. */
CleaveGraph *cleave_reduction_build (const CleaveReduction *reduction, const CleaveGraph *graph);
