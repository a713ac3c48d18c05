/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Resize along one dimension: the elements of the operand that an element of the result
 * interpolates between (its taps), and their weights. */

#include "../ir/op.h"
#include "../ir/view.h"

/* The parameters of the resize along one dimension. A piece computes the positions of the whole
 * node. */
typedef struct
{
  const CleaveResizeAttrs *attrs;
  gint64 from, to;         /* extents of the operand and the result */
  gint64 all_from, all_to; /* for a piece: the extents of the whole node */
  gint64 begin;            /* index of the operand's first element in the whole operand */
  double scale;
  gint64 factor;     /* the scale if it is an integer, else 0 */
  gboolean half;     /* map centers of elements to centers, instead of begins to begins */
  gint64 phase;      /* index of the result's first element in the whole result */
  double length;     /* exact length of the result, which is rounded down to an extent */
  double start, end; /* the region, as fractions of the operand */
  /* Element i is at the position (i * times + shift) / block; block is 0 if no integers give it. */
  gint64 times, shift, block;
} CleaveResizeAxis;

/* The taps of an element of the result: indices and weights of n elements of the operand. `outside`
 * is set if the position is outside of the region. */
typedef struct
{
  guint n;
  gboolean outside;
  gint64 at[4];
  double weight[4];
} CleaveResizeTaps;

CleaveResizeAxis
cleave_resize_axis (const CleaveResizeAttrs *attrs, guint d, gint64 from, gint64 to);
/* Returns the taps of element `at` of the result. */
CleaveResizeTaps cleave_resize_taps (const CleaveResizeAxis *axis, gint64 at);
/* Returns the taps of all elements of the result. Free with g_free(). */
CleaveResizeTaps *cleave_resize_new_taps (const CleaveResizeAxis *axis);
/* Returns the largest number of taps of n elements. */
guint cleave_resize_most_taps (const CleaveResizeTaps *taps, gint64 n);
/* Returns the dimension that is contiguous in both x and y and is not resized, or the rank if there
 * is none. */
guint cleave_resize_find_channels (const CleaveResizeAttrs *attrs,
                                   const CleaveView *x,
                                   const CleaveView *y);
