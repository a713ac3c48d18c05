/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The reports of `cleave opt` while a pipeline runs, such as --print-changed and --time-passes.
 * cmd-opt.c fills a CleaveObserver from its options and runs the pipeline with cleave_observe().
 * The pipeline calls functions of observe.c before and after each pass. */

#include <cleave/cleave.h>

/* The reports to print on standard error while a pipeline runs, and the conditions to end the
 * pipeline. */
typedef struct
{
  gboolean print_after_all; /* print the graph after each pass */
  gboolean print_changed;   /* print the nodes that each pass removed and added */
  gboolean verify_each;     /* validate the graph after each pass */
  gboolean time_passes;     /* print the time of each pass at the end */
  const char *dot_folder;   /* folder for a drawing after each change; NULL: none */
  const char *stop_after;   /* end after this pass; NULL: none */
  gint64 max_changes; /* end after this many passes that changed the graph; negative: no limit */

  gint64 n_changes; /* number of passes so far that changed the graph */
  gboolean stopped; /* the pipeline has ended at `stop_after` */
  char *before;     /* the graph as text before the pass, for print_changed */
  gint64 begin;     /* start of the pass, in microseconds */
  /* array of Time (observe.c), one for each pass: number of runs, number of changes, and
   * microseconds */
  GArray *times;
  GError *error; /* the error that ended the pipeline; NULL: none */
} CleaveObserver;

/* Prints the reports that a CleaveObserver requests. cmd-opt.c runs the pipeline with this function
 * as the CleavePipelineObserver. `data` is the CleaveObserver. */
gboolean cleave_observe (CleavePipelineEvent event,
                         const char *pass,
                         const CleaveGraph *graph,
                         gpointer data);
void cleave_observer_print_times (const CleaveObserver *observer);
void cleave_observer_clear (CleaveObserver *observer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveObserver, cleave_observer_clear)
