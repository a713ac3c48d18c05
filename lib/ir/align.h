/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Rounds `n_bytes`, at least 0, up to a multiple of `to`, at least 1. */
static inline gint64
cleave_align_up (gint64 n_bytes, gint64 to)
{
  return (n_bytes + to - 1) / to * to;
}
