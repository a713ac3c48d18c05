/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "ranks-module.h"

#include <cleave/cleave-mpi.h>
#include <gmodule.h>

G_MODULE_EXPORT extern const CleaveRanksModule cleave_ranks_module;

static gboolean
begin (guint *rank, guint *n_ranks, guint *n_local, GError **error)
{
  int level, number, count;
  MPI_Comm local;

  if (MPI_Init_thread (NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
    {
      g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION, "MPI cannot be begun");
      return FALSE;
    }
  MPI_Comm_rank (MPI_COMM_WORLD, &number);
  MPI_Comm_size (MPI_COMM_WORLD, &count);
  *rank = (guint) number;
  *n_ranks = (guint) count;
  MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
  MPI_Comm_size (local, &count);
  MPI_Comm_free (&local);
  MPI_Allreduce (MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  *n_local = (guint) count;
  return TRUE;
}

static gboolean
agree (const GError *own, GError **error)
{
  return cleave_mpi_agree (MPI_COMM_WORLD, own, error);
}

static gpointer
make (CleavePlacement *placement, guint n_threads, GError **error)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };

  return cleave_rank_program_new_take (MPI_COMM_WORLD, placement, &options, error);
}

static gboolean
bind (gpointer program, const GPtrArray *inputs, const GPtrArray *outputs, GError **error)
{
  return cleave_rank_program_bind (program, (CleaveTensor *const *) inputs->pdata, inputs->len,
                                   (CleaveTensor *const *) outputs->pdata, outputs->len, error);
}

static gboolean
run (gpointer program, GError **error)
{
  return cleave_rank_program_run (program, error);
}

static void
gather (gpointer program, CleaveRankLine *lines)
{
  const int n = sizeof (CleaveRankLine) / sizeof (gint64);
  CleaveRankStats stats;
  CleaveRankLine own;

  cleave_rank_program_get_stats (program, &stats);
  own = (CleaveRankLine){
    stats.program.n_nodes,
    stats.program.arena_bytes,
    stats.program.scratch_bytes,
    stats.program.weight_bytes,
    stats.n_sent,
    stats.n_received,
    stats.sent_bytes,
    stats.received_bytes,
  };
  MPI_Gather (&own, n, MPI_INT64_T, lines, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

static void
end (gpointer program)
{
  cleave_rank_program_free (program);
  MPI_Finalize ();
}

const CleaveRanksModule cleave_ranks_module = { begin, agree, make, bind, run, gather, end };
