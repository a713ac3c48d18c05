/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Measures the time to build, validate, order and plan a graph of a million nodes. Also measures
 * the time that a program needs for a step besides the step's kernel. No figure makes the program
 * fail. */

#include <cleave/cleave.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "orders.h"

static double
seconds (void)
{
  return (double) g_get_monotonic_time () * 1e-6;
}

/* Returns the processor time of this process. Wall-clock time would include other work on the
 * machine. */
static double
cpu_seconds (void)
{
  return (double) clock () / CLOCKS_PER_SEC;
}

static double
peak_mib (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (double) usage.ru_maxrss / 1024;
}

/* Makes a graph of `n_chunks` chains of `length` nodes. Each chain reads one row of the input, and
 * an Assemble joins the results of all chains. */
static CleaveGraph *
make_graph (guint n_chunks, guint length, gint64 width)
{
  CleaveGraph *graph = cleave_graph_new ("bench");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, n_chunks, width);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  g_autofree CleaveResult **parts = g_new (CleaveResult *, n_chunks);
  g_autofree CleaveRange *ranges = g_new (CleaveRange, n_chunks);

  for (guint i = 0; i < n_chunks; i++)
    {
      ranges[i] = CLEAVE_RANGE (i, i + 1, 0, width);
      parts[i] = cleave_graph_add_slice_range (graph, NULL, x, &ranges[i], NULL);
    }
  for (guint k = 0; k < length; k++)
    for (guint i = 0; i < n_chunks; i++)
      parts[i] =
          cleave_graph_add_unary (graph, k % 2 == 0 ? "Neg" : "Relu", NULL, parts[i], NULL, NULL);
  x = cleave_graph_add_assemble (graph, NULL, parts, ranges, n_chunks, NULL);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

static double
lap (const char *what, double begin)
{
  printf ("  %-28s %7.2f s of CPU, %6.0f MiB at most so far\n", what, cpu_seconds () - begin,
          peak_mib ());
  return cpu_seconds ();
}

static void
measure_size (guint n_chunks, guint length)
{
  double t = cpu_seconds ();
  g_autoptr (CleaveGraph) graph = make_graph (n_chunks, length, 16);
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (CleaveProgram) program = NULL;
  CleaveProgramOptions options = { .n_threads = 1 };
  CleaveProgramStats stats;

  printf ("%u nodes, %u chains of %u\n", cleave_graph_get_n_nodes (graph), n_chunks, length);
  t = lap ("built", t);
  if (!cleave_graph_validate (graph, NULL))
    printf ("  NOT VALID\n");
  t = lap ("validated", t);
  order = order_best (graph, NULL);
  t = lap ("ordered", t);
  program = cleave_program_new (graph, &options, NULL);
  cleave_program_get_stats (program, &stats);
  lap ("program made", t);
  printf ("  arena %" G_GINT64_FORMAT " bytes, live %" G_GINT64_FORMAT "\n", stats.arena_bytes,
          stats.peak_activation_bytes);
}

static void
measure_steps (guint n_threads)
{
  g_autoptr (CleaveGraph) graph = make_graph (100, 100, 16);
  CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 100, 16), NULL);
  g_autoptr (CleaveTensor) y = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 100, 16), NULL);
  CleaveProgramStats stats;
  double best = G_MAXDOUBLE;

  cleave_program_bind (program, &x, 1, &y, 1, NULL);
  cleave_program_get_stats (program, &stats);
  for (guint run = 0; run < 50; run++)
    {
      double begin = seconds ();

      cleave_program_run (program);
      best = MIN (best, seconds () - begin);
    }
  printf ("%u steps of 16 elements, %u threads: %.2f us per step, kernel included\n", stats.n_steps,
          n_threads, best * 1e6 / stats.n_steps);
}

int
main (int argc, char **argv)
{
  guint scale = argc > 1 ? (guint) atoi (argv[1]) : 1000;

  measure_steps (1);
  measure_steps (2);
  measure_size (scale, 998);
  measure_size (scale * 10, 98);
  return 0;
}
