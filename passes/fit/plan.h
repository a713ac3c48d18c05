/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "measurement.h"
#include "rewrite.h"

#include <cleave/cleave-fit.h>

/* A plan: rewrites of the graph, then segments to split. frontier.c finds plans, plan.c applies
 * them, plan-data.c writes them, and plan-read.c reads them. */

/* A plan that is written as data is a dictionary of names and values. This is the value of its
 * entry `format`. The values have the types of JSON: booleans, 64-bit integers, strings, lists and
 * dictionaries. */
#define CLEAVE_FIT_PLAN_FORMAT "cleave-fit-plan"
#define CLEAVE_FIT_PLAN_VERSION 1
#define CLEAVE_FIT_N_HALOS (CLEAVE_HALO_CARRY_NARROW + 1)

/* The names of halo policies, indexed by CleaveHalo. */
extern const char *const cleave_fit_halo_names[CLEAVE_FIT_N_HALOS];

struct _CleaveFitPlan
{
  CleaveFitRewrite rewrite;
  GPtrArray *parts; /* CleaveFitPart: segments that the plan splits */
  /* CleaveFitSegment: the segments in `parts`, as the public API returns them; `parts` owns their
   * strings */
  GArray *segments;
  CleaveFitTotals totals;
  gint64 peak_without_overlays; /* largest number of live bytes if no result overlaid an operand
                                   that dies */
  /* CleaveArenaSpan: lifetimes of the buffers; NULL: the measurement has placed the buffers */
  GArray *spans;
  guint n_threads;         /* threads of the program that was measured */
  gboolean exclude_inputs; /* the bytes of the graph's inputs were not counted */
  char *peak;              /* text: the largest values that are live at the peak */
  CleaveFitLoops *loops;   /* Loops and bytes in ONNX Runtime; NULL: the plan is for Cleave */
};

/* Returns a plan made from a measurement and the rewrite of its graph variant. Copies the totals of
 * the unsplit graph from `before`. */
CleaveFitPlan *cleave_fit_plan_make (const CleaveFitMeasurement *measured,
                                     const CleaveFitRewrite *rewrite,
                                     const CleaveFitTotals *before,
                                     guint n_threads,
                                     gboolean exclude_inputs);
/* Marks a plan as made for ONNX Runtime. `loops`: the numbers of Loops, and the estimated bytes in
 * ONNX Runtime. */
void cleave_fit_plan_set_loops (CleaveFitPlan *plan, const CleaveFitLoops *loops);
