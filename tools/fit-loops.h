/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A plan for a runtime that needs little memory for turns of a Loop alone: segments whose strips do
 * not become turns stay whole, and the limit holds nevertheless.  Tells how many those are. */
CleaveFitPlan *cleave_fit_plan_with_loops (const CleaveGraph *graph,
                                           const CleaveFitOptions *options,
                                           guint *n_whole,
                                           GError **error);
