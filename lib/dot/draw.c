/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Draws a graph with a vertex for each node and each output. overview.c draws one box for each
 * frame instead. */

#include "draw.h"

#include "frames.h"
#include "label.h"
#include "pieces.h"
#include "rank-frames.h"

#include "../ir/graph-private.h"

/* A parent subgraph has at most this many clusters; draw_clusters_within() puts more clusters into
 * groups (subgraphs between the parent and the clusters). When cgraph writes a drawing, cgraph
 * looks for each vertex in each subgraph of the vertex's parent. So if 4,000 clusters had one
 * parent, writing would take time quadratic in the clusters: 9 s instead of 0.2 s. */
#define GROUP 32

/* Fill colors of ops: light, for black text, and different, so that a reader can distinguish ops.
 */
static const char *const palette[] = {
  "#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#d7b5a6", "#f7b6d2",
  "#dbdb8d", "#9edae5", "#b3cde3", "#ccebc5", "#fed9a6", "#e5d8bd", "#fddaec",
  "#b3e2cd", "#cbd5e8", "#f4cae4", "#e6f5c9", "#fff2ae", "#a6d8f0",
};

/* In drawings with more vertices than this, labels show no attributes and have no ports. The text
 * of attributes and ports would take most of the time of the layout. */
#define MANY_LABELS 1000

typedef struct
{
  const CleaveGraph *graph;
  const CleaveDotOptions *options;
  CleaveLabelStyle style;
  Agraph_t *root;
  CleaveFrames *frames;     /* frames that are drawn as clusters; NULL: none */
  Agnode_t **vertex;        /* indexed by node id: vertex of the node */
  Agraph_t **clusters;      /* indexed by frame: cluster of the frame */
  CleaveDotRanks *ranks;    /* ranks that are drawn as frames; NULL: none */
  gboolean *is_near;        /* indexed by node id: whether the node is near the node `around` of the
                             * options; NULL: draw all nodes */
  CleavePiecePlace *places; /* indexed by node id: part of the whole result that the node
                             * computes */
} Drawing;

/* The functions below draw vertices. */

static const char *
choose_color (const CleaveOp *op)
{
  guint32 hash = 2166136261u; /* FNV-1a: the hash of the op's name selects its color, so an op has
                               * the same color in every drawing */

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

  cleave_draw_set_html (vertex, "label", label);
  cleave_draw_set (vertex, "shape", shape);
  cleave_draw_set (vertex, "fillcolor", fill);
  cleave_draw_set (vertex, "color", outline);
}

static void
draw_node (Drawing *d, const CleaveNode *node)
{
  gboolean is_constant = cleave_node_get_constant (node) != NULL;
  g_autofree char *label = NULL;
  Agnode_t *vertex;
  guint frame;

  if ((is_constant && !d->options->show_constants) || (d->is_near != NULL && !d->is_near[node->id]))
    return;
  vertex = d->vertex[node->id] = cleave_draw_add_vertex (d->root, d->graph, node->name);
  if (is_constant)
    draw_value (vertex, node->name, &node->results[0].type, "box", "#e0e0e0", "blue");
  else if (cleave_node_is_input (node))
    draw_value (vertex, node->name, &node->results[0].type, "house", "#ffffff", "black");
  else
    {
      label = cleave_label_node (node, &d->places[node->id], &d->style);
      cleave_draw_set_html (vertex, "label", label);
      cleave_draw_set (vertex, "fillcolor", choose_color (node->op));
    }
  if (d->ranks != NULL)
    cleave_dot_ranks_add_vertex (d->ranks, node, vertex);
  frame = d->frames == NULL ? G_MAXUINT : cleave_frames_find (d->frames, node);
  if (frame != G_MAXUINT && d->clusters[frame] != NULL)
    agsubnode (d->clusters[frame], vertex, TRUE);
}

/* The functions below draw edges. */

/* Draws the edge of a result to the port `head` (NULL: no port) of the vertex `to`. `reader` is the
 * node of that vertex, or NULL for an output of the graph. */
static void
draw_edge (Drawing *d,
           const CleaveResult *result,
           const CleaveNode *reader,
           Agnode_t *to,
           const char *head)
{
  const CleaveNode *from = result->node;
  Agedge_t *edge;

  if (d->vertex[from->id] == NULL)
    return;
  edge = agedge (d->root, d->vertex[from->id], to, NULL, TRUE);
  if (cleave_label_has_ports (from, &d->style))
    {
      g_autofree char *port = cleave_label_dup_result_port (from, result->index);
      g_autofree char *tail = g_strconcat (port, ":s", NULL);

      cleave_draw_set (edge, "tailport", tail);
    }
  if (head != NULL)
    {
      g_autofree char *port = g_strconcat (head, ":n", NULL);

      cleave_draw_set (edge, "headport", port);
    }
  if (d->ranks != NULL)
    cleave_dot_ranks_mark_edge (d->ranks, result, reader, edge);
}

static void
draw_operands (Drawing *d, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      g_autofree char *port = NULL;

      if (cleave_label_is_folded (node, i, d->options->show_constants))
        continue;
      if (cleave_label_has_ports (node, &d->style))
        port = cleave_label_dup_operand_port (node, i);
      draw_edge (d, cleave_node_operand_result (node, i), node, d->vertex[node->id], port);
    }
}

/* Draws an output of the graph as a vertex, under a name that no node has. */
static void
draw_output (Drawing *d, const CleaveOutput *output)
{
  g_autofree char *base = g_strconcat ("output ", output->name, NULL);
  g_autofree char *name = cleave_draw_dup_free_name (d->graph, base);
  const CleaveResult *result = output->operand.result;
  Agnode_t *vertex;

  if (d->is_near != NULL && !d->is_near[result->node->id])
    return;
  vertex = cleave_draw_add_vertex (d->root, d->graph, name);
  draw_value (vertex, output->name, &result->type, "invhouse", "#ffffff", "black");
  if (d->ranks != NULL)
    cleave_dot_ranks_add_vertex (d->ranks, NULL, vertex);
  draw_edge (d, result, NULL, vertex, NULL);
}

