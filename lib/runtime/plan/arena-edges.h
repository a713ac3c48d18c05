/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Sorts the begins and ends of buffers in the arena. The packing in arena.c and arena-evict.c scans
 * the sorted edges to find gaps between buffers that conflict with the current buffer. Example:
 * edges at 64, 0 and 32 become 0, 32, 64. */

/* The begin or the end of a buffer in the arena, at byte offset `at`. In `value`, arena.c stores
 * the buffer's end, and arena-evict.c stores the price of evicting the buffer. */
typedef struct
{
  gint64 at;
  gint64 value;
  guint buffer;
} CleaveArenaEdge;

/* Sorts n edges by `at`. The sort is stable. `scratch` has memory for n edges. Takes time linear in
 * n, and less if the edges are nearly sorted. */
void cleave_arena_sort_edges (CleaveArenaEdge *edges, CleaveArenaEdge *scratch, guint n);
