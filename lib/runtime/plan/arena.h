/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Buffers and which of them may not share memory: buffer b and each of conflicts[begin[b] … begin[b
 * + 1] - 1], told on both sides. */
typedef struct
{
  guint n_buffers;
  const gint64 *n_bytes;
  const guint *time; /* rank of the buffer's first use */
  const guint *begin;
  const guint *conflicts;
  gboolean quick; /* it is enough to try a little */
} CleaveArenaTask;

/* What is good enough, where the bound itself is out of reach. */
#define CLEAVE_ARENA_CLOSE 1.025

/* Gives each buffer an offset; returns the bytes that all of them take.  No search can come below
 * `at_least`, the largest sum of bytes of buffers that are in use at once; it ends when it gets
 * there. */
gint64 cleave_arena_place (const CleaveArenaTask *task, gint64 at_least, gint64 *offsets);
