/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints docs/split-table.md: the dimensions along which each op splits. The program tries every
 * cut into two on many random nodes of each op. A test compares the page with this output. */

#include <stdio.h>

#include "cuts.h"

/* Returns the most frequent reason. If several are equally frequent, returns the alphabetically
 * first one. */
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
  const CutDimension *dimension = data;
  const char *answer = dimension->refused == 0    ? "freely"
                       : dimension->accepted == 0 ? "refused"
                                                  : "under a condition";

  printf ("| %s | %s | %s | %s |\n", (const char *) op,
          g_str_equal (letter, "*") ? "any" : (const char *) letter, answer,
          main_reason (dimension->reasons));
  return FALSE;
}

static void
print_op (const CleaveRandomOp *op)
{
  g_autoptr (GTree) dimensions = cut_dimensions (op);

  g_tree_foreach (dimensions, print_dimension, (gpointer) op->op);
}

int
main (void)
{
  g_autoptr (GPtrArray) ops = cut_ops ();

  printf (
      "Title: Splittable dimensions\n\n"
      "# Splittable dimensions\n\n"
      "This reference page lists, for every op and dimension, whether a split along the dimension "
      "works.\nThe program `split-table` of the tests makes this page. It makes %d random nodes of "
      "each op. It tries every cut of each\nnode into two chunks along one dimension.\n"
      "\n"
      "Dimensions are the dimensions of result 0, by the letters of the layout if the op has a "
      "layout. \"Under a\ncondition\" means that some cuts are refused. The last column states the "
      "most frequent reason of a refusal, with … in\nplace of its numbers.\n"
      "\n"
      "| op | dimension | splits | reason of a refusal |\n|---|---|---|---|\n",
      N_CUT_SEEDS);
  for (guint i = 0; i < ops->len; i++)
    print_op (g_ptr_array_index (ops, i));
  return 0;
}
