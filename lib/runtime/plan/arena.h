/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Arena packing sets the offset of each buffer in one block of memory. placing.c calls
 * cleave_arena_place() with the lifetimes of a schedule's buffers.
 *
 * This struct is the input: the buffers, and the pairs of buffers that may not share memory. Buffer
 * b conflicts with buffers conflicts[begin[b] … begin[b + 1] - 1]. Each pair of conflicting buffers
 * is listed twice, once for each buffer. Example: if buffer 1 conflicts with 0 and 2, then begin =
 * {0, 1, 3, 4} and conflicts = {1, 0, 2, 1}.
 *
 * If one of two buffers has fragments (memory/fragments.h), the two buffers may overlap in part.
 * Their entry in `conflicts` is then a number n_buffers + i; i is the index of a
 * CleaveArenaPartial. */

/* A conflict between a fragment of one buffer and a fragment of another buffer. Packing treats the
 * other buffer as if it occupied only the bytes [begin, end), relative to the offset of the other
 * buffer. `end` may be less than `begin`. The first buffer may then begin at `end` or above, or may
 * end at `begin` or below. */
typedef struct
{
  guint buffer; /* the other buffer */
  gint64 begin, end;
} CleaveArenaPartial;

typedef struct
{
  guint n_buffers;
  const gint64 *n_bytes;
  const guint *time; /* indexed by buffer: its rank in the order of first use */
  const guint *begin;
  const guint *conflicts;
  const CleaveArenaPartial *partials; /* NULL: no buffer has fragments */
  gboolean quick;                     /* TRUE: try fewer greedy orders, and evict no buffers */
} CleaveArenaTask;

/* Returns the bytes that the other buffer of a conflict occupies, relative to its offset. */
static inline CleaveArenaPartial
cleave_arena_get_partial (const CleaveArenaTask *task, guint conflict)
{
  return conflict < task->n_buffers ? (CleaveArenaPartial){ conflict, 0, task->n_bytes[conflict] }
                                    : task->partials[conflict - task->n_buffers];
}

/* Returns the largest number of conflicts of a buffer. Returns at least 1, so that no array of
 * conflicts is NULL. */
static inline guint
cleave_arena_count_most_conflicts (const CleaveArenaTask *task)
{
  guint most = 1;

  for (guint b = 0; b < task->n_buffers; b++)
    most = MAX (most, task->begin[b + 1] - task->begin[b]);
  return most;
}

/* If the smallest arena exceeds the lower bound by more than this factor, eviction (arena-evict.h)
 * makes a last attempt to pack the buffers into this factor times the lower bound.
 * A schedule with slack (liveness.h) may enlarge the arena to this factor times the peak. */
#define CLEAVE_ARENA_CLOSE 1.025

/* Sets the offset of each buffer, in bytes. Returns the bytes of the arena. `at_least` is the lower
 * bound, the most bytes of buffers in use at once; an arena of this size ends the search. */
gint64 cleave_arena_place (const CleaveArenaTask *task, gint64 at_least, gint64 *offsets);
