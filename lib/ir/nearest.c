/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Suggests the nearest name for a misspelled name, and finds the node that a user named. The
 * nearest name may differ from the misspelled name by one edit for each three letters, but at least
 * by one edit (get_most()). */

#include <cleave/cleave-languages.h>

#include <string.h>

#include "error.h"
#include "graph-private.h"

/* Names of more than this many bytes are not compared: the time is quadratic in the length. */
#define MAX_LENGTH 255

/* Returns the edit distance of two names: the number of insertions, deletions, replacements, and
 * swaps of neighboring letters, without regard to case. Returns `most` + 1 if the distance is more
 * than `most`. */
static guint
count_edits (const char *a, const char *b, guint most)
{
  guint n = (guint) strlen (a), m = (guint) strlen (b);
  guint before[MAX_LENGTH + 1], last[MAX_LENGTH + 1], now[MAX_LENGTH + 1];

  if (n > MAX_LENGTH || m > MAX_LENGTH || MAX (n, m) - MIN (n, m) > most)
    return most + 1;
  for (guint j = 0; j <= m; j++)
    last[j] = j;
  for (guint i = 1; i <= n; i++)
    {
      char c = g_ascii_tolower (a[i - 1]);

      now[0] = i;
      for (guint j = 1; j <= m; j++)
        {
          char d = g_ascii_tolower (b[j - 1]);

          now[j] = MIN (MIN (last[j], now[j - 1]) + 1, last[j - 1] + (c == d ? 0 : 1));
          if (i > 1 && j > 1 && c == g_ascii_tolower (b[j - 2]) && g_ascii_tolower (a[i - 2]) == d)
            now[j] = MIN (now[j], before[j - 2] + 1);
        }
      memcpy (before, last, (m + 1) * sizeof *last);
      memcpy (last, now, (m + 1) * sizeof *now);
    }
  return MIN (last[m], most + 1);
}

/* Returns the largest edit distance at which a name is suggested for `text`: one for each three
 * letters, but at least one. A user probably did not mean a name with a larger distance. */
static guint
get_most (const char *text)
{
  return MAX ((guint) MIN (strlen (text), MAX_LENGTH) / 3, 1);
}

/**
 * cleave_text_find_nearest:
 * @text: a word that a user wrote
 * @words: (array zero-terminated=1): the words that exist
 *
 * Finds the word that a user probably meant, for a message such as `did you mean …?`. The result is
 * the word with the smallest edit distance, without regard to case. Among several words with this
 * distance, it is the first word. If no word is near enough, the result is the first word that
 * begins with @text.
 *
 * Returns: (transfer none) (nullable): the word, or %NULL if there is none
 *
 * Since: 0.1
 */
const char *
cleave_text_find_nearest (const char *text, const char *const *words)
{
  const char *nearest = NULL;
  guint least;

  g_return_val_if_fail (text != NULL && words != NULL, NULL);
  least = get_most (text) + 1;
  for (guint i = 0; words[i] != NULL; i++)
    {
      guint n = count_edits (text, words[i], least - 1);

      if (n < least)
        nearest = words[i];
      least = MIN (least, n);
    }
  for (guint i = 0; words[i] != NULL && nearest == NULL && strlen (text) > 1; i++)
    if (g_ascii_strncasecmp (words[i], text, strlen (text)) == 0)
      nearest = words[i];
  return nearest;
}

/**
 * cleave_graph_find_nearest_name:
 * @graph: a graph
 * @name: a name that a user wrote and that no node has
 *
 * Finds the name of the node with the smallest edit distance, as [func@Cleave.text_find_nearest]
 * does for words. O(nodes).
 *
 * Returns: (transfer none) (nullable): the name, or %NULL if none is near enough
 *
 * Since: 0.1
 */
const char *
cleave_graph_find_nearest_name (const CleaveGraph *graph, const char *name)
{
  const char *nearest = NULL;
  guint least;

  g_return_val_if_fail (graph != NULL && name != NULL, NULL);
  least = get_most (name) + 1;
  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL && least > 0;
       node = cleave_node_get_next (node))
    {
      guint n = count_edits (name, cleave_node_get_name (node), least - 1);

      if (n < least)
        nearest = cleave_node_get_name (node);
      least = MIN (least, n);
    }
  return nearest;
}

/* A message lists at most this many names. */
#define MAX_LISTED 5

/* Lists, for a message, the nodes whose name in the model's file is `name`. The list names each
 * node by its result 0. Returns NULL if the graph has fewer than two of these nodes. */
static char *
list_nodes (const CleaveGraph *graph, const char *name)
{
  const GPtrArray *results =
      graph->shared_names == NULL ? NULL : g_hash_table_lookup (graph->shared_names, name);
  g_autoptr (GString) list = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; results != NULL && i < results->len && n <= MAX_LISTED; i++)
    if (cleave_graph_find_node (graph, results->pdata[i]) != NULL && n++ < MAX_LISTED)
      g_string_append_printf (list, "%s'%s'", n == 1 ? "" : ", ", (const char *) results->pdata[i]);
  if (n > MAX_LISTED)
    g_string_append (list, ", …");
  return n < 2 ? NULL : g_string_free (g_steal_pointer (&list), FALSE);
}

/**
 * cleave_graph_select_node:
 * @graph: a graph
 * @name: a name that a user wrote: the name of a node, or of its first result
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds a node as [method@Cleave.Graph.find_node] does, with an error message for the user.
 *
 * Fails with %CLEAVE_ERROR_OPTION if the graph has no such node; the message suggests the nearest
 * name. Also fails with %CLEAVE_ERROR_OPTION if several nodes of the model's file have the name.
 * The message then lists the names of the first results of these nodes.
 *
 * Returns: (transfer none) (nullable): the node, or %NULL on error
 *
 * Since: 0.2
 */
CleaveNode *
cleave_graph_select_node (const CleaveGraph *graph, const char *name, GError **error)
{
  g_autofree char *list = NULL;
  const char *nearest;
  CleaveNode *node;

  g_return_val_if_fail (graph != NULL && name != NULL, NULL);
  list = list_nodes (graph, name);
  if (list != NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "several nodes of the model are called '%s': give the name of a first "
                             "result instead: %s",
                             name, list);
  node = cleave_graph_find_node (graph, name);
  if (node != NULL)
    return node;
  nearest = cleave_graph_find_nearest_name (graph, name);
  return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "the graph has no node '%s'%s%s%s", name,
                           nearest == NULL ? "" : "; did you mean '",
                           nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
}
