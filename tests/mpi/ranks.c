/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ranks.c same|agree|alarm|near|stream [N]: mpirun runs it with 4 processes. One run has many
 * cases, since a start takes half a second. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* declares process_vm_readv() */
#endif

#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

#include "../../lib/mpi/copy-runs.h"
#include "../../lib/mpi/requests.h"

#include <cleave/cleave-mpi.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int rank, n_ranks;

static void
demand (gboolean good, const char *what, guint32 seed)
{
  if (good)
    return;
  g_printerr ("rank %d, seed %u: %s\n", rank, seed, what);
  MPI_Abort (MPI_COMM_WORLD, 1);
}

/* Number of calls of MPI_Start() that succeed before further calls fail. */
static gint starts_left = G_MAXINT;

int MPI_Start (MPI_Request *request);

int
MPI_Start (MPI_Request *request)
{
  return starts_left-- > 0 ? PMPI_Start (request) : MPI_ERR_OTHER;
}

/* Numbers of calls that succeed before a call fails on this rank. A collective call that fails
 * takes place first, since other ranks wait for it. A send that fails sends nothing. */
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

/* Number of reads of another process's memory that succeed before further reads fail. */
static gint reads_left = G_MAXINT;

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

/* The calls of MPI_Iprobe() from other threads than the main thread are counted. */
static GThread *main_thread;
static gint n_probes;

int
MPI_Iprobe (int source, int tag, MPI_Comm comm, int *is_there, MPI_Status *status)
{
  if (g_thread_self () != main_thread)
    g_atomic_int_inc (&n_probes);
  return PMPI_Iprobe (source, tag, comm, is_there, status);
}

static CleavePlacement *
place_at_random (CleaveGraph *graph, guint32 seed, guint n)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  guint n_nodes = cleave_graph_get_n_nodes (graph);
  g_autofree guint *ranks = g_new (guint, n_nodes + 1);

  for (guint i = 0; i < n_nodes; i++)
    ranks[i] = (guint) g_rand_int_range (random, 0, (gint32) n);
  return cleave_placement_new_by_node (graph, n, ranks, n_nodes, NULL);
}

/* Asserts that the program sent and received the messages and bytes of the placement. */
static void
assert_counts (const CleaveRankProgram *program,
               const CleavePlacement *placement,
               guint n_runs,
               guint32 seed)
{
  CleaveRankStats stats, plan = { 0 };

  for (guint i = 0; i < cleave_placement_get_n_messages (placement); i++)
    {
      const CleaveMessage *message = cleave_placement_get_message (placement, i);
      gboolean from = (int) message->from == rank, to = (int) message->to == rank;

      plan.n_sent += from;
      plan.n_received += to;
      plan.sent_bytes += from ? message->n_bytes : 0;
      plan.received_bytes += to ? message->n_bytes : 0;
    }
  cleave_rank_program_get_stats (program, &stats);
  demand (stats.n_sent == plan.n_sent * n_runs && stats.n_received == plan.n_received * n_runs,
          "other messages than planned", seed);
  demand (stats.sent_bytes == plan.sent_bytes * n_runs &&
              stats.received_bytes == plan.received_bytes * n_runs,
          "other bytes than planned", seed);
}

static GPtrArray *
make_outputs (const CleaveGraph *graph)
{
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; rank == 0 && i < cleave_graph_get_n_outputs (graph); i++)
    {
      CleaveResult *value = cleave_operand_get_result (cleave_graph_get_output (graph, i));

      g_ptr_array_add (outputs, cleave_tensor_new (cleave_result_get_type (value), NULL));
    }
  return outputs;
}

