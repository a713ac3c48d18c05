/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Copies elements between strided views, for cleave_view_copy() and for the kernels that only move
 * elements, such as Reshape and Tile. A copy is a nest of loops. The caller adds the loops in any
 * order; then cleave_copy_loops_run() sorts, merges and runs the loops. The two innermost loops
 * decide how bytes are moved (copy-rows.c, copy-transposed.c).
 *
 * Example: a nest of two loops. `target` and `source` are the addresses of the two views; n, to and
 * from are the fields of CleaveCopyLoops.
 *
 *   for i in n[0]: for j in n[1]:
 *     copy `size` bytes: target + i * to[0] + j * to[1] <- source + i * from[0] + j * from[1] */

#include "view.h"

/* A nest has at most this many loops: a copy between two shapes has at most one loop for each
 * dimension of each shape.
 */
#define CLEAVE_MAX_LOOPS (2 * CLEAVE_MAX_RANK)

/* A nest of loops; loop 0 is the outermost. Loop d moves by `to[d]` and `from[d]` bytes in each
 * iteration. `size` is the number of bytes that are moved at once: an element, or a run of elements
 * of 2, 4 or 8 bytes. */
typedef struct
{
  guint rank;
  gint64 size;
  gint64 n[CLEAVE_MAX_LOOPS], to[CLEAVE_MAX_LOOPS], from[CLEAVE_MAX_LOOPS];
  gboolean streams; /* whether to write with non-temporal stores, which bypass the cache */
} CleaveCopyLoops;

/* Runs the two innermost loops of a nest. The outer one of the two has `n_outer` iterations. */
typedef void (*CleaveCopyInner) (const CleaveCopyLoops *loops,
                                 char *to,
                                 const char *from,
                                 gint64 n_outer);

/* Adds a loop of n iterations. Each iteration advances by `to_step` elements in the destination and
 * by `from_step` elements in the source. All loops of a nest together must write each element of
 * the destination once. */
void cleave_copy_loops_add (CleaveCopyLoops *loops, gint64 n, gint64 to_step, gint64 from_step);
/* Returns the loops of a copy between two views of the same shape. */
CleaveCopyLoops cleave_copy_loops_of_views (const CleaveView *to, const CleaveView *from);
/* Merges two adjacent loops into one if, in `to` and in `from`, the step of the outer loop is the
 * step of the inner loop times its number of iterations. If the innermost loop then is a contiguous
 * run of 2, 4 or 8 bytes, makes the run one element. Call this function after all loops are added.
 */
void cleave_copy_loops_join (CleaveCopyLoops *loops);
/* Moves a loop from index `from` to index `to` of the nest, and shifts the loops between the two.
 */
void cleave_copy_loops_move (CleaveCopyLoops *loops, guint from, guint to);
/* Merges the loops with cleave_copy_loops_join(), then copies the elements. */
void cleave_copy_loops_run (CleaveCopyLoops *loops, gpointer to, gconstpointer from);

/* Copies between views that have the same number of elements but other shapes: element i of `from`
 * in row-major order becomes element i of `to`. */
void cleave_view_copy_reshaped (const CleaveView *to, const CleaveView *from);

/* Run the two innermost loops without a transposition (copy-rows.c). cleave_copy_rows() needs an
 * innermost loop that is contiguous in `to` and in `from`. cleave_copy_lines() copies any innermost
 * loop, element by element. */
void cleave_copy_rows (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_rows);
void cleave_copy_lines (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer);
/* Copies a row of n bytes with non-temporal stores. For each cache line that it copies, prefetches
 * the bytes of `from` that lie `ahead` bytes later. Call this function only if cleave_can_stream()
 * returns TRUE for the address `to` and for n. */
void cleave_stream_row (char *to, const char *from, gint64 n, gint64 ahead);
/* Makes the bytes of earlier non-temporal stores visible to other threads. */
void cleave_stream_end (void);
/* Runs the two innermost loops as a transposition (copy-transposed.c). The innermost loop must be
 * contiguous in `to`, the loop around it in `from`. */
void
cleave_copy_transposed (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer);
/* Returns whether vector registers can transpose the elements of two loops: the loop with the index
 * `outer`, and the innermost loop. */
gboolean cleave_copy_can_transpose (const CleaveCopyLoops *loops, guint outer);

/* Deinterleaves n groups of m elements of `size` bytes: writes element j of group i to element i of
 * the array to[j]. Returns FALSE, and copies nothing, unless m is 4, `size` is 1, 2 or 4, and n
 * elements fill at least one vector of 16 bytes. */
gboolean cleave_copy_part (char *const *to, const char *from, gint64 n, guint m, gint64 size);

/* The distance, in bytes, from the bytes that a copy reads to the bytes that it prefetches. */
#define CLEAVE_STREAM_AHEAD 1024

/* Returns whether rows can be written with 16-byte non-temporal stores: the address, the step
 * between rows and the length of a row, in bytes, are multiples of 16. */
static inline gboolean
cleave_can_stream (gconstpointer to, gint64 stride, gint64 n)
{
  return ((gsize) to | (gsize) stride | (gsize) n) % 16 == 0;
}
