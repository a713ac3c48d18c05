/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Programs that several processes run together.  Of the library cleave-mpi, which links MPI;
 * <cleave/cleave.h> does not include this. */

#include <cleave/cleave-placement.h>
#include <cleave/cleave-program.h>

#include <mpi.h>

G_BEGIN_DECLS

/**
 * CleaveRankProgram:
 *
 * The part of a graph that one rank runs, ready to run with the others.
 */
typedef struct _CleaveRankProgram CleaveRankProgram;

/**
 * CleaveRankStats:
 * @program: those of the program that this rank runs; its arena holds the messages too
 * @n_sent: messages that it has sent, in all runs so far
 * @n_received: messages that it has received
 * @sent_bytes: bytes that it has sent
 * @received_bytes: bytes that it has received
 *
 * What a rank takes, and has done.
 */
typedef struct
{
  CleaveProgramStats program;
  gint64 n_sent, n_received;
  gint64 sent_bytes, received_bytes;
} CleaveRankStats;

/**
 * CleaveRankRunFunc:
 * @program: number of the program that runs
 * @run: number of the run
 * @data: that of the stream
 *
 * As `begin` it fills in the inputs of a run, and may bind other tensors first; as `end` it reads
 * the outputs.  It is called on the thread of that program.
 */
typedef void (*CleaveRankRunFunc) (guint program, guint run, gpointer data);

/**
 * CleaveRankStream:
 * @n_runs: number of runs
 * @begin: (nullable): called before each, on all ranks
 * @end: (nullable): called after each, likewise
 * @data: what they are called with
 *
 * Runs that follow each other, each with inputs of its own.
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
