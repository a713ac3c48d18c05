/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"

/* The step after which this one had best be done at once, since it goes on with what that makes or
 * overwrites it; or G_MAXUINT. */
guint cleave_step_find_along (const CleaveStorage *storage, guint index);
/* About how many nanoseconds it takes. */
double cleave_step_estimate_cost (const CleaveStorage *storage, guint index, gboolean goes_along);
/* The same more closely, on one thread, after steps that read what is in `read`: see
 * cleave_cost_of_piece(). */
double cleave_step_estimate_time (const CleaveStorage *storage, guint index, GHashTable *read);
