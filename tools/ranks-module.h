/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The interface between the command and its module for MPI. ranks.c loads the module and calls
 * these functions for `cleave run --ranks`; ranks-module.c implements them. So the command itself
 * does not link MPI. */

#include <cleave/cleave.h>

/* The memory and messages of one rank, as integers that MPI can gather. */
typedef struct
{
  gint64 n_nodes, arena_bytes, scratch_bytes, weight_bytes;
  gint64 n_sent, n_received, sent_bytes, received_bytes; /* numbers of messages and of bytes, summed
                                                          * over all runs */
} CleaveRankLine;

/* The functions of the module. All ranks must call each function, except `bind`. */
typedef struct
{
  /* Starts MPI. Sets `n_ranks` to the number of processes, and `n_local` to the number of processes
   * on this machine. */
  gboolean (*begin) (guint *rank, guint *n_ranks, guint *n_local, GError **error);
  gboolean (*agree) (const GError *own, GError **error);
  /* Measures the network between the ranks. */
  gboolean (*measure) (CleaveNetwork *network, GError **error);
  /* Returns `n_programs` equal programs, which can all be in flight at the same time. */
  gpointer (*make) (CleavePlacement *placement, guint n_threads, guint n_programs, GError **error);
  gboolean (*bind) (gpointer programs,
                    guint program,
                    const GPtrArray *inputs,
                    const GPtrArray *outputs,
                    GError **error);
  /* Executes `n_runs` runs. All n programs are in flight at once: program i does the runs i, i + n,
   * i + 2 n and so on, where n is the number of programs. Stores the times when each run begins and
   * ends, in microseconds. */
  gboolean (*run) (gpointer programs, guint n_runs, gint64 *begun, gint64 *ended, GError **error);
  /* On rank 0, fills `lines` with a line for each rank. */
  void (*gather) (gpointer programs, CleaveRankLine *lines);
  void (*end) (gpointer programs);
  /* Ends MPI if all ranks call `leave` within two seconds. A rank calls `leave` at exit, in case it
   * did not call `end` before. */
  void (*leave) (void);
} CleaveRanksModule;
