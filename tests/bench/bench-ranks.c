/* SPDX-License-Identifier: GPL-2.0-or-later */

/* bench-ranks MODEL GBIT LATENCY REPEAT: begun by mpirun; as JSON, the least that a run takes on
 * ranks of one thread each, and what the simulation says that it takes in the network that is
 * measured.  GBIT and LATENCY are those that the model is split and placed for, so that ranks have
 * something to send in slower networks as well.
 *
 * The cost model is of one processor.  How much faster or slower this one is, the same pieces tell
 * when one rank runs them all, by turns with the other runs; the simulation is told a network that
 * is as much faster or slower. */

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
load (const char *path, const CleaveNetwork *network)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_load (path, NULL, &error);
  g_autoptr (CleaveSplitReport) report = NULL;

  demand (graph != NULL, error);
  report = cleave_split_for_ranks (graph, network, &error);
  demand (report != NULL && cleave_clean_up (graph, NULL, &error), error);
  return g_steal_pointer (&graph);
}

static CleavePlacement *
place_on_one (CleaveGraph *graph)
{
  guint n = cleave_graph_get_n_nodes (graph);
  g_autofree guint *ranks = g_new0 (guint, (gsize) n + 1);

  return cleave_placement_new_by_node (graph, (guint) n_ranks, ranks, n, NULL);
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
make_program (CleaveGraph *graph, CleavePlacement *placement)
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

/* Those that have nothing to do leave their cores alone. */
static void
meet (void)
{
  MPI_Request request;
  int is_done = 0;

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

static void
print (const CleavePlacement *placement,
       const CleavePlacement *alone,
       const CleaveNetwork *network,
       double time,
       double time_alone)
{
  double scale = time_alone / cleave_placement_simulate (alone, network);
  CleaveNetwork scaled = *network;
  double told;

  scaled.bandwidth *= scale;
  scaled.latency /= scale;
  told = scale * cleave_placement_simulate (placement, &scaled);
  printf ("{\"ranks\": %d, \"messages\": %u, \"gbit\": %.3g, \"latency_us\": %.3g, "
          "\"alone_ms\": %.3f, \"scale\": %.3f, \"ms\": %.3f, \"simulated_ms\": %.3f, "
          "\"ratio\": %.3f}\n",
          n_ranks, cleave_placement_get_n_messages (placement), network->bandwidth / 1.25e8,
          network->latency * 1e6, 1e3 * time_alone, scale, 1e3 * time, 1e3 * told, told / time);
}

static void
bench (const char *path, double gbit, double latency, guint repeat)
{
  const CleaveNetwork meant = { (guint) n_ranks, 1, gbit * 1.25e8, latency / 1e6 };
  CleaveNetwork network = meant;
  g_autoptr (CleaveGraph) graph = load (path, &meant);
  g_autoptr (CleavePlacement) placement = cleave_placement_new (graph, &meant, NULL),
                              alone = place_on_one (graph);
  g_autoptr (CleaveRankProgram) all = make_program (graph, placement),
                                one = make_program (graph, alone);
  double time = G_MAXDOUBLE, time_alone = G_MAXDOUBLE;
  g_autoptr (GError) error = NULL;

  meet ();
  demand (cleave_mpi_measure_network (MPI_COMM_WORLD, &network, &error), error);
  for (guint i = 0; i < repeat; i++)
    {
      double seconds = run (all), seconds_alone = run (one);

      time = MIN (time, seconds);
      time_alone = MIN (time_alone, seconds_alone);
    }
  if (rank == 0)
    print (placement, alone, &network, time, time_alone);
}

int
main (int argc, char **argv)
{
  int level;

  MPI_Init_thread (&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  if (argc != 5)
    g_printerr ("bench-ranks MODEL GBIT LATENCY REPEAT\n");
  else
    bench (argv[1], g_ascii_strtod (argv[2], NULL), g_ascii_strtod (argv[3], NULL),
           (guint) MAX (atoi (argv[4]), 1));
  MPI_Finalize ();
  return argc != 5;
}
