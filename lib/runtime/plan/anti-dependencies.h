/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "waits.h"

/* Finds anti-dependencies: waits for memory. Two buffers that are in use at different times may
 * share bytes of the arena. A step that uses the later buffer must wait for the steps that used the
 * earlier one. liveness.c calls cleave_reuse_find_waits() after the arena is packed; a run waits as
 * the result says.
 *
 * Example: buffers a and b both occupy bytes [0, 4096). Thread 0 uses a in its steps 0 to 4, and
 * thread 1 uses b from its step 7 on. Then step 7 of thread 1 waits until thread 0 has run 5 steps.
 *
 * This struct describes the buffers of an arena. Buffers that are in use at the same time have
 * separate bytes. */
typedef struct
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const gint64 *offsets; /* indexed by buffer: byte offset in the arena */
  const guint *order;    /* indices of the buffers, sorted by first use in the schedule's order */
  /* indexed by buffer: waits that end when all uses of the buffer have ended */
  const CleaveWaits *used;
  /* indexed by step: TRUE if the step needs no waits for memory, since earlier steps have already
   * waited for all memory that the step uses; NULL: FALSE for all steps */
  const gboolean *left_out;
} CleaveReuse;

/* Returns all waits of a schedule, for values and for memory. A step that uses a buffer waits for
 * all earlier users of the same memory, unless the step is in `left_out`. */
CleaveWaits cleave_reuse_find_waits (const CleaveReuse *reuse, const CleaveSchedule *schedule);
