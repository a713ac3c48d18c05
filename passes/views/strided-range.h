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
/* Begin and step of the map of an operand's dimension `d`.  FALSE: it takes no elements one by one.
 */
gboolean cleave_dim_map_read (const CleaveDimMap *map,
                              guint d,
                              gint64 n_operand,
                              gint64 n_result,
                              gint64 *begin,
                              gint64 *step);
/* Which part of operand 0 the result of a view is.  FALSE: it is no view, or another kind of one.
 */
gboolean cleave_result_get_strided_range (const CleaveResult *result, CleaveStridedRange *window);
