/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../memory/buffers.h"
#include "packed-weights.h"

/* The values of a graph's constants and of what comes of constants alone, while a program is made,
 * and which of them it has to keep: those that a step reads as they are.  One that every step has
 * packed is let go as soon as the last of them has, so that a weight is there once; what comes of
 * constants is worked out when the first step that reads it is made ready. */
typedef struct _CleaveConstants CleaveConstants;

/* `given`: nobody needs the graph any more, so that it lets go of its constants as well. */
CleaveConstants *cleave_constants_new (const CleaveStorage *storage,
                                       const CleaveGraph *graph,
                                       CleaveWeights *weights,
                                       gboolean given);
void cleave_constants_free (CleaveConstants *constants);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveConstants, cleave_constants_free)
/* The value, or NULL: it is no constant and comes of none, or there is no memory for it, as
 * cleave_constants_check() will say. */
CleaveTensor *cleave_constants_get (CleaveConstants *constants, const CleaveResult *value);
gboolean cleave_constants_check (const CleaveConstants *constants, GError **error);
/* The value is read when the program runs, if it is such a one: `kept` gets the tensor. */
void cleave_constants_keep (CleaveConstants *constants, const CleaveResult *value, GPtrArray *kept);
/* The step is ready to run; to be told once of each. */
void cleave_constants_end_step (CleaveConstants *constants, const CleaveStep *step);
