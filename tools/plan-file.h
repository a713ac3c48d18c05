/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Plans of `cleave fit` as JSON files. */

/* Returns the text of a file that cleave_plan_file_read() reads. */
GBytes *cleave_plan_file_write (const CleaveFitPlan *plan);
/* Reads a plan, measures it on a graph, and sets the options with which it was found: threads, and
 * whether inputs are counted and strips are even. Returns NULL and sets the error on failure. */
CleaveFitPlan *cleave_plan_file_read (const char *path,
                                      const CleaveGraph *graph,
                                      CleaveFitOptions *options,
                                      GError **error);
