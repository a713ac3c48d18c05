/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "layers.h"
#include "ranks.h"

/* The report of `cleave run`, as text and as JSON. cmd-run.c calls cleave_run_print() after the
 * runs, or cleave_run_print_ranks() after runs on ranks. The times and outputs are in a
 * CleaveExecution (execute.h). */

/* The form of the report, and the options that the report prints. */
typedef struct
{
  gboolean as_json;
  gint64 repeat;
  gint64 n_in_flight; /* option --stream: number of runs that are in flight at once; 0: the option
                         is not given */
  const char *folder; /* the folder of the outputs; NULL: outputs are not written */
} CleaveRunReport;

/* The number of nodes and the peak of the model before it was split for the threads. If
 * `nodes_before` is 0, the model runs unsplit. */
typedef struct
{
  guint nodes_before;
  gint64 peak_before;
  gboolean found_nothing;
} CleaveRunSplit;

/* Returns whether an output has strings. */
gboolean cleave_run_has_strings (const CleaveOnnxDynamic *dynamic, const char *output);

void cleave_run_print (const CleaveExecution *e,
                       const CleaveRunReport *report,
                       const CleaveRunSplit *split,
                       const CleaveLayers *layers);
void cleave_run_print_ranks (const CleaveRankRun *run, const CleaveRunReport *report);
