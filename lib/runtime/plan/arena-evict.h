/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "arena.h"

typedef enum {
  CLEAVE_EVICT_LARGEST,  /* of what has no place, the largest in bytes and time goes next */
  CLEAVE_EVICT_EARLIEST, /* the one that is used first */
} CleaveEvictRule;

/* Tries to make buffers that lie anywhere fit into `capacity`, giving up after a while, or when
 * `n_visits` of a conflict, from which its own are taken, are used up.  Each seed tries other
 * places where several are as good.  FALSE: the offsets are as they were. */
gboolean cleave_arena_evict (const CleaveArenaTask *task,
                             gint64 capacity,
                             CleaveEvictRule rule,
                             guint32 seed,
                             gint64 *n_visits,
                             gint64 *offsets);
