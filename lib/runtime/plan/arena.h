/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Arena packing sets the offset of each buffer in one block of memory. placing.c calls
 * cleave_arena_place() with the lifetimes of a schedule's buffers.
 *
 * This struct is the input: the buffers, and the pairs of buffers that may not share memory. Buffer
 * b conflicts with buffers conflicts[begin[b] … begin[b + 1] - 1]. Each pair of conflicting buffers
 * is listed twice, once for each buffer. Example: if buffer 1 conflicts with 0 and 2, then begin =
 * {0, 1, 3, 4} and conflicts = {1, 0, 2, 1}. */
typedef struct
{
  guint n_buffers;
  const gint64 *n_bytes;
  const guint *time; /* indexed by buffer: its rank in the order of first use */
  const guint *begin;
  const guint *conflicts;
  gboolean quick; /* TRUE: try fewer greedy orders, and evict no buffers */
} CleaveArenaTask;

/* If the smallest arena exceeds the lower bound by more than this factor, eviction (arena-evict.h)
 * makes a last attempt to pack the buffers into this factor times the lower bound.
 * A schedule with slack (liveness.h) may enlarge the arena to this factor times the peak. */
#define CLEAVE_ARENA_CLOSE 1.025

/* Sets the offset of each buffer, in bytes. Returns the bytes of the arena. `at_least` is the lower
 * bound, the most bytes of buffers in use at once; an arena of this size ends the search. */
gint64 cleave_arena_place (const CleaveArenaTask *task, gint64 at_least, gint64 *offsets);
