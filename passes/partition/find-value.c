/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Looks up a value by name: first among value names, then outputs, node names and further
 * results of nodes. If the name is unknown, proposes the nearest name. */

#include "find-value.h"

#include <cleave/cleave-languages.h>

#include "../../lib/ir/error.h"
#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/node-queries.h"

#include <string.h>

static CleaveResult *
find_output (const CleaveGraph *graph, const char *name)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    if (g_str_equal (cleave_graph_get_output_name (graph, i), name))
      return cleave_graph_get_output (graph, i)->result;
  return NULL;
}

/* Returns the value named `name` among all results of nodes except result 0. For example,
 * "split.r1" is result 1 of the node "split". Returns NULL if there is no such value. */
static CleaveResult *
find_further (const CleaveGraph *graph, const char *name)
{
  const char *dot = strrchr (name, '.');
  g_autofree char *node_name = dot == NULL ? NULL : g_strndup (name, (gsize) (dot - name));
  CleaveNode *node = dot == NULL ? NULL : g_hash_table_lookup (graph->nodes, node_name);

  for (guint r = 1; node != NULL && r < node->n_results; r++)
    {
      g_autofree char *own = cleave_result_dup_name (&node->results[r]);

      if (g_str_equal (own, name))
        return &node->results[r];
    }
  return NULL;
}

static int
compare_words (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static gpointer
fail_unknown (const CleaveGraph *graph, const char *name, GError **error)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  GHashTableIter iter;
  const char *nearest;
  gpointer key;

  /* sort the names: the first of equally near names then does not depend on the order of the
   * hash table */
  g_hash_table_iter_init (&iter, graph->values);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (words, key);
  g_ptr_array_sort (words, compare_words);
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    g_ptr_array_add (words, node->name);
  g_ptr_array_add (words, NULL);
  nearest = cleave_text_find_nearest (name, (const char *const *) words->pdata);
  return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "the graph has no value '%s'%s%s%s", name,
                           nearest == NULL ? "" : "; did you mean '",
                           nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
}

CleaveResult *
cleave_partition_find_value (const CleaveGraph *graph,
                             const char *name,
                             gboolean computed,
                             GError **error)
{
  CleaveResult *value = g_hash_table_lookup (graph->values, name);
  CleaveNode *node = g_hash_table_lookup (graph->nodes, name);

  if (value == NULL)
    value = find_output (graph, name);
  if (value == NULL && node != NULL)
    value = &node->results[0];
  if (value == NULL)
    value = find_further (graph, name);
  if (value == NULL)
    return fail_unknown (graph, name, error);
  if (computed && cleave_node_is_source (value->node))
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "'%s' is %s: name a value that a node computes", name,
                             cleave_node_is_input (value->node) ? "an input" : "a constant");
  return value;
}
