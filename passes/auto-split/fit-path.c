/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: segments, and paths over them; both ask what a segment is thought to take. */

#include "fit-path.h"

#include <math.h>

#include "../../lib/memory/cost.h"

/* Steps that walks take together, at some microsecond each: a graph of some hundred nodes is looked
 * at in full, of longer ones segments of so many steps. */
#define MAX_WALKED 1000000
#define MIN_SEGMENT 24

/* A segment has no more strips, nor more tiles: each is some nodes. */
#define MAX_STRIPS 256
#define MAX_TILES 400

/* In longer graphs strips are not cut into tiles. */
#define MAX_STEPS_OF_TILES 400

/* Segments of which all but such a part is the same are alike. */
#define SIMILAR 4

/* Fewer strips hardly have three in a row that are the same, as a Loop needs. */
#define MIN_EVEN_STRIPS 6

/* The edges of a step at a time. */
typedef struct
{
  CleaveFitEdges *edges;
  const CleaveFitEdges *strips; /* NULL: they are looked for */
  guint max_steps;
} Search;

static gint64
get_foreseen (const CleaveFitEdge *edge, CleaveFitLaps laps)
{
  return laps == CLEAVE_FIT_LAPPED ? edge->lapped
         : laps == CLEAVE_FIT_BOLD ? edge->bold
                                   : edge->apart;
}

static int
compare_edges (gconstpointer a, gconstpointer b, gpointer data)
{
  const CleaveFitEdge *x = a, *y = b;
  const CleaveFitLaps *laps = data;
  gint64 x_bytes = get_foreseen (x, *laps), y_bytes = get_foreseen (y, *laps);

  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  if (x_bytes != y_bytes)
    return x_bytes < y_bytes ? -1 : 1;
  return (x->work > y->work) - (x->work < y->work);
}

/* Whether an edge costs less than all that need less memory. */
static gboolean
is_of_use (const CleaveFitEdge *edge, const CleaveFitEdge *last)
{
  return last == NULL || last->begin != edge->begin || edge->work < last->work ||
         edge->work + edge->again < last->work + last->again || edge->macs < last->macs ||
         (last->is_thin && !edge->is_thin);
}

/* Notes those that no other betters, of one end. */
static void
find_best (GArray *found, CleaveFitLaps laps)
{
  const CleaveFitEdge *last = NULL;

  g_array_sort_with_data (found, compare_edges, &laps);
  for (guint i = 0; i < found->len; i++)
    {
      CleaveFitEdge *edge = &g_array_index (found, CleaveFitEdge, i);

      if ((edge->halo == CLEAVE_HALO_CARRY_NARROW && laps != CLEAVE_FIT_NARROW) ||
          !is_of_use (edge, last))
        continue;
      edge->best_of |= 1U << laps;
      last = edge;
    }
}

static void
add_best (CleaveFitEdges *edges, GArray *found)
{
  for (guint i = 0; i < found->len; i++)
    g_array_index (found, CleaveFitEdge, i).best_of = 0;
  for (CleaveFitLaps laps = CLEAVE_FIT_N_LAPS; laps-- > CLEAVE_FIT_APART;)
    find_best (found, laps);
  for (guint i = 0; i < found->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (found, CleaveFitEdge, i);

      if (edge->best_of == 0)
        continue;
      g_array_append_vals (edges->edges, edge, 1);
      edges->has_tiles |= edge->n_columns > 1 && (edge->best_of & 1U << CLEAVE_FIT_APART) != 0;
      edges->has_laps |= edge->bold < edge->apart && edge->halo != CLEAVE_HALO_CARRY_NARROW;
      edges->has_narrow |= edge->halo == CLEAVE_HALO_CARRY_NARROW;
    }
}

