/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Results of a plan for ONNX Runtime, in addition to those of other plans. That runtime needs
 * little memory for the strips of a segment only if they are iterations of a Loop. Byte counts are
 * estimates of its memory for values. */
typedef struct
{
  guint n_loops;  /* segments that become a Loop */
  guint n_pieces; /* segments that stay as pieces without a Loop, since that is estimated to need
                     less */
  guint n_whole;  /* segments that are not split */
  gint64 bytes_before, bytes_after; /* estimated memory of the runtime for values */
} CleaveFitLoops;

/* Plans as cleave_fit_plan_new() does, for ONNX Runtime. Segments that cannot become a Loop are
 * usually not split. No segment is split if that is not estimated to reduce the runtime's memory.
 * `options->max_memory` limits the arena of the plan in any case. */
CleaveFitPlan *cleave_fit_plan_with_loops (const CleaveGraph *graph,
                                           const CleaveFitOptions *options,
                                           CleaveFitLoops *loops,
                                           GError **error);
