/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Places small buffers between large buffers, in one pass over time. placing.c calls
 * cleave_arena_fill() if too many buffers are in use at once for the search in arena.c: the search
 * then places only the large buffers. */

/* The lifetime of bytes of a buffer. The bytes are in use from position `first` of the schedule's
 * order to position `gone` - 1. */
typedef struct
{
  gint64 n_bytes;
  guint first, gone;
  guint buffer; /* the buffer in which the bytes are: all spans of one buffer move together */
  gint64 begin; /* offset in this buffer, in bytes */
} CleaveArenaSpan;

/* Sets `offsets` to the offsets of the buffers `spans`, each of which has one span. The buffers
 * must not use the spans `placed`, whose `begin` is an offset in the arena. Each buffer goes to the
 * begin of the smallest gap that is large enough during the life of the buffer (best fit). Both
 * arrays must be sorted by `first`. Returns the bytes of the arena that holds both.
 *
 * For n buffers, k of them in use at once, takes O(n · k) time: 0.03 s for 4,000 buffers that are
 * all in use at once. */
gint64 cleave_arena_fill (const CleaveArenaSpan *placed,
                          guint n_placed,
                          const CleaveArenaSpan *spans,
                          guint n,
                          gint64 *offsets);
