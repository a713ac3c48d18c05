/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lays out the graph of the report's page.
 *
 * Over 400 lines: this file computes one layout, its layers, its sizes and its JSON. */

#include "page-graph.h"

#include "report.h"

#include <math.h>
#include <string.h>

/* Average widths of letters, and sizes of boxes, in points. */
#define LETTER 5.6
#define BOLD_LETTER 6.3
#define SMALL_LETTER 4.6
#define MAX_LETTERS 34
#define NODE_HEIGHT 38.0
#define SMALL_HEIGHT 15.0
#define FRAME_HEIGHT 42.0
#define MIN_FRAME_WIDTH 150.0

typedef struct
{
  const char *owner; /* name of the split node, if this node is a piece of it */
  char *part; /* range of the whole node's result that the piece computes, such as "H 43:86" */
} Piece;

typedef struct
{
  GPtrArray *nodes;   /* CleaveNode: nodes of the frame */
  gint64 macs, bytes; /* MACs of the nodes in `nodes`, and bytes of results that nodes outside the
                         frame read */
} Box;

typedef struct
{
  guint frame, index; /* the frame, and the index among the nodes of the frame */
  guint order;        /* the position in an order in which the nodes can run */
} Place;

typedef struct
{
  const CleaveGraph *graph;
  CleaveFrames *frames;
  GHashTable *pieces; /* maps a node that is a piece to its Piece */
  GHashTable *places; /* maps each node to its Place */
  Box *boxes;         /* one for each frame, in the order of the frames */
  guint n_frames;
} Page;

static void
piece_free (gpointer data)
{
  g_free (((Piece *) data)->part);
  g_free (data);
}

static void
page_clear (Page *page)
{
  for (guint i = 0; i < page->n_frames; i++)
    g_ptr_array_unref (page->boxes[i].nodes);
  g_free (page->boxes);
  g_clear_pointer (&page->pieces, g_hash_table_unref);
  g_clear_pointer (&page->places, g_hash_table_unref);
  g_clear_pointer (&page->frames, cleave_frames_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Page, page_clear)

static void
find_pieces (Page *page, const CleaveSplitReport *report)
{
  page->pieces = g_hash_table_new_full (NULL, NULL, NULL, piece_free);
  for (guint i = 0; report != NULL && i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *split = cleave_split_report_get_split (report, i);
      CleaveShape whole = cleave_report_get_whole (split);

      for (guint j = 0; j < split->n_pieces; j++)
        {
          Piece *piece = g_new0 (Piece, 1);

          piece->owner = split->name;
          piece->part = cleave_dot_range_to_string (split->pieces[j], &split->ranges[j], &whole);
          g_hash_table_replace (page->pieces, split->pieces[j], piece);
        }
    }
}

static gboolean
has_reader_outside (const Page *page, CleaveResult *result, guint frame)
{
  for (CleaveOperand *use = cleave_result_get_first_use (result); use != NULL;
       use = cleave_operand_get_next_use (use))
    if (cleave_operand_get_node (use) == NULL ||
        cleave_frames_find (page->frames, cleave_operand_get_node (use)) != frame)
      return TRUE;
  return FALSE;
}

static gint64
get_bytes (CleaveNode *node)
{
  gint64 sum = 0;

  for (guint i = 0; i < cleave_node_get_n_results (node); i++)
    sum += cleave_tensor_type_n_bytes (cleave_result_get_type (cleave_node_get_result (node, i)));
  return sum;
}

static void
place_node (Page *page, CleaveNode *node, guint order)
{
  guint frame = cleave_frames_find (page->frames, node);
  Place *place;
  Box *box;

  if (frame == G_MAXUINT)
    return;
  box = &page->boxes[frame];
  place = g_new (Place, 1);
  *place = (Place){ frame, box->nodes->len, order };
  g_hash_table_insert (page->places, node, place);
  g_ptr_array_add (box->nodes, node);
  box->macs += cleave_node_get_macs (node);
  for (guint i = 0; i < cleave_node_get_n_results (node); i++)
    {
      CleaveResult *result = cleave_node_get_result (node, i);

      if (has_reader_outside (page, result, frame))
        box->bytes += cleave_tensor_type_n_bytes (cleave_result_get_type (result));
    }
}

static gboolean
page_init (Page *page, const CleaveGraph *graph, const CleaveSplitReport *report, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);

  page->graph = graph;
  page->frames = order == NULL ? NULL : cleave_frames_new (graph, error);
  if (page->frames == NULL)
    return FALSE;
  page->n_frames = cleave_frames_get_n_frames (page->frames);
  page->boxes = g_new0 (Box, page->n_frames + 1);
  page->places = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  for (guint i = 0; i < page->n_frames; i++)
    page->boxes[i].nodes = g_ptr_array_new ();
  for (guint i = 0; i < order->len; i++)
    place_node (page, order->pdata[i], i);
  find_pieces (page, report);
  return TRUE;
}

