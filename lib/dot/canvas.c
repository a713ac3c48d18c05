/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Opens a drawing and sets its attributes. Holds the lock of Graphviz and collects its messages. */

#include "draw.h"

#include "ids.h"
#include "label.h"

#include <pthread.h>

/* In drawings with more vertices than this, edges are polylines, since curves would take most of
 * the time of the layout. The layout also makes fewer iterations. */
#define MANY_VERTICES 150

/* In drawings with more vertices than this, the layout makes hardly any iterations: Graphviz then
 * lays out the DOT text of 5,000 nodes in 3 s instead of 15 s. large.c lays out drawings of more
 * than CLEAVE_LARGE_DRAWING vertices. */
#define HUGE_VERTICES 1000

/* The lock of Graphviz, and the messages that Graphviz prints while the lock is held. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static agusererrf previous;
static GString *message;

static int
keep_message (char *text)
{
  g_string_append (message, text);
  return 0;
}

void
cleave_graphviz_lock (void)
{
  pthread_mutex_lock (&mutex);
  message = g_string_new (NULL);
  previous = agseterrf (keep_message);
}

void
cleave_graphviz_unlock (void)
{
  agseterrf (previous);
  g_string_free (message, TRUE);
  message = NULL;
  pthread_mutex_unlock (&mutex);
}

const char *
cleave_graphviz_get_message (void)
{
  return message->len == 0 ? NULL : g_strchomp (message->str);
}

/* The functions below let cgraph write a drawing to a GString. */

static int
put_text (void *channel, const char *text)
{
  g_string_append (channel, text);
  return 0;
}

static int
flush_text (void *channel)
{
  return 0;
}

static Agiodisc_t text_io = { NULL, put_text, flush_text };

GString *
cleave_draw_to_text (Agraph_t *drawing)
{
  GString *text = g_string_new (NULL);

  agwrite (drawing, text);
  return text;
}

/* The functions below set attributes of objects of a drawing. */

void
cleave_draw_set (gpointer object, const char *attribute, const char *value)
{
  agsafeset (object, (char *) attribute, (char *) value, (char *) "");
}

void
cleave_draw_set_html (gpointer object, const char *attribute, const char *value)
{
  Agraph_t *root = agroot (object);
  char *html = agstrdup_html (root, (char *) value);

  cleave_draw_set (object, attribute, html);
  agstrfree (root, html);
}

static void
set_default (Agraph_t *root, int kind, const char *attribute, const char *value)
{
  agattr (root, kind, (char *) attribute, (char *) value);
}

/* The functions below open a drawing and set its style. */

static const char *const style[][3] = {
  { "graph", "rankdir", "TB" },   { "graph", "fontname", "Helvetica" },
  { "graph", "fontsize", "10" },  { "graph", "nodesep", "0.15" },
  { "graph", "linelength", "0" }, { "node", "fontname", "Helvetica" },
  { "node", "fontsize", "10" },   { "node", "label", "" },
  { "node", "shape", "box" },     { "node", "style", "filled" },
  { "node", "color", "#808080" }, { "node", "fillcolor", "#ffffff" },
  { "node", "margin", "0.03" },   { "node", "height", "0.1" },
  { "node", "width", "0.1" },     { "edge", "arrowsize", "0.5" },
  { "edge", "color", "#404040" }, { "edge", "headport", "" },
  { "edge", "tailport", "" },
};

Agraph_t *
cleave_draw_new (void)
{
  static Agdisc_t discipline;

  discipline = (Agdisc_t){ &AgMemDisc, &cleave_drawing_ids, &text_io };
  return agopen ((char *) "cleave", Agdirected, &discipline);
}

void
cleave_draw_set_style (Agraph_t *root, guint n_vertices)
{
  for (guint i = 0; i < G_N_ELEMENTS (style); i++)
    set_default (root,
                 style[i][0][0] == 'g'   ? AGRAPH
                 : style[i][0][0] == 'n' ? AGNODE
                                         : AGEDGE,
                 style[i][1], style[i][2]);
  set_default (root, AGRAPH, "ranksep", n_vertices > MANY_VERTICES ? "0.4" : "0.25");
  if (n_vertices > MANY_VERTICES)
    cleave_draw_set_effort (root, n_vertices > HUGE_VERTICES ? 0.05 : 2);
}

void
cleave_draw_set_effort (Agraph_t *root, double effort)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (effort <= 0)
    return;
  g_ascii_formatd (text, sizeof text, "%g", effort);
  set_default (root, AGRAPH, "splines", "polyline");
  set_default (root, AGRAPH, "nslimit", text);
  set_default (root, AGRAPH, "nslimit1", text);
  set_default (root, AGRAPH, "mclimit", effort < 1 ? "0.01" : "0.05");
  set_default (root, AGRAPH, "remincross", effort < 1 ? "false" : "true");
}

void
cleave_draw_set_title (Agraph_t *root, const CleaveGraph *graph)
{
  g_autoptr (GString) title = g_string_new ("<b>");

  cleave_label_append_text (title, cleave_graph_get_name (graph));
  g_string_append (title, "</b>");
  cleave_draw_set_html (root, "label", title->str);
  cleave_draw_set (root, "labelloc", "t");
}
