/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Draws a graph with one box for each frame (frames.h). A box shows sums over the nodes of its
 * frame, such as their MACs. */

#include "draw.h"

#include "frames.h"
#include "label.h"
#include "pieces.h"

#include "../ir/graph-private.h"

typedef struct
{
  guint n_nodes;
  gint64 macs, bytes;     /* MACs of the frame's nodes, and bytes of the results that nodes in
                           * other frames read */
  const CleaveNode *last; /* the last piece among the nodes of the frame, that is, the last node
                           * with a range in `places`; NULL: no node of the frame is a piece */
  Agnode_t *vertex;
} Box;

typedef struct
{
  const CleaveGraph *graph;
  CleaveFrames *frames;
  CleavePiecePlace *places; /* indexed by node id: the part of a whole result that the node
                             * computes; a range of rank 0: the node is no piece */
  Box *boxes;               /* indexed by frame: box of the frame */
  Agnode_t **inputs;        /* indexed by node id: vertex of an input */
  guint n_prefix;
  Agraph_t *root;
  GHashTable *edges; /* set of the pairs of vertices that have an edge; a pair is the text "from to"
                      * of two addresses */
} Overview;

static gboolean
leaves_frame (const Overview *o, const CleaveResult *result, guint frame)
{
  for (const CleaveOperand *use = result->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL || cleave_frames_find (o->frames, use->node) != frame)
      return TRUE;
  return FALSE;
}

static gint64
add (gint64 a, gint64 b)
{
  return a > G_MAXINT64 - b ? G_MAXINT64 : a + b;
}

static void
count_node (Overview *o, const CleaveNode *node)
{
  guint frame = cleave_frames_find (o->frames, node);
  Box *box = &o->boxes[frame];

  box->n_nodes++;
  box->macs = add (box->macs, cleave_node_get_macs (node));
  for (guint i = 0; i < node->n_results; i++)
    if ((node->op->flags & CLEAVE_OP_VIEW) == 0 && leaves_frame (o, &node->results[i], frame))
      box->bytes = add (box->bytes, cleave_tensor_type_n_bytes (&node->results[i].type));
  if (o->places[node->id].range.rank > 0)
    box->last = node;
}

/* Returns a number as text with at most one decimal and a unit, such as 12.3M. units[i] stands for
 * `base` to the power of i. */
static char *
dup_number (gint64 number, double base, const char *const *units)
{
  double value = (double) number;
  guint i = 0;

  for (; value >= base && units[i + 1] != NULL; i++)
    value /= base;
  return g_strdup_printf ("%.*f%s", i == 0 || value >= 100 ? 0 : 1, value, units[i]);
}

static void
append_small (GString *label, const char *text)
{
  g_string_append (label, "<br/><font point-size=\"8\">");
  cleave_label_append_text (label, text);
  g_string_append (label, "</font>");
}

static char *
dup_title (const Overview *o, guint frame)
{
  const char *title = cleave_frames_get_title (o->frames, frame);
  g_auto (GStrv) ends = g_strsplit (title, " … ", 2);
  g_autofree char *first = NULL, *last = NULL;

  if (cleave_frames_get_kind (o->frames, frame) != CLEAVE_FRAME_RUN)
    return g_strdup (title);
  first = cleave_label_dup_name (ends[0], o->n_prefix);
  last = ends[1] == NULL ? NULL : cleave_label_dup_name (ends[1], o->n_prefix);
  return last == NULL ? g_steal_pointer (&first) : g_strconcat (first, " … ", last, NULL);
}

static char *
dup_label (const Overview *o, guint frame)
{
  static const char *const thousands[] = { "", "k", "M", "G", "T", "P", NULL };
  static const char *const sizes[] = { " bytes", " KiB", " MiB", " GiB", " TiB", NULL };
  const Box *box = &o->boxes[frame];
  g_autofree char *title = dup_title (o, frame), *macs = dup_number (box->macs, 1000, thousands),
                  *bytes = dup_number (box->bytes, 1024, sizes), *counts = NULL, *place = NULL;
  GString *label = g_string_new ("<b>");

  cleave_label_append_text (label, title);
  g_string_append (label, "</b>");
  counts = g_strdup_printf ("%u node%s, %s MACs, %s out", box->n_nodes,
                            box->n_nodes == 1 ? "" : "s", macs, bytes);
  append_small (label, counts);
  if (box->last != NULL)
    place = cleave_piece_place_to_string (&o->places[box->last->id],
                                          cleave_node_find_letters (box->last));
  if (place != NULL)
    append_small (label, place);
  return g_string_free (label, FALSE);
}

