/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "arena.h"

/* Last resort of arena packing: squeezes a packed arena into fewer bytes. arena.c calls it if its
 * greedy orders miss the lower bound. */

typedef enum {
  CLEAVE_EVICT_LARGEST,  /* places next the unplaced buffer with the largest product of bytes
                            and conflicts */
  CLEAVE_EVICT_EARLIEST, /* places next the unplaced buffer that is used first */
} CleaveEvictRule;

/* Packs buffers into an arena of `capacity` bytes by evicting others, starting from `offsets`.
 * Gives up after a limit of its own, or when `n_visits` are used up (a visit looks at one conflict;
 * those used are subtracted). `seed` decides between equally good places. Returns FALSE and keeps
 * the offsets on failure. */
gboolean cleave_arena_evict (const CleaveArenaTask *task,
                             gint64 capacity,
                             CleaveEvictRule rule,
                             guint32 seed,
                             gint64 *n_visits,
                             gint64 *offsets);
