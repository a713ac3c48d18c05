/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Saturating arithmetic for counts of multiply-accumulates. A legal tensor has fewer than 2^63
 * bytes, but its elements times the length of a sum may overflow 64 bits. In this case, the count
 * is G_MAXINT64. The `macs` functions in lib/ops multiply this way, and the totals of a graph or
 * split add this way. */

#include <glib.h>

static inline gint64
cleave_saturated_add (gint64 a, gint64 b)
{
  gint64 sum;

  if (!__builtin_add_overflow (a, b, &sum))
    return sum;
  return b < 0 ? G_MININT64 : G_MAXINT64;
}

/* Returns a * b. Both factors must be at least 0. */
static inline gint64
cleave_saturated_mul (gint64 a, gint64 b)
{
  gint64 product;

  return __builtin_mul_overflow (a, b, &product) ? G_MAXINT64 : product;
}
