/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of poolings that files share: the windows, maps and pieces of all poolings (also
 * tflite-pool.c), and the reference kernels that pool.c puts into its records. */

#include "../ir/op.h"
#include "window.h"

/* Initializes `windows`, one for each spatial dimension. Returns the number of spatial dimensions.
 * The attributes of the call begin with a CleavePoolAttrs. */
guint cleave_pool_init_windows (const CleaveCall *call, CleaveWindow *windows);
void cleave_pool_maps (const CleaveCall *call, guint operand, CleaveDimMap *map);
/* Sets the pads of a piece to the numbers of elements by which its windows reach beyond X at each
 * side (the clips of CleaveSlice). If an end pad then exceeds the node's pad, ceil_mode is the
 * cause: the last window reaches beyond the padding. AveragePool does not count elements beyond the
 * padding, so the piece gets the node's pad and ceil_mode. */
gboolean
cleave_pool_narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why);
/* Returns the shape of the whole value, whose elements the indices of a MaxPool count. */
CleaveShape cleave_pool_get_whole (const CleaveCall *call);

/* Computes a MaxPool. cleave_pool_average() computes an AveragePool (pool-reference.c). */
void
cleave_pool_max (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
void
cleave_pool_average (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
/* Computes an LpPool (pool-lp.c). Unlike the kernels of MaxPool and AveragePool, it computes lines
 * of results at once. Powers, sums and roots are double; the taps of a window are added in
 * row-major order, without taps in the padding; the result is rounded once. `windows` has one entry
 * for each spatial dimension. */
void cleave_pool_lp (const CleaveCall *call,
                     const CleaveWindow *windows,
                     const CleaveView *x,
                     const CleaveView *y);