/* Fill colors of boxes, indexed by kind of frame. */
static const char *const colors[] = {
  [CLEAVE_FRAME_SUBGRAPH] = "#c6dbef",
  [CLEAVE_FRAME_STRIP] = "#fdd0a2",
  [CLEAVE_FRAME_RUN] = "#f0f0f0",
};

static void
draw_box (Overview *o, guint frame)
{
  g_autofree char *name = g_strdup_printf ("frame %u", frame);
  g_autofree char *free_name = cleave_draw_dup_free_name (o->graph, name);
  g_autofree char *label = dup_label (o, frame);
  Agnode_t *vertex = cleave_draw_add_vertex (o->root, o->graph, free_name);

  o->boxes[frame].vertex = vertex;
  cleave_draw_set_html (vertex, "label", label);
  cleave_draw_set (vertex, "fillcolor", colors[cleave_frames_get_kind (o->frames, frame)]);
  cleave_draw_set (vertex, "margin", "0.08");
}

static Agnode_t *
draw_value (Overview *o,
            const char *name,
            const char *shown,
            const CleaveTensorType *type,
            const char *shape)
{
  g_autofree char *label = cleave_label_value (shown, type);
  Agnode_t *vertex = cleave_draw_add_vertex (o->root, o->graph, name);

  cleave_draw_set_html (vertex, "label", label);
  cleave_draw_set (vertex, "shape", shape);
  return vertex;
}

static Agnode_t *
get_vertex (const Overview *o, const CleaveNode *node)
{
  guint frame = cleave_frames_find (o->frames, node);

  return frame == G_MAXUINT ? o->inputs[node->id] : o->boxes[frame].vertex;
}

/* Draws an edge between two boxes, unless the drawing already has this edge because of another
 * value. */
static void
draw_edge (Overview *o, Agnode_t *from, Agnode_t *to)
{
  g_autofree char *key = NULL;

  if (from == NULL || from == to)
    return;
  key = g_strdup_printf ("%p %p", (void *) from, (void *) to);
  if (g_hash_table_add (o->edges, g_steal_pointer (&key)))
    agedge (o->root, from, to, NULL, TRUE);
}

static void
draw_values (Overview *o)
{
  for (guint i = 0; i < o->graph->inputs->len; i++)
    {
      const CleaveResult *input = o->graph->inputs->pdata[i];

      o->inputs[input->node->id] =
          draw_value (o, input->node->name, input->node->name, &input->type, "house");
    }
}

static void
draw_outputs (Overview *o)
{
  for (guint i = 0; i < o->graph->outputs->len; i++)
    {
      const CleaveOutput *output = o->graph->outputs->pdata[i];
      g_autofree char *base = g_strconcat ("output ", output->name, NULL);
      g_autofree char *name = cleave_draw_dup_free_name (o->graph, base);
      const CleaveResult *result = output->operand.result;

      draw_edge (o, get_vertex (o, result->node),
                 draw_value (o, name, output->name, &result->type, "invhouse"));
    }
}

static void
draw_all (Overview *o, const GPtrArray *order)
{
  guint n = cleave_frames_get_n_frames (o->frames);

  for (guint i = 0; i < order->len; i++)
    if (cleave_frames_find (o->frames, order->pdata[i]) != G_MAXUINT)
      count_node (o, order->pdata[i]);
  cleave_draw_set_style (o->root, n);
  cleave_draw_set_title (o->root, o->graph);
  draw_values (o);
  for (guint i = 0; i < n; i++)
    draw_box (o, i);
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      for (guint j = 0; j < node->n_operands; j++)
        if (cleave_node_operand_result (node, j) != NULL)
          draw_edge (o, get_vertex (o, cleave_node_operand_result (node, j)->node),
                     get_vertex (o, node));
    }
  draw_outputs (o);
}

Agraph_t *
cleave_draw_overview (const CleaveGraph *graph, const CleaveDotOptions *options, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);
  g_autoptr (CleaveFrames) frames = order == NULL ? NULL : cleave_frames_new (graph, error);
  g_autoptr (GHashTable) edges = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree Box *boxes = NULL;
  g_autofree CleavePiecePlace *places = NULL;
  g_autofree Agnode_t **inputs = NULL;
  Overview o = { .graph = graph, .frames = frames, .edges = edges };

  if (frames == NULL)
    return NULL;
  o.boxes = boxes = g_new0 (Box, cleave_frames_get_n_frames (frames) + 1);
  o.places = places = cleave_pieces_find (graph, order, options);
  o.inputs = inputs = g_new0 (Agnode_t *, graph->n_ids + 1);
  o.n_prefix = cleave_label_find_prefix (order);
  o.root = cleave_draw_new ();
  draw_all (&o, order);
  return o.root;
}
