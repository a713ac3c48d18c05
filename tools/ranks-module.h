/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* What a rank takes, in numbers that can be sent. */
typedef struct
{
  gint64 n_nodes, arena_bytes, scratch_bytes, weight_bytes;
  gint64 n_sent, n_received, sent_bytes, received_bytes; /* in all runs */
} CleaveRankLine;

/* What the command asks of MPI, which is in a module that is loaded when ranks are asked for.  All
 * ranks call each of them, but for `bind`. */
typedef struct
{
  /* MPI; how many processes there are, and how many of them on this machine. */
  gboolean (*begin) (guint *rank, guint *n_ranks, guint *n_local, GError **error);
  gboolean (*agree) (const GError *own, GError **error);
  /* What lies between the ranks. */
  gboolean (*measure) (CleaveNetwork *network, GError **error);
  /* So many that may run at once. */
  gpointer (*make) (CleavePlacement *placement, guint n_threads, guint n_programs, GError **error);
  gboolean (*bind) (gpointer programs,
                    guint program,
                    const GPtrArray *inputs,
                    const GPtrArray *outputs,
                    GError **error);
  /* All at once, in turn.  Notes when each run begins and ends, in microseconds. */
  gboolean (*run) (gpointer programs, guint n_runs, gint64 *begun, gint64 *ended, GError **error);
  void (*gather) (gpointer programs, CleaveRankLine *lines); /* on rank 0, one for each rank */
  void (*end) (gpointer programs);
  /* At exit.  Where there was no `end`, waits for ranks that still live, not for long. */
  void (*leave) (void);
} CleaveRanksModule;
