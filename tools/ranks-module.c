/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the functions of CleaveRanksModule with MPI and the functions of cleave-mpi.h. A rank
 * makes one program for each run in flight. */

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
      g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION, "MPI cannot be initialized");
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

static gboolean
measure (CleaveNetwork *network, GError **error)
{
  return cleave_mpi_measure_network (MPI_COMM_WORLD, network, error);
}

static gpointer
make (CleavePlacement *placement, guint n_threads, guint n_programs, GError **error)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (CleavePlacement) given = placement;
  GPtrArray *programs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_rank_program_free);

  for (guint i = 0; i < n_programs; i++)
    {
      CleavePlacement *own =
          i + 1 < n_programs ? cleave_placement_ref (given) : g_steal_pointer (&given);
      CleaveRankProgram *program =
          cleave_rank_program_new_take (MPI_COMM_WORLD, own, &options, error);

      if (program == NULL)
        {
          g_ptr_array_unref (programs);
          return NULL;
        }
      g_ptr_array_add (programs, program);
    }
  return programs;
}

static gboolean
bind (gpointer programs,
      guint program,
      const GPtrArray *inputs,
      const GPtrArray *outputs,
      GError **error)
{
  return cleave_rank_program_bind (((GPtrArray *) programs)->pdata[program],
                                   (CleaveTensor *const *) inputs->pdata, inputs->len,
                                   (CleaveTensor *const *) outputs->pdata, outputs->len, error);
}

typedef struct
{
  gint64 *begun, *ended;
} Times;

static void
note_begin (guint program, guint run, gpointer data)
{
  ((const Times *) data)->begun[run] = g_get_monotonic_time ();
}

static void
note_end (guint program, guint run, gpointer data)
{
  ((const Times *) data)->ended[run] = g_get_monotonic_time ();
}

static gboolean
run (gpointer programs, guint n_runs, gint64 *begun, gint64 *ended, GError **error)
{
  const GPtrArray *all = programs;
  Times times = { begun, ended };
  const CleaveRankStream stream = { n_runs, note_begin, note_end, &times };

  return cleave_rank_programs_stream ((CleaveRankProgram *const *) all->pdata, all->len, &stream,
                                      error);
}

static void
add_stats (gpointer program, gpointer data)
{
  CleaveRankLine *line = data;
  CleaveRankStats stats;

  cleave_rank_program_get_stats (program, &stats);
  line->n_nodes = stats.program.n_nodes;
  line->arena_bytes += stats.program.arena_bytes;
  line->scratch_bytes += stats.program.scratch_bytes;
  line->weight_bytes += stats.program.weight_bytes;
  line->n_sent += stats.n_sent;
  line->n_received += stats.n_received;
  line->sent_bytes += stats.sent_bytes;
  line->received_bytes += stats.received_bytes;
}

static void
gather (gpointer programs, CleaveRankLine *lines)
{
  const int n = sizeof (CleaveRankLine) / sizeof (gint64);
  CleaveRankLine own = { 0 };

  g_ptr_array_foreach (programs, add_stats, &own);
  MPI_Gather (&own, n, MPI_INT64_T, lines, n, MPI_INT64_T, 0, MPI_COMM_WORLD);
}

static void
end (gpointer programs)
{
  g_ptr_array_unref (programs);
  MPI_Finalize ();
}

/* Waits at exit, up to two seconds, for all ranks: the first process that ends makes mpirun kill
 * the other processes, which may not have printed their errors yet. The wait has a limit, since a
 * rank that has already ended never reaches the barrier. */
static void
leave (void)
{
  gint64 end = g_get_monotonic_time () + 2 * G_USEC_PER_SEC;
  MPI_Request request;
  int is_done = 0, has_ended = 0;

  if (MPI_Finalized (&has_ended) != MPI_SUCCESS || has_ended ||
      MPI_Ibarrier (MPI_COMM_WORLD, &request) != MPI_SUCCESS)
    return;
  while (!is_done && g_get_monotonic_time () < end)
    if (MPI_Test (&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
    else if (!is_done)
      g_usleep (1000);
  if (is_done)
    MPI_Finalize ();
}

const CleaveRanksModule cleave_ranks_module = { begin, agree,  measure, make, bind,
                                                run,   gather, end,     leave };
