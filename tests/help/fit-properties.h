/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "test.h"

#include <cleave/cleave-fit.h>

/* Checks properties that the search for a memory budget must have, on the random networks of
 * fit-graphs.h. The suites invariants.c and plan-invariants.c in tests/passes/fit define the
 * properties. A table in fit-properties.c lists the known failures.
 *
 * FitProperty checks a property of the search. Returns NULL if it holds, or (transfer full) a
 * message about the contradiction. */
typedef char *(*FitProperty) (const CleaveGraph *graph, const CleaveFitOptions *options);

/* Checks a property on the network number `index`. Networks with consecutive numbers are split with
 * different limits. */
void fit_check_property (int index, const char *name, FitProperty property);

/* Defines a test `name`, which checks `property` on one network. Pass the test to
 * fit_add_property(). */
#define FIT_PROPERTY_TEST(name, property)                                                          \
  START_TEST (name) { fit_check_property (_i, #property, property); }                              \
  END_TEST

/* Adds a test case that runs a test on all networks. The environment variable CK_RUN_CASE can
 * select the case by `name`. */
void fit_add_property (Suite *suite, const char *name, const TTest *test);

/* Returns a plan for a budget in bytes. Budget 0: the plan with the least memory. If the search
 * fails, returns NULL, and sets `*why` to a message if `why` is not NULL and `*why` is NULL. */
CleaveFitPlan *fit_find_plan (const CleaveGraph *graph,
                              const CleaveFitOptions *options,
                              gint64 budget,
                              char **why);
/* Finds a plan and copies its totals. Returns FALSE and sets `*why` if no plan was found. */
gboolean fit_find_totals (const CleaveGraph *graph,
                          const CleaveFitOptions *options,
                          gint64 budget,
                          CleaveFitTotals *totals,
                          char **why);
/* Returns (transfer full) the bytes, nodes, MACs and time of a plan as text. */
char *fit_describe (const CleaveFitTotals *totals);
/* Returns whether the estimated time of `a` is longer. Times that differ by rounding are equal. */
gboolean fit_is_longer (const CleaveFitTotals *a, const CleaveFitTotals *b);
