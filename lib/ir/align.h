/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Rounds a number of bytes up to a multiple of `to`. Both must be positive or 0, and `to` not 0. */
static inline gint64
cleave_align_up (gint64 n_bytes, gint64 to)
{
  return (n_bytes + to - 1) / to * to;
}
