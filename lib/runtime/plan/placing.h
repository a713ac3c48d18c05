/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "arena.h"
#include "lifetimes.h"

/* Places the buffers of a schedule in an arena: finds conflicts in the lifetimes (lifetimes.h), and
 * passes them to the packing in arena.h. liveness.c uses the offsets. */

/* This struct is the input of cleave_arena_place(): the buffers sorted by first use, and the pairs
 * of buffers that may not share memory. */
typedef struct
{
  CleaveArenaTask task;
  guint *begin, *conflicts, *time;
  CleaveArenaPartial *partials;
  gint64 *n_bytes, *offsets;
} CleavePlacing;

/* Fills the input of cleave_arena_place() for the n buffers `order`, sorted by first use. Returns
 * FALSE if, on average, more than 256 of them are in use at once: listing all conflicts takes too
 * long. */
gboolean
cleave_placing_init (CleavePlacing *p, const CleaveLifetimes *l, const guint *order, guint n);
void cleave_placing_clear (CleavePlacing *p);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleavePlacing, cleave_placing_clear)

/* Places the n buffers `order` in the smallest arena that cleave_arena_place() finds, and sets
 * their entries in `offsets`, which is indexed by buffer. `quick` TRUE: tries fewer orders of the
 * buffers, which takes less time. Returns the bytes of the arena; -1 if cleave_placing_init() would
 * return FALSE. */
gint64 cleave_placing_pack (gint64 *offsets,
                            const CleaveLifetimes *l,
                            const guint *order,
                            guint n,
                            gint64 at_least,
                            gboolean quick);
/* Places all buffers with cleave_placing_pack(). If too many buffers are in use at once,
 * cleave_placing_pack() places only the large buffers. cleave_arena_fill() then places the small
 * buffers between the large buffers. Returns the bytes of the arena. */
gint64 cleave_placing_place (gint64 *offsets,
                             const CleaveLifetimes *l,
                             const guint *order,
                             gint64 at_least);
