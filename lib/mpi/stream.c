/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs several programs of one placement at once on all ranks. Each program runs on its own thread,
 * with its own memory and messages. While one program waits for a message, another program
 * computes. */

#include "rank-program.h"

typedef struct
{
  CleaveRankProgram *const *programs;
  guint n_programs;
  const CleaveRankStream *stream;
  GMutex lock;
  GError *failure; /* error of the first program that failed; NULL: none */
} Streaming;

typedef struct
{
  Streaming *streaming;
  guint number;
} StreamThread;

/* Returns whether any program has failed. If so, reports the failure to the peers of `program`,
 * which would wait for runs that never start. */
static gboolean
has_failed (Streaming *s, CleaveRankProgram *program)
{
  g_autoptr (GError) failure = NULL;

  g_mutex_lock (&s->lock);
  failure = s->failure == NULL ? NULL : g_error_copy (s->failure);
  g_mutex_unlock (&s->lock);
  if (failure != NULL)
    cleave_channels_fail (cleave_rank_program_get_channels (program), failure);
  return failure != NULL;
}

/* Stores `error` if it is the first error of the stream. Frees any later error. */
static void
note_failure (Streaming *s, GError *error)
{
  g_mutex_lock (&s->lock);
  if (s->failure == NULL)
    s->failure = error;
  else
    g_error_free (error);
  g_mutex_unlock (&s->lock);
}

static gpointer
run_thread (gpointer data)
{
  const StreamThread *lane = data;
  Streaming *s = lane->streaming;
  CleaveRankProgram *program = s->programs[lane->number];
  const CleaveRankStream *stream = s->stream;
  GError *error = NULL;

  for (guint run = lane->number; run < stream->n_runs; run += s->n_programs)
    {
      if (has_failed (s, program))
        break;
      if (stream->begin != NULL)
        stream->begin (lane->number, run, stream->data);
      if (!cleave_rank_program_run (program, &error))
        {
          note_failure (s, error);
          break;
        }
      if (stream->end != NULL)
        stream->end (lane->number, run, stream->data);
    }
  return NULL;
}

/* Starts the thread of a program. If the thread cannot start, the stream fails on all ranks. */
static GThread *
begin_lane (StreamThread *lane)
{
  GError *error = NULL;
  GThread *thread = g_thread_try_new ("cleave-stream", run_thread, lane, &error);

  if (thread == NULL)
    {
      g_prefix_error (&error, "rank %d: ",
                      cleave_rank_program_get_channels (lane->streaming->programs[0])->rank);
      note_failure (lane->streaming, error);
      has_failed (lane->streaming, lane->streaming->programs[lane->number]);
    }
  return thread;
}

static void
run_lanes (Streaming *s)
{
  g_autofree StreamThread *lanes = g_new0 (StreamThread, s->n_programs);
  g_autofree GThread **threads = g_new0 (GThread *, s->n_programs);

  for (guint i = 0; i < s->n_programs; i++)
    {
      lanes[i] = (StreamThread){ s, i };
      cleave_rank_program_get_channels (s->programs[i])->has_other_programs = s->n_programs > 1;
    }
  for (guint i = 1; i < s->n_programs; i++)
    threads[i] = begin_lane (&lanes[i]);
  run_thread (&lanes[0]);
  for (guint i = 1; i < s->n_programs; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);
}

/* Checks that MPI allows calls from several threads, if there is more than one program.
 * Collective. */
static gboolean
check_threads (const CleaveChannelSet *channels, guint n_programs, GError **error)
{
  g_autoptr (GError) own = NULL;
  int level = MPI_THREAD_SINGLE;

  MPI_Query_thread (&level);
  if (n_programs > 1 && level < MPI_THREAD_SERIALIZED)
    g_set_error (&own, CLEAVE_ERROR, CLEAVE_ERROR_OPTION,
                 "initialize MPI with MPI_THREAD_SERIALIZED to have several runs in flight");
  return cleave_mpi_agree (channels->comm, own, error);
}

/**
 * cleave_rank_programs_stream:
 * @programs: (array length=n_programs): programs of one placement, made in the same order on all
 * ranks; on rank 0, with tensors bound to each
 * @n_programs: the number of programs, which is the number of runs at once
 * @stream: the number of runs, and functions to call before and after each run
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs many times, with @n_programs runs in flight at once: while one run waits for a message of
 * another rank, the other runs compute. Run i uses program i modulo @n_programs. All ranks must
 * call this function, with the same numbers of programs and runs.
 *
 * Each program runs on a separate thread, with separate memory: two programs must not have outputs
 * bound to the same tensors.
 *
 * Fails as [method@Cleave.RankProgram.run] does. After an error, no program runs again.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_rank_programs_stream (CleaveRankProgram *const *programs,
                             guint n_programs,
                             const CleaveRankStream *stream,
                             GError **error)
{
  g_return_val_if_fail (programs != NULL && n_programs > 0 && stream != NULL, FALSE);
  Streaming s = { .programs = programs, .n_programs = n_programs, .stream = stream };

  if (!check_threads (cleave_rank_program_get_channels (programs[0]), n_programs, error))
    return FALSE;
  g_mutex_init (&s.lock);
  run_lanes (&s);
  g_mutex_clear (&s.lock);
  if (s.failure == NULL)
    return TRUE;
  g_propagate_error (error, s.failure);
  return FALSE;
}
