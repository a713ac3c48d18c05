/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Plans of `cleave fit` as JSON files. `fit --plan FILE` writes a plan after the search, and `fit
 * --from-plan FILE` reads it in place of a search. The library converts a plan to a GVariant
 * (cleave_fit_plan_to_data()); plan-file.c converts the GVariant to JSON. */

/* Returns the text of a file that cleave_plan_file_read() reads. */
GBytes *cleave_plan_file_write (const CleaveFitPlan *plan);
/* Reads a plan and measures it on a graph. Sets the options with which the plan was found: threads,
 * whether inputs are counted, and whether strips are even. Returns NULL and sets the error on
 * failure. */
CleaveFitPlan *cleave_plan_file_read (const char *path,
                                      const CleaveGraph *graph,
                                      CleaveFitOptions *options,
                                      GError **error);
