/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"

/* Estimates the time of steps. schedule-search.c passes the costs to the scheduler
 * (list-schedule.h), which simulates runs with them. */

/* Returns the step right after which step `index` should run, since `index` continues or overwrites
 * the result of that step; G_MAXUINT: none. */
guint cleave_step_find_along (const CleaveStorage *storage, guint index);
/* Returns the estimated cost of a step in nanoseconds. `goes_along`: the step runs right after the
 * step that cleave_step_find_along() returns, so that its operand is in the cache. */
double cleave_step_estimate_cost (const CleaveStorage *storage, guint index, gboolean goes_along);
/* Returns the estimated time of a step in a program of one thread, in nanoseconds. This time is
 * more precise than the result of cleave_step_estimate_cost(). `read` is the set of weights that
 * earlier steps have read; see cleave_cost_of_piece(). */
double cleave_step_estimate_time (const CleaveStorage *storage, guint index, GHashTable *read);
