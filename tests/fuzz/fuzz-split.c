/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The input is a set of split options: lines with a letter for the option and its text. Nodes of
 * a small graph are split accordingly. The graph must be valid afterwards, and unchanged after
 * an error. */

#include <string.h>

#include "fuzz.h"

/* Longer texts find nothing new and take long. */
#define MAX_LENGTH 256
/* The budget is 1/25 of the default budget. With sanitizers, a search that uses up this budget
 * takes 1 s instead of 20 s. */
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

/* Returns the name of the option that the first letter of a line stands for, or NULL. */
static const char *
find_name (char letter)
{
  static const char *const names[] = { ['d'] = "dims",           ['n'] = "num-chunks",
                                       ['z'] = "chunk-size",     ['s'] = "chunk-sizes",
                                       ['w'] = "chunk-weights",  ['r'] = "slice-ranges",
                                       ['m'] = "max-memory",     ['g'] = "max-schedule-memory",
                                       ['h'] = "max-added-macs", ['p'] = "max-pieces",
                                       ['a'] = "align",          ['c'] = "min-chunk",
                                       ['f'] = "small-first" };

  return (guchar) letter < G_N_ELEMENTS (names) ? names[(guchar) letter] : NULL;
}

static GHashTable *
read_options (const char *text)
{
  GHashTable *options = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", 12);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *name = find_name (lines[i][0]);

      if (name != NULL)
        g_hash_table_insert (options, (gpointer) name, g_strdup (lines[i] + 1));
    }
  return options;
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

/* Splits the convolution alone if `recursion` is NULL. If `recursion` is not NULL, splits the Relu
 * and the convolution together, with the options of `recursion`. */
static void
split_by (const CleaveTiling *wanted,
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
split (GHashTable *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveTiling) wanted = NULL;
  CleaveConstraint constraint;

  if (!cleave_split_parse (options, NULL, &wanted, &constraint, &error))
    {
      if (error == NULL)
        fuzz_fail ("neither a split nor an error");
      return;
    }
  constraint.search_budget = SEARCH_BUDGET;
  split_by (wanted, &constraint, NULL);
  for (CleaveHalo halo = CLEAVE_HALO_RECOMPUTE; halo <= CLEAVE_HALO_CARRY_NARROW; halo++)
    {
      const CleaveRecursion recursion = { .depth = 2, .halo = halo, .strips_per_band = 2 };

      split_by (wanted, &constraint, &recursion);
    }
}

/* Calls the parsers of a pipeline, a shape, a size and a number on the text. Commands call these
 * parsers on the values of options. */
static void
read_others (const char *text)
{
  g_autoptr (CleavePipeline) pipeline = NULL;
  CleaveShape shape;
  gint64 number;

  pipeline = cleave_pipeline_parse (text, NULL);
  cleave_text_to_shape ("--shape", text, &shape, NULL);
  cleave_text_to_size ("--max-memory", text, &number, NULL);
  cleave_text_to_int ("--depth", text, 1, G_MAXUINT32, &number, NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, MIN (size, MAX_LENGTH));
  g_autoptr (GHashTable) options = read_options (text);

  read_others (text);
  split (options);
  return 0;
}
