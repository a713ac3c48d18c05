/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "arena-fill.h"
#include "waits.h"

/* Finds when each buffer of a schedule is in use, and packs the arena. schedule-search.c calls
 * these functions for each schedule that it compares; the arena of the chosen schedule becomes part
 * of the memory plan (memory-plan.h). lifetimes.h finds the lifetimes, and placing.h packs the
 * buffers. */

/* The arena of a schedule: the offset of each buffer, and when the buffer is in use. */
typedef struct
{
  gint64 *offsets;  /* indexed by buffer: byte offset in the arena */
  gint64 n_bytes;   /* size of the arena in bytes */
  gint64 peak;      /* largest sum of bytes of buffers in use at once */
  guint *order;     /* indices of the buffers, sorted by first use in the schedule's order */
  CleaveWaits used; /* indexed by buffer: number of steps of each thread up to the thread's last use
                       of the buffer */
  guint *first; /* indexed by buffer: position in the schedule's order from which the buffer is in
                   use */
  guint *gone;  /* indexed by buffer: first position at which the buffer is no longer in use */
  GArray *fragments; /* CleaveFragment: the fragments of buffers with laps, sorted by buffer, with
                      * positions in the schedule's order; NULL: there are no laps */
  double slack; /* time in nanoseconds by which a thread may be late before another thread waits for
                 * memory that the late thread uses */
} CleaveArena;

void cleave_arena_init (CleaveArena *arena,
                        const CleaveStorage *storage,
                        const CleaveGraph *graph,
                        const CleaveSchedule *schedule);
/* Finds when each buffer is in use, and the peak, but places no buffer: `n_bytes` and all offsets
 * are 0. */
void cleave_arena_init_unplaced (CleaveArena *arena,
                                 const CleaveStorage *storage,
                                 const CleaveGraph *graph,
                                 const CleaveSchedule *schedule);
/* Lists the lifetimes of all buffers (CleaveArenaSpan), sorted by `first`. A buffer with laps has
 * several spans, one for each fragment. */
GArray *cleave_arena_list_spans (const CleaveArena *arena, const CleaveStorage *storage);
/* Returns the bytes of the arena that cleave_arena_init() makes for one thread. `spans` is the
 * result of cleave_arena_list_spans(). `peak` is the largest sum of bytes in use at once. */
gint64 cleave_arena_place_spans (const CleaveArenaSpan *spans, guint n, gint64 peak);
/* Plans the arena with slack: a thread may be late by `slack` nanoseconds before another thread
 * waits for memory that the late thread uses. Returns FALSE and changes nothing if the arena needs
 * more than `at_most` bytes. */
gboolean cleave_arena_init_with_slack (CleaveArena *arena,
                                       const CleaveStorage *storage,
                                       const CleaveGraph *graph,
                                       const CleaveSchedule *schedule,
                                       double slack,
                                       gint64 at_most);
/* Makes the arena with the given offsets, in `n_bytes` bytes. Returns FALSE if two buffers that are
 * in use at the same time overlap. */
gboolean cleave_arena_init_at (CleaveArena *arena,
                               const CleaveStorage *storage,
                               const CleaveGraph *graph,
                               const CleaveSchedule *schedule,
                               const gint64 *offsets,
                               gint64 n_bytes);
/* Moves buffers within the arena. A buffer moves to memory that its writing thread has used
 * before. */
void cleave_arena_keep_with_threads (CleaveArena *arena,
                                     const CleaveStorage *storage,
                                     const CleaveGraph *graph,
                                     const CleaveSchedule *schedule);
/* Returns the waits of all steps, for values and for reused memory. `left_out` is indexed by step.
 * TRUE: the step gets no waits for memory, since earlier steps have already waited for all memory
 * that the step uses. NULL: FALSE for all steps. */
CleaveWaits cleave_arena_find_waits (const CleaveArena *arena,
                                     const CleaveStorage *storage,
                                     const CleaveGraph *graph,
                                     const gboolean *left_out,
                                     const CleaveSchedule *schedule);
/* Returns the peak of a schedule of `task` in bytes, without making an arena. */
gint64 cleave_arena_get_peak (const CleaveScheduleTask *task, const CleaveSchedule *schedule);
void cleave_arena_clear (CleaveArena *arena);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveArena, cleave_arena_clear)
