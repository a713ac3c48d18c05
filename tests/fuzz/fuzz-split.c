/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Bytes are what the command line says of a split: lines of a letter for the option and its text.
 * Nodes of a small graph are split accordingly; it must be valid afterwards, and unchanged after an
 * error. */

#include <string.h>

#include "../../tools/arguments.h"
#include "../../tools/split-arguments.h"
#include "fuzz.h"

/* Longer texts say nothing new, but take long. */
#define MAX_LENGTH 256
/* A twenty-fifth of the default: with the sanitizers, what is searched to the end takes a second,
 * not twenty. */
#define SEARCH_BUDGET 20000

static CleaveGraph *
make_graph (void)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("small");
  CleaveResult *x =
      cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 4, 7, 9), NULL);
  CleaveConvAttrs conv = { .group = 2, .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 6, 2, 3, 3);
  g_autoptr (CleaveTensor) weights = cleave_tensor_new (&type, NULL);
  CleaveResult *w = cleave_graph_add_constant (graph, "w", weights), *y;

  y = cleave_graph_add_conv (graph, "conv", x, w, NULL, &conv, NULL);
  y = cleave_graph_add_unary (graph, "Relu", "relu", y, NULL, NULL);
  g_assert_true (cleave_graph_add_output (graph, "y", y, NULL));
  return g_steal_pointer (&graph);
}

/* Where a line's text goes. */
static char **
find_field (CleaveSplitArguments *arguments, char letter)
{
  switch (letter)
    {
    case 'd':
      return &arguments->dims;
    case 'n':
      return &arguments->num_chunks;
    case 'z':
      return &arguments->chunk_size;
    case 's':
      return &arguments->chunk_sizes;
    case 'w':
      return &arguments->chunk_weights;
    case 'r':
      return &arguments->slice_ranges;
    case 'm':
      return &arguments->limits.memory;
    case 'g':
      return &arguments->limits.schedule_memory;
    case 'h':
      return &arguments->limits.added_macs;
    case 'p':
      return &arguments->limits.pieces;
    case 'a':
      return &arguments->align;
    case 'c':
      return &arguments->min_chunk;
    default:
      return NULL;
    }
}

static void
read_how (const char *text, CleaveSplitArguments *arguments)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", 12);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char **field = find_field (arguments, lines[i][0]);

      if (field == NULL)
        {
          arguments->small_first = arguments->small_first || lines[i][0] == 'f';
          continue;
        }
      g_free (*field);
      *field = g_strdup (lines[i] + 1);
    }
}

static void
check_graph (const CleaveGraph *graph, const char *before, gboolean changed)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *after = changed ? NULL : cleave_graph_print (graph);

  if (!cleave_graph_validate (graph, &error))
    fuzz_fail ("an invalid graph: %s", error->message);
  if (after != NULL && strcmp (before, after) != 0)
    fuzz_fail ("an error changed the graph");
}

/* The convolution alone, or what is behind it and it. */
static void
split_by (const CleaveSplit *wanted,
          const CleaveConstraint *constraint,
          const CleaveRecursion *recursion)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  g_autofree char *before = cleave_graph_print (graph);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  CleaveNode *node = cleave_graph_find_node (graph, recursion == NULL ? "conv" : "relu");

  report = recursion == NULL
               ? cleave_split_node (node, wanted, constraint, &error)
               : cleave_split_node_recursively (node, wanted, constraint, recursion, &error);
  if ((report == NULL) != (error != NULL))
    fuzz_fail ("neither a report nor an error, or both");
  check_graph (graph, before, report != NULL);
}

static void
split (const CleaveSplitArguments *arguments)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplit) wanted = NULL;
  CleaveConstraint constraint;

  if (!cleave_split_arguments_parse (arguments, &wanted, &constraint, &error))
    {
      if (error == NULL)
        fuzz_fail ("neither a split nor an error");
      return;
    }
  constraint.search_budget = SEARCH_BUDGET;
  split_by (wanted, &constraint, NULL);
  for (CleaveHalo halo = CLEAVE_HALO_RECOMPUTE; halo <= CLEAVE_HALO_EXCHANGE; halo++)
    {
      const CleaveRecursion recursion = { .depth = 2, .halo = halo, .strips_per_band = 2 };

      split_by (wanted, &constraint, &recursion);
    }
}

/* The other texts of the command line. */
static void
read_others (const char *text)
{
  CleaveShape shape;
  gint64 number;

  cleave_argument_shape ("--shape", text, &shape, NULL);
  cleave_argument_size ("--max-memory", text, &number, NULL);
  cleave_argument_int ("--depth", text, 1, G_MAXUINT32, &number, NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, MIN (size, MAX_LENGTH));
  CleaveSplitArguments arguments = { 0 };

  read_others (text);
  read_how (text, &arguments);
  split (&arguments);
  cleave_split_arguments_clear (&arguments);
  return 0;
}
