/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* What is told besides of a plan for a runtime that needs little memory for turns of a Loop alone.
 */
typedef struct
{
  guint n_loops;  /* segments that become one */
  guint n_pieces; /* that do not, but are foreseen to need less there as they are cut */
  guint n_whole;  /* that stay whole */
  gint64 bytes_before, bytes_after; /* that values are foreseen to take there */
} CleaveFitLoops;

/* Segments whose strips do not become turns stay whole, and all of them, where that is foreseen to
 * need no more there; the limit holds nevertheless. */
CleaveFitPlan *cleave_fit_plan_with_loops (const CleaveGraph *graph,
                                           const CleaveFitOptions *options,
                                           CleaveFitLoops *loops,
                                           GError **error);
