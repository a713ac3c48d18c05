/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans every cut of random nodes into two chunks, and counts the reasons of refusals. */

#include "cuts.h"

#include "../../lib/ir/chunk.h"
#include "../../lib/ir/graph-private.h"

static CutDimension *
find_dimension (GTree *dimensions, const char *letter)
{
  CutDimension *dimension = g_tree_lookup (dimensions, letter);

  if (dimension == NULL)
    {
      dimension = g_new0 (CutDimension, 1);
      dimension->reasons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_tree_insert (dimensions, g_strdup (letter), dimension);
    }
  return dimension;
}

static void
dimension_free (gpointer data)
{
  CutDimension *dimension = data;

  g_hash_table_unref (dimension->reasons);
  g_free (dimension);
}

/* Returns the text with "…" in place of each number. Two refusals whose texts differ only in
 * numbers then count as one reason. */
static char *
without_numbers (const char *text)
{
  g_autoptr (GRegex) numbers = g_regex_new ("-?[0-9]+([.:x,][0-9]+)*", 0, 0, NULL);
  g_autofree char *plain = g_regex_replace_literal (numbers, text, -1, 0, "…", 0, NULL);

  return g_steal_pointer (&plain);
}

static void
try_cut (const CleaveCall *call, guint d, gint64 at, CutDimension *dimension)
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

static int
compare_letters (gconstpointer a, gconstpointer b, G_GNUC_UNUSED gpointer data)
{
  return g_strcmp0 (a, b);
}

GTree *
cut_dimensions (const CleaveRandomOp *op)
{
  GTree *dimensions = g_tree_new_full (compare_letters, NULL, g_free, dimension_free);

  for (guint32 seed = 0; seed < N_CUT_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);

      try_node (op->make (graph, rand), dimensions);
    }
  return dimensions;
}

static int
compare_ops (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 ((*(const CleaveRandomOp *const *) a)->op,
                    (*(const CleaveRandomOp *const *) b)->op);
}

GPtrArray *
cut_ops (void)
{
  GPtrArray *ops = g_ptr_array_new ();

  for (guint l = 0; cleave_random_op_lists[l] != NULL; l++)
    for (const CleaveRandomOp *op = cleave_random_op_lists[l]; op->op != NULL; op++)
      g_ptr_array_add (ops, (gpointer) op);
  g_ptr_array_sort (ops, compare_ops);
  return ops;
}
