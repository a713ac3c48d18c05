/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* Runs a quantized group with a single integer kernel, if such a kernel exists. quantized-tiles.c
 * calls cleave_whole_new() before it cuts a group into tiles; if the result is not NULL, there are
 * no tiles. */

/* A quantized group that runs as one integer kernel, with the same bits as the float
 * computation. */
typedef struct _CleaveWhole CleaveWhole;

/* Prepares the integer kernel of a group, and sets `n_scratch` to its scratch memory in bytes.
 * Returns NULL if no integer kernel serves the group. */
CleaveWhole *
cleave_whole_new (const CleaveKernelInstance *group, CleaveWeights *weights, gsize *n_scratch);
void cleave_whole_free (CleaveWhole *whole);
void
cleave_whole_run (const CleaveWhole *whole, const CleaveKernelInstance *group, gpointer scratch);
/* Appends to `lines` (CleaveMemoryLines) the cache lines that a run of the group reads besides
 * values. */
void cleave_whole_add_memory (const CleaveWhole *whole, GArray *lines);
gboolean cleave_whole_reads (const CleaveWhole *whole, guint operand);
