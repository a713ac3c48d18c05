/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A buffer, and when it is in use: from `first` until before `gone`. */
typedef struct
{
  gint64 n_bytes;
  guint first, gone;
} CleaveArenaSpan;

/* Gives each buffer an offset, in the order of their first use, in the smallest gap that holds it;
 * returns the bytes that all of them take.  `spans` is sorted by `first`.  Cost: n log n, however
 * many are in use at once; cleave_arena_place() finds smaller arenas where these are few. */
gint64 cleave_arena_sweep (const CleaveArenaSpan *spans, guint n, gint64 *offsets);
