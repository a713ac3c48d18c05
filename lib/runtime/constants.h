/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../memory/buffers.h"
#include "packed-weights.h"

/* Holds the values of constants, and of nodes whose operands are all constant (constant folding),
 * while lower.c makes a program. The values that a step reads unpacked stay in the program; all
 * others are released.
 *
 * When all readers of a constant have packed it, the constant is released, so that a weight exists
 * only once. A folded node is computed when the first step that reads its result is prepared. */
typedef struct _CleaveConstants CleaveConstants;

/* Returns the store of the constants of `graph`, and counts how many steps of `storage` use each
 * constant. If the program owns `graph` (`given` is TRUE), the store also frees memory of the
 * graph: it removes each constant from its nodes after the last use of the constant. */
CleaveConstants *cleave_constants_new (const CleaveStorage *storage,
                                       const CleaveGraph *graph,
                                       CleaveWeights *weights,
                                       gboolean given);
void cleave_constants_free (CleaveConstants *constants);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveConstants, cleave_constants_free)
/* Returns the tensor of a constant value, and computes a folded node if needed. Returns NULL if the
 * value depends on an input. Also returns NULL if memory ran out; cleave_constants_check() then
 * reports the error. */
CleaveTensor *cleave_constants_get (CleaveConstants *constants, const CleaveResult *value);
gboolean cleave_constants_check (const CleaveConstants *constants, GError **error);
/* Adds the base tensor of a constant value to `kept`, since a step reads the value at run time.
 * Does nothing if the value is not constant. */
void cleave_constants_keep (CleaveConstants *constants, const CleaveResult *value, GPtrArray *kept);
/* Notes that the kernel of `step` is prepared. Releases the constants that no other step needs.
 * Call this function once for each step. */
void cleave_constants_end_step (CleaveConstants *constants, const CleaveStep *step);