/* Appends each edge between two nodes of the frame to `edges`, as two indices of nodes in the
 * frame. */
static void
list_edges (const Page *page, guint frame, GArray *edges)
{
  const Box *box = &page->boxes[frame];

  for (guint i = 0; i < box->nodes->len; i++)
    for (guint j = 0; j < cleave_node_get_n_operands (box->nodes->pdata[i]); j++)
      {
        CleaveResult *value =
            cleave_operand_get_result (cleave_node_get_operand (box->nodes->pdata[i], j));
        const Place *from =
            value == NULL ? NULL
                          : g_hash_table_lookup (page->places, cleave_result_get_node (value));

        if (from == NULL || from->frame != frame)
          continue;
        g_array_append_val (edges, from->index);
        g_array_append_val (edges, i);
      }
}

static void
list_frame_edges (const Page *page, GArray *edges, GArray *cross)
{
  /* indexed by frame a: the index plus 1 of the last frame b for which the edge from a to b was
   * listed; 0: none */
  g_autofree guint *noted = g_new0 (guint, page->n_frames + 1);

  for (guint f = 0; f < page->n_frames; f++)
    for (guint i = 0; i < page->boxes[f].nodes->len; i++)
      for (guint j = 0; j < cleave_node_get_n_operands (page->boxes[f].nodes->pdata[i]); j++)
        {
          CleaveResult *value = cleave_operand_get_result (
              cleave_node_get_operand (page->boxes[f].nodes->pdata[i], j));
          const Place *from =
              value == NULL ? NULL
                            : g_hash_table_lookup (page->places, cleave_result_get_node (value));
          guint line[4];

          if (from == NULL || from->frame == f)
            continue;
          memcpy (line, (guint[]){ from->frame, from->index, f, i }, sizeof line);
          g_array_append_vals (cross, line, 4);
          if (noted[from->frame] == f + 1)
            continue;
          noted[from->frame] = f + 1;
          g_array_append_val (edges, line[0]);
          g_array_append_val (edges, f);
        }
}

/* The functions below compute the sizes of boxes. */

static gboolean
is_small (CleaveNode *node)
{
  static const char *const small[] = { "Slice", "Assemble", "Concat", "Split", "Identity", NULL };

  return g_strv_contains (small, cleave_op_get_name (cleave_node_get_op (node)));
}

static const char *
get_op (CleaveNode *node)
{
  const char *custom = cleave_node_get_custom_op (node);

  return custom != NULL ? custom : cleave_op_get_name (cleave_node_get_op (node));
}

static const char *
get_part (const Page *page, CleaveNode *node)
{
  const Piece *piece = g_hash_table_lookup (page->pieces, node);

  return piece == NULL || piece->part == NULL ? "" : piece->part;
}

static void
get_node_size (const Page *page, CleaveNode *node, double *size)
{
  glong op = g_utf8_strlen (get_op (node), -1) + g_utf8_strlen (get_part (page, node), -1) + 1;
  glong name = (glong) strlen (cleave_node_get_name (node));

  if (is_small (node))
    {
      size[0] = (double) MAX (op, 6) * SMALL_LETTER + 12;
      size[1] = SMALL_HEIGHT;
      return;
    }
  size[0] = (double) MAX (MAX (op, MIN (name, MAX_LETTERS)), 14) * LETTER + 10;
  size[1] = NODE_HEIGHT;
}

static double
get_frame_width (const char *title)
{
  glong n = (glong) strlen (title);

  return MAX (MIN_FRAME_WIDTH, (double) MIN (n, MAX_LETTERS) * BOLD_LETTER + 14);
}

/* The functions below write the layout as JSON. */

static void
add_rounded (CleaveJson *json, double value)
{
  cleave_json_int (json, NULL, (gint64) round (value));
}

