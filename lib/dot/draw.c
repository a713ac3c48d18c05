/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: one drawing, from its title to its clusters. */

#include "draw.h"

#include "ids.h"
#include "label.h"
#include "pieces.h"

#include "../ir/graph-private.h"
#include "../ir/subgraphs.h"

#include <pthread.h>

/* From this many vertices on, edges are polylines and the layout tries less hard: curves alone
 * would take most of the time. */
#define MANY_VERTICES 150

/* cgraph looks for each vertex in each subgraph of its parent when it writes them: clusters are in
 * groups of this many, so that the cost is no square.  4,000 clusters take 0.2 s, not 9 s. */
#define GROUP 32

/* Light enough for black text, far enough from each other to tell ops apart. */
static const char *const palette[] = {
  "#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#d7b5a6", "#f7b6d2",
  "#dbdb8d", "#9edae5", "#b3cde3", "#ccebc5", "#fed9a6", "#e5d8bd", "#fddaec",
  "#b3e2cd", "#cbd5e8", "#f4cae4", "#e6f5c9", "#fff2ae", "#a6d8f0",
};

typedef struct
{
  const CleaveGraph *graph;
  const CleaveDotOptions *options;
  Agraph_t *root;
  Agnode_t **vertex;   /* by id */
  Agraph_t **clusters; /* by number */
  guint *subgraph;     /* by id */
  CleaveRange *ranges; /* by id */
} Drawing;

/* Lock and messages */

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

/* Text */

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

/* Names */

/* Whether a quoted string of DOT can say it: it cannot where an odd number of backslashes stands
 * before a quote, a line break or the end. */
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

/* Whether an HTML string of DOT can say it: its angle brackets are balanced, and it has no comment.
 */
static gboolean
is_balanced (const char *name)
{
  gint depth = 0;

  for (const char *c = name; *c != '\0' && depth >= 0; c++)
    depth += *c == '<' ? 1 : *c == '>' ? -1 : 0;
  return depth == 0 && strstr (name, "<!--") == NULL && *name != '\0';
}

/* A name that no node has: the base, with as many primes as it takes. */
static char *
dup_free_name (const CleaveGraph *graph, const char *base)
{
  GString *name = g_string_new (base);

  while (cleave_graph_find_node (graph, name->str) != NULL)
    g_string_append_c (name, '\'');
  return g_string_free (name, FALSE);
}

/* A name that no form of string can say, as an HTML label would have it. */
static char *
escape_name (const CleaveGraph *graph, const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "\\", -1);
  g_autofree char *text = g_strjoinv ("&#92;", parts);
  g_autofree char *escaped =
      *text == '%' ? g_strconcat ("&#37;", text + 1, NULL) : g_steal_pointer (&text);

  return dup_free_name (graph, escaped);
}

/* An SVG has the name, too: what XML has no character for is another one there, and the name one
 * that no vertex has yet. */
static char *
dup_xml_name (const Drawing *d, const char *name)
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
  while ((changed && cleave_graph_find_node (d->graph, text->str) != NULL) ||
         agnode (d->root, text->str, FALSE) != NULL)
    g_string_append_c (text, '\'');
  return g_string_free (text, FALSE);
}

/* The vertex of this name.  cgraph remembers of each string whether it is HTML, so that it writes
 * it as such; when it reads a name that begins with '%', it takes another. */
static Agnode_t *
add_vertex (const Drawing *d, const char *name)
{
  g_autofree char *valid = dup_xml_name (d, name);
  g_autofree char *escaped = NULL;
  Agnode_t *vertex;
  char *html;

  if (*valid != '%' && is_quotable (valid))
    return agnode (d->root, valid, TRUE);
  if (*valid == '%' || !is_balanced (valid))
    return agnode (d->root, escaped = escape_name (d->graph, valid), TRUE);
  html = agstrdup_html (d->root, valid);
  vertex = agnode (d->root, html, TRUE);
  agstrfree (d->root, html);
  return vertex;
}

static void
set (gpointer object, const char *attribute, const char *value)
{
  agsafeset (object, (char *) attribute, (char *) value, (char *) "");
}

static void
set_html (gpointer object, const char *attribute, const char *value)
{
  Agraph_t *root = agroot (object);
  char *html = agstrdup_html (root, (char *) value);

  set (object, attribute, html);
  agstrfree (root, html);
}

