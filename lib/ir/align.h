/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Rounds `n_bytes`, at least 0, up to a multiple of `to`, at least 1. */
static inline gint64
cleave_align_up (gint64 n_bytes, gint64 to)
{
  return (n_bytes + to - 1) / to * to;
}

/* Returns a / b, rounded up; a is 0 or more, b is positive. a + b may exceed 64 bits. */
static inline gint64
cleave_ceil_div (gint64 a, gint64 b)
{
  return a / b + (a % b != 0);
}
