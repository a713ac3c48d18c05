/* SPDX-License-Identifier: GPL-2.0-or-later */

/* bench-ranks MODEL GBIT LATENCY REPEAT [SHAPE]: prints three durations as JSON. mpirun starts this
 * program on each rank. The first duration is the shortest run on ranks with one thread each. The
 * second is the shortest run of one process with as many threads as ranks. The third is the
 * simulated run on the ranks, for the measured bandwidth and latency of the network.
 *
 * The model is split and placed for GBIT and LATENCY, so that ranks send each other messages even
 * if the real network is slower. If GBIT and LATENCY are 0, the model is placed for the measured
 * bandwidth and latency. SHAPE is the shape of the only input.
 *
 * The simulation uses measured times of steps. To measure them, one process runs all steps, while
 * the other ranks sleep. */

#include <cleave/cleave-mpi.h>
#include <cleave/cleave.h>

#include <stdio.h>
#include <stdlib.h>

static int rank, n_ranks;

static void
demand (gboolean good, const GError *error)
{
  if (good)
    return;
  g_printerr ("bench-ranks: rank %d: %s\n", rank, error == NULL ? "failed" : error->message);
  MPI_Abort (MPI_COMM_WORLD, 1);
}

static CleaveGraph *
load (const char *path, const char *shape)
{
  g_auto (GStrv) dims = g_strsplit (shape == NULL ? "" : shape, ",", CLEAVE_MAX_RANK);
  CleaveOnnxShape only = { 0 };
  const CleaveOnnxOptions options = { .shapes = &only, .n_shapes = shape != NULL };
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph;

  for (guint d = 0; dims[d] != NULL; d++)
    only.shape.dim[only.shape.rank++] = g_ascii_strtoll (dims[d], NULL, 10);
  graph = cleave_onnx_load (path, &options, &error);
  demand (graph != NULL, error);
  return graph;
}

static CleaveGraph *
load_split (const char *path, const char *shape, const CleaveNetwork *network)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = load (path, shape);
  g_autoptr (CleaveSplitReport) report = cleave_split_for_ranks (graph, network, &error);

  demand (report != NULL && cleave_clean_up (graph, NULL, &error), error);
  return g_steal_pointer (&graph);
}

static GPtrArray *
make_tensors (const CleaveGraph *graph, gboolean of_outputs)
{
  GPtrArray *tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  guint n = of_outputs ? cleave_graph_get_n_outputs (graph) : cleave_graph_get_n_inputs (graph);

  for (guint i = 0; rank == 0 && i < n; i++)
    {
      CleaveResult *value = of_outputs
                                ? cleave_operand_get_result (cleave_graph_get_output (graph, i))
                                : cleave_graph_get_input (graph, i);

      g_ptr_array_add (tensors, cleave_tensor_new (cleave_result_get_type (value), NULL));
      cleave_tensor_fill_random (tensors->pdata[i], "x", i);
    }
  return tensors;
}

static CleaveRankProgram *
make_program (const CleaveGraph *graph, CleavePlacement *placement)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (GPtrArray) inputs = make_tensors (graph, FALSE), outputs = make_tensors (graph, TRUE);
  g_autoptr (GError) error = NULL;
  CleaveRankProgram *program = cleave_rank_program_new_take (
      MPI_COMM_WORLD, cleave_placement_ref (placement), &options, &error);

  demand (program != NULL, error);
  if (rank == 0)
    cleave_rank_program_bind (program, (CleaveTensor **) inputs->pdata, inputs->len,
                              (CleaveTensor **) outputs->pdata, outputs->len, &error);
  demand (error == NULL, error);
  return program;
}

static CleaveProgram *
make_bound (const CleaveGraph *graph, guint n_threads)
{
  const CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (GPtrArray) inputs = make_tensors (graph, FALSE), outputs = make_tensors (graph, TRUE);
  g_autoptr (GError) error = NULL;
  CleaveProgram *program = cleave_program_new (graph, &options, &error);

  demand (program != NULL &&
              cleave_program_bind (program, (CleaveTensor **) inputs->pdata, inputs->len,
                                   (CleaveTensor **) outputs->pdata, outputs->len, &error),
          error);
  return program;
}

/* Makes a program for the whole graph in one process, with a thread for each rank. */
static CleaveProgram *
make_whole (const char *path, const char *shape)
{
  g_autoptr (CleaveGraph) graph = load (path, shape);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_split_for_threads (graph, (guint) n_ranks, &error);

  demand (report != NULL && cleave_clean_up (graph, NULL, &error), error);
  return make_bound (graph, (guint) n_ranks);
}

