/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cases of calls that fail on one rank: all ranks report the same error, and none waits forever. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* declares process_vm_readv() */
#endif

#include "ranks.h"

#include "../../lib/mpi/requests.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Number of calls of MPI_Start() that succeed before further calls fail. */
gint starts_left = G_MAXINT;

int MPI_Start (MPI_Request *request);

int
MPI_Start (MPI_Request *request)
{
  return starts_left-- > 0 ? PMPI_Start (request) : MPI_ERR_OTHER;
}

/* Numbers of calls that succeed before a call fails on this rank. A failing collective call first
 * exchanges its data, since other ranks wait for the call. A send that fails sends nothing. */
static gint dups_left = G_MAXINT, gathers_left = G_MAXINT, sends_left = G_MAXINT;

int
MPI_Comm_dup (MPI_Comm comm, MPI_Comm *copy)
{
  int code = PMPI_Comm_dup (comm, copy);

  if (dups_left-- > 0)
    return code;
  *copy = MPI_COMM_NULL;
  return MPI_ERR_OTHER;
}

int
MPI_Allgather (const void *sent,
               int n_sent,
               MPI_Datatype sent_type,
               void *received,
               int n_received,
               MPI_Datatype received_type,
               MPI_Comm comm)
{
  int code = PMPI_Allgather (sent, n_sent, sent_type, received, n_received, received_type, comm);

  return gathers_left-- > 0 ? code : MPI_ERR_OTHER;
}

int
MPI_Send (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  return sends_left-- == 0 ? MPI_ERR_OTHER : PMPI_Send (data, n, type, to, tag, comm);
}

/* Number of reads of another process's memory that succeed before further reads fail. */
gint reads_left = G_MAXINT;

ssize_t
process_vm_readv (pid_t pid,
                  const struct iovec *here,
                  unsigned long n_here,
                  const struct iovec *there,
                  unsigned long n_there,
                  unsigned long flags)
{
  if (reads_left-- > 0)
    return syscall (SYS_process_vm_readv, pid, here, n_here, there, n_there, flags);
  errno = ESRCH;
  return -1;
}

/* Replaces cleave_program_bind(): the linker redirects calls here. The replacement fails if
 * `binding_fails`. */
static gboolean binding_fails;

gboolean __real_cleave_program_bind (CleaveProgram *program,
                                     CleaveTensor *const *inputs,
                                     guint n_inputs,
                                     CleaveTensor *const *outputs,
                                     guint n_outputs,
                                     GError **error);
gboolean __wrap_cleave_program_bind (CleaveProgram *program,
                                     CleaveTensor *const *inputs,
                                     guint n_inputs,
                                     CleaveTensor *const *outputs,
                                     guint n_outputs,
                                     GError **error);

gboolean
__wrap_cleave_program_bind (CleaveProgram *program,
                            CleaveTensor *const *inputs,
                            guint n_inputs,
                            CleaveTensor *const *outputs,
                            guint n_outputs,
                            GError **error)
{
  if (binding_fails)
    g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_BINDING, "asked to fail");
  return !binding_fails &&
         __real_cleave_program_bind (program, inputs, n_inputs, outputs, n_outputs, error);
}

/* Asserts that all ranks report an error of one rank. */
static void
assert_refused (int seed, guint n, guint n_threads, const char *message)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveRankProgram) program =
      cleave_rank_program_new_take (MPI_COMM_WORLD, make_chain (seed, n), &options, &error);

  demand (program == NULL && error != NULL, "no error", 0);
  demand (strstr (error->message, message) != NULL, error->message, 0);
  demand (error->domain == CLEAVE_ERROR, "of another domain", 0);
}

#define LARGE                                                                                      \
  "graph g\n%x = Input : float32 8192x1\n%y = Input : float32 1x32768\n"                           \
  "%a = MatMul %x, %y\n%b = ReduceMax %a axes=0,1\noutput %b\n"

static gint64
get_own_bytes (void)
{
  g_autofree char *text = NULL;

  demand (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL), "no /proc", 0);
  return g_ascii_strtoll (text, NULL, 10) * sysconf (_SC_PAGESIZE);
}

/* Checks that all ranks report the error if rank `which` lacks memory for the arena of its program.
 * The program needs a gigabyte, but no rank touches that memory, since the machine may not have it.
 */
