/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/storage.h"
#include "weights.h"

/* Which constants a program has to keep: those that a step reads as they are.  One that every
 * step has packed is let go as soon as the last of them has, so that a weight is there once. */
typedef struct _CleaveConstants CleaveConstants;

/* `given`: nobody needs the graph any more, so that it lets go of its constants as well. */
CleaveConstants *
cleave_constants_new (const CleaveStorage *storage, const CleaveGraph *graph, gboolean given);
void cleave_constants_free (CleaveConstants *constants);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveConstants, cleave_constants_free)
/* What lies here is read when the program runs, if it is a constant: `kept` gets the tensor. */
void cleave_constants_keep (CleaveConstants *constants, const CleaveHome *home, GPtrArray *kept);
/* The step is ready to run; to be told once of each. */
void cleave_constants_end_step (CleaveConstants *constants,
                                const CleaveStep *step,
                                CleaveWeights *weights);
