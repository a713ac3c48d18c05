/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Runs a graph for a command and collects outputs, times, trace and profile. The callers are run,
 * diff, simulate, demo, report (page.c) and the option --check (check.c). The inputs come from
 * inputs.h, and run-report.h prints the results of `cleave run`. */

/* The result of running a graph. */
typedef struct
{
  GPtrArray *outputs;         /* CleaveTensor of each output, in the model's order */
  char **names;               /* names of the outputs, in the order of `outputs`; each tensor of a
                               * list has a name of its own, such as "s.0" */
  CleaveOnnxDynamic *dynamic; /* the dynamic part; NULL: the model has none */
  CleaveOnnxDynamicStats dynamic_stats;
  CleaveDynamicProgram *dynamic_program; /* the programs of the dynamic part; NULL: the dynamic
                                          * part has not run */
  double dynamic_ms;
  char **input_names; /* names of the inputs; NULL: the model has no dynamic part */
  CleaveProgramStats stats;
  double min_ms, median_ms;
  gboolean wants_trace;   /* the caller sets it before the run to get `trace` */
  char *trace;            /* trace of the fastest run; NULL: not wanted */
  gboolean wants_profile; /* the caller sets it before the run to get `profile` */
  CleaveProfile *profile; /* times of the steps; NULL: not wanted */
} CleaveExecution;

void cleave_execution_clear (CleaveExecution *execution);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveExecution, cleave_execution_clear)

/* Copies the dynamic part and the names of inputs and outputs from the graph. */
void cleave_execution_note_graph (CleaveExecution *execution, const CleaveGraph *graph);
/* Runs the dynamic part, if there is one, after the static part has run. Replaces the outputs of
 * the static part by the outputs of the model. */
gboolean cleave_execution_run_dynamic (const GPtrArray *inputs, CleaveExecution *e, GError **error);
/* Copies the names of the graph's outputs, and makes a tensor for each. */
gboolean
cleave_execution_prepare (CleaveExecution *execution, const CleaveGraph *graph, GError **error);
/* Sorts the times (microseconds) and stores the shortest and the median. */
void cleave_execution_note_times (CleaveExecution *execution, gint64 *times, guint n);

/* Compiles the graph and runs it `repeat` times. Stores the outputs and the times in
 * `execution`. */
gboolean cleave_execute (const CleaveGraph *graph,
                         const GPtrArray *inputs,
                         guint n_threads,
                         guint repeat,
                         CleaveExecution *execution,
                         GError **error);
/* Runs a graph as cleave_execute() does, but takes ownership of the graph and frees it before the
 * first run. So the graph takes no memory during a run. */
gboolean cleave_execute_take (CleaveGraph *graph,
                              const GPtrArray *inputs,
                              guint n_threads,
                              guint repeat,
                              CleaveExecution *execution,
                              GError **error);

/* Runs a program that was compiled from `graph`, as cleave_execute() does. */
gboolean cleave_execute_program (CleaveProgram *program,
                                 const CleaveGraph *graph,
                                 const GPtrArray *inputs,
                                 guint repeat,
                                 CleaveExecution *execution,
                                 GError **error);

/* The difference between two tensors of one type. */
typedef struct
{
  gint64 n_different; /* elements whose bits differ, unless both are NaNs */
  double largest; /* largest absolute difference; infinity if only one element of a pair is NaN */
} CleaveDifference;

CleaveDifference cleave_compare (CleaveTensor *a, CleaveTensor *b);
