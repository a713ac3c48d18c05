/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"

/* Lists the buffers that each step uses, so that the scheduler can keep live memory below a
 * budget. */

/* The buffers that step s uses are touched[begin[s] … begin[s + 1] - 1]. */
typedef struct
{
  const CleaveStorage *storage;
  guint *begin;
  GArray *touched;
  gint64 *n_bytes; /* indexed by buffer: its size in bytes */
  guint *seen;     /* indexed by buffer: 1 + the last step that used it; 0: none */
  guint step;
} CleaveTouches;

void cleave_touches_init (CleaveTouches *t, const CleaveStorage *storage, const CleaveGraph *graph);
void cleave_touches_clear (CleaveTouches *t);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveTouches, cleave_touches_clear)
