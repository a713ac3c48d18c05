/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "waits.h"

/* Buffers that lie in an arena, those in use at once apart. */
typedef struct
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const gint64 *offsets;    /* of each buffer */
  const guint *order;       /* the buffers by first use, in the schedule's order */
  const CleaveWaits *used;  /* of each buffer, by thread: steps of it up to its last use */
  const gboolean *left_out; /* of each step: it uses no memory but what others before it use; NULL:
                               no step does */
} CleaveReuse;

/* What steps of a schedule wait for, if every step, but for those left out, that uses a buffer
 * waits for all that used its memory before. */
CleaveWaits cleave_reuse_find_waits (const CleaveReuse *reuse, const CleaveSchedule *schedule);
