/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "waits.h"

/* Where the buffers of a scheduled graph lie in its arena. */
typedef struct
{
  gint64 *offsets;  /* of each buffer */
  gint64 n_bytes;   /* of the arena */
  gint64 peak;      /* largest sum of bytes of buffers in use at once */
  guint *order;     /* the buffers by first use, in the schedule's order */
  CleaveWaits used; /* of each buffer, by thread: steps of the thread up to its last use */
  guint *first;     /* of each buffer: the position in the schedule's order that it is there from */
  guint *gone;      /* of each buffer: the first position at which it is no longer there */
  double slack;     /* nanoseconds that threads may be behind before others wait for their memory */
} CleaveArena;

void cleave_arena_init (CleaveArena *arena,
                        const CleaveStorage *storage,
                        const CleaveGraph *graph,
                        const CleaveSchedule *schedule);
/* The same, but that threads may be behind by `slack` nanoseconds before others wait for their
 * memory.  FALSE: that takes more than `at_most` bytes, and nothing has changed. */
gboolean cleave_arena_init_with_slack (CleaveArena *arena,
                                       const CleaveStorage *storage,
                                       const CleaveGraph *graph,
                                       const CleaveSchedule *schedule,
                                       double slack,
                                       gint64 at_most);
/* Where it was found that they lie, within `n_bytes`.  FALSE: two that are in use at once would
 * overlap. */
gboolean cleave_arena_init_at (CleaveArena *arena,
                               const CleaveStorage *storage,
                               const CleaveGraph *graph,
                               const CleaveSchedule *schedule,
                               const gint64 *offsets,
                               gint64 n_bytes);
/* Moves buffers, within the arena, to where the threads that write them had memory before. */
void cleave_arena_keep_with_threads (CleaveArena *arena,
                                     const CleaveStorage *storage,
                                     const CleaveGraph *graph,
                                     const CleaveSchedule *schedule);
/* What steps wait for: where memory is used again, for those that used it before.  Steps that are
 * `left_out`, if any, use no memory but what others before them use. */
CleaveWaits cleave_arena_find_waits (const CleaveArena *arena,
                                     const CleaveStorage *storage,
                                     const CleaveGraph *graph,
                                     const gboolean *left_out,
                                     const CleaveSchedule *schedule);
/* The peak alone, as the schedule of a task is. */
gint64 cleave_arena_get_peak (const CleaveScheduleTask *task, const CleaveSchedule *schedule);
void cleave_arena_clear (CleaveArena *arena);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveArena, cleave_arena_clear)
