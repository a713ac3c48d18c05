/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes and runs the program of a rank (CleaveRankProgram). The program computes the nodes that the
 * placement assigns to the rank, and sends and receives messages through the channels. */

#include "rank-program.h"

struct _CleaveRankProgram
{
  CleaveChannelSet channels;
  CleaveProgram *program;
  CleaveTensor *token; /* a tensor of one byte, bound to the last input of a rank's graph: the token
                        * that orders transfers (memory/transfer.c) */
  gboolean is_bound;
};

CleaveChannelSet *
cleave_rank_program_get_channels (CleaveRankProgram *program)
{
  return &program->channels;
}

/* Checks that MPI allows calls from several threads, if the program has more than one thread. */
static gboolean
check_threads (const CleaveChannelSet *channels,
               const CleaveProgramOptions *options,
               GError **error)
{
  int level = MPI_THREAD_SINGLE;

  MPI_Query_thread (&level);
  if (level >= MPI_THREAD_SERIALIZED || (options != NULL && options->n_threads == 1))
    return TRUE;
  g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION,
               "initialize MPI with MPI_THREAD_SERIALIZED to use more than one thread");
  return FALSE;
}

static gboolean
check_n_ranks (const CleaveChannelSet *channels, const CleavePlacement *placement, GError **error)
{
  guint n_ranks = cleave_placement_get_n_ranks (placement);

  if ((int) n_ranks == channels->n_ranks)
    return TRUE;
  g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION,
               "the placement is for %u rank%s, and there are %d", n_ranks, n_ranks == 1 ? "" : "s",
               channels->n_ranks);
  return FALSE;
}

/* Sets an error on all ranks if the placement of some rank differs from the placement of rank 0.
 * The error names the lowest rank with a difference. */
static gboolean
check_placements (const CleaveChannelSet *channels,
                  const CleavePlacement *placement,
                  GError **error)
{
  guint64 own = cleave_placement_get_hash (placement), first = own;
  int code = MPI_Bcast (&first, 1, MPI_UINT64_T, 0, channels->comm);
  g_autoptr (GError) different = NULL;

  if (cleave_mpi_check (code, "compare models", &different) && first != own)
    g_set_error (&different, CLEAVE_ERROR, CLEAVE_ERROR_MODEL,
                 "the model, or where its nodes are to run, is not the same as on rank 0");
  return cleave_mpi_agree (channels->comm, different, error);
}

static gboolean
check_all (const CleaveChannelSet *channels,
           const CleavePlacement *placement,
           const CleaveProgramOptions *options,
           GError **error)
{
  g_autoptr (GError) own = NULL;

  if (check_n_ranks (channels, placement, &own))
    check_threads (channels, options, &own);
  return cleave_mpi_agree (channels->comm, own, error) &&
         check_placements (channels, placement, error);
}

/* Builds the program of this rank. Releases `placement` before it compiles the graph, so that the
 * constants of other ranks are freed. */
static void
make (CleaveRankProgram *program,
      CleavePlacement *placement,
      const CleaveProgramOptions *options,
      GError **error)
{
  const CleaveTensorType token = { CLEAVE_UINT8, { .rank = 1, .dim = { 1 } } };
  g_autoptr (CleavePlacement) given = placement;
  CleaveTransport transport = cleave_channels_get_transport (&program->channels);
  CleaveProgramOptions own = { 0 };
  CleaveGraph *graph;

  program->token = cleave_tensor_new (&token, error);
  if (program->token == NULL)
    return;
  cleave_channels_open (&program->channels, placement);
  graph = cleave_placement_build (placement, (guint) program->channels.rank, &transport);
  g_clear_pointer (&given, cleave_placement_unref);
  if (options != NULL)
    own = *options;
  own.share = TRUE;
  program->program = cleave_program_new_take (graph, &own, error);
}

/**
 * cleave_rank_program_new_take:
 * @comm: a communicator, of as many ranks as the placement has
 * @placement: (transfer full): where nodes run; weights that this rank does not read are freed with
 * the placement, unless the caller keeps a reference to its graph
 * @options: (nullable): as for [ctor@Cleave.Program.new], for this rank
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the program of this rank from its nodes. All ranks of the communicator must call this
 * function, with the same placement of the same graph. All ranks fail if one rank fails: if memory
 * runs out, if models differ, or if MPI reports an error.
 *
 * Returns: (transfer full) (nullable): the program, or %NULL on error
 *
 * Since: 0.2
 */
