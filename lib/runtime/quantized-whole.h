/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* Runs quantized groups for which a single integer kernel exists; quantized-tiles.c asks for it
 * first. */

/* A quantized group that runs as one integer kernel, with the same bits as the floats in between.
 */
typedef struct _CleaveWhole CleaveWhole;

/* Returns NULL if no integer kernel serves the group. */
CleaveWhole *
cleave_whole_new (const CleaveKernelInstance *group, CleaveWeights *weights, gsize *n_scratch);
void cleave_whole_free (CleaveWhole *whole);
void
cleave_whole_run (const CleaveWhole *whole, const CleaveKernelInstance *group, gpointer scratch);
/* Adds the memory that a run reads besides values. */
void cleave_whole_add_memory (const CleaveWhole *whole, GArray *lines);
gboolean cleave_whole_reads (const CleaveWhole *whole, guint operand);