static void
set_default (Agraph_t *root, int kind, const char *attribute, const char *value)
{
  agattr (root, kind, (char *) attribute, (char *) value);
}

/* Vertices */

static const char *
choose_colour (const CleaveOp *op)
{
  guint32 hash = 2166136261u; /* FNV-1a, so that an op has one colour everywhere and for ever */

  for (const char *c = op->name; *c != '\0'; c++)
    hash = (hash ^ (guint8) *c) * 16777619u;
  return palette[hash % G_N_ELEMENTS (palette)];
}

static void
draw_value (Agnode_t *vertex,
            const char *name,
            const CleaveTensorType *type,
            const char *shape,
            const char *fill,
            const char *outline)
{
  g_autofree char *label = cleave_label_value (name, type);

  set_html (vertex, "label", label);
  set (vertex, "shape", shape);
  set (vertex, "fillcolor", fill);
  set (vertex, "color", outline);
}

static void
draw_node (Drawing *d, const CleaveNode *node)
{
  gboolean is_constant = cleave_node_get_constant (node) != NULL;
  g_autofree char *label = NULL;
  Agnode_t *vertex;

  if (is_constant && !d->options->show_constants)
    return;
  vertex = d->vertex[node->id] = add_vertex (d, node->name);
  if (is_constant)
    draw_value (vertex, node->name, &node->results[0].type, "box", "#e0e0e0", "blue");
  else if (cleave_node_is_input (node))
    draw_value (vertex, node->name, &node->results[0].type, "house", "#ffffff", "black");
  else
    {
      const CleaveRange *range = &d->ranges[node->id];

      label = cleave_label_node (node, range->rank > 0 ? range : NULL, d->options->show_constants);
      set_html (vertex, "label", label);
      set (vertex, "fillcolor", choose_colour (node->op));
    }
  if (d->subgraph[node->id] != G_MAXUINT)
    agsubnode (d->clusters[d->subgraph[node->id]], vertex, TRUE);
}

/* Edges */

static void
draw_edge (Drawing *d, const CleaveResult *result, Agnode_t *to, const char *head)
{
  const CleaveNode *from = result->node;
  Agedge_t *edge = agedge (d->root, d->vertex[from->id], to, NULL, TRUE);

  if (cleave_node_get_constant (from) == NULL && !cleave_node_is_input (from))
    {
      g_autofree char *port = cleave_label_dup_result_port (from, result->index);
      g_autofree char *tail = g_strconcat (port, ":s", NULL);

      set (edge, "tailport", tail);
    }
  if (head != NULL)
    {
      g_autofree char *port = g_strconcat (head, ":n", NULL);

      set (edge, "headport", port);
    }
}

static void
draw_operands (Drawing *d, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      g_autofree char *port = NULL;

      if (cleave_label_is_folded (node, i, d->options->show_constants))
        continue;
      port = cleave_label_dup_operand_port (node, i);
      draw_edge (d, cleave_node_operand_result (node, i), d->vertex[node->id], port);
    }
}

/* An output is a vertex of its own, whose name must not be that of a node. */
static void
draw_output (Drawing *d, const CleaveOutput *output)
{
  g_autofree char *base = g_strconcat ("output ", output->name, NULL);
  g_autofree char *name = dup_free_name (d->graph, base);
  const CleaveResult *result = output->operand.result;
  Agnode_t *vertex;

  vertex = add_vertex (d, name);
  draw_value (vertex, output->name, &result->type, "invhouse", "#ffffff", "black");
  if (d->vertex[result->node->id] != NULL)
    draw_edge (d, result, vertex, NULL);
}

/* The whole */

