/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Where the operands of a Concat or an Assemble lie in its result. */
typedef struct
{
  guint n;
  CleaveRange *place;               /* of each operand */
  gboolean joined[CLEAVE_MAX_RANK]; /* dimensions along which places differ */
  guint dim;                        /* one of them; operands are found by where they begin in it */
  guint *by_begin;                  /* operands in this order */
  gint64 longest;
} CleaveJoin;

/* NULL if they do not lie so. */
CleaveJoin *cleave_join_new (const CleaveNode *node);
void cleave_join_free (gpointer join);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoin, cleave_join_free)
/* The operands that meet a range, in the order of where they begin. */
GArray *cleave_join_find (const CleaveJoin *join, const CleaveRange *range);

/* A value, and where it lies in what it is joined to. */
typedef struct
{
  CleaveResult *value;
  CleaveRange place;
} CleaveJoinPart;

/* Appends the operands of a join that lies at `place` itself.  FALSE: they do not lie so. */
gboolean cleave_join_list (const CleaveNode *node, const CleaveRange *place, GArray *parts);
/* Joins parts (CleaveJoinPart) by a node like another one, or by an Assemble. */
CleaveNode *cleave_join_add (CleaveGraph *graph,
                             const CleaveNode *like,
                             const char *name,
                             const GArray *parts,
                             const CleaveTensorType *type);