/* The functions below draw clusters and the whole drawing. */

static void
draw_cluster (Drawing *d, Agraph_t *parent, guint i)
{
  g_autofree char *name = g_strdup_printf ("cluster_%u", i);

  d->clusters[i] = agsubg (parent, name, TRUE);
  cleave_draw_set (d->clusters[i], "label", cleave_frames_get_title (d->frames, i));
  cleave_draw_set (d->clusters[i], "style", "filled,rounded");
  cleave_draw_set (d->clusters[i], "color", "#b0b0b0");
  cleave_draw_set (d->clusters[i], "fillcolor", "#f4f4f4");
}

/* Draws the frames [begin, end) as clusters in nested groups of GROUP. The depth of the recursion
 * is logarithmic. */
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

/* Returns the number of frames that are drawn as clusters: the subgraphs and strips. The array of
 * frames has the subgraphs and strips before the runs. */
static guint
count_clusters (const CleaveFrames *frames)
{
  guint n = 0;

  while (n < cleave_frames_get_n_frames (frames) &&
         cleave_frames_get_kind (frames, n) != CLEAVE_FRAME_RUN)
    n++;
  return n;
}

static gboolean
draw_clusters (Drawing *d, GError **error)
{
  if (d->options->ranks != NULL)
    d->ranks = cleave_dot_ranks_new (d->root, d->graph, d->options);
  if (d->options->no_clusters || d->ranks != NULL)
    return TRUE;
  d->frames = cleave_frames_new (d->graph, error);
  if (d->frames == NULL)
    return FALSE;
  d->clusters = g_new0 (Agraph_t *, cleave_frames_get_n_frames (d->frames) + 1);
  draw_clusters_within (d, d->root, 0, count_clusters (d->frames));
  return TRUE;
}

static void
add_near (const CleaveNode *node, gboolean *near, GPtrArray *nodes)
{
  if (near[node->id] || cleave_node_get_constant (node) != NULL)
    return;
  near[node->id] = TRUE;
  g_ptr_array_add (nodes, (gpointer) node);
}

static void
add_neighbors (const CleaveNode *node, gboolean *near, GPtrArray *nodes)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (cleave_node_operand_result (node, i) != NULL)
      add_near (cleave_node_operand_result (node, i)->node, near, nodes);
  for (guint i = 0; i < node->n_results; i++)
    for (const CleaveOperand *use = node->results[i].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL)
        add_near (use->node, near, nodes);
}

/* Returns an array indexed by node id: whether the node is at most `distance` edges away from
 * `middle`, in any direction. Paths through constants are ignored. */
static gboolean *
find_near (const CleaveGraph *graph, const CleaveNode *middle, guint distance)
{
  gboolean *near = g_new0 (gboolean, graph->n_ids + 1);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  guint begin = 0;

  g_ptr_array_add (nodes, (gpointer) middle);
  near[middle->id] = TRUE;
  for (guint step = 0; step < distance && begin < nodes->len; step++)
    for (guint end = nodes->len; begin < end; begin++)
      add_neighbors (nodes->pdata[begin], near, nodes);
  return near;
}

static void
drawing_clear (Drawing *d)
{
  g_free (d->vertex);
  g_free (d->clusters);
  g_free (d->is_near);
  g_free (d->places);
  g_clear_pointer (&d->frames, cleave_frames_unref);
  g_clear_pointer (&d->ranks, cleave_dot_ranks_free);
}

static void
draw_all (Drawing *d, const GPtrArray *order)
{
  const CleaveGraph *graph = d->graph;

  for (guint i = 0; i < order->len; i++)
    draw_node (d, order->pdata[i]);
  for (guint i = 0; i < order->len; i++)
    if (d->vertex[((CleaveNode *) order->pdata[i])->id] != NULL)
      draw_operands (d, order->pdata[i]);
  for (guint i = 0; i < graph->outputs->len; i++)
    draw_output (d, graph->outputs->pdata[i]);
}

static guint
count_drawn (const Drawing *d, const GPtrArray *order)
{
  guint n = 0;

  for (guint i = 0; i < order->len; i++)
    n += d->is_near == NULL || d->is_near[((CleaveNode *) order->pdata[i])->id] ? 1 : 0;
  return n;
}

Agraph_t *
cleave_draw (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error)
{
  static const CleaveDotOptions defaults = { 0 };
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);
  Drawing d = { .graph = graph, .options = options != NULL ? options : &defaults };
  guint n;

  if (order == NULL)
    return NULL;
  if (d.options->overview)
    return cleave_draw_overview (graph, d.options, error);
  if (d.options->around != NULL)
    d.is_near =
        find_near (graph, d.options->around, d.options->distance == 0 ? 3 : d.options->distance);
  n = count_drawn (&d, order);
  d.style.show_constants = d.options->show_constants;
  d.style.compact = n > MANY_LABELS;
  d.style.n_prefix = cleave_label_find_prefix (order);
  d.root = cleave_draw_new ();
  d.vertex = g_new0 (Agnode_t *, graph->n_ids + 1);
  d.places = cleave_pieces_find (graph, order, d.options);
  cleave_draw_set_style (d.root, n);
  cleave_draw_set_title (d.root, graph);
  if (!draw_clusters (&d, error))
    g_clear_pointer (&d.root, agclose);
  else
    draw_all (&d, order);
  drawing_clear (&d);
  return d.root;
}