/* Waits until all ranks have called meet(). Waiting ranks sleep, so their cores are free. */
static void
meet (void)
{
  MPI_Request request;
  int is_done = 0;

  g_usleep (10000);
  MPI_Ibarrier (MPI_COMM_WORLD, &request);
  while (MPI_Test (&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done)
    g_usleep (200);
}

static double
run (CleaveRankProgram *program)
{
  g_autoptr (GError) error = NULL;
  double begin;

  meet ();
  begin = MPI_Wtime ();
  demand (cleave_rank_program_run (program, &error), error);
  return MPI_Wtime () - begin;
}

static double
run_whole (CleaveProgram *program)
{
  double begin;

  meet ();
  begin = MPI_Wtime ();
  if (rank == 0)
    cleave_program_run (program);
  return MPI_Wtime () - begin;
}

typedef struct
{
  CleaveRankProgram *ranks;
  CleaveProgram *whole; /* program of the whole model, on rank 0 only */
} Programs;

typedef struct
{
  double ranks, whole; /* seconds of a run on the ranks, and of the whole model in one process */
} Times;

static Times
time_programs (const Programs *programs, guint repeat)
{
  Times least = { G_MAXDOUBLE, G_MAXDOUBLE };

  for (guint i = 0; i < repeat; i++)
    {
      const Times times = { run (programs->ranks), run_whole (programs->whole) };

      least.ranks = MIN (least.ranks, times.ranks);
      least.whole = MIN (least.whole, times.whole);
    }
  return least;
}

static gint64
count_bytes (const CleaveProgramStats *stats)
{
  return stats->arena_bytes + stats->scratch_bytes + stats->weight_bytes;
}

/* Returns the memory of the largest rank, divided by the memory of a single process. */
static double
compare_memory (const Programs *programs)
{
  CleaveRankStats own;
  CleaveProgramStats whole = { 0 };
  gint64 mine, most = 0;

  cleave_rank_program_get_stats (programs->ranks, &own);
  mine = count_bytes (&own.program);
  MPI_Reduce (&mine, &most, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank > 0)
    return 0;
  cleave_program_get_stats (programs->whole, &whole);
  return (double) most / (double) count_bytes (&whole);
}

/* Measures the steps of the split graph on rank 0, while the other ranks sleep. */
static CleaveProfile *
profile (const CleaveGraph *graph, guint repeat)
{
  g_autoptr (CleaveProgram) program = rank == 0 ? make_bound (graph, 1) : NULL;
  CleaveProfile *profile;

  meet ();
  profile = rank == 0 ? cleave_program_profile (program, repeat) : NULL;
  meet ();
  return profile;
}

static void
print (CleavePlacement *placement,
       const CleaveProfile *steps,
       const CleaveNetwork *network,
       const Times *times,
       double memory)
{
  double simulated, alone = 0;

  cleave_placement_set_profile (placement, steps);
  simulated = cleave_placement_simulate (placement, network);
  for (guint i = 0; i < steps->n_steps; i++)
    alone += (double) cleave_profile_get_step (steps, i)->nanoseconds / 1e6;
  printf ("{\"ranks\": %d, \"messages\": %u, \"gbit\": %.3g, \"latency_us\": %.3g, "
          "\"alone_ms\": %.3f, \"ms\": %.3f, \"simulated_ms\": %.3f, "
          "\"ratio\": %.3f, \"one_process_ms\": %.3f, \"of_one_process\": %.3f, "
          "\"memory_of_one_process\": %.3f}\n",
          n_ranks, cleave_placement_get_n_messages (placement), network->bandwidth / 1.25e8,
          network->latency * 1e6, alone, 1e3 * times->ranks, 1e3 * simulated,
          simulated / times->ranks, 1e3 * times->whole, times->ranks / times->whole, memory);
}

static void
bench (const char *path, double gbit, double latency, guint repeat, const char *shape)
{
  CleaveNetwork network = { (guint) n_ranks, 1, gbit * 1.25e8, latency / 1e6 };
  CleaveNetwork meant = network;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleavePlacement) placement = NULL;
  g_autoptr (CleaveRankProgram) ranks = NULL;
  g_autoptr (CleaveProgram) whole = NULL;
  g_autoptr (CleaveProfile) steps = NULL;
  Times times;

  meet ();
  demand (cleave_mpi_measure_network (MPI_COMM_WORLD, &network, &error), error);
  if (meant.bandwidth <= 0)
    meant = network;
  graph = load_split (path, shape, &meant);
  placement = cleave_placement_new (graph, &meant, &error);
  demand (placement != NULL, error);
  ranks = make_program (graph, placement);
  whole = rank == 0 ? make_whole (path, shape) : NULL;
  const Programs programs = { ranks, whole };

  times = time_programs (&programs, repeat);
  double memory = compare_memory (&programs);
  steps = profile (graph, repeat);
  if (rank == 0)
    print (placement, steps, &network, &times, memory);
}

int
main (int argc, char **argv)
{
  int level;

  MPI_Init_thread (&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  if (argc != 5 && argc != 6)
    g_printerr ("bench-ranks MODEL GBIT LATENCY REPEAT [SHAPE]\n");
  else
    bench (argv[1], g_ascii_strtod (argv[2], NULL), g_ascii_strtod (argv[3], NULL),
           (guint) MAX (atoi (argv[4]), 1), argc > 5 ? argv[5] : NULL);
  MPI_Finalize ();
  return argc != 5 && argc != 6;
}
