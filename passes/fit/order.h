/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

#include <cleave/cleave-fit.h>

/* Puts the nodes of a graph into the order in which a program runs them. rewrite.c and variants.c
 * list a graph in this order before the search. cleave_fit_plan_apply() lists the split graph in
 * this order, so that exported files need no more memory than the program. */

/* Reorders the nodes of a graph without cycles into the order in which a program of one thread runs
 * them. cleave_fit_steps_init() finds the same order. */
void cleave_fit_list_as_run (CleaveGraph *graph);
/* Reorders the nodes of a graph to the order in which a program runs them. `plan` has split the
 * graph. A file of the graph then lists the nodes in this order, and a runtime that follows the
 * file needs no more memory than the program. If a program of the reordered graph needs an arena of
 * another size than the plan states, restores the old order.
 *
 * Returns the peak of the activations in bytes. Returns -1 if the old order was restored, if the
 * plan is for several threads, or if plan and graph differ in `exclude_inputs`. */
gint64 cleave_fit_arrange (CleaveGraph *graph, const CleaveFitPlan *plan);
/* Returns whether a plan changes the graph: whether it splits, copies or moves nodes. */
gboolean cleave_fit_plan_changes (const CleaveFitPlan *plan);
