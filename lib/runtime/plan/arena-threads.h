/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "arena.h"
#include "list-schedule.h"

/* Exchanges offsets of buffers so that a thread reuses memory that is in the cache of its own core.
 * cleave_arena_keep_with_threads() calls these functions after arena packing, if the schedule has
 * several threads. Example: thread 1 writes buffer c at offset 0, which thread 0 used last, while
 * thread 1 itself used offset 4096 last. If both offsets are free for c, c moves to 4096. */

/* A range of bytes of a buffer, counted from the buffer's begin. Empty if end <= begin. */
typedef struct
{
  gint64 begin, end;
} CleaveArenaReach;

/* The bytes of a buffer that thread `thread` uses. */
typedef struct
{
  guint thread;
  /* smallest range that contains all bytes that the thread reads or writes */
  CleaveArenaReach touched;
  CleaveArenaReach written;
} CleaveArenaShare;

/* The threads that use each buffer: buffer b has shares[begin[b] … begin[b + 1] - 1]. */
typedef struct
{
  guint *begin;
  CleaveArenaShare *shares;
} CleaveArenaThreads;

/* Finds, for each buffer, the threads that use the buffer, and the range of bytes that each thread
 * uses. `order` lists the buffers of the storage by first use. Buffer b of `threads` is buffer
 * order[b] of the storage. `used` gives the threads that use each buffer of the storage. */
void cleave_arena_threads_init (CleaveArenaThreads *threads,
                                const CleaveStorage *storage,
                                const CleaveGraph *graph,
                                const CleaveSchedule *schedule,
                                const guint *order,
                                const CleaveWaits *used);
void cleave_arena_threads_clear (CleaveArenaThreads *threads);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveArenaThreads, cleave_arena_threads_clear)

/* Moves buffers within the arena, which stays `size` bytes large. A buffer may move to any offset
 * that is free while the buffer is in use. A buffer moves if more of its bytes at the new offset
 * were last used by the thread that writes the buffer. Fetching memory from another core's cache
 * takes several times as long as writing it. */
void cleave_arena_move_to_threads (const CleaveArenaTask *task,
                                   const CleaveArenaThreads *threads,
                                   gint64 size,
                                   gint64 *offsets);