/* Returns whether `point` is at most 0.5 away from the line from `from` to `to`. Rounding a
 * coordinate to an integer moves a point by at most 0.5. */
static gboolean
is_near_line (const double *from, const double *to, const double *point)
{
  double x = to[0] - from[0], y = to[1] - from[1];
  double away = x * (point[1] - from[1]) - y * (point[0] - from[0]);

  return fabs (away) <= 0.5 * hypot (x, y);
}

static gboolean
is_straight (const double *route, guint n)
{
  for (guint i = 0; i + 7 < n; i += 6)
    if (!is_near_line (route + i, route + i + 6, route + i + 2) ||
        !is_near_line (route + i, route + i + 6, route + i + 4))
      return FALSE;
  return TRUE;
}

/* Adds an edge as an array, which page.js reads by index: from, to, coordinates, and 1 if the route
 * is straight between its points. Most routes are straight, so their control points are left out:
 * the page of a graph with 5,665 nodes is then a tenth smaller. */
static void
add_route (CleaveJson *json, const CleaveDotLayout *layout, guint edge, guint from, guint to)
{
  guint n;
  const double *route = cleave_dot_layout_get_route (layout, edge, &n);
  gboolean straight = is_straight (route, n);

  cleave_json_begin_list (json, NULL);
  cleave_json_int (json, NULL, from);
  cleave_json_int (json, NULL, to);
  cleave_json_begin_list (json, NULL);
  for (guint i = 0; i < n; i++)
    if (!straight || i % 6 < 2)
      add_rounded (json, route[i]);
  cleave_json_end_list (json);
  if (straight)
    cleave_json_int (json, NULL, 1);
  cleave_json_end_list (json);
}

static void
add_routes (CleaveJson *json, const CleaveDotLayout *layout, const GArray *edges)
{
  cleave_json_begin_list (json, "edges");
  for (guint i = 0; i < edges->len / 2; i++)
    add_route (json, layout, i, g_array_index (edges, guint, 2 * i),
               g_array_index (edges, guint, 2 * i + 1));
  cleave_json_end_list (json);
}

/* Adds a node as an array, which page.js reads by index: name, op, type, MACs, bytes, owner, part,
 * x, y, width, height, position in the order of the nodes. */
static void
add_node (CleaveJson *json, const Page *page, CleaveNode *node, double x, double y)
{
  const Piece *piece = g_hash_table_lookup (page->pieces, node);
  const Place *place = g_hash_table_lookup (page->places, node);
  g_autofree char *type =
      cleave_tensor_type_to_string (cleave_result_get_type (cleave_node_get_result (node, 0)));
  double size[2];

  get_node_size (page, node, size);
  cleave_json_begin_list (json, NULL);
  cleave_json_string (json, NULL, cleave_node_get_name (node));
  cleave_json_string (json, NULL, get_op (node));
  cleave_json_string (json, NULL, type);
  cleave_json_int (json, NULL, cleave_node_get_macs (node));
  cleave_json_int (json, NULL, get_bytes (node));
  cleave_json_string (json, NULL, piece == NULL ? "" : piece->owner);
  cleave_json_string (json, NULL, get_part (page, node));
  add_rounded (json, x);
  add_rounded (json, y);
  add_rounded (json, size[0]);
  add_rounded (json, size[1]);
  cleave_json_int (json, NULL, place->order);
  cleave_json_end_list (json);
}

/* Returns the range that the last piece in a frame computes, such as "H 43:86", or an empty string.
 */
static const char *
get_rows (const Page *page, const Box *box)
{
  for (guint i = box->nodes->len; i-- > 0;)
    if (*get_part (page, box->nodes->pdata[i]) != '\0')
      return get_part (page, box->nodes->pdata[i]);
  return "";
}

