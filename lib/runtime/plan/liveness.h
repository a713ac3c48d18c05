/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "arena-sweep.h"
#include "waits.h"

/* Finds when each buffer of a schedule is in use, and has the arena packed accordingly. It stands
 * between the schedule (list-schedule.h) and packing (arena.h). */

/* The arena of a scheduled graph: the offsets of its buffers, and when each is in use. */
typedef struct
{
  gint64 *offsets;  /* indexed by buffer, in bytes */
  gint64 n_bytes;   /* size of the arena */
  gint64 peak;      /* largest sum of bytes of buffers in use at once */
  guint *order;     /* the buffers by first use in the schedule's order */
  CleaveWaits used; /* indexed by buffer: number of steps of each thread up to its last use */
  guint
      *first;  /* indexed by buffer: the position in the schedule's order from which it is in use */
  guint *gone; /* indexed by buffer: the first position at which it is no longer in use */
  double slack; /* nanoseconds that a thread may be late before others wait for its memory */
} CleaveArena;

void cleave_arena_init (CleaveArena *arena,
                        const CleaveStorage *storage,
                        const CleaveGraph *graph,
                        const CleaveSchedule *schedule);
/* Finds when each buffer is in use, and the peak, as cleave_arena_init() does, but places no
 * buffer: `n_bytes` and all offsets are 0. */
void cleave_arena_init_unplaced (CleaveArena *arena,
                                 const CleaveStorage *storage,
                                 const CleaveGraph *graph,
                                 const CleaveSchedule *schedule);
/* Returns the bytes of the arena that cleave_arena_init() finds for one thread, from the lifetimes
 * of the buffers (sorted by `first`) and their peak. */
gint64 cleave_arena_place_spans (const CleaveArenaSpan *spans, guint n, gint64 peak);
/* Plans the arena as cleave_arena_init() does, but threads may be late by `slack` nanoseconds
 * before other threads wait for their memory. Returns FALSE and changes nothing if the arena takes
 * more than `at_most` bytes. */
gboolean cleave_arena_init_with_slack (CleaveArena *arena,
                                       const CleaveStorage *storage,
                                       const CleaveGraph *graph,
                                       const CleaveSchedule *schedule,
                                       double slack,
                                       gint64 at_most);
/* Makes the arena from offsets that were found before, within `n_bytes`. Returns FALSE if two
 * buffers in use at once would overlap. */
gboolean cleave_arena_init_at (CleaveArena *arena,
                               const CleaveStorage *storage,
                               const CleaveGraph *graph,
                               const CleaveSchedule *schedule,
                               const gint64 *offsets,
                               gint64 n_bytes);
/* Moves buffers within the arena to where the threads that write them used memory before. */
void cleave_arena_keep_with_threads (CleaveArena *arena,
                                     const CleaveStorage *storage,
                                     const CleaveGraph *graph,
                                     const CleaveSchedule *schedule);
/* Returns the waits of all steps, for values and for reused memory. A step that is `left_out` uses
 * only memory that earlier steps use as well; NULL: none is. */
CleaveWaits cleave_arena_find_waits (const CleaveArena *arena,
                                     const CleaveStorage *storage,
                                     const CleaveGraph *graph,
                                     const gboolean *left_out,
                                     const CleaveSchedule *schedule);
/* Returns the peak in bytes of a schedule of `task`, without making an arena. */
gint64 cleave_arena_get_peak (const CleaveScheduleTask *task, const CleaveSchedule *schedule);
void cleave_arena_clear (CleaveArena *arena);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveArena, cleave_arena_clear)
