/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints docs/split-table.md: which op splits along which dimension, found by trying every cut in
 * two of many random nodes of each op.  A test compares the page with this. */

#include <stdio.h>

#include "../lib/ir/chunk.h"
#include "../lib/ir/graph-private.h"
#include "random-ops.h"

#define N_SEEDS 200

/* What became of the cuts along one dimension of one op. */
typedef struct
{
  guint accepted, refused;
  GHashTable *reasons; /* text without its numbers → how often */
} Dimension;

static Dimension *
find_dimension (GTree *dimensions, const char *letter)
{
  Dimension *dimension = g_tree_lookup (dimensions, letter);

  if (dimension == NULL)
    {
      dimension = g_new0 (Dimension, 1);
      dimension->reasons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_tree_insert (dimensions, g_strdup (letter), dimension);
    }
  return dimension;
}

static void
dimension_free (gpointer data)
{
  Dimension *dimension = data;

  g_hash_table_unref (dimension->reasons);
  g_free (dimension);
}

/* Numbers differ from node to node; the reason is what is left. */
static char *
without_numbers (const char *text)
{
  g_autoptr (GRegex) numbers = g_regex_new ("-?[0-9]+([.:x,][0-9]+)*", 0, 0, NULL);
  g_autofree char *plain = g_regex_replace_literal (numbers, text, -1, 0, "…", 0, NULL);

  return g_steal_pointer (&plain);
}

static void
try_cut (const CleaveCall *call, guint d, gint64 at, Dimension *dimension)
{
  CleaveRange halves[2] = { cleave_range_whole (&call->results[0].shape),
                            cleave_range_whole (&call->results[0].shape) };
  g_autoptr (GString) why = g_string_new (NULL);
  gboolean good = TRUE;

  halves[0].dim[d].end = halves[1].dim[d].begin = at;
  for (guint i = 0; i < 2 && good; i++)
    {
      CleaveChunk chunk;

      good = cleave_chunk_init (&chunk, call, &halves[i], why);
      if (good)
        cleave_chunk_clear (&chunk, call->op);
    }
  if (good)
    dimension->accepted++;
  else
    {
      char *reason = without_numbers (why->str);
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (dimension->reasons, reason));

      dimension->refused++;
      g_hash_table_replace (dimension->reasons, reason, GUINT_TO_POINTER (n + 1));
    }
}

static void
try_node (const CleaveNode *node, GTree *dimensions)
{
  g_auto (CleaveNodeCall) node_call;
  const CleaveCall *call = cleave_node_call_init (&node_call, node);
  const CleaveShape *shape = &call->results[0].shape;
  const char *letters = node->op->layout == NULL ? NULL : node->op->layout (call);

  for (guint d = 0; d < shape->rank; d++)
    {
      char letter[] = { letters != NULL ? letters[d] : '*', '\0' };

      for (gint64 at = 1; at < shape->dim[d]; at++)
        try_cut (call, d, at, find_dimension (dimensions, letter));
    }
}

/* The most frequent reason; of equals the first in the alphabet. */
static const char *
main_reason (GHashTable *reasons)
{
  GHashTableIter iter;
  gpointer reason, n;
  const char *best = "";
  guint most = 0;

  g_hash_table_iter_init (&iter, reasons);
  while (g_hash_table_iter_next (&iter, &reason, &n))
    if (GPOINTER_TO_UINT (n) > most ||
        (GPOINTER_TO_UINT (n) == most && g_strcmp0 (reason, best) < 0))
      {
        best = reason;
        most = GPOINTER_TO_UINT (n);
      }
  return best;
}

static gboolean
print_dimension (gpointer letter, gpointer data, gpointer op)
{
  const Dimension *dimension = data;
  const char *answer = dimension->refused == 0    ? "freely"
                       : dimension->accepted == 0 ? "refused"
                                                  : "under a condition";

  printf ("| %s | %s | %s | %s |\n", (const char *) op,
          g_str_equal (letter, "*") ? "any" : (const char *) letter, answer,
          main_reason (dimension->reasons));
  return FALSE;
}

static int
compare_letters (gconstpointer a, gconstpointer b, G_GNUC_UNUSED gpointer data)
{
  return g_strcmp0 (a, b);
}

static void
print_op (const CleaveRandomOp *op)
{
  g_autoptr (GTree) dimensions = g_tree_new_full (compare_letters, NULL, g_free, dimension_free);

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);

      try_node (op->make (graph, rand), dimensions);
    }
  g_tree_foreach (dimensions, print_dimension, (gpointer) op->op);
}

static int
compare_ops (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 ((*(const CleaveRandomOp *const *) a)->op,
                    (*(const CleaveRandomOp *const *) b)->op);
}

int
main (void)
{
  const CleaveRandomOp *const lists[] = { cleave_random_ops_conv, cleave_random_ops_move,
                                          cleave_random_ops_elementwise };
  g_autoptr (GPtrArray) ops = g_ptr_array_new ();

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (const CleaveRandomOp *op = lists[l]; op->op != NULL; op++)
      g_ptr_array_add (ops, (gpointer) op);
  g_ptr_array_sort (ops, compare_ops);

  printf (
      "Title: What splits along what\n\n"
      "# What splits along what\n\n"
      "Made by the program `split-table` of the tests, which tries every cut in two of %d random "
      "nodes of each op.\n"
      "Dimensions are those of result 0, by the letters of the layout where the op has one. "
      "\"Under a condition\":\n"
      "some cuts are refused; the reason given most often stands beside it, … for its numbers.\n\n"
      "| op | dimension | splits | reason of a refusal |\n|---|---|---|---|\n",
      N_SEEDS);
  for (guint i = 0; i < ops->len; i++)
    print_op (g_ptr_array_index (ops, i));
  return 0;
}
