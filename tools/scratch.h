/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The scratch memory of kernels, for `cleave fit`. The memory budget of a plan (`max_memory`) does
 * not include scratch. If the user's budget includes scratch, cmd-fit.c searches with
 * cleave_scratch_fit(). If not, cmd-fit.c reports the scratch beside the arena. */

#include <cleave/cleave.h>

/* Returns the bytes of scratch memory that the kernels of all threads use in a run on this machine,
 * in addition to the arena. Returns -1 if there is not enough memory to compile the graph. Also
 * returns -1 for large weights, since compiling reads them all: more than 1 GiB, or more than 64
 * MiB of one-byte elements. */
gint64 cleave_scratch_find (const CleaveGraph *graph, guint n_threads);
/* Returns the bytes of scratch memory as cleave_scratch_find() does, for a copy of the graph to
 * which the plan was applied. */
gint64
cleave_scratch_find_planned (const CleaveGraph *graph, const CleaveFitPlan *plan, guint n_threads);
/* Finds a plan whose arena and scratch together take at most `options->max_memory` bytes. Returns
 * NULL and an error if the search finds no plan. */
CleaveFitPlan *
cleave_scratch_fit (const CleaveGraph *graph, const CleaveFitOptions *options, GError **error);
