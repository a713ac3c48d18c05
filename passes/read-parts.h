/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../lib/ir/graph-private.h"

/* A part of a value: begin, step and number of elements in each dimension. */
typedef struct
{
  guint rank;
  gint64 begin[CLEAVE_MAX_RANK], step[CLEAVE_MAX_RANK], count[CLEAVE_MAX_RANK];
} CleaveWindow;

CleaveWindow cleave_window_of_range (const CleaveRange *range);
/* The smallest range that has all of a window. */
CleaveRange cleave_window_hull (const CleaveWindow *window);
gboolean cleave_window_has_steps (const CleaveWindow *window);
gboolean cleave_window_is_whole (const CleaveWindow *window, const CleaveShape *shape);
gboolean cleave_window_equal (const CleaveWindow *a, const CleaveWindow *b);
/* A window of a window, as a window of what the outer one is taken from. */
CleaveWindow cleave_window_compose (const CleaveWindow *outer, const CleaveWindow *inner);
/* Which part of operand 0 the result of a view is.  FALSE: it is no view, or another kind of one.
 */
gboolean cleave_result_get_window (const CleaveResult *result, CleaveWindow *window);

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
