/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Arena packing: gives each buffer an offset in one block of memory. This is the input: the
 * buffers, and which of them may not share memory. Buffer b conflicts with conflicts[begin[b] …
 * begin[b + 1] - 1]; each pair is listed for both buffers. */
typedef struct
{
  guint n_buffers;
  const gint64 *n_bytes;
  const guint *time; /* indexed by buffer: rank by first use */
  const guint *begin;
  const guint *conflicts;
  gboolean quick; /* stop the search for a smaller arena early */
} CleaveArenaTask;

/* An arena within this factor of the lower bound is good enough if the bound itself is out of
 * reach. */
#define CLEAVE_ARENA_CLOSE 1.025

/* Gives each buffer an offset. Returns the bytes of the arena. `at_least` is a lower bound, the
 * largest sum of buffers in use at once; the search ends when it reaches that. */
gint64 cleave_arena_place (const CleaveArenaTask *task, gint64 at_least, gint64 *offsets);
