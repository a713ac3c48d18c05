/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lays out boxes and edges with Graphviz, without drawing them (the public type
 * `CleaveDotLayout`). */

#include "draw.h"

#include "../ir/boxed.h"
#include "../ir/op.h"

#include <math.h>

/* Points per inch: Graphviz gives sizes in inches and positions in points. */
#define POINTS 72.0

/* From this many boxes on, edges are straight and the layout makes fewer iterations. */
#define MANY_BOXES 400

struct _CleaveDotLayout
{
  guint n_boxes, n_edges;
  double *centers; /* x and y of the center of each box; two entries for each box */
  GArray **routes; /* indexed by edge: arrays of double, x and y of the points of the edge's
                    * route */
};

static void
set_number (gpointer object, const char *name, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  agsafeset (object, (char *) name, g_ascii_formatd (text, sizeof text, "%.4f", value),
             (char *) "");
}

static Agraph_t *
draw_boxes (const double *sizes, guint n_boxes, const guint *edges, guint n_edges)
{
  Agraph_t *drawing = cleave_draw_new ();
  g_autofree Agnode_t **boxes = g_new (Agnode_t *, n_boxes + 1);

  cleave_draw_set_effort (drawing, n_boxes >= MANY_BOXES ? 0.1 : 0);
  agattr (drawing, AGRAPH, (char *) "nodesep", (char *) "0.2");
  agattr (drawing, AGRAPH, (char *) "ranksep", (char *) "0.35");
  agattr (drawing, AGNODE, (char *) "shape", (char *) "box");
  agattr (drawing, AGNODE, (char *) "fixedsize", (char *) "true");
  agattr (drawing, AGNODE, (char *) "label", (char *) "");
  for (guint i = 0; i < n_boxes; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);

      boxes[i] = agnode (drawing, name, TRUE);
      set_number (boxes[i], "width", sizes[2 * i] / POINTS);
      set_number (boxes[i], "height", sizes[2 * i + 1] / POINTS);
    }
  for (guint i = 0; i < n_edges; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);

      agedge (drawing, boxes[edges[2 * i]], boxes[edges[2 * i + 1]], name, TRUE);
    }
  return drawing;
}

/* Reads coordinates from "x,y x,y …" or "e,x,y x,y …". In the second form, the first point is the
 * tip of the arrow, a little beyond the end of the spline. This tip replaces the last point of the
 * route. */
static void
read_points (const char *text, GArray *points)
{
  gboolean ends = text != NULL && g_str_has_prefix (text, "e,");

  for (const char *at = text == NULL ? "" : text + (ends ? 2 : 0); *at != '\0';)
    {
      char *end;
      double number = g_ascii_strtod (at, &end);

      if (end == at)
        break;
      g_array_append_val (points, number);
      at = end + strspn (end, ", ");
    }
  if (ends && points->len >= 2)
    {
      memcpy (&g_array_index (points, double, points->len - 2), points->data, 2 * sizeof (double));
      g_array_remove_range (points, 0, 2);
    }
}

/* Reads the centers of boxes and the routes of edges. Flips y, which grows upwards in Graphviz and
 * downwards in a CleaveDotLayout. */
static void
read_layout (CleaveDotLayout *layout, Agraph_t *drawing)
{
  double height = 0;
  g_autoptr (GArray) box = g_array_new (FALSE, FALSE, sizeof (double));

  read_points (agget (drawing, (char *) "bb"), box);
  height = box->len == 4 ? g_array_index (box, double, 3) : 0;
  for (Agnode_t *node = agfstnode (drawing); node != NULL; node = agnxtnode (drawing, node))
    {
      gsize i = (gsize) g_ascii_strtoull (agnameof (node), NULL, 10);

      g_array_set_size (box, 0);
      read_points (agget (node, (char *) "pos"), box);
      layout->centers[2 * i] = box->len < 2 ? 0 : g_array_index (box, double, 0);
      layout->centers[2 * i + 1] = box->len < 2 ? 0 : height - g_array_index (box, double, 1);
      for (Agedge_t *edge = agfstout (drawing, node); edge != NULL; edge = agnxtout (drawing, edge))
        {
          GArray *route = layout->routes[g_ascii_strtoull (agnameof (edge), NULL, 10)];

          read_points (agget (edge, (char *) "pos"), route);
          for (guint j = 1; j < route->len; j += 2)
            g_array_index (route, double, j) = height - g_array_index (route, double, j);
        }
    }
}

static gboolean
are_sizes (const double *sizes, guint n_sizes)
{
  for (guint i = 0; i < n_sizes; i++)
    if (!(sizes[i] >= 0 && sizes[i] <= 1e6))
      return FALSE;
  return TRUE;
}

static gboolean
are_edges (const guint *edges, guint n_edges, guint n_boxes)
{
  for (guint i = 0; i < n_edges; i++)
    if (edges[i] >= n_boxes)
      return FALSE;
  return TRUE;
}

