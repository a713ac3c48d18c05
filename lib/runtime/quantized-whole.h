/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* A group of nodes between quantised values that is done at once, of bytes, with the bits of the
 * floats in between. */
typedef struct _CleaveWhole CleaveWhole;

/* NULL: the group is none. */
CleaveWhole *
cleave_whole_new (const CleaveKernelInstance *group, CleaveWeights *weights, gsize *n_scratch);
void cleave_whole_free (CleaveWhole *whole);
void
cleave_whole_run (const CleaveWhole *whole, const CleaveKernelInstance *group, gpointer scratch);
/* Adds what a run reads besides values. */
void cleave_whole_add_memory (const CleaveWhole *whole, GArray *lines);
gboolean cleave_whole_reads (const CleaveWhole *whole, guint operand);
