/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Where in one dimension of the operand an element of a Resize comes from. */

#include "../ir/op.h"
#include "../ir/view.h"

/* How one dimension is resized. */
typedef struct
{
  const CleaveResizeAttrs *attrs;
  gint64 from, to;         /* extents */
  gint64 all_from, all_to; /* of the node that this is a piece of, or the same */
  gint64 begin;            /* where in that node's operand this one begins */
  double scale;
  gint64 factor;     /* a whole number; 0: none */
  gboolean half;     /* the middles of elements are mapped to each other, not their begins */
  gint64 phase;      /* number of elements of the resize that come before */
  double length;     /* of the result, before it is rounded down */
  double start, end; /* of the region, as parts of the operand */
  /* Element i is taken from (i * times + shift) / block; block 0: there are no such integers. */
  gint64 times, shift, block;
} CleaveResizeAxis;

/* The elements of one dimension that make up an element of the result, and how much of each. */
typedef struct
{
  guint n;
  gboolean outside;
  gint64 at[4];
  double weight[4];
} CleaveResizeTaps;

CleaveResizeAxis
cleave_resize_axis (const CleaveResizeAttrs *attrs, guint d, gint64 from, gint64 to);
/* Those of element `at` of the result. */
CleaveResizeTaps cleave_resize_taps (const CleaveResizeAxis *axis, gint64 at);
/* Those of all elements of the result; free with g_free(). */
CleaveResizeTaps *cleave_resize_new_taps (const CleaveResizeAxis *axis);
/* The most that one of n elements has. */
guint cleave_resize_most_taps (const CleaveResizeTaps *taps, gint64 n);
/* The dimension whose elements lie side by side on both sides, and stay; the rank: there is none.
 */
guint cleave_resize_find_channels (const CleaveResizeAttrs *attrs,
                                   const CleaveView *x,
                                   const CleaveView *y);
