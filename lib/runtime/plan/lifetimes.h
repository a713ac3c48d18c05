/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"
#include "waits.h"

/* The lifetimes of the buffers of a schedule: the positions in its order between which each buffer
 * is in use. liveness.c computes them, and placing.c turns them into the conflicts of arena
 * packing.
 *
 * A later buffer may reuse the memory of an earlier one if, by estimated times, all uses of the
 * earlier buffer end before the first use of the later one. Waits ensure this order in a run. The
 * waits cost no time if the estimates are right, and they keep a thread that is ahead from needing
 * more memory.
 *
 * Slack is time by which a thread may be late. The end of a use of the earlier buffer is certain if
 * the waits for values alone guarantee that the use ends before the later buffer is used. With
 * slack, memory is reused only if the slack has passed after each use whose end is not certain. A
 * thread may then be late by the slack before another thread waits for memory that the late thread
 * uses. */
typedef struct
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const CleaveSchedule *schedule;
  guint step, position;
  guint n_buffers;
  gint64 *n_bytes; /* indexed by buffer: its size in bytes */
  /* indexed by buffer: the first and the last use of the buffer, as positions in the schedule's
   * order of steps */
  guint *first, *last;
  guint *gone; /* indexed by buffer: first position in the schedule's order whose step begins after
                  all uses of the buffer have ended */
  guint *late; /* indexed by buffer: first position in the schedule's order whose step begins when
                  all uses of the buffer have ended and the slack has passed since then */
  GArray *fragments; /* CleaveFragment: the fragments of buffers with laps, sorted by buffer, with
                      * positions in place of steps; NULL: there are no laps */
  guint *fragment_begin; /* indexed by buffer: index of its first fragment; n_buffers + 1 entries;
                          * NULL: there are no laps */
  GArray *touches;       /* Touch: all uses of buffers, in the schedule's order */
  CleaveWaits used; /* indexed by buffer: number of steps of each thread up to the thread's last use
                       of the buffer */
  const guint *clock; /* indexed by thread: number of the thread's steps that are certainly done
                         when the current step begins */
  guint *done_at_use; /* indexed by [buffer][thread]: number of steps of the thread that are
                         certainly done when a step uses the buffer; NULL: there is no slack */
} CleaveLifetimes;

/* Finds the lifetimes of all buffers of the storage, graph and schedule in `l`. `slack`: time in
 * nanoseconds by which a thread may be late. */
void cleave_lifetimes_init (CleaveLifetimes *l, double slack);
void cleave_lifetimes_clear (CleaveLifetimes *l);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveLifetimes, cleave_lifetimes_clear)

/* Returns the number of fragments of a buffer; 0: the buffer has no laps. */
static inline guint
cleave_lifetimes_count_fragments (const CleaveLifetimes *l, guint buffer)
{
  return l->fragments == NULL ? 0 : l->fragment_begin[buffer + 1] - l->fragment_begin[buffer];
}

static inline const CleaveFragment *
cleave_lifetimes_get_fragment (const CleaveLifetimes *l, guint buffer, guint index)
{
  return &g_array_index (l->fragments, CleaveFragment, l->fragment_begin[buffer] + index);
}

/* Returns the largest sum of bytes of buffers in use at once. */
gint64 cleave_lifetimes_get_peak (const CleaveLifetimes *l);
/* Returns whether buffer `then` must not reuse the memory of buffer `first`, which is used
 * earlier. */
gboolean cleave_lifetimes_conflict (const CleaveLifetimes *l, guint first, guint then);
/* Returns the indices of the n buffers, sorted by their values in `keys` (indexed by buffer), for
 * example by the first position. */
guint *cleave_lifetimes_sort (const guint *keys, guint n);
