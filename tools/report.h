/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-loops.h"
#include "outputs.h"

/* The report of a split, for people and as JSON.  `before` and `after` count nodes without inputs
 * and constants. */
typedef struct
{
  const CleaveSplitReport *report;
  guint nodes_before, nodes_after;
  const CleaveFitPlan *plan;                      /* NULL: it was not fitted */
  gboolean inputs_apart;                          /* the plan and the peaks do not count inputs */
  const CleaveFitLoops *loops;                    /* each segment is a Loop; NULL: none is */
  const char *check;                              /* NULL: not asked for */
  guint n_threads;                                /* that it was split for; 0: for none */
  gint64 threads_peak_before, threads_peak_after; /* with so many */
  gint64 scratch_bytes; /* of the kernels of a fitted graph; -1: not known or not run here */
} CleaveSummary;

char *cleave_summary_to_json (const CleaveSummary *summary);
char *cleave_summary_to_compact_json (const CleaveSummary *summary);
void cleave_summary_print (const CleaveSummary *summary);

/* The shape that the pieces of a node cover. */
CleaveShape cleave_report_get_whole (const CleaveSplitNode *split);
/* The pieces of a report for a drawing, as CleaveDotPiece. */
GArray *cleave_report_list_pieces (const CleaveSplitReport *report);
/* Draws what a split made. */
gboolean cleave_report_add_drawing (const CleaveSplitReport *report,
                                    CleaveOutputs *outputs,
                                    const char *path,
                                    const CleaveGraph *after,
                                    GError **error);
