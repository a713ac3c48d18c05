/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Joins: where the operands of a Concat or an Assemble lie in its result, and new joins of parts.
 */

/* The places of the operands of a join in its result. */
typedef struct
{
  guint n;
  CleaveRange *place;               /* range of the result that each operand fills */
  gboolean joined[CLEAVE_MAX_RANK]; /* dimensions along which places differ */
  guint dim;       /* one of the joined dimensions; operands are searched by their begin in it */
  guint *by_begin; /* indices of operands, sorted by begin in `dim` */
  gint64 longest;
} CleaveJoin;

/* Returns the places of the operands of a node.  NULL if some operand is not placed as a box
 * without change. */
CleaveJoin *cleave_join_new (const CleaveNode *node);
void cleave_join_free (gpointer join);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoin, cleave_join_free)
/* Returns the indices (guint) of the operands that overlap a range, sorted by where they begin. */
GArray *cleave_join_find (const CleaveJoin *join, const CleaveRange *range);

/* A value and its place in the result of a join. */
typedef struct
{
  CleaveResult *value;
  CleaveRange place;
} CleaveJoinPart;

/* Appends the operands of a join as parts (CleaveJoinPart); the result of the join itself lies at
 * `place` in a larger value.  FALSE if some operand is not placed as a box without change. */
gboolean cleave_join_list (const CleaveNode *node, const CleaveRange *place, GArray *parts);
/* Adds a node that joins parts (CleaveJoinPart): with the op and attributes of `like`, or an
 * Assemble if `like` is NULL. */
CleaveNode *cleave_join_add (CleaveGraph *graph,
                             const CleaveNode *like,
                             const char *name,
                             const GArray *parts,
                             const CleaveTensorType *type);
