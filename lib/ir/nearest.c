/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cleave/cleave-languages.h>

#include <string.h>

/* Longer names are not compared: the time would be the square. */
#define MAX_LENGTH 255

/* How many letters differ: put in, left out, replaced, or two that changed places.  Upper and lower
 * case are the same.  `most` + 1 if there are more than that. */
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

/* A word of three letters may be one off, of six two: who is further off meant something else. */
static guint
get_most (const char *text)
{
  return MAX ((guint) MIN (strlen (text), MAX_LENGTH) / 3, 1);
}

/**
 * cleave_text_find_nearest:
 * @text: a word that somebody wrote
 * @words: (array zero-terminated=1): what could have been meant
 *
 * Finds the word that differs in the fewest letters, for a message: `did you mean …?`  Upper and
 * lower case are the same; of equals it is the first.  If none is near, it is the first that begins
 * with the word.
 *
 * Returns: (transfer none) (nullable): the word, or %NULL if none is near
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
 * @name: a name that somebody wrote, which no node has
 *
 * Finds the name of a node that differs in the fewest letters, as [func@Cleave.text_find_nearest]
 * does.  O(nodes).
 *
 * Returns: (transfer none) (nullable): the name, or %NULL if none is near
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