/* Compares the outputs with those of a program of the whole graph. */
static void
assert_outputs (const CleaveGraph *graph, GPtrArray *inputs, GPtrArray *outputs, guint32 seed)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  g_autoptr (GPtrArray) expected = make_outputs (graph);

  cleave_program_bind (program, (CleaveTensor **) inputs->pdata, inputs->len,
                       (CleaveTensor **) expected->pdata, expected->len, NULL);
  cleave_program_run (program);
  for (guint i = 0; i < expected->len; i++)
    demand (cleave_tensor_equal (outputs->pdata[i], expected->pdata[i]), "an output differs", seed);
}

static guint
run_case (MPI_Comm comm, guint n, guint32 seed)
{
  const CleaveProgramOptions options = { .n_threads = 1 + seed / 4 % 2 };
  g_autoptr (CleaveGraph) graph = random_split_graph (seed);
  g_autoptr (CleavePlacement) placement = place_at_random (graph, seed, n);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed), outputs = make_outputs (graph);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveRankProgram) program =
      cleave_rank_program_new_take (comm, cleave_placement_ref (placement), &options, &error);

  demand (program != NULL, error == NULL ? "no program" : error->message, seed);
  if (rank == 0)
    demand (cleave_rank_program_bind (program, (CleaveTensor **) inputs->pdata, inputs->len,
                                      (CleaveTensor **) outputs->pdata, outputs->len, &error),
            "cannot bind", seed);
  for (guint i = 0; i < 3; i++)
    demand (cleave_rank_program_run (program, &error), "cannot run", seed);
  assert_counts (program, placement, 3, seed);
  if (rank == 0)
    assert_outputs (graph, inputs, outputs, seed);
  return cleave_placement_get_n_messages (placement);
}

/* Runs cases on 1, 2, 3 and 4 of the ranks. */
static void
run_same (guint n_cases)
{
  guint n_messages = 0;

  for (guint32 seed = 0; seed < n_cases; seed++)
    {
      int n = 1 + (int) seed % n_ranks;
      MPI_Comm comm;

      MPI_Comm_split (MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
      if (rank >= n)
        continue;
      n_messages += run_case (comm, (guint) n, seed);
      MPI_Comm_free (&comm);
    }
  if (rank == 0)
    {
      demand (n_messages > 10 * n_cases, "hardly a message", n_messages);
      g_print ("%u cases, %u messages\n", n_cases, n_messages);
    }
}

/* Alternates between N_LANES programs. Each program has tensors of its own, and other inputs in
 * each run.
 */
#define N_LANES 3
#define N_RUNS 7

typedef struct
{
  const CleaveGraph *graph;
  guint32 seed;
  CleaveRankProgram *programs[N_LANES];
  GPtrArray *inputs[N_LANES], *outputs[N_LANES];
  gint n_begun, n_ended;
} StreamCase;

static void
begin_run (guint program, guint run, gpointer data)
{
  StreamCase *c = data;
  GPtrArray *fresh = run_random_inputs (c->graph, c->seed + run);

  demand (run % N_LANES == program, "another program's run", c->seed);
  if (rank == 0)
    cleave_rank_program_bind (c->programs[program], (CleaveTensor **) fresh->pdata, fresh->len,
                              (CleaveTensor **) c->outputs[program]->pdata,
                              c->outputs[program]->len, NULL);
  g_ptr_array_unref (c->inputs[program]);
  c->inputs[program] = fresh;
  g_atomic_int_inc (&c->n_begun);
}

static void
end_run (guint program, guint run, gpointer data)
{
  StreamCase *c = data;

  if (rank == 0)
    assert_outputs (c->graph, c->inputs[program], c->outputs[program], c->seed);
  g_atomic_int_inc (&c->n_ended);
}

static void
make_lane (StreamCase *c, CleavePlacement *placement, guint lane)
{
  const CleaveProgramOptions options = { .n_threads = 1 + c->seed / 4 % 2 };

  c->programs[lane] = cleave_rank_program_new_take (
      MPI_COMM_WORLD, cleave_placement_ref (placement), &options, NULL);
  c->inputs[lane] = run_random_inputs (c->graph, c->seed);
  c->outputs[lane] = make_outputs (c->graph);
  demand (c->programs[lane] != NULL, "no program", c->seed);
}

static void
run_stream_case (guint32 seed)
{
  g_autoptr (CleaveGraph) graph = random_split_graph (seed);
  g_autoptr (CleavePlacement) placement = place_at_random (graph, seed, (guint) n_ranks);
  StreamCase c = { .graph = graph, .seed = seed };
  const CleaveRankStream stream = { N_RUNS, begin_run, end_run, &c };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < N_LANES; i++)
    make_lane (&c, placement, i);
  if (!cleave_rank_programs_stream (c.programs, N_LANES, &stream, &error))
    demand (FALSE, error->message, seed);
  demand (c.n_begun == N_RUNS && c.n_ended == N_RUNS, "not all runs", seed);
  for (guint i = 0; i < N_LANES; i++)
    {
      assert_counts (c.programs[i], placement, (N_RUNS + N_LANES - 1 - i) / N_LANES, seed);
      cleave_rank_program_free (c.programs[i]);
      g_ptr_array_unref (c.inputs[i]);
      g_ptr_array_unref (c.outputs[i]);
    }
}