/* Where nothing is needed twice, both are one.  Whether something wide is. */
static gboolean
walk_both (CleaveFitWalker *walker, CleaveFitWalk *walk, GArray *found)
{
  gboolean keeps_wide;

  walk->halo = CLEAVE_HALO_CARRY;
  if (!cleave_fit_walker_walk (walker, walk, found))
    return FALSE;
  keeps_wide = cleave_fit_walker_keeps_wide (walker);
  walk->halo = CLEAVE_HALO_RECOMPUTE;
  cleave_fit_walker_walk (walker, walk, found);
  return keeps_wide;
}

static void
walk_narrow (CleaveFitWalker *walker, const CleaveFitWalk *like, GArray *found)
{
  CleaveFitWalk walk = *like;

  walk.halo = CLEAVE_HALO_CARRY_NARROW;
  cleave_fit_walker_walk (walker, &walk, found);
}

/* Strips cut into tiles of 1, 2, 4, 8 … columns. */
static void
walk_tiles (const Search *search, const CleaveFitWalk *strips, GArray *found)
{
  CleaveFitWalker *walker = search->edges->walker;
  const CleaveFitSteps *steps = search->edges->steps;
  guint last = steps->first_node[strips->end] - 1;
  gint dim = cleave_fit_walker_get_dim (walker, last, CLEAVE_FIT_COLUMNS);
  CleaveFitWalk walk = *strips;
  gboolean keeps_wide = FALSE;
  gint64 extent;

  if (dim < 0)
    return;
  extent = cleave_fit_node (steps, last)->node->results[0].type.shape.dim[dim];
  for (gint64 columns = 1; columns < extent; columns *= 2)
    {
      gint64 n = (extent + columns - 1) / columns;

      if (n * strips->n_strips > MAX_TILES)
        continue;
      walk.n_columns = (guint) n;
      if (walk_both (walker, &walk, found))
        {
          walk_narrow (walker, &walk, found);
          keeps_wide = TRUE;
        }
      walk.in_bands = TRUE;
      walk.halo = CLEAVE_HALO_CARRY;
      cleave_fit_walker_walk (walker, &walk, found);
      walk.in_bands = FALSE;
    }
  if (keeps_wide)
    walk_narrow (walker, strips, found);
}

/* Strips of 1, 2, 3, 4, 6, 8, 12 … rows. */
static void
walk_cut (const Search *search, guint end, CleaveFitCut cut, GArray *found)
{
  CleaveFitWalker *walker = search->edges->walker;
  const CleaveFitSteps *steps = search->edges->steps;
  guint last = steps->first_node[end] - 1;
  gint dim = cleave_fit_walker_get_dim (walker, last, cut);
  gint64 extent, before = 0;

  if (dim < 0)
    return;
  extent = cleave_fit_node (steps, last)->node->results[0].type.shape.dim[dim];
  for (gint64 rows = 1; rows < extent; rows += rows < 4                   ? 1
                                               : (rows & (rows - 1)) == 0 ? rows / 2
                                                                          : rows / 3)
    {
      gint64 n = (extent + rows - 1) / rows;
      CleaveFitWalk walk = { end, (guint) n, 1, search->max_steps, cut, CLEAVE_HALO_CARRY, FALSE };

      if (n == before || n > MAX_STRIPS)
        continue;
      before = n;
      if (search->strips == NULL)
        walk_both (walker, &walk, found);
      else
        walk_tiles (search, &walk, found);
    }
}

/* Where lines of columns are shorter than lines of rows, less is to be kept of them. */
static gboolean
is_wide (const Search *search, guint end)
{
  const CleaveFitSteps *steps = search->edges->steps;
  guint last = steps->first_node[end] - 1;
  const CleaveShape *shape = &cleave_fit_node (steps, last)->node->results[0].type.shape;
  gint row = cleave_fit_walker_get_dim (search->edges->walker, last, CLEAVE_FIT_ROWS);
  gint column = cleave_fit_walker_get_dim (search->edges->walker, last, CLEAVE_FIT_COLUMNS);

  return row >= 0 && column >= 0 && shape->dim[column] > shape->dim[row];
}

