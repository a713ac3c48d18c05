/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "candidates.h"
#include "plan.h"

/* Returns the form of `plan` for ONNX Runtime: `plan` with all or some of its segments. If this
 * form is estimated to save too little, returns a plan that splits no segment. Before the call,
 * `loops` has the bytes of the unsplit graph; the function sets the other members. Returns NULL and
 * sets the error on failure. */
CleaveFitPlan *cleave_fit_ort_form (const CleaveFitPlan *plan,
                                    const CleaveGraph *graph,
                                    CleaveFitLoops *loops,
                                    GError **error);
