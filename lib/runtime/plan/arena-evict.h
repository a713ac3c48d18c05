/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "arena.h"

/* The last method of arena packing: packs the buffers of an arena into fewer bytes by eviction.
 * arena.c calls it if all its greedy orders need more bytes than the lower bound. */

typedef enum {
  CLEAVE_EVICT_LARGEST, /* places next the unplaced buffer with the largest product of its bytes and
                           its number of conflicts */
  CLEAVE_EVICT_EARLIEST, /* places next the unplaced buffer that is used first */
} CleaveEvictRule;

/* Packs all buffers into `capacity` bytes by evicting buffers, starting from `offsets`. Gives up at
 * its own limit, or when `n_visits` reaches 0; subtracts the visits that it used, where a visit
 * examines one conflict. `seed` decides between equally cheap offsets. Returns FALSE and keeps
 * `offsets` on failure. */
gboolean cleave_arena_evict (const CleaveArenaTask *task,
                             gint64 capacity,
                             CleaveEvictRule rule,
                             guint32 seed,
                             gint64 *n_visits,
                             gint64 *offsets);