static void
walk_end (const Search *search, guint end, GArray *found)
{
  const CleaveFitEdges *strips = search->strips;

  if (strips != NULL)
    g_array_append_vals (found, &g_array_index (strips->edges, CleaveFitEdge, strips->first[end]),
                         strips->first[end + 1] - strips->first[end]);
  if ((strips != NULL && search->edges->steps->n_steps > MAX_STEPS_OF_TILES) ||
      !cleave_fit_walker_is_border (search->edges->walker, end))
    return;
  walk_cut (search, end, CLEAVE_FIT_ROWS, found);
  if (strips == NULL && is_wide (search, end))
    walk_cut (search, end, CLEAVE_FIT_COLUMNS, found);
  if (strips == NULL)
    walk_cut (search, end, CLEAVE_FIT_OUTER, found);
}

gboolean
cleave_fit_edges_init (CleaveFitEdges *edges,
                       const CleaveFitSteps *steps,
                       const CleaveFitEdges *strips,
                       const CleaveFitWatch *watch,
                       GError **error)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));
  Search search = { edges, strips, MAX (MIN_SEGMENT, MAX_WALKED / (20 * (steps->n_steps + 1))) };

  *edges = (CleaveFitEdges){ .steps = steps };
  edges->walker = cleave_fit_walker_new (steps);
  edges->edges = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));
  edges->first = g_new0 (guint, steps->n_steps + 2);
  for (guint end = 1; end <= steps->n_steps; end++)
    {
      edges->first[end] = edges->edges->len;
      g_array_set_size (found, 0);
      walk_end (&search, end, found);
      add_best (edges, found);
      if (watch->tell != NULL)
        watch->tell ((double) end / steps->n_steps, watch->data);
      if (g_cancellable_set_error_if_cancelled (watch->cancellable, error))
        return FALSE;
    }
  edges->first[steps->n_steps + 1] = edges->edges->len;
  return TRUE;
}

void
cleave_fit_edges_init_lapped (CleaveFitEdges *edges,
                              const CleaveFitEdges *apart,
                              CleaveFitLaps laps)
{
  const guint n = apart->steps->n_steps + 2;

  *edges = (CleaveFitEdges){ .steps = apart->steps, .laps = laps };
  edges->edges = g_array_copy (apart->edges);
  edges->first = g_memdup2 (apart->first, n * sizeof *apart->first);
  cleave_fit_edges_forget (edges);
}

void
cleave_fit_edges_clear (CleaveFitEdges *edges)
{
  g_clear_pointer (&edges->walker, cleave_fit_walker_free);
  g_clear_pointer (&edges->edges, g_array_unref);
  g_clear_pointer (&edges->first, g_free);
}

/* Whether nearly the same steps are cut in the same way. */
static gboolean
is_alike (const CleaveFitEdge *a, const CleaveFitEdge *b)
{
  guint n = MIN (a->end - a->begin, b->end - b->begin);
  guint begin = MAX (a->begin, b->begin) - MIN (a->begin, b->begin);

  return SIMILAR * begin <= n && a->cut == b->cut && a->halo == b->halo &&
         a->in_bands == b->in_bands && a->is_thin == b->is_thin &&
         (a->n_columns > 1) == (b->n_columns > 1);
}

/* With the step after it, or without its last, a segment is the same if that is foreseen. */
static gboolean
is_same (const CleaveFitEdge *a, const CleaveFitEdge *b)
{
  return a->begin == b->begin && a->n_strips == b->n_strips && a->n_columns == b->n_columns &&
         a->apart == b->apart;
}

