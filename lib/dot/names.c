/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses names of vertices that DOT and SVG can hold, and that stay unique. */

#include "draw.h"

#include "label.h"

/* Returns whether a quoted string of DOT can hold the name. A quoted string cannot hold a name in
 * which an odd number of backslashes precedes a quote, a line break or the end of the name. */
static gboolean
is_quotable (const char *name)
{
  guint n_backslashes = 0;

  for (const char *c = name; *c != '\0'; c++)
    {
      if (n_backslashes % 2 == 1 && strchr ("\"\n\r", *c) != NULL)
        return FALSE;
      n_backslashes = *c == '\\' ? n_backslashes + 1 : 0;
    }
  return n_backslashes % 2 == 0;
}

/* Returns whether an HTML string of DOT can hold the name: the name's angle brackets are balanced,
 * and the name is not empty and has no HTML comment. */
static gboolean
is_balanced (const char *name)
{
  gint depth = 0;

  for (const char *c = name; *c != '\0' && depth >= 0; c++)
    depth += *c == '<' ? 1 : *c == '>' ? -1 : 0;
  return depth == 0 && strstr (name, "<!--") == NULL && *name != '\0';
}

char *
cleave_draw_dup_free_name (const CleaveGraph *graph, const char *base)
{
  GString *name = g_string_new (base);

  while (cleave_graph_find_node (graph, name->str) != NULL)
    g_string_append_c (name, '\'');
  return g_string_free (name, FALSE);
}

/* Returns an escaped form of a name that neither a quoted string nor an HTML string can hold. Uses
 * character references, as HTML does. */
static char *
escape_name (const CleaveGraph *graph, const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "\\", -1);
  g_autofree char *text = g_strjoinv ("&#92;", parts);
  g_autofree char *escaped =
      *text == '%' ? g_strconcat ("&#37;", text + 1, NULL) : g_steal_pointer (&text);

  return cleave_draw_dup_free_name (graph, escaped);
}

/* Replaces characters that XML does not allow, since an SVG contains the names. Returns a name that
 * no other vertex has. */
static char *
dup_xml_name (Agraph_t *root, const CleaveGraph *graph, const char *name)
{
  g_autofree char *valid = g_utf8_make_valid (name, -1);
  GString *text = g_string_new (NULL);
  gboolean changed = FALSE;

  for (const char *c = valid; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar u = g_utf8_get_char (c);
      gboolean good = cleave_label_is_xml (u) || u == '\t' || u == '\n' || u == '\r';

      g_string_append_unichar (text, good ? u : 0xfffd);
      changed |= !good;
    }
  while ((changed && cleave_graph_find_node (graph, text->str) != NULL) ||
         agnode (root, text->str, FALSE) != NULL)
    g_string_append_c (text, '\'');
  return g_string_free (text, FALSE);
}

/* Adds the vertex under `name`, as an HTML string if a quoted string cannot hold the name. cgraph
 * writes an HTML string in angle brackets. Escapes a name that no kind of string can hold. Also
 * escapes a name that begins with '%', since cgraph replaces such names when it reads a drawing. */
Agnode_t *
cleave_draw_add_vertex (Agraph_t *root, const CleaveGraph *graph, const char *name)
{
  g_autofree char *valid = dup_xml_name (root, graph, name);
  g_autofree char *escaped = NULL;
  Agnode_t *vertex;
  char *html;

  if (*valid != '%' && is_quotable (valid))
    return agnode (root, valid, TRUE);
  if (*valid == '%' || !is_balanced (valid))
    return agnode (root, escaped = escape_name (graph, valid), TRUE);
  html = agstrdup_html (root, valid);
  vertex = agnode (root, html, TRUE);
  agstrfree (root, html);
  return vertex;
}
