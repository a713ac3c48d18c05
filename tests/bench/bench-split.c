/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Measures the time of splits: of chains, of ladders (two chains that are joined after each step),
 * and of searches for a split that meets a limit. Chains and ladders are split from their end and
 * node by node; the time must be linear in their length. No figure makes the program fail. */

#include <cleave/cleave.h>

#include "../../passes/split/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Returns the processor time of this process. Wall-clock time would include other work on the
 * machine. */
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

/* Makes a chain of `n` nodes that alternates Relu and Neg. */
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

/* Makes a ladder: two chains that are joined after each step, so that diamonds follow each other.
 */
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

/* Makes a chain of `n` convolutions with 3x3 kernels. Its strips overlap. */
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
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks (dims, &n_chunks, 1);

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
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("0", &four, 1);

  return cleave_split_all_nodes (graph, split, NULL, NULL);
}

/* Makes a graph of one node with `n` rows. */
static CleaveGraph *
make_node (guint n)
{
  CleaveGraph *graph = cleave_graph_new ("node");
  CleaveResult *x = add_input (graph, CLEAVE_TYPE (CLEAVE_FLOAT32, n, 4));

  x = cleave_graph_add_unary (graph, "Relu", NULL, x, NULL, NULL);
  cleave_graph_add_output (graph, "y", x, NULL);
  return graph;
}

static CleaveSplitReport *
split_rows (CleaveGraph *graph)
{
  const gint64 one = 1;
  g_autoptr (CleaveTiling) split = cleave_tiling_by_chunk_size ("0", &one, 1);

  return cleave_split_node (get_last (graph), split, NULL, NULL);
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

/* The functions below measure searches for a split that meets a limit. */

typedef struct
{
  double search, apply; /* in milliseconds: the search, and the application of the plan that the
                           search found */
  guint n_pieces;
} Searched;

static GArray *
search_ranges (CleaveNode *node, const CleaveConstraint *limit, GString *why)
{
  CleaveSpace space;
  CleaveWork work = { .budget = G_MAXINT64 };
  const CleaveSearchFor wanted = { node, &space, limit, NULL, &work };
  gint64 least_bytes;

  cleave_tiling_get_space (NULL, &cleave_result_get_type (cleave_node_get_result (node, 0))->shape,
                           NULL, &space, NULL);
  return cleave_search_ranges (&wanted, &least_bytes, why);
}

/* Measures the search alone, and then a whole split. The split searches again and applies the plan.
 * The time to apply the plan is the difference of the two times. Each time is the best of five
 * measurements. */
static Searched
search (CleaveGraph *(*make) (void), gint64 max_memory)
{
  CleaveConstraint limit = { .max_memory = max_memory };
  Searched best = { G_MAXDOUBLE, G_MAXDOUBLE, 0 };

  for (guint round = 0; round < 5; round++)
    {
      g_autoptr (CleaveGraph) graph = make ();
      g_autoptr (GString) why = g_string_new (NULL);
      double begin = cpu_seconds (), middle, end;
      g_autoptr (GArray) ranges = search_ranges (get_last (graph), &limit, why);
      g_autoptr (CleaveSplitReport) report = NULL;

      middle = cpu_seconds ();
      report = cleave_split_node (get_last (graph), NULL, &limit, NULL);
      end = cpu_seconds ();
      best.search = MIN (best.search, (middle - begin) * 1e3);
      best.apply = MIN (best.apply, MAX (end - middle - (middle - begin), 0) * 1e3);
      best.n_pieces = count_pieces (report);
    }
  return best;
}

static void
print_searched (const char *what, gint64 max_memory, const Searched *s)
{
  printf ("%-28s %12" G_GINT64_FORMAT " bytes: %5u pieces, search %6.2f ms, apply %7.2f ms", what,
          max_memory, s->n_pieces, s->search, s->apply);
  if (s->n_pieces > 0)
    printf (" (%5.2f us per piece)", s->apply * 1e3 / s->n_pieces);
  printf ("\n");
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

static CleaveGraph *
make_wide_conv (void)
{
  return make_conv (256, 112);
}

static CleaveGraph *
make_deep_conv (void)
{
  return make_conv (512, 14);
}

/* Searches with limits from `most`, the bytes of the unsplit node, down to `least`, the bytes of a
 * pixel. Also searches with a limit that no split can meet. Prints the slowest search and the
 * slowest split. */
static void
measure_searches (const char *what, CleaveGraph *(*make) (void), gint64 most, gint64 least)
{
  Searched worst = { 0, 0, 0 };

  for (gint64 limit = most; limit > 0; limit = limit == least ? 1 : MAX (limit * 2 / 5, least))
    {
      Searched s = search (make, limit);

      print_searched (what, limit, &s);
      worst.search = MAX (worst.search, s.search);
      worst.apply = MAX (worst.apply, s.apply);
      worst.n_pieces = MAX (worst.n_pieces, s.n_pieces);
      if (limit == 1)
        break;
    }
  printf ("%-28s worst search %6.2f ms, worst apply %7.2f ms, %u pieces at the most\n", what,
          worst.search, worst.apply, worst.n_pieces);
}

int
main (int argc, char **argv)
{
  guint largest = argc > 1 ? (guint) atoi (argv[1]) : 100000;

  measure_searches ("Relu 1x112x112x256", make_relu, 25690112, 2048);
  measure_searches ("Conv 3x3 256 to 256, 112x112", make_wide_conv, 28049408, 100000);
  measure_searches ("Conv 3x3 512 to 512, 14x14", make_deep_conv, 10240000, 100000);
  for (guint n = 1000; n <= largest; n *= 10)
    {
      measure ("chain from its end in 2", make_chain, split_recomputing, n);
      measure ("ladder from its end in 2", make_ladder, split_recomputing, n);
      measure ("convolutions, recomputing", make_convs, split_recomputing, n);
      measure ("convolutions, carrying", make_convs, split_carrying, n);
      measure ("chain, each node in 4", make_chain, split_each, n);
      measure ("ladder, each node in 4", make_ladder, split_each, n);
      measure ("one node, each row a piece", make_node, split_rows, n);
    }
  return 0;
}
