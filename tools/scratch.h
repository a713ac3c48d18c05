/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Returns the bytes of scratch that the kernels of a run take besides the arena, of all threads
 * together, on this machine.  -1: there is not as much memory as its program takes. */
gint64 cleave_scratch_find (const CleaveGraph *graph, guint n_threads);
/* Returns the same for a graph once a plan is applied to it; the graph is not changed. */
gint64
cleave_scratch_find_planned (const CleaveGraph *graph, const CleaveFitPlan *plan, guint n_threads);
/* Finds a plan whose arena and scratch together are no more than `options->max_memory`.  NULL with
 * the error: none was found. */
CleaveFitPlan *
cleave_scratch_fit (const CleaveGraph *graph, const CleaveFitOptions *options, GError **error);
