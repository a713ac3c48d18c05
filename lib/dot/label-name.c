/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Shortens names of nodes for labels. */

#include "label.h"

#include "../ir/graph-private.h"

/* Labels omit the prefix that all names share only if the prefix has at least this many bytes. A
 * shorter prefix would save little, and a reader can search a picture for full names. */
#define MIN_PREFIX 6
/* If a name has more characters than this, a label shows only about this many characters from its
 * end. */
#define MAX_NAME 36

static const char marks[] = "/.:_";

static gsize
count_common (const char *a, const char *b, gsize most)
{
  gsize n = 0;

  while (n < most && a[n] != '\0' && a[n] == b[n])
    n++;
  return n;
}

guint
cleave_label_find_prefix (const GPtrArray *nodes)
{
  const char *first = NULL;
  gsize n = G_MAXSIZE;

  for (guint i = 0; i < nodes->len; i++)
    {
      const CleaveNode *node = nodes->pdata[i];

      if (cleave_node_is_input (node) || cleave_node_get_constant (node) != NULL)
        continue;
      if (first == NULL)
        n = strlen (first = node->name);
      n = count_common (first, node->name, n);
    }
  while (n > 0 && n != G_MAXSIZE && strchr (marks, first[n - 1]) == NULL)
    n--;
  return first == NULL || n < MIN_PREFIX || first[n] == '\0' ? 0 : (guint) n;
}

char *
cleave_label_dup_name (const char *name, guint n_prefix)
{
  const char *rest = strlen (name) > n_prefix ? name + n_prefix : name, *end, *mark;

  if (!g_utf8_validate (rest, -1, NULL) || g_utf8_strlen (rest, -1) <= MAX_NAME)
    return g_strdup (rest);
  end = g_utf8_offset_to_pointer (rest, g_utf8_strlen (rest, -1) - MAX_NAME);
  mark = strpbrk (end, "/.:");
  return g_strconcat ("…", mark == NULL || mark[1] == '\0' ? end : mark + 1, NULL);
}
