/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A strided range: begin, step and number of elements in each dimension. Begin 1, step 2 and count
 * 3 select the indices 1, 3 and 5. Each result of a Slice or Split is a strided range of operand 0;
 * the passes compose and compare these ranges. */
typedef struct
{
  guint rank;
  gint64 begin[CLEAVE_MAX_RANK], step[CLEAVE_MAX_RANK], count[CLEAVE_MAX_RANK];
} CleaveStridedRange;

CleaveStridedRange cleave_strided_range_of_range (const CleaveRange *range);
/* Returns the smallest range that contains a strided range. */
CleaveRange cleave_strided_range_hull (const CleaveStridedRange *window);
gboolean cleave_strided_range_has_steps (const CleaveStridedRange *window);
gboolean cleave_strided_range_is_whole (const CleaveStridedRange *window, const CleaveShape *shape);
gboolean cleave_strided_range_equal (const CleaveStridedRange *a, const CleaveStridedRange *b);
/* Returns the strided range `inner` of the strided range `outer`, as one strided range of the
 * original value. */
CleaveStridedRange cleave_strided_range_compose (const CleaveStridedRange *outer,
                                                 const CleaveStridedRange *inner);
/* Gets the begin and step of the map of an operand's dimension `d`. Returns FALSE if the map does
 * not select single elements that are equal steps apart. */
gboolean cleave_dim_map_read (const CleaveDimMap *map,
                              guint d,
                              gint64 n_operand,
                              gint64 n_result,
                              gint64 *begin,
                              gint64 *step);
/* Sets `window` to the part of operand 0 that a view returns. Returns FALSE if the node is not a
 * view, or if the view is not a strided range. */
gboolean cleave_result_get_strided_range (const CleaveResult *result, CleaveStridedRange *window);