void
cleave_fit_edges_learn (CleaveFitEdges *edges, const CleaveFitEdge *measured, gint64 n_bytes)
{
  gint64 foreseen = get_foreseen (measured, edges->laps);
  double factor = (double) n_bytes / (double) MAX (foreseen, 1);
  guint last = MIN (measured->end + 2, edges->steps->n_steps + 1);

  for (guint e = edges->first[measured->end - 1]; e < edges->first[last]; e++)
    {
      CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);

      if (!is_alike (edge, measured))
        continue;
      if (is_same (edge, measured))
        {
          edge->n_bytes = edge->is_measured ? MIN (edge->n_bytes, n_bytes) : n_bytes;
          edge->is_measured = TRUE;
        }
      else if (!edge->is_measured && edge->end == measured->end)
        edge->n_bytes = MAX ((gint64) (factor * (double) edge->foreseen), edge->foreseen);
    }
}

void
cleave_fit_edges_recall (CleaveFitEdges *edges, const CleaveFitEdge *measured, gint64 n_bytes)
{
  for (guint e = edges->first[measured->end]; e < edges->first[measured->end + 1]; e++)
    {
      CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);

      if (edge->n_bytes > n_bytes && is_alike (edge, measured) && is_same (edge, measured))
        edge->n_bytes = n_bytes;
    }
}

void
cleave_fit_edges_forget (CleaveFitEdges *edges)
{
  for (guint e = 0; e < edges->edges->len; e++)
    {
      CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);

      edge->n_bytes = edge->foreseen = get_foreseen (edge, edges->laps);
      edge->is_measured = FALSE;
    }
}

/* Paths. */

/* The best way to a step. */
typedef struct
{
  double cost; /* INFINITY: there is none */
  gint64 n_bytes;
  const CleaveFitEdge *edge; /* the last; NULL: a step as it is */
} Way;

static gboolean
is_taken (const CleaveFitEdges *edges, const CleaveFitEdge *edge)
{
  return !edges->is_even ||
         (edge->cut == CLEAVE_FIT_OUTER ? edges->has_chunks : edge->n_strips >= MIN_EVEN_STRIPS);
}

static void
find_way (const CleaveFitEdges *edges, Way *ways, guint end, const CleaveFitAsk *ask)
{
  const CleaveFitSteps *steps = edges->steps;
  Way *best = &ways[end];

  *best = (Way){ .cost = INFINITY };
  if (steps->live[end - 1] <= ask->max_bytes)
    *best = (Way){ ways[end - 1].cost, MAX (ways[end - 1].n_bytes, steps->live[end - 1]), NULL };
  for (guint e = edges->first[end]; e < edges->first[end + 1]; e++)
    {
      const CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);
      const Way *before = &ways[edge->begin];
      Way way = { before->cost + edge->work + (ask->weighs ? edge->again : 0) +
                      ask->mac_price * cleave_cost_of_macs_in_strips (edge->macs),
                  MAX (before->n_bytes, edge->n_bytes), edge };

      if ((edge->best_of & 1U << edges->laps) == 0)
        continue;
      if (edge->n_bytes <= ask->max_bytes && is_taken (edges, edge) &&
          (way.cost < best->cost || (way.cost <= best->cost && way.n_bytes < best->n_bytes)))
        *best = way;
    }
}

void
cleave_fit_path_free (CleaveFitPath *path)
{
  if (path == NULL)
    return;
  g_array_unref (path->edges);
  g_free (path);
}

CleaveFitPath *
cleave_fit_path_find (const CleaveFitEdges *edges, const CleaveFitAsk *ask)
{
  guint n = edges->steps->n_steps;
  g_autofree Way *ways = g_new0 (Way, n + 1);
  CleaveFitPath *path;

  for (guint end = 1; end <= n; end++)
    find_way (edges, ways, end, ask);
  if (isinf (ways[n].cost))
    return NULL;
  path = g_new0 (CleaveFitPath, 1);
  path->edges = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));
  path->n_bytes = ways[n].n_bytes;
  for (guint end = n; end > 0;)
    {
      const CleaveFitEdge *edge = ways[end].edge;

      end = edge == NULL ? end - 1 : edge->begin;
      if (edge == NULL)
        continue;
      g_array_prepend_vals (path->edges, edge, 1);
      path->macs += edge->macs;
      path->work += edge->work + edge->again;
    }
  return path;
}
