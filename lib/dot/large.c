/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lays out large drawings in two levels: the vertices of each cluster in layers (layers.h), then
 * the clusters and the remaining vertices in layers. */

#include "large.h"

#include "draw.h"
#include "layers.h"

/* Points per inch: Graphviz gives sizes in inches and positions in points. */
#define POINTS 72.0

/* Margin around the contents of a cluster, in points. */
#define MARGIN 8.0
/* Height of the title of a cluster, in points. */
#define TITLE 20.0
/* Length of the tip of an arrow, in points. */
#define ARROW 5.0

/* A block: a cluster, or a single vertex that is in no cluster. cleave_layers_place() lays out
 * blocks as boxes. */
typedef struct
{
  Agraph_t *cluster; /* cluster of the block; NULL: the block is a vertex */
  GArray *vertices;  /* guint: indices of the block's vertices in `vertices` of Large */
  GArray *edges;     /* guint: edges within the block, each as two indices in `vertices` */
} Block;

typedef struct
{
  Agraph_t *root;
  double gap[2], extent[2];
  guint n;             /* number of vertices in the drawing */
  GHashTable *numbers; /* maps a vertex to its index in `vertices`, plus 1 */
  Agnode_t **vertices;
  double *sizes;   /* indexed by vertex: width and height, two entries for each vertex */
  double *centers; /* indexed by vertex: x and y of the center, first within the vertex's block,
                    * then within the drawing */
  guint *block, *place; /* indexed by vertex: index of its block, and its index among the vertices
                         * of the block */
  GArray *blocks;
  double *block_sizes, *block_centers;
} Large;

static double
get_number (gpointer object, const char *attribute)
{
  const char *text = agget (object, (char *) attribute);

  return text == NULL ? 0 : g_ascii_strtod (text, NULL);
}

static guint
find_number (const Large *l, Agnode_t *vertex)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (l->numbers, vertex)) - 1;
}

/* The functions below find the blocks and their edges. */

static Block *
get_block (const Large *l, guint i)
{
  return &g_array_index (l->blocks, Block, i);
}

static guint
add_block (Large *l, Agraph_t *cluster)
{
  Block block = { .cluster = cluster,
                  .vertices = g_array_new (FALSE, FALSE, sizeof (guint)),
                  .edges = g_array_new (FALSE, FALSE, sizeof (guint)) };

  g_array_append_val (l->blocks, block);
  return l->blocks->len - 1;
}

static void
add_to_block (Large *l, guint block, guint vertex)
{
  GArray *vertices = get_block (l, block)->vertices;

  if (l->block[vertex] != G_MAXUINT)
    return;
  l->block[vertex] = block;
  l->place[vertex] = vertices->len;
  g_array_append_val (vertices, vertex);
}

/* Makes a Block of each cluster below `parent`. Calls itself for each group, a subgraph that only
 * contains clusters or smaller groups (GROUP in draw.c). The depth of the recursion is logarithmic
 * in the number of clusters. */
static void
find_clusters (Large *l, Agraph_t *parent)
{
  for (Agraph_t *child = agfstsubg (parent); child != NULL; child = agnxtsubg (child))
    if (g_str_has_prefix (agnameof (child), "cluster"))
      {
        guint block = add_block (l, child);

        for (Agnode_t *v = agfstnode (child); v != NULL; v = agnxtnode (child, v))
          add_to_block (l, block, find_number (l, v));
      }
    else
      find_clusters (l, child);
}

static void
read_vertices (Large *l)
{
  guint i = 0;

  for (Agnode_t *v = agfstnode (l->root); v != NULL; v = agnxtnode (l->root, v), i++)
    {
      l->vertices[i] = v;
      l->block[i] = G_MAXUINT;
      l->sizes[2 * i] = get_number (v, "width") * POINTS;
      l->sizes[2 * i + 1] = get_number (v, "height") * POINTS;
      g_hash_table_insert (l->numbers, v, GUINT_TO_POINTER (i + 1));
    }
  find_clusters (l, l->root);
  for (i = 0; i < l->n; i++)
    if (l->block[i] == G_MAXUINT)
      add_to_block (l, add_block (l, NULL), i);
}

