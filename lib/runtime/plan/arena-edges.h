/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Sorted begins and ends of buffers in the arena, which the packing in arena.c and arena-evict.c
 * scans to find gaps. */

/* The begin or the end of a buffer in the arena. `value` is the other end of the buffer, or the
 * price of evicting it. */
typedef struct
{
  gint64 at;
  gint64 value;
  guint buffer;
} CleaveArenaEdge;

/* Sorts edges by `at`. The sort is stable. `scratch` has room for n edges. The time is linear, and
 * less if they are nearly sorted. */
void cleave_arena_sort_edges (CleaveArenaEdge *edges, CleaveArenaEdge *scratch, guint n);