CleaveRankProgram *
cleave_rank_program_new_take (MPI_Comm comm,
                              CleavePlacement *placement,
                              const CleaveProgramOptions *options,
                              GError **error)
{
  g_return_val_if_fail (placement != NULL, NULL);
  g_autoptr (CleavePlacement) given = placement;
  g_autoptr (CleaveRankProgram) program = g_new0 (CleaveRankProgram, 1);
  g_autoptr (GError) own = NULL;

  if (!cleave_channels_init (&program->channels, comm, error) ||
      !check_all (&program->channels, placement, options, error))
    return NULL;
  make (program, g_steal_pointer (&given), options, &own);
  if (!cleave_mpi_agree (program->channels.comm, own, error))
    return NULL;
  cleave_channels_meet (&program->channels, program->program, &own);
  return cleave_mpi_agree (program->channels.comm, own, error) ? g_steal_pointer (&program) : NULL;
}

/**
 * cleave_rank_program_free:
 * @program: (transfer full) (nullable): a program
 *
 * Frees a program. All ranks must free their programs before `MPI_Finalize()`.
 *
 * Since: 0.2
 */
void
cleave_rank_program_free (CleaveRankProgram *program)
{
  if (program == NULL)
    return;
  if (cleave_channels_clear (&program->channels)) /* if FALSE, MPI may still use the program's
                                                   * buffers */
    g_clear_pointer (&program->program, cleave_program_unref);
  g_clear_pointer (&program->token, cleave_tensor_unref);
  g_free (program);
}

/**
 * cleave_rank_program_bind:
 * @program: a program
 * @inputs: (array length=n_inputs): on rank 0, a tensor for each input of the graph; on other ranks
 * none
 * @n_inputs: number of @inputs
 * @outputs: (array length=n_outputs): on rank 0, a tensor for each output; on other ranks none
 * @n_outputs: number of @outputs
 * @error: return location for a [struct@GLib.Error]
 *
 * Sets the tensors that further runs read as inputs and write as outputs, as
 * [method@Cleave.Program.bind] does. Only rank 0 needs to call this function. On error, the earlier
 * tensors stay bound.
 *
 * Ranks other than rank 0 do not get the error. If an error keeps rank 0 from running, the other
 * ranks must get this error: before a run, all ranks call [func@Cleave.mpi_agree].
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_rank_program_bind (CleaveRankProgram *program,
                          CleaveTensor *const *inputs,
                          guint n_inputs,
                          CleaveTensor *const *outputs,
                          guint n_outputs,
                          GError **error)
{
  g_autofree CleaveTensor **all = g_new0 (CleaveTensor *, (gsize) n_inputs + 1);
  gboolean is_good;

  g_return_val_if_fail (program != NULL, FALSE);
  for (guint i = 0; i < n_inputs; i++)
    all[i] = inputs[i];
  all[n_inputs] = program->token;
  is_good = cleave_program_bind (program->program, all, n_inputs + 1, outputs, n_outputs, error);
  program->is_bound |= is_good;
  return is_good;
}

/* Binds only the token, a tensor of one byte that the program of every rank has as its last input.
 * A rank other than 0 has neither inputs nor outputs of the graph. Reports a failure to the other
 * ranks, so that these ranks do not wait for this rank. */
static void
bind_token (CleaveRankProgram *program)
{
  g_autoptr (GError) error = NULL;

  if (program->is_bound || program->channels.failure != NULL ||
      cleave_rank_program_bind (program, NULL, 0, NULL, 0, &error))
    return;
  g_prefix_error (&error, "rank %d: ", program->channels.rank);
  cleave_channels_fail (&program->channels, error);
}

/**
 * cleave_rank_program_run:
 * @program: a program; on rank 0, with tensors bound to it
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs once.  All ranks must call this function.  When it returns, rank 0 has the outputs.
 *
 * Fails if MPI fails: on the rank whose call failed, and on all ranks that would wait for its
 * messages. A program that failed does not run again.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_rank_program_run (CleaveRankProgram *program, GError **error)
{
  CleaveChannelSet *channels;

  g_return_val_if_fail (program != NULL, FALSE);
  channels = &program->channels;
  g_return_val_if_fail (program->is_bound || channels->rank != 0, FALSE);
  bind_token (program);
  if (channels->failure == NULL)
    {
      cleave_channels_begin (channels);
      cleave_program_run (program->program);
      cleave_channels_end (channels);
    }
  if (channels->failure == NULL)
    return TRUE;
  g_propagate_error (error, g_error_copy (channels->failure));
  return FALSE;
}

/**
 * cleave_rank_program_get_stats:
 * @program: a program
 * @stats: (out caller-allocates): the numbers
 *
 * Gets the memory that this rank uses, and the messages and bytes that it has sent and received.
 *
 * Since: 0.2
 */
void
cleave_rank_program_get_stats (const CleaveRankProgram *program, CleaveRankStats *stats)
{
  const CleaveChannelSet *channels;

  g_return_if_fail (program != NULL && stats != NULL);
  channels = &program->channels;
  *stats = (CleaveRankStats){ .n_sent = channels->n_sent,
                              .n_received = channels->n_received,
                              .sent_bytes = channels->sent_bytes,
                              .received_bytes = channels->received_bytes };
  cleave_program_get_stats (program->program, &stats->program);
}
