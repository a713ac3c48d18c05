/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../memory/buffers.h"
#include "packed-weights.h"

/* The values of constants while a program is made, and of nodes that depend on constants alone
 * (constant folding). Decides which of them the program keeps: those that a step reads unpacked.
 *
 * A constant that every reader has packed is released as soon as the last one has, so that a weight
 * exists only once. A folded node is computed when the first step that reads it is prepared. */
typedef struct _CleaveConstants CleaveConstants;

/* Counts the uses of constants. If `given`, only this program needs the graph, so constants of the
 * graph are released, too. */
CleaveConstants *cleave_constants_new (const CleaveStorage *storage,
                                       const CleaveGraph *graph,
                                       CleaveWeights *weights,
                                       gboolean given);
void cleave_constants_free (CleaveConstants *constants);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveConstants, cleave_constants_free)
/* Returns the value. NULL if it does not depend on constants alone, or if memory ran out, which
 * cleave_constants_check() then reports. */
CleaveTensor *cleave_constants_get (CleaveConstants *constants, const CleaveResult *value);
gboolean cleave_constants_check (const CleaveConstants *constants, GError **error);
/* Adds the tensor to `kept` if the value is constant: a step reads it at run time. */
void cleave_constants_keep (CleaveConstants *constants, const CleaveResult *value, GPtrArray *kept);
/* Notes that a step is prepared. Call it once for each step. */
void cleave_constants_end_step (CleaveConstants *constants, const CleaveStep *step);
