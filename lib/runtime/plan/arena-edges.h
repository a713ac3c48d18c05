/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Where a buffer begins or ends, and what goes with that: its other end, or a price. */
typedef struct
{
  gint64 at;
  gint64 value;
  guint buffer;
} CleaveArenaEdge;

/* From low to high; those at one place stay as they were.  `scratch` has room for as many.  Cost:
 * linear, and less where they are nearly sorted. */
void cleave_arena_sort_edges (CleaveArenaEdge *edges, CleaveArenaEdge *scratch, guint n);
