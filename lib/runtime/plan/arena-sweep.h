/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Packs an arena in one pass over time. placing.c calls cleave_arena_sweep() if too many buffers
 * are in use at once for the search in arena.c. The sweep finds larger arenas than the search; for
 * 4,000 buffers in use at once, it takes 2 ms instead of a second. */

/* The lifetime of a buffer of `n_bytes` bytes. The buffer is in use from position `first` of the
 * schedule's order to position `gone` - 1. */
typedef struct
{
  gint64 n_bytes;
  guint first, gone;
  guint buffer; /* the buffer in which the bytes are: all spans of one buffer move together; the
                 * sweep does not read `buffer` and `begin` */
  gint64 begin; /* offset in this buffer, in bytes */
} CleaveArenaSpan;

/* Places the buffers in the order of first use, and stores their offsets in `offsets`. Each buffer
 * goes to the begin of the smallest gap that is large enough. Returns the bytes of the arena.
 * `spans` must be sorted by `first`. Takes O(n log n) time for n buffers. If few buffers are in use
 * at once, cleave_arena_place() finds smaller arenas. */
gint64 cleave_arena_sweep (const CleaveArenaSpan *spans, guint n, gint64 *offsets);
