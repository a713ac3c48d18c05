/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "view.h"

/* Copies elements between strided views. A copy is a nest of loops. The caller adds the loops in
 * any order, then they are sorted and merged. The two innermost loops decide how bytes are moved.
 *
 *   for i in n[0]: for j in n[1]: to[i * to[0] + j * to[1]] = from[i * from[0] + j * from[1]] */

/* Largest number of loops: a copy between two shapes has at most the dimensions of both. */
#define CLEAVE_MAX_LOOPS (2 * CLEAVE_MAX_RANK)

/* A nest of loops; loop 0 is the outermost. The steps `to` and `from` are in bytes. `size` is the
 * number of bytes that are moved at once: an element, or a run of elements of 2, 4 or 8 bytes. */
typedef struct
{
  guint rank;
  gint64 size;
  gint64 n[CLEAVE_MAX_LOOPS], to[CLEAVE_MAX_LOOPS], from[CLEAVE_MAX_LOOPS];
  gboolean streams; /* write with non-temporal stores, which bypass the cache */
} CleaveCopyLoops;

/* Runs the two innermost loops of a nest. The outer of these two loops has `n_outer` iterations. */
typedef void (*CleaveCopyInner) (const CleaveCopyLoops *loops,
                                 char *to,
                                 const char *from,
                                 gint64 n_outer);

/* Adds a loop of n iterations; steps are in elements. Together, the loops must write each element
 * of `to` once. */
void cleave_copy_loops_add (CleaveCopyLoops *loops, gint64 n, gint64 to_step, gint64 from_step);
/* Returns the loops that copy between views of the same shape. */
CleaveCopyLoops cleave_copy_loops_of_views (const CleaveView *to, const CleaveView *from);
/* Merges loops that continue each other, and replaces an innermost run of 2, 4 or 8 bytes by one
 * element. Call this function after all loops are added. */
void cleave_copy_loops_join (CleaveCopyLoops *loops);
/* Moves a loop from one position in the nest to another, and shifts the loops between. */
void cleave_copy_loops_move (CleaveCopyLoops *loops, guint from, guint to);
/* Joins the loops and copies. */
void cleave_copy_loops_run (CleaveCopyLoops *loops, gpointer to, gconstpointer from);

/* Copies between views that have the same number of elements but other shapes: element i of `from`
 * in row-major order becomes element i of `to`. */
void cleave_view_copy_reshaped (const CleaveView *to, const CleaveView *from);

/* copy-rows.c: cleave_copy_rows() copies an inner loop that is contiguous on both sides,
 * cleave_copy_lines() any inner loop, element by element. */
void cleave_copy_rows (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_rows);
void cleave_copy_lines (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer);
/* Copies n bytes with non-temporal stores, and prefetches the bytes that lie `ahead` bytes after
 * those that it copies. cleave_can_stream() must hold. */
void cleave_stream_row (char *to, const char *from, gint64 n, gint64 ahead);
/* Makes the bytes of earlier non-temporal stores visible to other threads. */
void cleave_stream_end (void);
/* copy-transposed.c: transposes. The inner loop is contiguous in `to`, the outer one in `from`. */
void
cleave_copy_transposed (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer);
/* Returns whether the loop `outer` and the innermost loop are a transposition that can be done in
 * vector registers. */
gboolean cleave_copy_can_transpose (const CleaveCopyLoops *loops, guint outer);

/* Deinterleaves n groups of m elements of `size` bytes: writes element j of group i to element i of
 * the array to[j]. Returns FALSE, and copies nothing, unless m is 4, `size` is 1, 2 or 4, and n
 * elements fill at least one vector of 16 bytes. */
gboolean cleave_copy_part (char *const *to, const char *from, gint64 n, guint m, gint64 size);

/* Distance of prefetches, in bytes. */
#define CLEAVE_STREAM_AHEAD 1024

/* Returns whether rows can be written with 16-byte non-temporal stores: the address, the step
 * between rows and the length of a row, in bytes, are multiples of 16. */
static inline gboolean
cleave_can_stream (gconstpointer to, gint64 stride, gint64 n)
{
  return ((gsize) to | (gsize) stride | (gsize) n) % 16 == 0;
}