#define TEXT                                                                                       \
  "graph g\n%%x = Input : float32 4x8\n%%w = Constant seed=%d : float32 8x8\n"                     \
  "%%a = MatMul %%x, %%w\n%%b = Relu %%a\n%%c = Add %%b, %%a\noutput %%c\n"

static CleavePlacement *
make_chain (int seed, guint n)
{
  g_autofree char *text = g_strdup_printf (TEXT, seed);
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
  const guint ranks[] = { 0, 0, 1, 2, 3 };

  return cleave_placement_new_by_node (graph, n, ranks, 5, NULL);
}

/* Checks that all ranks measure the same plausible bandwidth and latency, and that the measurement
 * does not change the other fields of the network. */
static void
run_measure (void)
{
  CleaveNetwork network = { 4, 3, 0, 0 };
  double other[2];
  MPI_Comm self;

  demand (cleave_mpi_measure_network (MPI_COMM_WORLD, &network, NULL), "not measured", 0);
  demand (network.n_ranks == 4 && network.n_threads == 3, "other ranks", 0);
  demand (network.bandwidth > 1e6 && network.bandwidth < 1e12, "such a bandwidth cannot be", 0);
  demand (network.latency > 1e-8 && network.latency < 1, "such a latency cannot be", 0);
  other[0] = network.bandwidth;
  other[1] = network.latency;
  MPI_Bcast (other, 2, MPI_DOUBLE, 3, MPI_COMM_WORLD);
  demand (memcmp (&other[0], &network.bandwidth, sizeof (double)) == 0 &&
              memcmp (&other[1], &network.latency, sizeof (double)) == 0,
          "ranks differ", 0);
  MPI_Comm_dup (MPI_COMM_SELF, &self);
  demand (cleave_mpi_measure_network (self, &network, NULL), "not measured alone", 0);
  demand (network.latency > 0, "a single rank has found something", 0);
  MPI_Comm_free (&self);
}

#define LONG                                                                                       \
  "graph g\n%x = Input : float32 1024x1024\n%a = Relu %x\n%b = Neg %a\n%c = MatMul %x, %x\n"       \
  "%d = MatMul %c, %x\n%e = MatMul %d, %x\n%f = Add %e, %b\noutput %f\n"

