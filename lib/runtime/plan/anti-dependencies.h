/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "waits.h"

/* Anti-dependencies: waits for memory. Two buffers that are in use at different times may share
 * bytes of the arena. A step that uses the later buffer must wait for the steps that used the
 * earlier one.
 *
 * The buffers of an arena, those in use at once at separate offsets. */
typedef struct
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const gint64 *offsets; /* indexed by buffer, in bytes */
  const guint *order;    /* the buffers by first use in the schedule's order */
  const CleaveWaits
      *used; /* indexed by buffer: number of steps of each thread up to its last use */
  const gboolean *left_out; /* indexed by step: it uses only memory that earlier steps use as well;
                               NULL: no step does */
} CleaveReuse;

/* Returns all waits of a schedule. A step that uses a buffer waits for all earlier users of the
 * same memory, unless it is left out. */
CleaveWaits cleave_reuse_find_waits (const CleaveReuse *reuse, const CleaveSchedule *schedule);
