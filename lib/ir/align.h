/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Integer division that rounds up. Planners of memory (lib/memory, lib/bundle) round offsets and
 * sizes up to an alignment: cleave_align_up (70, 64) is 128. The split passes (passes/split) count
 * chunks of a given size: cleave_ceil_div (10, 4) is 3. */

#include <glib.h>

/* Rounds `n_bytes`, at least 0, up to a multiple of `to`, at least 1. */
static inline gint64
cleave_align_up (gint64 n_bytes, gint64 to)
{
  return (n_bytes + to - 1) / to * to;
}

/* Returns a / b, rounded up; a is 0 or more, b is positive. The result is also correct if a + b
 * exceeds 64 bits. */
static inline gint64
cleave_ceil_div (gint64 a, gint64 b)
{
  return a / b + (a % b != 0);
}
