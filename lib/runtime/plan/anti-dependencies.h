/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "waits.h"

/* Anti-dependencies are waits for memory. Two buffers that are in use at different times may share
 * bytes of the arena. A step that uses the later buffer must wait for the steps that used the
 * earlier one.
 *
 * This struct describes the buffers of an arena. Buffers that are in use at the same time have
 * separate offsets. */
typedef struct
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const gint64 *offsets; /* indexed by buffer: byte offset in the arena */
  const guint *order;    /* indices of the buffers, sorted by first use in the schedule's order */
  const CleaveWaits
      *used; /* waits that end when all uses of a buffer have ended, listed by buffer */
  const gboolean
      *left_out; /* indexed by step: TRUE if the step uses only memory that earlier steps use as
                    well, so that it needs no wait for memory; NULL: FALSE for all steps */
} CleaveReuse;

/* Returns all waits of a schedule, for values and for memory. A step that uses a buffer waits for
 * all earlier users of the same memory, unless it is left out. */
CleaveWaits cleave_reuse_find_waits (const CleaveReuse *reuse, const CleaveSchedule *schedule);