static void
assert_no_memory (int which)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  const guint ranks[] = { 0, 0, (guint) which, (guint) which };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (LARGE, NULL, NULL);
  CleavePlacement *placement = cleave_placement_new_by_node (graph, 4, ranks, 4, NULL);
  g_autofree char *expected = g_strdup_printf ("rank %d: there is no memory for the 1073", which);
  g_autoptr (GError) error = NULL;
  struct rlimit old, some;
  gint64 begin = g_get_monotonic_time ();

  getrlimit (RLIMIT_AS, &old);
  some = (struct rlimit){ (rlim_t) get_own_bytes () + (1 << 28), old.rlim_max };
  if (rank == which)
    setrlimit (RLIMIT_AS, &some);
  demand (cleave_rank_program_new_take (MPI_COMM_WORLD, placement, &options, &error) == NULL,
          "there is memory", (guint32) which);
  setrlimit (RLIMIT_AS, &old);
  demand (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_MEMORY), error->message, 0);
  demand (g_str_has_prefix (error->message, expected), error->message, 0);
  demand (g_get_monotonic_time () - begin < 20 * G_USEC_PER_SEC, "it took long", (guint32) which);
}

/* Checks a call of MPI that fails on a rank while a program is made: no rank waits for the failed
 * rank, and the next program is made normally. */
static void
assert_collective_fails (int failing, gint *left, gint n, const char *message)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (GError) error = NULL;
  g_autofree char *prefix = g_strdup_printf ("rank %d: cannot %s", failing, message);
  CleaveRankProgram *program;

  if (rank == failing)
    *left = n;
  program = cleave_rank_program_new_take (MPI_COMM_WORLD, make_chain (1, 4), &options, &error);
  *left = G_MAXINT;
  demand (program == NULL && error != NULL, message, (guint32) failing);
  demand (g_str_has_prefix (error->message, prefix), error->message, (guint32) failing);
  program = cleave_rank_program_new_take (MPI_COMM_WORLD, make_chain (1, 4), &options, NULL);
  demand (program != NULL, "no program after a failure", (guint32) failing);
  cleave_rank_program_free (program);
}

/* Asserts that the measurement of the network fails if the measuring rank cannot send to another
 * rank. */
static void
assert_measuring_fails (gint n)
{
  CleaveNetwork network = { 0 };
  g_autoptr (GError) error = NULL;

  if (rank == 0)
    sends_left = n;
  demand (!cleave_mpi_measure_network (MPI_COMM_WORLD, &network, &error), "measured", (guint32) n);
  sends_left = G_MAXINT;
  demand (g_str_has_prefix (error->message, "rank 0: cannot measure the network"), error->message,
          (guint32) n);
  demand (cleave_mpi_measure_network (MPI_COMM_WORLD, &network, NULL), "not measured", (guint32) n);
}

/* Asserts that tensors of another type are an error after tensors of the right type were bound. */
static void
assert_second_binding_fails (void)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  const CleaveTensorType in = { CLEAVE_FLOAT32, { .rank = 2, .dim = { 4, 8 } } };
  const CleaveTensorType other = { CLEAVE_FLOAT32, { .rank = 2, .dim = { 4, 9 } } };
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&in, NULL), y = cleave_tensor_new (&in, NULL);
  g_autoptr (CleaveTensor) z = cleave_tensor_new (&other, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveRankProgram) program =
      cleave_rank_program_new_take (MPI_COMM_WORLD, make_chain (1, 4), &options, NULL);

  if (rank == 0)
    {
      demand (cleave_rank_program_bind (program, &x, 1, &y, 1, NULL), "cannot bind", 0);
      demand (!cleave_rank_program_bind (program, &z, 1, &y, 1, &error), "bound a wrong type", 0);
      demand (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_BINDING), "no error", 0);
    }
  demand (cleave_rank_program_run (program, NULL), "the tensors that were bound before are freed",
          0);
}

/* Asserts that a rank that cannot run reports its failure to the ranks that wait for it. */
static void
assert_first_run_fails (int failing)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  const CleaveTensorType in = { CLEAVE_FLOAT32, { .rank = 2, .dim = { 4, 8 } } };
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&in, NULL), y = cleave_tensor_new (&in, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *expected = g_strdup_printf ("rank %d: asked to fail", failing);
  g_autoptr (CleaveRankProgram) program =
      cleave_rank_program_new_take (MPI_COMM_WORLD, make_chain (1, 4), &options, NULL);

  if (rank == 0)
    cleave_rank_program_bind (program, &x, 1, &y, 1, NULL);
  binding_fails = rank == failing;
  while (cleave_rank_program_run (program, &error))
    ;
  binding_fails = FALSE;
  demand (g_str_equal (error->message, expected), error->message, (guint32) failing);
}

/* Makes MPI datatypes for the memory of very large messages: with more bytes, or more runs of
 * bytes, than an int can count. No memory is allocated for the messages. */
