/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"

/* Returns the step after which this one is best run at once, since it continues or overwrites the
 * result; G_MAXUINT if there is none. */
guint cleave_step_find_along (const CleaveStorage *storage, guint index);
/* Returns the estimated cost of a step in nanoseconds. `goes_along`: it runs right after the step
 * of cleave_step_find_along(), with the operand in the cache. */
double cleave_step_estimate_cost (const CleaveStorage *storage, guint index, gboolean goes_along);
/* Returns a more precise estimate in nanoseconds, for one thread. `read` has the weights that
 * earlier steps have read; see cleave_cost_of_piece(). */
double cleave_step_estimate_time (const CleaveStorage *storage, guint index, GHashTable *read);
