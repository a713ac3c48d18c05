/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What splitting costs: chains and ladders split from their end and node by node, which must grow
 * with their length and no faster; and searches for a split that meets a limit.  Prints figures,
 * fails nothing. */

#include <cleave/cleave.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of the processor, since other work on the machine would show in the time of the clock. */
static double
cpu_seconds (void)
{
  return (double) clock () / CLOCKS_PER_SEC;
}

static CleaveResult *
add_input (CleaveGraph *graph, CleaveTensorType type)
{
  return cleave_graph_add_input (graph, "x", &type, NULL);
}

/* x → Relu → Neg → Relu → … */
static CleaveGraph *
make_chain (guint n)
{
  CleaveGraph *graph = cleave_graph_new ("chain");
  CleaveResult *x = add_input (graph, CLEAVE_TYPE (CLEAVE_FLOAT32, 8, 4));

  for (guint i = 0; i < n; i++)
    x = cleave_graph_add_unary (graph, i % 2 == 0 ? "Relu" : "Neg", NULL, x, NULL, NULL);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

/* Two rails with a rung after each step: a diamond upon a diamond. */
static CleaveGraph *
make_ladder (guint n)
{
  CleaveGraph *graph = cleave_graph_new ("ladder");
  CleaveResult *x = add_input (graph, CLEAVE_TYPE (CLEAVE_FLOAT32, 8, 4));

  for (guint i = 0; i < n / 3; i++)
    {
      CleaveResult *left = cleave_graph_add_unary (graph, "Relu", NULL, x, NULL, NULL);
      CleaveResult *right = cleave_graph_add_unary (graph, "Neg", NULL, x, NULL, NULL);

      x = cleave_graph_add_binary (graph, "Add", NULL, left, right, NULL);
    }
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

/* x → Conv 3x3 → Conv 3x3 → …, whose strips overlap */
static CleaveGraph *
make_convs (guint n)
{
  CleaveGraph *graph = cleave_graph_new ("convolutions");
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
  g_autoptr (CleaveTensor) zeros =
      cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1, 3, 3), NULL);
  CleaveResult *x = add_input (graph, CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1, (gint64) n * 3, 2));
  CleaveResult *w = cleave_graph_add_constant (graph, "w", zeros);

  for (guint i = 0; i < n; i++)
    x = cleave_graph_add_conv (graph, NULL, x, w, NULL, &attrs, NULL);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

static CleaveNode *
get_last (const CleaveGraph *graph)
{
  return cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (graph, 0)));
}

static CleaveSplitReport *
split_from_end (CleaveGraph *graph, gint64 n_chunks, CleaveHalo halo)
{
  CleaveNode *last = get_last (graph);
  CleaveRecursion recursion = { .depth = G_MAXUINT, .halo = halo };
  const char *dims =
      cleave_result_get_type (cleave_node_get_result (last, 0))->shape.rank == 4 ? "2" : "0";
  g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks (dims, &n_chunks, 1);

  return cleave_split_node_recursively (last, split, NULL, &recursion, NULL);
}

static CleaveSplitReport *
split_recomputing (CleaveGraph *graph)
{
  return split_from_end (graph, 2, CLEAVE_HALO_RECOMPUTE);
}

static CleaveSplitReport *
split_carrying (CleaveGraph *graph)
{
  return split_from_end (graph, 2, CLEAVE_HALO_CARRY);
}

static CleaveSplitReport *
split_each (CleaveGraph *graph)
{
  const gint64 four = 4;
  g_autoptr (CleaveSplit) split = cleave_split_by_num_chunks ("0", &four, 1);

  return cleave_split_all_nodes (graph, split, NULL, NULL);
}

static guint
count_pieces (const CleaveSplitReport *report)
{
  guint n = 0;

  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    n += cleave_split_report_get_split (report, i)->n_pieces;
  return n;
}

static void
measure (const char *what,
         CleaveGraph *(*make) (guint n),
         CleaveSplitReport *(*split) (CleaveGraph *),
         guint n)
{
  g_autoptr (CleaveGraph) graph = make (n);
  double begin = cpu_seconds (), middle, end;
  g_autoptr (CleaveSplitReport) report = split (graph);
  guint n_pieces = count_pieces (report);

  middle = cpu_seconds ();
  cleave_clean_up (graph, NULL, NULL);
  end = cpu_seconds ();
  printf ("%-32s %7u nodes %8u pieces: split %6.2f us, cleaned up %6.2f us per piece\n", what, n,
          n_pieces, (middle - begin) * 1e6 / n_pieces, (end - middle) * 1e6 / n_pieces);
}

/* Searches */

static void
search (const char *what, const CleaveGraph *graph, gint64 max_memory)
{
  CleaveConstraint limit = { .max_memory = max_memory };
  double begin = cpu_seconds ();
  g_autoptr (CleaveSplitReport) report = cleave_split_node (get_last (graph), NULL, &limit, NULL);

  printf ("%-32s %12" G_GINT64_FORMAT " bytes: %5u pieces in %.2f ms\n", what, max_memory,
          count_pieces (report), (cpu_seconds () - begin) * 1e3);
}

static CleaveGraph *
make_relu (void)
{
  CleaveGraph *graph = cleave_graph_new ("relu");
  CleaveResult *x = add_input (graph, CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 112, 112, 256));

  x = cleave_graph_add_unary (graph, "Relu", NULL, x, NULL, NULL);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

static CleaveGraph *
make_conv (gint64 channels, gint64 extent)
{
  CleaveGraph *graph = cleave_graph_new ("conv");
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
  g_autoptr (CleaveTensor) zeros =
      cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, channels, channels, 3, 3), NULL);
  CleaveResult *x = add_input (graph, CLEAVE_TYPE (CLEAVE_FLOAT32, 1, channels, extent, extent));
  CleaveResult *w = cleave_graph_add_constant (graph, "w", zeros);

  x = cleave_graph_add_conv (graph, "conv", x, w, NULL, &attrs, NULL);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

static void
measure_searches (void)
{
  static const gint64 limits[] = { 1, 4096, 100000, 1 << 20, 1 << 24 };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autoptr (CleaveGraph) relu = make_relu (), conv = make_conv (256, 112);

      search ("Relu 1x112x112x256", relu, limits[i]);
      search ("Conv 3x3 256 to 256, 112x112", conv, limits[i]);
    }
  {
    g_autoptr (CleaveGraph) conv = make_conv (512, 14);

    search ("Conv 3x3 512 to 512, 14x14", conv, 4 << 20);
  }
}

int
main (int argc, char **argv)
{
  guint largest = argc > 1 ? (guint) atoi (argv[1]) : 100000;

  measure_searches ();
  for (guint n = 1000; n <= largest; n *= 10)
    {
      measure ("chain from its end in 2", make_chain, split_recomputing, n);
      measure ("ladder from its end in 2", make_ladder, split_recomputing, n);
      measure ("convolutions, recomputing", make_convs, split_recomputing, n);
      measure ("convolutions, carrying", make_convs, split_carrying, n);
      measure ("chain, each node in 4", make_chain, split_each, n);
      measure ("ladder, each node in 4", make_ladder, split_each, n);
    }
  return 0;
}