static void
run_large_types (void)
{
  static const struct
  {
    gint64 run_bytes;
    guint n_loops;
    gint64 counts[2], strides[2];
  } places[] = {
    { 5000000000, 0, { 0 }, { 0 } },
    { G_MAXINT, 0, { 0 }, { 0 } },
    { (gint64) G_MAXINT + 1, 1, { 3 }, { 5000000000 } },
    { 1, 1, { 5000000000 }, { 2 } },
    { 7, 2, { 3000000000, 2 }, { 8, 24000000000 } },
    { 16, 2, { 5, 3 }, { 64, 1024 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      CleaveMessagePlace place = { .run_bytes = places[i].run_bytes, .n_loops = places[i].n_loops };
      gint64 n_bytes = place.run_bytes, span = place.run_bytes;
      MPI_Datatype type;
      MPI_Count size = 0, begin = -1, extent = 0;

      for (guint k = 0; k < place.n_loops; k++)
        {
          place.counts[k] = places[i].counts[k];
          place.strides[k] = places[i].strides[k];
          n_bytes *= place.counts[k];
          span += (place.counts[k] - 1) * place.strides[k];
        }
      demand (cleave_message_type_init (&place, &type) == MPI_SUCCESS, "no type", i);
      MPI_Type_size_x (type, &size);
      MPI_Type_get_true_extent_x (type, &begin, &extent);
      MPI_Type_free (&type);
      demand (size == n_bytes, "other bytes than there are", i);
      demand (begin == 0 && extent == span, "other places than they are at", i);
    }
}

void
run_errors (void)
{
  g_autoptr (GError) own = NULL, error = NULL;

  assert_refused (rank == 2 ? 1 : 2, 4, 1, "rank 2: the model, or where its nodes are to run");
  assert_refused (1, 4, rank == 3 ? 5000 : 1, "rank 3: ");
  assert_refused (1, 5, 1, "rank 0: the placement is for 5 ranks, and there are 4");
  if (rank == 1)
    own = g_error_new_literal (CLEAVE_ERROR, CLEAVE_ERROR_MODEL, "no such file");
  demand (!cleave_mpi_agree (MPI_COMM_WORLD, own, &error), "agreed", 0);
  demand (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL), "of another code", 0);
  demand (g_str_equal (error->message, "rank 1: no such file"), error->message, 0);
  demand (cleave_mpi_agree (MPI_COMM_WORLD, NULL, NULL), "not agreed", 0);
  for (int r = 0; r < n_ranks; r++)
    {
      assert_no_memory (r);
      for (gint n = 0; n < 2; n++)
        {
          assert_collective_fails (r, &dups_left, n, "copy the communicator");
          assert_collective_fails (r, &gathers_left, n, "find the ranks of this host");
        }
      if (r > 0)
        assert_first_run_fails (r);
    }
  assert_measuring_fails (0);
  assert_measuring_fails (30);
  assert_second_binding_fails ();
  run_large_types ();
}

void
run_failure (int failing)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  const CleaveTensorType in = { CLEAVE_FLOAT32, { .rank = 2, .dim = { 4, 8 } } };
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&in, NULL), y = cleave_tensor_new (&in, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *expected = g_strdup_printf ("rank %d: cannot ", failing);
  g_autoptr (CleaveRankProgram) program =
      cleave_rank_program_new_take (MPI_COMM_WORLD, make_chain (1, 4), &options, &error);
  guint n_runs = 0;

  if (rank == 0)
    cleave_rank_program_bind (program, &x, 1, &y, 1, NULL);
  if (rank == failing)
    starts_left = reads_left = 11;
  while (n_runs < 100 && cleave_rank_program_run (program, &error))
    n_runs++;
  demand (error != NULL, "no error", (guint32) failing);
  demand (g_str_has_prefix (error->message, expected), error->message, (guint32) failing);
  demand (!cleave_rank_program_run (program, NULL), "it goes on", (guint32) failing);
  starts_left = reads_left = G_MAXINT;
}

void
run_stream_failure (int failing)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  const CleaveTensorType in = { CLEAVE_FLOAT32, { .rank = 2, .dim = { 4, 8 } } };
  const CleaveRankStream stream = { .n_runs = 1000 };
  CleaveRankProgram *programs[N_LANES];
  g_autoptr (GError) error = NULL;
  g_autofree char *expected = g_strdup_printf ("rank %d: cannot ", failing);

  for (guint i = 0; i < N_LANES; i++)
    {
      g_autoptr (CleaveTensor) x = cleave_tensor_new (&in, NULL), y = cleave_tensor_new (&in, NULL);

      programs[i] =
          cleave_rank_program_new_take (MPI_COMM_WORLD, make_chain (1, 4), &options, NULL);
      if (rank == 0)
        cleave_rank_program_bind (programs[i], &x, 1, &y, 1, NULL);
    }
  if (rank == failing)
    starts_left = reads_left = 11;
  demand (!cleave_rank_programs_stream (programs, N_LANES, &stream, &error), "no error",
          (guint32) failing);
  demand (g_str_has_prefix (error->message, expected), error->message, (guint32) failing);
  starts_left = reads_left = G_MAXINT;
  for (guint i = 0; i < N_LANES; i++)
    cleave_rank_program_free (programs[i]);
}