/* Adds each edge between two vertices of one block to the block. Returns all other edges, as pairs
 * of blocks. */
static GArray *
read_edges (Large *l)
{
  GArray *between = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint from = 0; from < l->n; from++)
    for (Agedge_t *e = agfstout (l->root, l->vertices[from]); e != NULL; e = agnxtout (l->root, e))
      {
        guint to = find_number (l, aghead (e));
        gboolean within = l->block[from] == l->block[to];
        guint ends[] = { within ? l->place[from] : l->block[from],
                         within ? l->place[to] : l->block[to] };

        g_array_append_vals (within ? get_block (l, l->block[from])->edges : between, ends, 2);
      }
  return between;
}

/* The functions below lay out blocks. */

static void
place_within (Large *l, guint i)
{
  const Block *block = get_block (l, i);
  guint n = block->vertices->len;
  g_autofree double *sizes = g_new (double, 2 * (gsize) n + 1),
                    *centers = g_new (double, 2 * (gsize) n + 1);
  double *size = &l->block_sizes[2 * i];

  for (guint j = 0; j < 2 * n; j++)
    sizes[j] = l->sizes[2 * g_array_index (block->vertices, guint, j / 2) + j % 2];
  cleave_layers_place (sizes, n, (const guint *) (gpointer) block->edges->data,
                       block->edges->len / 2, l->gap, centers, size);
  for (guint j = 0; j < 2 * n; j++)
    l->centers[2 * g_array_index (block->vertices, guint, j / 2) + j % 2] = centers[j];
  if (block->cluster == NULL)
    return;
  for (guint j = 0; j < n; j++)
    {
      guint vertex = g_array_index (block->vertices, guint, j);

      l->centers[2 * vertex] += MARGIN;
      l->centers[2 * vertex + 1] += TITLE;
    }
  size[0] = MAX (size[0], get_number (block->cluster, "lwidth") * POINTS) + 2 * MARGIN;
  size[1] += TITLE + MARGIN;
}

/* Converts the center of each vertex from coordinates of its block to coordinates of the whole
 * drawing. */
static void
move_vertices (Large *l)
{
  for (guint i = 0; i < l->n; i++)
    for (guint j = 0; j < 2; j++)
      {
        guint at = 2 * l->block[i] + j;

        l->centers[2 * i + j] += l->block_centers[at] - l->block_sizes[at] / 2;
      }
}

/* The functions below write the attributes of Graphviz, in which y grows upwards. */

static void
set_numbers (
    gpointer object, const char *attribute, const char *begin, const double *numbers, guint n)
{
  g_autoptr (GString) text = g_string_new (begin);
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append_c (text, n != 4 && i % 2 == 0 ? ' ' : ',');
      g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.1f", numbers[i]));
    }
  cleave_draw_set (object, attribute, text->str);
}

static void
write_box (const Large *l, Agraph_t *box, double left, double top, double width, double height)
{
  const double up = l->extent[1] - top;
  const double corners[] = { left, up - height, left + width, up };
  const double label[] = { left + width / 2, up - TITLE / 2 };

  set_numbers (box, "bb", NULL, corners, 4);
  set_numbers (box, "lp", NULL, label, 2);
}

/* Writes the points of an edge in the form that Graphviz requires: first the tip of the arrow, then
 * the curve from the begin of the edge to its end. The curve connects the bottom of the upper box
 * with the top of the lower box. */