/* Checks that a large message makes progress while the sending rank computes. */
static void
run_progress (void)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  const guint ranks[] = { 0, 0, 1, 0, 0, 0, 0 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (LONG, NULL, NULL);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), outputs = make_outputs (graph);
  g_autoptr (CleaveRankProgram) program = cleave_rank_program_new_take (
      MPI_COMM_WORLD, cleave_placement_new_by_node (graph, 4, ranks, 7, NULL), &options, NULL);

  if (rank == 0)
    cleave_rank_program_bind (program, (CleaveTensor **) inputs->pdata, 1,
                              (CleaveTensor **) outputs->pdata, 1, NULL);
  n_probes = 0;
  for (guint i = 0; i < 5; i++)
    demand (cleave_rank_program_run (program, NULL), "cannot run", i);
  demand (g_atomic_int_get (&n_probes) > 0 || rank > 1, "nobody calls MPI meanwhile", 0);
  n_probes = 0;
  g_usleep (20000);
  demand (g_atomic_int_get (&n_probes) == 0, "somebody calls MPI between runs", 0);
  if (rank == 0)
    assert_outputs (graph, inputs, outputs, 0);
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

/* Checks the error if a rank lacks memory for its program. The rank never touches the gigabyte
 * between the parts, since the machine may not have that memory. */
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

/* Asserts the error if the rank that measures the network cannot send to another rank. */
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

/* Asserts that a rank that cannot run reports that to the ranks that wait for it. */
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

/* Tests places with more bytes, or more runs, than an int can count. No memory is allocated for
 * them. */
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

static void
run_agree (void)
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

/* Asserts that if MPI fails on a rank during a run, all ranks fail, and none waits forever. */
static void
run_alarm (int failing)
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

/* Asserts that if one of several programs in flight fails, all programs fail on all ranks. */
static void
run_stream_alarm (int failing)
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

/* Returns a place in `data` for counts[0] bytes times the counts of the loops. If `dense`, there
 * are no gaps, and some inner loops are part of the run. */
static CleaveMessagePlace
make_place (GRand *random, const gint64 *counts, guint n_loops, char *data, gboolean dense)
{
  CleaveMessagePlace place = { .data = data, .run_bytes = counts[0] };
  guint begin = dense ? (guint) g_rand_int_range (random, 0, (gint32) n_loops + 1) : 0;
  gint64 stride = place.run_bytes;

  for (guint i = 0; i < begin; i++)
    stride = place.run_bytes *= counts[i + 1];
  for (guint i = begin; i < n_loops; i++)
    {
      stride += dense ? 0 : g_rand_int_range (random, 0, 9);
      place.counts[place.n_loops] = counts[i + 1];
      place.strides[place.n_loops++] = stride;
      stride *= counts[i + 1];
    }
  return place;
}

static void
run_copies (void)
{
  for (guint32 seed = 0; seed < 2000; seed++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (seed);
      char source[1 << 13], target[1 << 13] = "", back[1 << 13];
      gint64 counts[4], n_bytes = 1;
      guint n_loops = seed % 4;
      CleaveMessagePlace from, to, again;

      for (guint i = 0; i <= n_loops; i++)
        n_bytes *= counts[i] = g_rand_int_range (random, seed % 7 == 0 ? 0 : 1, 6);
      for (guint i = 0; i < sizeof source; i++)
        source[i] = (char) g_rand_int (random);
      memset (back, 0, sizeof back);
      from = make_place (random, counts, n_loops, source, TRUE);
      to = make_place (random, counts, n_loops, target, FALSE);
      again = make_place (random, counts, n_loops, back, TRUE);
      demand (cleave_runs_copy (&from, &to) == n_bytes, "other bytes than there are", seed);
      demand (cleave_runs_copy (&to, &again) == n_bytes, "other bytes come back", seed);
      demand (memcmp (source, back, (gsize) n_bytes) == 0, "not the bytes that were there", seed);
      demand (n_bytes == 0 || cleave_runs_get_span (&to) <= (gint64) sizeof target, "no span",
              seed);
    }
}

