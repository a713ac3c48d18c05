/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-types.h>

/* Which part of one operand dimension a span [b, e) of dimension `from` of the result needs:
 *
 *   begin = floor ((b * times       + shift) / block) * stride + offset
 *   end   = floor (((e - 1) * times + shift) / block) * stride + offset + window
 *
 * `times` elements of the operand go with `block` of the result: a fraction in lowest terms or not,
 * whose numerator is 1 where the denominator is.
 * With a stride below 0 the operand is read backwards: b and e - 1 change places.  With stride 0,
 * the whole dimension, `from` is not read: a scalar has no dimension. */
typedef struct
{
  guint from;
  gint64 shift, block, stride, offset, window, times;
} CleaveDimMap;

/* A span may reach outside the operand; it is clipped, and what was cut off is kept.  Where nothing
 * of the operand is left, the range is empty. */
typedef struct
{
  CleaveRange range;
  gint64 clip_begin[CLEAVE_MAX_RANK], clip_end[CLEAVE_MAX_RANK];
} CleaveSlice;

/* What may cross the public border: there, and with no more than what is in it. */

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

/* As cleave_range_is_empty() and cleave_range_n_elements() have it, of what is legal: searches ask
 * some ten million times. */
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

static inline CleaveDimMap
cleave_dim_map_same (guint from)
{
  return (CleaveDimMap){ .from = from, .block = 1, .stride = 1, .window = 1, .times = 1 };
}

static inline CleaveDimMap
cleave_dim_map_whole (gint64 extent)
{
  return (CleaveDimMap){ .block = 1, .window = extent, .times = 1 };
}

static inline CleaveDimMap
cleave_dim_map_offset (guint from, gint64 offset)
{
  return (CleaveDimMap){
    .from = from, .block = 1, .stride = 1, .offset = offset, .window = 1, .times = 1
  };
}

static inline CleaveDimMap
cleave_dim_map_window (guint from, gint64 stride, gint64 pad, gint64 window)
{
  return (CleaveDimMap){
    .from = from, .block = 1, .stride = stride, .offset = -pad, .window = window, .times = 1
  };
}

/* `block` elements of the result come from `window` elements of the operand, group by group. */
static inline CleaveDimMap
cleave_dim_map_groups (guint from, gint64 block, gint64 window)
{
  return (
      CleaveDimMap){ .from = from, .block = block, .stride = window, .window = window, .times = 1 };
}

gint64 cleave_floor_div (gint64 a, gint64 b);
CleaveSpan cleave_dim_map_apply (const CleaveDimMap *map, const CleaveSpan *spans);
CleaveSlice
cleave_slice_map (const CleaveDimMap *map, const CleaveRange *chunk, const CleaveShape *operand);
/* The ranges alone, of several chunks of one rank. */
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

/* What is left of `range` when `without` is taken away, as disjoint boxes appended to `rest`. */
void cleave_range_subtract (const CleaveRange *range, const CleaveRange *without, GArray *rest);
/* Likewise of what lies in none of `others`. */
GArray *
cleave_range_subtract_all (const CleaveRange *range, const CleaveRange *others, guint n_others);
/* A range counted from the begin of another, and back. */
CleaveRange cleave_range_relative (const CleaveRange *range, const CleaveRange *frame);
CleaveRange cleave_range_absolute (const CleaveRange *range, const CleaveRange *frame);

/* Whether two ranges that do not overlap make a range: `both`. */
gboolean cleave_range_join (const CleaveRange *a, const CleaveRange *b, CleaveRange *both);
/* By begin, then by end, the first dimension first; of spans, for sorting. */
int cleave_span_compare (gconstpointer a, gconstpointer b);
int cleave_range_compare (const CleaveRange *a, const CleaveRange *b);

/* For tables by range. */
guint cleave_range_hash (gconstpointer range);
gboolean cleave_ranges_equal (gconstpointer a, gconstpointer b);
