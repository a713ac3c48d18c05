/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* What came of running a graph. */
typedef struct
{
  GPtrArray *outputs; /* CleaveTensor, in the graph's order */
  char **names;       /* of the outputs */
  CleaveProgramStats stats;
  double min_ms, median_ms;
  gboolean wants_trace; /* set before running */
  char *trace;          /* of the fastest run */
  gboolean wants_profile;
  CleaveProfile *profile; /* or NULL */
} CleaveExecution;

void cleave_execution_clear (CleaveExecution *execution);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveExecution, cleave_execution_clear)

/* Names, and tensors for the outputs. */
gboolean
cleave_execution_prepare (CleaveExecution *execution, const CleaveGraph *graph, GError **error);
/* Sorts the times, in microseconds, and keeps the least and the median. */
void cleave_execution_note_times (CleaveExecution *execution, gint64 *times, guint n);

/* Runs the graph `repeat` times. */
gboolean cleave_execute (const CleaveGraph *graph,
                         const GPtrArray *inputs,
                         guint n_threads,
                         guint repeat,
                         CleaveExecution *execution,
                         GError **error);
/* The same of a graph that nobody needs any more: it goes as soon as it is ready to run. */
gboolean cleave_execute_take (CleaveGraph *graph,
                              const GPtrArray *inputs,
                              guint n_threads,
                              guint repeat,
                              CleaveExecution *execution,
                              GError **error);

/* Runs a program of this graph. */
gboolean cleave_execute_program (CleaveProgram *program,
                                 const CleaveGraph *graph,
                                 const GPtrArray *inputs,
                                 guint repeat,
                                 CleaveExecution *execution,
                                 GError **error);

/* How two tensors of one type differ. */
typedef struct
{
  gint64 n_different; /* elements whose bits differ, unless both are NaNs */
  double largest;     /* infinity if one of them is no number */
} CleaveDifference;

CleaveDifference cleave_compare (CleaveTensor *a, CleaveTensor *b);
