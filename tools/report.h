/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "outputs.h"

#include <cleave/cleave.h>

/* The report of `cleave split`, `cleave fit` and `cleave demo`, as text and as JSON. The commands
 * fill the summary after the split, and page.c shows the summary on a page.
 *
 * `nodes_before` and `nodes_after` are numbers of nodes. They do not count inputs and constants. */
typedef struct
{
  const CleaveSplitReport *report;
  guint nodes_before, nodes_after;
  const CleaveFitPlan *plan;   /* the plan that split the graph; NULL: the graph is not the
                                * result of a fit */
  gboolean exclude_inputs;     /* the plan and the peaks do not count inputs */
  const CleaveFitLoops *loops; /* the fit's results with Loops for ONNX Runtime; NULL: the model is
                                  written without Loops */
  const char *check;           /* verdict of cleave_check(); NULL: not requested */
  guint n_threads;             /* number of threads for which the graph was split; 0: none */
  CleaveEstimate threads_before, threads_after; /* estimates for a run with `n_threads` threads */
  gboolean verbose;                             /* print all nodes and segments */
  gint64 scratch_bytes; /* scratch of the kernels of a fitted graph; -1: not known, or the graph is
                           for another runtime */
} CleaveSummary;

/* Returns the text that says which memory the figures include. `summary` may be NULL. */
const char *cleave_summary_get_convention (const CleaveSummary *summary);
/* Returns the name of a halo policy in reports. */
const char *cleave_summary_get_halo_name (CleaveHalo halo);
char *cleave_summary_to_json (const CleaveSummary *summary);
char *cleave_summary_to_compact_json (const CleaveSummary *summary);
void cleave_summary_print (const CleaveSummary *summary);

/* Returns the shape of the whole result that the pieces of a node cover. */
CleaveShape cleave_report_get_whole (const CleaveSplitNode *split);
/* Returns the pieces of a report as CleaveDotPiece, for drawings. */
GArray *cleave_report_list_pieces (const CleaveSplitReport *report);
/* Adds a drawing of the split graph `after` to the outputs, with the file name `path`. */
gboolean cleave_report_add_drawing (const CleaveSplitReport *report,
                                    CleaveOutputs *outputs,
                                    const char *path,
                                    const CleaveGraph *after,
                                    GError **error);