static gboolean
add_inside (CleaveJson *json, const Page *page, guint frame, GError **error)
{
  const Box *box = &page->boxes[frame];
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree double *sizes = g_new (double, 2 * (gsize) box->nodes->len + 1);
  g_autoptr (CleaveDotLayout) layout = NULL;
  double width = 0, height = 0;

  list_edges (page, frame, edges);
  for (guint i = 0; i < box->nodes->len; i++)
    get_node_size (page, box->nodes->pdata[i], &sizes[2 * i]);
  layout = cleave_dot_layout_new (sizes, 2 * box->nodes->len,
                                  (const guint *) (gpointer) edges->data, edges->len, error);
  if (layout == NULL)
    return FALSE;
  cleave_json_begin_list (json, "nodes");
  for (guint i = 0; i < box->nodes->len; i++)
    {
      double x = cleave_dot_layout_get_x (layout, i), y = cleave_dot_layout_get_y (layout, i);

      add_node (json, page, box->nodes->pdata[i], x, y);
      width = MAX (width, x + sizes[2 * i] / 2);
      height = MAX (height, y + sizes[2 * i + 1] / 2);
    }
  cleave_json_end_list (json);
  cleave_json_int (json, "iw", (gint64) ceil (width));
  cleave_json_int (json, "ih", (gint64) ceil (height));
  add_routes (json, layout, edges);
  return TRUE;
}

static gboolean
add_frame (
    CleaveJson *json, const Page *page, guint frame, const CleaveDotLayout *layout, GError **error)
{
  const char *title = cleave_frames_get_title (page->frames, frame);
  gboolean good;

  cleave_json_begin (json, NULL);
  cleave_json_string (json, "title", title);
  cleave_json_int (json, "kind", cleave_frames_get_kind (page->frames, frame));
  cleave_json_int (json, "macs", page->boxes[frame].macs);
  cleave_json_int (json, "bytes", page->boxes[frame].bytes);
  cleave_json_string (json, "rows", get_rows (page, &page->boxes[frame]));
  cleave_json_int (json, "x", (gint64) cleave_dot_layout_get_x (layout, frame));
  cleave_json_int (json, "y", (gint64) cleave_dot_layout_get_y (layout, frame));
  cleave_json_int (json, "w", (gint64) get_frame_width (title));
  cleave_json_int (json, "h", (gint64) FRAME_HEIGHT);
  good = add_inside (json, page, frame, error);
  cleave_json_end (json);
  return good;
}

static void
add_cross (CleaveJson *json, const GArray *cross)
{
  cleave_json_begin_list (json, "cross");
  for (guint i = 0; i + 3 < cross->len; i += 4)
    {
      cleave_json_begin_list (json, NULL);
      for (guint j = 0; j < 4; j++)
        cleave_json_int (json, NULL, g_array_index (cross, guint, i + j));
      cleave_json_end_list (json);
    }
  cleave_json_end_list (json);
}

static void
add_times (CleaveJson *json, const CleaveProfile *profile)
{
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);

  cleave_json_begin (json, "times");
  for (guint i = 0; profile != NULL && i < profile->n_steps; i++)
    if (profile->steps[i].name != NULL && g_hash_table_add (known, profile->steps[i].name))
      cleave_json_double (json, profile->steps[i].name,
                          round ((double) profile->steps[i].nanoseconds / 100) / 10);
  cleave_json_end (json);
}

gboolean
cleave_page_add_graph (CleaveJson *json,
                       const char *name,
                       const CleaveGraph *graph,
                       const CleaveSplitReport *report,
                       const CleaveProfile *profile,
                       GError **error)
{
  g_auto (Page) page = { 0 };
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) cross = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (CleaveDotLayout) layout = NULL;
  g_autofree double *sizes = NULL;
  gboolean good = TRUE;

  if (!page_init (&page, graph, report, error))
    return FALSE;
  sizes = g_new (double, 2 * (gsize) page.n_frames + 1);
  for (guint i = 0; i < page.n_frames; i++)
    {
      sizes[2 * i] = get_frame_width (cleave_frames_get_title (page.frames, i));
      sizes[2 * i + 1] = FRAME_HEIGHT;
    }
  list_frame_edges (&page, edges, cross);
  layout = cleave_dot_layout_new (sizes, 2 * page.n_frames, (const guint *) (gpointer) edges->data,
                                  edges->len, error);
  if (layout == NULL)
    return FALSE;
  cleave_json_begin (json, NULL);
  cleave_json_string (json, "name", name);
  cleave_json_begin_list (json, "frames");
  for (guint i = 0; i < page.n_frames && good; i++)
    good = add_frame (json, &page, i, layout, error);
  cleave_json_end_list (json);
  add_routes (json, layout, edges);
  add_cross (json, cross);
  add_times (json, profile);
  cleave_json_end (json);
  return good;
}