/**
 * cleave_dot_layout_new:
 * @sizes: (array length=n_sizes): width and height of each box, in points
 * @n_sizes: twice the number of boxes
 * @edges: (array length=n_edges): source and target box of each edge
 * @n_edges: twice the number of edges
 * @error: return location for a [struct@GLib.Error]
 *
 * Lays out boxes in layers with Graphviz, so that edges lead downwards.
 *
 * Fails with %CLEAVE_ERROR_OPTION if a size is not from 0 to 1,000,000, if an edge names a box that
 * does not exist, or if the module that draws pictures cannot be loaded.
 *
 * Returns: (transfer full) (nullable): the layout, or %NULL on error
 *
 * Since: 0.1
 */
CleaveDotLayout *
cleave_dot_layout_new (
    const double *sizes, guint n_sizes, const guint *edges, guint n_edges, GError **error)
{
  guint n_boxes = n_sizes / 2;
  g_autoptr (CleaveDotLayout) layout = NULL;
  g_autoptr (GBytes) done = NULL;
  Agraph_t *drawing;

  g_return_val_if_fail ((sizes != NULL || n_sizes == 0) && n_sizes % 2 == 0, NULL);
  g_return_val_if_fail ((edges != NULL || n_edges == 0) && n_edges % 2 == 0, NULL);
  if (!are_sizes (sizes, n_sizes) || !are_edges (edges, n_edges, n_boxes))
    return cleave_fail_null (
        error, CLEAVE_ERROR_OPTION,
        "cannot lay out %u boxes: a size is not from 0 to 1000000, or a line leads "
        "elsewhere",
        n_boxes);
  layout = g_atomic_rc_box_new0 (CleaveDotLayout);
  layout->n_boxes = n_boxes;
  layout->n_edges = n_edges / 2;
  layout->centers = g_new0 (double, n_sizes + 1);
  layout->routes = g_new0 (GArray *, layout->n_edges + 1);
  for (guint i = 0; i < layout->n_edges; i++)
    layout->routes[i] = g_array_new (FALSE, FALSE, sizeof (double));
  cleave_graphviz_lock ();
  drawing = draw_boxes (sizes, n_boxes, edges, layout->n_edges);
  done = cleave_render (drawing, NULL, "a layout", error);
  if (done != NULL)
    read_layout (layout, drawing);
  agclose (drawing);
  cleave_graphviz_unlock ();
  return done == NULL ? NULL : g_steal_pointer (&layout);
}

static void
clear (gpointer data)
{
  CleaveDotLayout *layout = data;

  for (guint i = 0; i < layout->n_edges; i++)
    g_array_unref (layout->routes[i]);
  g_free (layout->routes);
  g_free (layout->centers);
}

/**
 * cleave_dot_layout_ref:
 * @layout: a layout
 *
 * Adds a reference. Any thread may call this function.
 *
 * Returns: (transfer full): @layout
 *
 * Since: 0.1
 */

/**
 * cleave_dot_layout_unref:
 * @layout: (transfer full) (nullable): a layout
 *
 * Drops a reference; the last one frees the layout. Any thread may call this function.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleaveDotLayout, dot_layout, clear)

/**
 * cleave_dot_layout_get_n_boxes:
 * @layout: a layout
 *
 * Returns: the number of boxes
 *
 * Since: 0.1
 */
guint
cleave_dot_layout_get_n_boxes (const CleaveDotLayout *layout)
{
  g_return_val_if_fail (layout != NULL, 0);
  return layout->n_boxes;
}

/**
 * cleave_dot_layout_get_x:
 * @layout: a layout
 * @box: index of the box
 *
 * Returns: the distance of the box's center from the left, in points
 *
 * Since: 0.1
 */
double
cleave_dot_layout_get_x (const CleaveDotLayout *layout, guint box)
{
  g_return_val_if_fail (layout != NULL && box < layout->n_boxes, 0);
  return layout->centers[2 * (gsize) box];
}

/**
 * cleave_dot_layout_get_y:
 * @layout: a layout
 * @box: index of the box
 *
 * Returns: the distance of the box's center from the top, in points
 *
 * Since: 0.1
 */
double
cleave_dot_layout_get_y (const CleaveDotLayout *layout, guint box)
{
  g_return_val_if_fail (layout != NULL && box < layout->n_boxes, 0);
  return layout->centers[2 * (gsize) box + 1];
}

/**
 * cleave_dot_layout_get_route:
 * @layout: a layout
 * @edge: index of the edge
 * @n_numbers: (out): number of coordinates
 *
 * Gets the route of an edge as a Bézier spline. The first two numbers are x and y of the beginning
 * of the route. For each curve, six numbers follow: x and y of two control points and of the end of
 * the curve.
 *
 * Returns: (array length=n_numbers) (transfer none): the coordinates
 *
 * Since: 0.1
 */
const double *
cleave_dot_layout_get_route (const CleaveDotLayout *layout, guint edge, guint *n_numbers)
{
  g_return_val_if_fail (n_numbers != NULL, NULL);
  *n_numbers = 0;
  g_return_val_if_fail (layout != NULL && edge < layout->n_edges, NULL);
  *n_numbers = layout->routes[edge]->len;
  return (const double *) (gpointer) layout->routes[edge]->data;
}
