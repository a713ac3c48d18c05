/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A join is a Concat or an Assemble: each operand fills a range of the result. The functions of
 * this header find these ranges, and add new joins. forwarding.c finds the operands that overlap a
 * range, and split/build.c joins pieces. For example, a Concat of 2 and 3 rows has the ranges [0,
 * 2) and [2, 5). */

/* The places of the `n` operands of a join. A place is the range of the result that an operand
 * fills. */
typedef struct
{
  guint n;
  CleaveRange *place; /* indexed by operand: the range of the result that the operand fills */
  gboolean joined[CLEAVE_MAX_RANK]; /* indexed by dimension: some operand fills only a part of the
                                       dimension */
  guint dim; /* one of the joined dimensions; cleave_join_find() searches the operands by their
                begins in this dimension */
  guint *by_begin; /* indices of the operands, sorted by begin in `dim` */
  gint64 longest;
} CleaveJoin;

/* Returns the places of the operands of a node. Returns NULL if an operand is not copied unchanged
 * to a box of the result. */
CleaveJoin *cleave_join_new (const CleaveNode *node);
void cleave_join_free (gpointer join);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoin, cleave_join_free)
/* Returns the indices (guint) of the operands that overlap a range, sorted by their begins. */
GArray *cleave_join_find (const CleaveJoin *join, const CleaveRange *range);

/* A value, and the range of a join's result that the value fills. */
typedef struct
{
  CleaveResult *value;
  CleaveRange place;
} CleaveJoinPart;

/* Appends a part (CleaveJoinPart) to `parts` for each operand of a join. The result of the join
 * fills the range `place` of a larger value, and the parts have ranges of this larger value.
 * Returns FALSE if an operand is not copied unchanged to a box of the result. */
gboolean cleave_join_list (const CleaveNode *node, const CleaveRange *place, GArray *parts);
/* Adds and returns a node that joins parts (CleaveJoinPart). The node has the op and attributes of
 * `like`, or is an Assemble if `like` is NULL. */
CleaveNode *cleave_join_add (CleaveGraph *graph,
                             const CleaveNode *like,
                             const char *name,
                             const GArray *parts,
                             const CleaveTensorType *type);
