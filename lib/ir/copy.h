/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "view.h"

/* A copy as nested loops, whatever the dimensions of both sides are.  What moves data adds the
 * loops in any order; they are sorted, joined, and done at the speed of memory. */

/* Two shapes with the same elements have no more dimensions in common. */
#define CLEAVE_MAX_LOOPS (2 * CLEAVE_MAX_RANK)

/* Steps in bytes, outermost first; `size` is that of an element or of a short run that serves as
 * one. */
typedef struct
{
  guint rank;
  gint64 size;
  gint64 n[CLEAVE_MAX_LOOPS], to[CLEAVE_MAX_LOOPS], from[CLEAVE_MAX_LOOPS];
  gboolean streams; /* past the cache */
} CleaveCopyLoops;

/* Does the two innermost loops, the outer one of them `n_outer` times. */
typedef void (*CleaveCopyInner) (const CleaveCopyLoops *loops,
                                 char *to,
                                 const char *from,
                                 gint64 n_outer);

/* One more loop; steps in elements.  All of `to` is written once. */
void cleave_copy_loops_add (CleaveCopyLoops *loops, gint64 n, gint64 to_step, gint64 from_step);
/* Loops between views of the same shape. */
CleaveCopyLoops cleave_copy_loops_of_views (const CleaveView *to, const CleaveView *from);
/* Once all loops are there: neighbours become one, pairs an element. */
void cleave_copy_loops_join (CleaveCopyLoops *loops);
/* Brings a loop to another place in the nest; those between move up. */
void cleave_copy_loops_move (CleaveCopyLoops *loops, guint from, guint to);
/* Joins the loops and copies. */
void cleave_copy_loops_run (CleaveCopyLoops *loops, gpointer to, gconstpointer from);

/* Copies between shapes with as many elements, each in row-major order. */
void cleave_view_copy_reshaped (const CleaveView *to, const CleaveView *from);

/* copy-rows.c: runs on both sides; elements one by one. */
void cleave_copy_rows (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_rows);
void cleave_copy_lines (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer);
void cleave_stream_row (char *to, const char *from, gint64 n, gint64 ahead);
/* Nobody else sees what was streamed before this. */
void cleave_stream_end (void);
/* copy-turned.c: the inner loop is a run of `to`, the outer one of `from`. */
void cleave_copy_turned (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer);
/* Whether that is done a vector at a time. */
gboolean cleave_copy_can_turn (const CleaveCopyLoops *loops, guint outer);

/* n runs of m elements become m runs of n, each at `to` of its own; FALSE: it is done otherwise. */
gboolean cleave_copy_part (char *const *to, const char *from, gint64 n, guint m, gint64 size);

/* How many bytes are on their way from memory. */
#define CLEAVE_STREAM_AHEAD 1024

static inline gboolean
cleave_can_stream (gconstpointer to, gint64 stride, gint64 n)
{
  return ((gsize) to | (gsize) stride | (gsize) n) % 16 == 0;
}
