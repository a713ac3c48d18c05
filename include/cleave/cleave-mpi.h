/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Programs that several processes run together over MPI. Each process is a rank and runs its part
 * of a graph, as a CleavePlacement says. These functions are in the library cleave-mpi, which links
 * MPI; <cleave/cleave.h> does not include this header. */

#include <cleave/cleave-placement.h>
#include <cleave/cleave-program.h>

#include <mpi.h>

G_BEGIN_DECLS

/**
 * CleaveRankProgram:
 *
 * The compiled part of a graph that one rank runs, connected to the other ranks.
 */
typedef struct _CleaveRankProgram CleaveRankProgram;

/**
 * CleaveRankStats:
 * @program: sizes of the program that this rank runs; its arena includes the messages
 * @n_sent: number of messages that the rank has sent, in all runs so far
 * @n_received: number of messages that the rank has received, in all runs so far
 * @sent_bytes: bytes that the rank has sent, in all runs so far
 * @received_bytes: bytes that the rank has received, in all runs so far
 *
 * The memory of a rank, and its communication so far.
 */
typedef struct
{
  CleaveProgramStats program;
  gint64 n_sent, n_received;
  gint64 sent_bytes, received_bytes;
} CleaveRankStats;

/**
 * CleaveRankRunFunc:
 * @program: index of the program that runs, in the array of programs of
 * [func@CleaveMpi.rank_programs_stream]
 * @run: index of the run
 * @data: the `data` of the stream
 *
 * A stream calls this function before or after each run, on the thread that runs the program. The
 * function `begin` of a stream fills the inputs before a run; it may bind other tensors first. The
 * function `end` reads the outputs after a run.
 */
typedef void (*CleaveRankRunFunc) (guint program, guint run, gpointer data);

/**
 * CleaveRankStream:
 * @n_runs: number of runs
 * @begin: (nullable): called before each run, on all ranks
 * @end: (nullable): called after each run, on all ranks
 * @data: passed to @begin and @end
 *
 * A sequence of runs, each with its own inputs.
 */
typedef struct
{
  guint n_runs;
  CleaveRankRunFunc begin, end;
  gpointer data;
} CleaveRankStream;

CLEAVE_API CleaveRankProgram *cleave_rank_program_new_take (MPI_Comm comm,
                                                            CleavePlacement *placement,
                                                            const CleaveProgramOptions *options,
                                                            GError **error);
CLEAVE_API void cleave_rank_program_free (CleaveRankProgram *program);
CLEAVE_API gboolean cleave_rank_program_bind (CleaveRankProgram *program,
                                              CleaveTensor *const *inputs,
                                              guint n_inputs,
                                              CleaveTensor *const *outputs,
                                              guint n_outputs,
                                              GError **error);
CLEAVE_API gboolean cleave_rank_program_run (CleaveRankProgram *program, GError **error);
CLEAVE_API gboolean cleave_rank_programs_stream (CleaveRankProgram *const *programs,
                                                 guint n_programs,
                                                 const CleaveRankStream *stream,
                                                 GError **error);
CLEAVE_API void cleave_rank_program_get_stats (const CleaveRankProgram *program,
                                               CleaveRankStats *stats);

CLEAVE_API gboolean cleave_mpi_agree (MPI_Comm comm, const GError *own, GError **error);
CLEAVE_API gboolean cleave_mpi_measure_network (MPI_Comm comm,
                                                CleaveNetwork *network,
                                                GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveRankProgram, cleave_rank_program_free)

G_END_DECLS