static void
run_text (const char *text, const guint *ranks, guint n_nodes)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, NULL);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), outputs = make_outputs (graph);
  g_autoptr (CleaveRankProgram) program = cleave_rank_program_new_take (
      MPI_COMM_WORLD, cleave_placement_new_by_node (graph, 4, ranks, n_nodes, NULL), &options,
      NULL);

  demand (program != NULL, "no program", n_nodes);
  if (rank == 0)
    cleave_rank_program_bind (program, (CleaveTensor **) inputs->pdata, inputs->len,
                              (CleaveTensor **) outputs->pdata, outputs->len, NULL);
  for (guint i = 0; i < 3; i++)
    demand (cleave_rank_program_run (program, NULL), "cannot run", i);
  if (rank == 0)
    assert_outputs (graph, inputs, outputs, n_nodes);
}

/* Two ranks send each other values at the same time. Each waits until its message has left before
 * it receives the other rank's message. */
#define CROSSWISE                                                                                  \
  "graph g\n%x = Input : float32 1024x1024\n%a = Relu %x\n%b = Neg %x\n%c = MatMul %a, %a\n"       \
  "%d = MatMul %b, %b\n%e = Add %c, %b\n%f = Add %d, %a\n%g = Add %e, %f\noutput %g\n"

/* The bound input has more rows than one call of process_vm_readv() reads, and short rows. */
#define ROWS                                                                                       \
  "graph g\n%x = Input : float32 1x600x8x100\n"                                                    \
  "%a = Slice %x 0:1,0:600,2:6,10:90\n%b = Relu %a\n"                                              \
  "%c = Slice %x 0:1,0:600,2:6,10:14\n%d = Neg %c\noutput %b\noutput %d\n"

/* Asserts that ranks on one host read each other's memory, and that MPI carries no message. */
static void
run_near (void)
{
  const guint crosswise[] = { 0, 0, 1, 0, 1, 0, 1, 0 }, rows[] = { 0, 0, 1, 0, 1 };

  run_copies ();
  starts_left = reads_left = G_MAXINT;
  run_text (CROSSWISE, crosswise, G_N_ELEMENTS (crosswise));
  reads_left = G_MAXINT;
  run_text (ROWS, rows, G_N_ELEMENTS (rows));
  demand (rank != 1 || G_MAXINT - reads_left >= 3 * (5 + 1), "rows were fetched otherwise", 0);
  run_same (8);
  demand (starts_left == G_MAXINT, "MPI carried a message", 0);
  for (int i = 0; i < 5; i++)
    {
      run_alarm (1);
      run_stream_alarm (1);
    }
}

static const char *mode;
static guint n_cases = 60;

START_TEST (do_it)
{
  if (g_str_equal (mode, "same"))
    run_same (n_cases);
  else if (g_str_equal (mode, "agree"))
    {
      run_measure ();
      run_progress ();
      run_agree ();
    }
  else if (g_str_equal (mode, "near"))
    run_near ();
  else if (g_str_equal (mode, "stream"))
    for (guint32 seed = 0; seed < n_cases; seed++)
      run_stream_case (seed);
  else /* a case that fails must not affect the next case */
    for (int i = 0; i < 5 * n_ranks; i++)
      {
        run_alarm (i % n_ranks);
        run_stream_alarm (i % n_ranks);
      }
}
END_TEST

/* Runs as a Check test, since the generators of random graphs use Check's assertions. */
static gboolean
run_as_test (void)
{
  Suite *suite = suite_create ("ranks");
  TCase *test_case = tcase_create (mode);
  SRunner *runner = srunner_create (suite);
  int n_failed;

  tcase_add_test (test_case, do_it);
  suite_add_tcase (suite, test_case);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_SILENT);
  n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return n_failed == 0;
}

int
main (int argc, char **argv)
{
  int level;

  MPI_Init_thread (&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  main_thread = g_thread_self ();
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  demand (argc > 1 && n_ranks == 4, "ranks same|agree|alarm|near|stream [N], on 4 ranks", 0);
  mode = argv[1];
  if (argc > 2)
    n_cases = (guint) atoi (argv[2]);
  demand (run_as_test (), "failed", 0);
  MPI_Finalize ();
  return 0;
}
