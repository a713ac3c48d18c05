/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shapes, maps and sums of reductions. The axes of a reduction are removed from the shape, or kept
 * with extent 1. A set of axes is a bit mask: bit d stands for dimension d. The reference kernels
 * of reductions, Softmax, norms and moments use this header. Their fast kernels also use it, since
 * they must add in the same order.
 *
 *   ReduceSum of [2, 3, 4] along axes 0b110: keepdims gives [2, 1, 1], without keepdims [2] */

#include "../ir/range.h"
#include "reference.h"

/* Returns the shape of the result if `axes` of a value of shape x are reduced. */
CleaveShape cleave_axes_shape (const CleaveShape *x, guint axes, gboolean keepdims);
/* Sets the maps of operand x. A piece reads the whole extent of x along each axis. In every other
 * dimension, a piece reads the same span of x as it computes of the result. */
void cleave_axes_maps (const CleaveShape *x, guint axes, gboolean keepdims, CleaveDimMap *map);
/* Returns a view of the result `y` with the rank of x. In the view, each reduced dimension has
 * extent 1. */
CleaveView
cleave_axes_expand (const CleaveView *y, const CleaveShape *x, guint axes, gboolean keepdims);

/* A sum in 8 lanes (partial sums): element i is added to lane i mod 8, and CLEAVE_LANES_JOIN adds
 * up the lanes in a fixed order. So the compiler can add 8 elements at once, and all kernels
 * compute the same bits.
 *
 * CLEAVE_LANES_FOLD (name, T, join) defines the function name (lane, x, at, n). The function adds
 * the n elements of x to the lanes; x[0] is element `at` of the sum. `join` is a function that adds
 * two numbers of type T, or combines them in another way, for example to their maximum. */
#define CLEAVE_N_LANES 8

#define CLEAVE_LANES_FOLD(name, T, join)                                                           \
  static void name (T *lane, const T *x, gint64 at, gint64 n)                                      \
  {                                                                                                \
    gint64 i = 0;                                                                                  \
                                                                                                   \
    for (; i < n && (at + i) % CLEAVE_N_LANES != 0; i++)                                           \
      lane[(at + i) % CLEAVE_N_LANES] = join (lane[(at + i) % CLEAVE_N_LANES], x[i]);              \
    for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)                                           \
      for (gint64 j = 0; j < CLEAVE_N_LANES; j++)                                                  \
        lane[j] = join (lane[j], x[i + j]);                                                        \
    for (; i < n; i++)                                                                             \
      lane[(at + i) % CLEAVE_N_LANES] = join (lane[(at + i) % CLEAVE_N_LANES], x[i]);              \
  }

#define CLEAVE_LANES_JOIN(lane, join)                                                              \
  join (join (join (lane[0], lane[1]), join (lane[2], lane[3])),                                   \
        join (join (lane[4], lane[5]), join (lane[6], lane[7])))