static void
set_style (Agraph_t *root, gboolean is_large)
{
  set_default (root, AGRAPH, "rankdir", "TB");
  set_default (root, AGRAPH, "fontname", "Helvetica");
  set_default (root, AGRAPH, "fontsize", "10");
  set_default (root, AGRAPH, "ranksep", is_large ? "0.4" : "0.25");
  set_default (root, AGRAPH, "nodesep", "0.15");
  set_default (root, AGRAPH, "linelength", "0");
  if (is_large)
    {
      set_default (root, AGRAPH, "splines", "polyline");
      set_default (root, AGRAPH, "nslimit", "2");
      set_default (root, AGRAPH, "nslimit1", "2");
      set_default (root, AGRAPH, "mclimit", "0.05");
    }
  set_default (root, AGNODE, "fontname", "Helvetica");
  set_default (root, AGNODE, "fontsize", "10");
  set_default (root, AGNODE, "label", "");
  set_default (root, AGNODE, "shape", "box");
  set_default (root, AGNODE, "style", "filled");
  set_default (root, AGNODE, "color", "#808080");
  set_default (root, AGNODE, "fillcolor", "#ffffff");
  set_default (root, AGNODE, "margin", "0.03");
  set_default (root, AGNODE, "height", "0.1");
  set_default (root, AGNODE, "width", "0.1");
  set_default (root, AGEDGE, "arrowsize", "0.5");
  set_default (root, AGEDGE, "color", "#404040");
  set_default (root, AGEDGE, "headport", "");
  set_default (root, AGEDGE, "tailport", "");
}

static void
set_title (Agraph_t *root, const char *name)
{
  g_autoptr (GString) title = g_string_new ("<b>");

  cleave_label_append_text (title, name);
  g_string_append (title, "</b>");
  set_html (root, "label", title->str);
  set (root, "labelloc", "t");
}

static void
draw_cluster (Drawing *d, Agraph_t *parent, guint i)
{
  g_autofree char *name = g_strdup_printf ("cluster_%u", i);
  g_autofree char *label = g_strdup_printf ("subgraph %u", i);

  d->clusters[i] = agsubg (parent, name, TRUE);
  set (d->clusters[i], "label", label);
  set (d->clusters[i], "style", "filled,rounded");
  set (d->clusters[i], "color", "#b0b0b0");
  set (d->clusters[i], "fillcolor", "#f4f4f4");
}

/* Those from `begin` to `end`.  It calls itself to the logarithm of their number. */
static void
draw_clusters_within (Drawing *d, Agraph_t *parent, guint begin, guint end)
{
  guint size = 1;

  while (size * GROUP < end - begin)
    size *= GROUP;
  for (guint i = begin; i < end; i += size)
    {
      g_autofree char *name = g_strdup_printf ("group_%u_%u", i, size);

      if (size == 1)
        draw_cluster (d, parent, i);
      else
        draw_clusters_within (d, agsubg (parent, name, TRUE), i, MIN (i + size, end));
    }
}

static void
draw_clusters (Drawing *d)
{
  guint n = d->options->no_clusters ? 0 : cleave_subgraphs_find (d->graph, d->subgraph);

  for (guint i = 0; d->options->no_clusters && i < d->graph->n_ids; i++)
    d->subgraph[i] = G_MAXUINT;
  d->clusters = g_new0 (Agraph_t *, n + 1);
  draw_clusters_within (d, d->root, 0, n);
}

static void
drawing_clear (Drawing *d)
{
  g_free (d->vertex);
  g_free (d->clusters);
  g_free (d->subgraph);
  g_free (d->ranges);
}

Agraph_t *
cleave_draw (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error)
{
  static Agdisc_t discipline;
  static const CleaveDotOptions defaults = { 0 };
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);
  Drawing d = { .graph = graph, .options = options != NULL ? options : &defaults };

  if (order == NULL)
    return NULL;
  discipline = (Agdisc_t){ &AgMemDisc, &cleave_drawing_ids, &text_io };
  d.root = agopen ((char *) "cleave", Agdirected, &discipline);
  d.vertex = g_new0 (Agnode_t *, graph->n_ids + 1);
  d.subgraph = g_new0 (guint, graph->n_ids + 1);
  d.ranges = cleave_pieces_find (graph, order, d.options);
  set_style (d.root, order->len > MANY_VERTICES);
  set_title (d.root, cleave_graph_get_name (graph));
  draw_clusters (&d);
  for (guint i = 0; i < order->len; i++)
    draw_node (&d, order->pdata[i]);
  for (guint i = 0; i < order->len; i++)
    if (d.vertex[((CleaveNode *) order->pdata[i])->id] != NULL)
      draw_operands (&d, order->pdata[i]);
  for (guint i = 0; i < graph->outputs->len; i++)
    draw_output (&d, graph->outputs->pdata[i]);
  drawing_clear (&d);
  return d.root;
}
