/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Fast arena packing in one pass over time. liveness.c uses it if too many buffers are in use at
 * once for the search in arena.c. */

/* A buffer, in use from position `first` until before position `gone`. */
typedef struct
{
  gint64 n_bytes;
  guint first, gone;
} CleaveArenaSpan;

/* Gives each buffer an offset, in the order of first use, in the smallest gap that holds it.
 * Returns the bytes of the arena. `spans` is sorted by `first`. Takes O(n log n), however many
 * buffers are in use at once. cleave_arena_place() finds smaller arenas if few buffers are in use
 * at once. */
gint64 cleave_arena_sweep (const CleaveArenaSpan *spans, guint n, gint64 *offsets);
