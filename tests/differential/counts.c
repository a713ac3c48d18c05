/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counts how often each op was tried, and how each Way (a random way to compute a graph, way.h)
 * ended. Also prints all counts. */

#include "counts.h"

#include "trial.h"

static const char *
op_name (guint index)
{
  for (guint t = 0; trial_tables[t] != NULL; t++)
    for (const TrialOp *op = trial_tables[t]; op->op != NULL; op++)
      if (index-- == 0)
        return op->op;
  return NULL;
}

guint
counts_op (const char *name)
{
  static GHashTable *places;

  if (places == NULL)
    {
      places = g_hash_table_new (g_str_hash, g_str_equal);
      for (guint i = 0; op_name (i) != NULL; i++)
        g_hash_table_insert (places, (gpointer) op_name (i), GUINT_TO_POINTER (i + 1));
    }
  return GPOINTER_TO_UINT (g_hash_table_lookup (places, name));
}

void
counts_way (Counts *counts, const char *name, gboolean refused)
{
  guint i = 0;

  while (i + 1 < COUNT_WAYS && counts->ways[i].name[0] != '\0' &&
         !g_str_equal (counts->ways[i].name, name))
    i++;
  g_strlcpy (counts->ways[i].name, name, sizeof counts->ways[i].name);
  *(refused ? &counts->ways[i].refused : &counts->ways[i].done) += 1;
}

void
counts_print (const Counts *counts, GString *out)
{
  g_string_append_printf (out, "total\tgraphs\t%" G_GUINT64_FORMAT "\n", counts->graphs);
  g_string_append_printf (out, "total\tnodes\t%" G_GUINT64_FORMAT "\n", counts->nodes);
  g_string_append_printf (out, "total\tprograms\t%" G_GUINT64_FORMAT "\n", counts->programs);
  for (guint i = 0; op_name (i) != NULL; i++)
    g_string_append_printf (
        out, "op\t%s\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\n",
        op_name (i), counts->ops[i + 1].seen, counts->ops[i + 1].split, counts->ops[i + 1].whole);
  for (guint i = 0; i < COUNT_WAYS && counts->ways[i].name[0] != '\0'; i++)
    g_string_append_printf (out, "way\t%s\t%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\n",
                            counts->ways[i].name, counts->ways[i].done, counts->ways[i].refused);
}
