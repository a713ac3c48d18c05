/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Packs an arena in one pass over time. liveness.c calls it if too many buffers are in use at once
 * for the search in arena.c. */

/* A buffer of `n_bytes` bytes that is in use from position `first` until before position `gone` of
 * the schedule's order. */
typedef struct
{
  gint64 n_bytes;
  guint first, gone;
} CleaveArenaSpan;

/* Sets the offset of each buffer, in the order of first use, to the smallest gap that holds the
 * buffer. Returns the bytes of the arena. `spans` must be sorted by `first`. Takes O(n log n) time
 * for n buffers. If few buffers are in use at once, cleave_arena_place() finds smaller arenas. */
gint64 cleave_arena_sweep (const CleaveArenaSpan *spans, guint n, gint64 *offsets);
