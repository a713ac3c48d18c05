/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What reductions have in common: dimensions that vanish, or stay with extent 1.  A set of
 * dimensions is a number with a bit for each. */

#include "../ir/range.h"
#include "reference.h"

/* Shape of `x` without `axes`. */
CleaveShape cleave_axes_shape (const CleaveShape *x, guint axes, gboolean keepdims);
/* Of x all of `axes`, and what is asked of the result in the other dimensions. */
void cleave_axes_maps (const CleaveShape *x, guint axes, gboolean keepdims, CleaveDimMap *map);
/* The result as a view of the rank of `x`, its axes with extent 1. */
CleaveView
cleave_axes_expand (const CleaveView *y, const CleaveShape *x, guint axes, gboolean keepdims);

/* A sum in 8 parts: element i belongs to part i mod 8, the parts are then put together in the fixed
 * order of CLEAVE_LANES_JOIN.  So a compiler can work on 8 elements at once, and the result depends
 * on the length alone.
 *
 * CLEAVE_LANES_FOLD (name, T, join) defines name (lane, x, at, n), which adds `n` elements, the
 * first of them element `at` of the whole. */
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
