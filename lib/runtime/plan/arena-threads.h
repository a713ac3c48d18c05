/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "arena.h"
#include "list-schedule.h"

/* Runs after arena packing: exchanges places of buffers so that threads reuse memory that their own
 * core has in its cache. */

/* A range of bytes from the beginning of a buffer; empty if end <= begin. */
typedef struct
{
  gint64 begin, end;
} CleaveArenaReach;

/* The bytes of a buffer that one thread uses. */
typedef struct
{
  guint thread;
  CleaveArenaReach touched; /* read or written */
  CleaveArenaReach written;
} CleaveArenaShare;

/* The shares of buffer b are shares[begin[b] … begin[b + 1] - 1]. */
typedef struct
{
  guint *begin;
  CleaveArenaShare *shares;
} CleaveArenaThreads;

/* Collects the bytes of each buffer that each thread uses. `order` lists the storage's buffers by
 * first use; buffer b of the result is order[b]. `used` has the threads of each buffer of the
 * storage. */
void cleave_arena_threads_init (CleaveArenaThreads *threads,
                                const CleaveStorage *storage,
                                const CleaveGraph *graph,
                                const CleaveSchedule *schedule,
                                const guint *order,
                                const CleaveWaits *used);
void cleave_arena_threads_clear (CleaveArenaThreads *threads);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveArenaThreads, cleave_arena_threads_clear)

/* Moves each buffer to where the thread that writes it used the memory last, if that place is free.
 * Fetching memory from another core's cache takes several times as long as writing it. The size of
 * the arena does not change. */
void cleave_arena_move_to_threads (const CleaveArenaTask *task,
                                   const CleaveArenaThreads *threads,
                                   gint64 size,
                                   gint64 *offsets);
