/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ranks.c same|errors|failures|host|stream [N]: mpirun runs this program with 4 processes. One
 * start of mpirun runs many cases, since a start takes half a second. */

#include "ranks.h"

#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"

#include <stdlib.h>
#include <string.h>

int rank, n_ranks;

void
demand (gboolean good, const char *what, guint32 seed)
{
  if (good)
    return;
  g_printerr ("rank %d, seed %u: %s\n", rank, seed, what);
  MPI_Abort (MPI_COMM_WORLD, 1);
}

/* MPI_Iprobe() below counts its calls from threads other than `main_thread`. */
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

GPtrArray *
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

void
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

void
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

/* The functions below test a stream of runs that alternates between N_LANES programs. Each program
 * has tensors of its own, and other inputs in each run. */
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

CleavePlacement *
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

static const char *mode;
static guint n_cases = 60;

START_TEST (do_it)
{
  if (g_str_equal (mode, "same"))
    run_same (n_cases);
  else if (g_str_equal (mode, "errors"))
    {
      run_measure ();
      run_progress ();
      run_errors ();
    }
  else if (g_str_equal (mode, "host"))
    run_host ();
  else if (g_str_equal (mode, "stream"))
    for (guint32 seed = 0; seed < n_cases; seed++)
      run_stream_case (seed);
  else /* a case that fails must not affect the next case */
    for (int i = 0; i < 5 * n_ranks; i++)
      {
        run_failure (i % n_ranks);
        run_stream_failure (i % n_ranks);
      }
}
END_TEST

/* Runs the cases as a Check test, since the generators of random graphs use Check's assertions. */
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
  demand (argc > 1 && n_ranks == 4, "ranks same|errors|failures|host|stream [N], on 4 ranks", 0);
  mode = argv[1];
  if (argc > 2)
    n_cases = (guint) atoi (argv[2]);
  demand (run_as_test (), "failed", 0);
  MPI_Finalize ();
  return 0;
}
