/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A part of a value: begin, step and number of elements in each dimension. */
typedef struct
{
  guint rank;
  gint64 begin[CLEAVE_MAX_RANK], step[CLEAVE_MAX_RANK], count[CLEAVE_MAX_RANK];
} CleaveStridedRange;

CleaveStridedRange cleave_strided_range_of_range (const CleaveRange *range);
/* The smallest range that has all of a window. */
CleaveRange cleave_strided_range_hull (const CleaveStridedRange *window);
gboolean cleave_strided_range_has_steps (const CleaveStridedRange *window);
gboolean cleave_strided_range_is_whole (const CleaveStridedRange *window, const CleaveShape *shape);
gboolean cleave_strided_range_equal (const CleaveStridedRange *a, const CleaveStridedRange *b);
/* A window of a window, as a window of what the outer one is taken from. */
CleaveStridedRange cleave_strided_range_compose (const CleaveStridedRange *outer,
                                                 const CleaveStridedRange *inner);
/* Which part of operand 0 the result of a view is.  FALSE: it is no view, or another kind of one.
 */
gboolean cleave_result_get_strided_range (const CleaveResult *result, CleaveStridedRange *window);

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
/* The operands that meet a range, in the order of where they begin. */
GArray *cleave_join_find (const CleaveJoin *join, const CleaveRange *range);
