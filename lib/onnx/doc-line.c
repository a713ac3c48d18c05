/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds, appends and removes a line of a doc string. The first word of the line identifies the
 * line. */

#include "doc-line.h"

#include <string.h>

const char *
cleave_doc_line_find (const char *doc, const char *word)
{
  for (const char *at = doc; at != NULL && *at != '\0'; at = strchr (at, '\n'))
    {
      at += *at == '\n' ? 1 : 0;
      if (g_str_has_prefix (at, word))
        return at + strlen (word);
    }
  return NULL;
}

char *
cleave_doc_line_append (const char *doc, const char *word, const char *text)
{
  return doc == NULL ? g_strconcat (word, text, NULL) : g_strconcat (doc, "\n", word, text, NULL);
}

char *
cleave_doc_line_remove (const char *doc, const char *word)
{
  const char *line = cleave_doc_line_find (doc, word), *end;
  GString *text;

  if (line == NULL)
    return g_strdup (doc);
  line -= strlen (word);
  end = strchr (line, '\n');
  text = g_string_new_len (doc, line == doc ? 0 : line - 1 - doc);
  if (end != NULL)
    g_string_append (text, line == doc ? end + 1 : end);
  return g_string_free (text, FALSE);
}
