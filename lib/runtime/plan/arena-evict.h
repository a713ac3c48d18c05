/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "arena.h"

/* The last method of arena packing: packs the buffers of an arena into fewer bytes by eviction.
 * arena.c calls cleave_arena_evict() if all its greedy orders need more bytes than the lower bound.
 * This enum selects the unplaced buffer that is placed next. */

typedef enum {
  CLEAVE_EVICT_LARGEST,  /* the unplaced buffer with the largest product of its bytes and its number
                            of conflicts */
  CLEAVE_EVICT_EARLIEST, /* the unplaced buffer that is used first */
} CleaveEvictRule;

/* Packs all buffers into `capacity` bytes by evicting buffers, starting from `offsets`. Subtracts
 * the number of conflicts that it examines from `n_visits`, and gives up when `n_visits` reaches 0,
 * or after a smaller limit of its own. `seed` decides between equally cheap offsets. Returns FALSE
 * and keeps `offsets` on failure. */
gboolean cleave_arena_evict (const CleaveArenaTask *task,
                             gint64 capacity,
                             CleaveEvictRule rule,
                             guint32 seed,
                             gint64 *n_visits,
                             gint64 *offsets);
