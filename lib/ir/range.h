/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Dimension maps, the formula of all splitting: which range of an operand a range of the result
 * needs. Also declares functions that subtract, join and compare ranges. The `maps` function of an
 * op's record (op.h) makes the maps; chunk.c, passes/split, passes/views and lib/memory apply them
 * to chunks. */

#include <cleave/cleave-types.h>

/* Maps a span [b, e) of dimension `from` of the result to a span of one dimension of an operand:
 *
 *   begin = floor ((b * times       + shift) / block) * stride + offset
 *   end   = floor (((e - 1) * times + shift) / block) * stride + offset + window
 *
 * Example: the rows of a 3x3 convolution with stride 2 and pad 1 have stride 2, offset -1, window
 * 3, shift 0, block 1 and times 1. Rows [2, 4) of the result need rows [3, 8) of the operand.
 *
 * `times` * `stride` elements of the operand correspond to `block` elements of the result: 2 to 3
 * in a Resize by 1.5. If `block` is 1, `times` is also 1. A negative stride reads the operand
 * backwards: in the formula for a negative stride, b and e - 1 change places. With stride 0 the map
 * gives [offset, offset + window), such as the whole dimension, and `from` is not used. */
typedef struct
{
  guint from;
  gint64 shift, block, stride, offset, window, times;
} CleaveDimMap;

/* The range of an operand that a chunk needs. Mapped spans may reach outside the operand, into the
 * padding: `range` is clipped to the operand. The clips are the numbers of elements that were cut
 * off at each side, and become the pads of the piece. If a span lies completely outside, the range
 * is empty. */
typedef struct
{
  CleaveRange range;
  gint64 clip_begin[CLEAVE_MAX_RANK], clip_end[CLEAVE_MAX_RANK];
} CleaveSlice;

/* The functions below check arguments of public functions: not NULL, a rank of at most
 * CLEAVE_MAX_RANK, and an element type that exists. */

static inline gboolean
cleave_shape_is_legal (const CleaveShape *shape)
{
  return shape != NULL && shape->rank <= CLEAVE_MAX_RANK;
}

static inline gboolean
cleave_range_is_legal (const CleaveRange *range)
{
  return range != NULL && range->rank <= CLEAVE_MAX_RANK;
}

/* Return the results of cleave_range_is_empty() and cleave_range_n_elements(), without a check of
 * the argument. Searches call these functions some ten million times. */
static inline gboolean
cleave_range_holds_none (const CleaveRange *range)
{
  for (guint d = 0; d < range->rank; d++)
    if (range->dim[d].begin >= range->dim[d].end)
      return TRUE;
  return FALSE;
}

static inline gint64
cleave_range_count (const CleaveRange *range)
{
  gint64 n = 1;

  for (guint d = 0; d < range->rank; d++)
    n *= MAX (range->dim[d].end - range->dim[d].begin, 0);
  return n;
}

static inline gboolean
cleave_element_is_legal (CleaveElement element)
{
  return (guint) element < CLEAVE_N_ELEMENTS;
}

static inline gboolean
cleave_tensor_type_is_legal (const CleaveTensorType *type)
{
  return type != NULL && cleave_element_is_legal (type->element) &&
         cleave_shape_is_legal (&type->shape);
}

/* The functions below return the maps of common ops. Each map belongs to one dimension of an
 * operand: for a span of dimension `from` of the result, the map gives the span of the operand that
 * the op reads. */

/* Returns a map from a span of the result to the equal span of the operand. */
static inline CleaveDimMap
cleave_dim_map_same (guint from)
{
  return (CleaveDimMap){ .from = from, .block = 1, .stride = 1, .window = 1, .times = 1 };
}

/* Returns a map from each span of the result to the whole dimension of the operand, which has
 * `extent` elements. */
static inline CleaveDimMap
cleave_dim_map_whole (gint64 extent)
{
  return (CleaveDimMap){ .block = 1, .window = extent, .times = 1 };
}

/* Returns a map from the span [b, e) of the result to [b + offset, e + offset) of the operand. */
static inline CleaveDimMap
cleave_dim_map_offset (guint from, gint64 offset)
{
  return (CleaveDimMap){
    .from = from, .block = 1, .stride = 1, .offset = offset, .window = 1, .times = 1
  };
}

/* Returns a map from a span of the result to the elements that the sliding windows of a convolution
 * or pooling read for it. */
static inline CleaveDimMap
cleave_dim_map_window (guint from, gint64 stride, gint64 pad, gint64 window)
{
  return (CleaveDimMap){
    .from = from, .block = 1, .stride = stride, .offset = -pad, .window = window, .times = 1
  };
}

/* Returns a map from groups to groups: the elements of group i of the result need all elements of
 * group i of the operand. A group has `block` consecutive elements in the result, and `window` in
 * the operand. */
static inline CleaveDimMap
cleave_dim_map_groups (guint from, gint64 block, gint64 window)
{
  return (
      CleaveDimMap){ .from = from, .block = block, .stride = window, .window = window, .times = 1 };
}

/* Returns a / b, rounded down. */
gint64 cleave_floor_div (gint64 a, gint64 b);
/* Applies a map to `spans`, the spans of a chunk of the result, without clipping. */
CleaveSpan cleave_dim_map_apply (const CleaveDimMap *map, const CleaveSpan *spans);
/* Applies the maps of all dimensions of an operand to a chunk of the result, and clips the mapped
 * range to the operand.
 */
CleaveSlice
cleave_slice_map (const CleaveDimMap *map, const CleaveRange *chunk, const CleaveShape *operand);
/* Applies the maps to n chunks of the same rank. Sets ranges[i] to the range of the operand that
 * chunk i needs, clipped to the operand. */
void cleave_ranges_map (const CleaveDimMap *map,
                        const CleaveRange *chunks,
                        guint n,
                        const CleaveShape *operand,
                        CleaveRange *ranges);
void cleave_range_map (const CleaveDimMap *map,
                       const CleaveRange *chunk,
                       const CleaveShape *operand,
                       CleaveRange *range);
gboolean cleave_span_equal (const CleaveSpan *a, const CleaveSpan *b);

/* Appends `range` minus `without` to `rest`, as disjoint ranges. */
void cleave_range_subtract (const CleaveRange *range, const CleaveRange *without, GArray *rest);
/* Returns `range` minus all `others`, as disjoint ranges. */
GArray *
cleave_range_subtract_all (const CleaveRange *range, const CleaveRange *others, guint n_others);
/* Convert a range of a value to indices relative to the begin of `frame`, another range of the
 * value. cleave_range_absolute() converts back to indices in the whole value. */
CleaveRange cleave_range_relative (const CleaveRange *range, const CleaveRange *frame);
CleaveRange cleave_range_absolute (const CleaveRange *range, const CleaveRange *frame);

/* Sets `both` to the smallest range that contains two disjoint ranges. Returns whether the two
 * ranges fill `both`. */
gboolean cleave_range_join (const CleaveRange *a, const CleaveRange *b, CleaveRange *both);
/* Compare two spans, or two ranges by the first dimension that differs: by begin, then by end. For
 * g_array_sort(). */
int cleave_span_compare (gconstpointer a, gconstpointer b);
int cleave_range_compare (const CleaveRange *a, const CleaveRange *b);

/* Hash and compare ranges, for GHashTable. */
guint cleave_range_hash (gconstpointer range);
gboolean cleave_ranges_equal (gconstpointer a, gconstpointer b);
