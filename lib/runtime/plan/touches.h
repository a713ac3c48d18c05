/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"

/* Lists the buffers that each step uses. schedule-search.c passes the lists to the scheduler
 * (list-schedule.h), which adds up live buffers to stay below a memory budget. Example: step 0 uses
 * buffer 0, and step 1 uses buffers 0 and 1: begin = {0, 1, 3}, touched = {0, 0, 1}. */

/* The buffers that step s uses are touched[begin[s] … begin[s + 1] - 1]. */
typedef struct
{
  const CleaveStorage *storage;
  guint *begin;
  GArray *touched;
  gint64 *n_bytes; /* indexed by buffer: its size in bytes */
  guint *seen;     /* indexed by buffer: 1 + the number of the last step that used the buffer; 0: no
                      step so far */
  guint step;
} CleaveTouches;

void cleave_touches_init (CleaveTouches *t, const CleaveStorage *storage, const CleaveGraph *graph);
void cleave_touches_clear (CleaveTouches *t);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveTouches, cleave_touches_clear)