static void
write_edge (const Large *l, Agedge_t *edge, guint from, guint to)
{
  const double *a = &l->centers[2 * from], *b = &l->centers[2 * to];
  double direction = a[1] <= b[1] ? -1 : 1; /* -1 if the edge leads down, 1 if it leads up */
  double begin = l->extent[1] - a[1] + direction * l->sizes[2 * from + 1] / 2,
         tip = l->extent[1] - b[1] - direction * l->sizes[2 * to + 1] / 2,
         end = tip - direction * ARROW, bend = (end - begin) / 3;
  const double points[] = {
    b[0], tip, a[0], begin, a[0], begin + bend, b[0], end - bend, b[0], end
  };
  const double middle[] = { (a[0] + b[0]) / 2, (begin + end) / 2 };
  const char *label = agget (edge, (char *) "xlabel");

  set_numbers (edge, "pos", "e,", points, G_N_ELEMENTS (points));
  if (label != NULL && *label != '\0')
    set_numbers (edge, "xlp", NULL, middle, 2);
}

static void
write_all (const Large *l)
{
  /* draw boxes over the edges that cross them */
  cleave_draw_set (l->root, "outputorder", "edgesfirst");
  write_box (l, l->root, 0, 0, l->extent[0], l->extent[1]);
  for (guint i = 0; i < l->blocks->len; i++)
    {
      const double *size = &l->block_sizes[2 * i], *center = &l->block_centers[2 * i];

      if (get_block (l, i)->cluster != NULL)
        write_box (l, get_block (l, i)->cluster, center[0] - size[0] / 2, center[1] - size[1] / 2,
                   size[0], size[1]);
    }
  for (guint i = 0; i < l->n; i++)
    {
      const double center[] = { l->centers[2 * i], l->extent[1] - l->centers[2 * i + 1] };

      set_numbers (l->vertices[i], "pos", NULL, center, 2);
      for (Agedge_t *e = agfstout (l->root, l->vertices[i]); e != NULL; e = agnxtout (l->root, e))
        write_edge (l, e, i, find_number (l, aghead (e)));
    }
}

static void
large_init (Large *l, Agraph_t *root)
{
  *l = (Large){ .root = root, .n = (guint) agnnodes (root) };
  l->gap[0] = get_number (root, "nodesep") * POINTS;
  l->gap[1] = get_number (root, "ranksep") * POINTS;
  l->numbers = g_hash_table_new (NULL, NULL);
  l->vertices = g_new (Agnode_t *, l->n + 1);
  l->sizes = g_new (double, 2 * (gsize) l->n + 1);
  l->centers = g_new (double, 2 * (gsize) l->n + 1);
  l->block = g_new (guint, l->n + 1);
  l->place = g_new (guint, l->n + 1);
  l->blocks = g_array_new (FALSE, FALSE, sizeof (Block));
}

static void
large_clear (Large *l)
{
  for (guint i = 0; i < l->blocks->len; i++)
    {
      g_array_unref (get_block (l, i)->vertices);
      g_array_unref (get_block (l, i)->edges);
    }
  g_array_unref (l->blocks);
  g_hash_table_unref (l->numbers);
  g_free (l->vertices);
  g_free (l->sizes);
  g_free (l->centers);
  g_free (l->block);
  g_free (l->place);
  g_free (l->block_sizes);
  g_free (l->block_centers);
}

void
cleave_large_place (Agraph_t *drawing)
{
  g_autoptr (GArray) between = NULL;
  Large l;

  large_init (&l, drawing);
  read_vertices (&l);
  between = read_edges (&l);
  l.block_sizes = g_new (double, 2 * (gsize) l.blocks->len + 1);
  l.block_centers = g_new (double, 2 * (gsize) l.blocks->len + 1);
  for (guint i = 0; i < l.blocks->len; i++)
    place_within (&l, i);
  cleave_layers_place (l.block_sizes, l.blocks->len, (const guint *) (gpointer) between->data,
                       between->len / 2, l.gap, l.block_centers, l.extent);
  for (guint i = 0; i < l.blocks->len; i++)
    l.block_centers[2 * i + 1] += TITLE;
  l.extent[1] += TITLE;
  move_vertices (&l);
  write_all (&l);
  large_clear (&l);
}
