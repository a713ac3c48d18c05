/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: how segments are found, and what is learned of them; both keep edges and links
 * alike. */

#include "fit-edges.h"

#include "../../lib/memory/cost.h"

/* Steps that walks take together, at some microsecond each: a graph of some hundred nodes is looked
 * at in full, of longer ones segments of so many steps. */
#define MAX_WALKED 1000000
#define MIN_SEGMENT 24

/* A segment has no more strips: each is some nodes. */
#define MAX_STRIPS 256

/* In longer graphs strips are not cut into tiles. */
#define MAX_STEPS_OF_TILES 400

/* Segments of which all but such a part is the same are alike. */
#define SIMILAR 4

/* One thread for so many steps of a graph, and so many at most: what ends at one step is found
 * without what ends at others. */
#define STEPS_OF_THREAD 16
#define MAX_THREADS 16

/* What all threads look for. */
typedef struct
{
  const CleaveFitSteps *steps;
  const CleaveFitEdges *strips; /* NULL: they are looked for */
  guint max_steps;
  gboolean is_fine; /* `strips` has tiles, and what is cut into more is looked for */
  const CleaveFitWatch *watch;
  gint n_begun; /* ends that some thread has looked at, or does; atomic */
  GArray *
      *best; /* CleaveFitEdge: of each end, those that no other betters; NULL: none is looked at */
} Search;

/* One of them. */
typedef struct
{
  Search *search;
  CleaveFitWalker *walker;
  gboolean tells;
} Searcher;

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

static gboolean
is_asked (const Search *search, gint64 n_tiles)
{
  return search->is_fine ? n_tiles > CLEAVE_FIT_MAX_TILES && n_tiles <= CLEAVE_FIT_MAX_FINE_TILES
                         : n_tiles <= CLEAVE_FIT_MAX_TILES;
}

/* The extent of a cut of the last node before a step. */
static gint64
find_extent (const Searcher *searcher, guint end, CleaveFitCut cut)
{
  const CleaveFitSteps *steps = searcher->search->steps;
  const guint last = steps->first_node[end] - 1;
  const gint dim = cleave_fit_axes_find_dim (steps, last, cut);

  return cleave_fit_node (steps, last)->node->results[0].type.shape.dim[dim];
}

/* Strips cut into tiles of 1, 2, 4, 8 … columns. */
static void
walk_tiles (const Searcher *searcher, const CleaveFitWalk *strips, GArray *found)
{
  CleaveFitWalker *walker = searcher->walker;
  const gint64 extent = find_extent (searcher, strips->end, strips->column_cut);
  CleaveFitWalk walk = *strips;
  gboolean keeps_wide = FALSE;

  for (gint64 columns = 1; columns < extent; columns *= 2)
    {
      gint64 n = (extent + columns - 1) / columns;

      if (!is_asked (searcher->search, n * strips->n_strips))
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

/* Strips of 1, 2, 3, 4, 6, 8, 12 … rows; cut into tiles along `column_cut`, unless that is
 * CLEAVE_FIT_NONE. */
static void
walk_cut (
    const Searcher *searcher, guint end, CleaveFitCut cut, CleaveFitCut column_cut, GArray *found)
{
  const gint64 extent = find_extent (searcher, end, cut);
  gint64 before = 0;

  for (gint64 rows = 1; rows < extent; rows += rows < 4                   ? 1
                                               : (rows & (rows - 1)) == 0 ? rows / 2
                                                                          : rows / 3)
    {
      gint64 n = (extent + rows - 1) / rows;
      CleaveFitWalk walk = { .end = end,
                             .n_strips = (guint) n,
                             .n_columns = 1,
                             .max_steps = searcher->search->max_steps,
                             .cut = cut,
                             .column_cut = column_cut,
                             .halo = CLEAVE_HALO_CARRY };

      if (n == before || n > MAX_STRIPS)
        continue;
      before = n;
      if (column_cut == CLEAVE_FIT_NONE)
        walk_both (searcher->walker, &walk, found);
      else
        walk_tiles (searcher, &walk, found);
    }
}

/* Whether strips along a cut may need less than strips along those before it.  Strips along a
 * shorter axis with a halo keep longer lines for the next strip. */
static gboolean
may_need_less (const Searcher *searcher, guint end, const CleaveFitCut *cuts, guint index)
{
  const CleaveFitSteps *steps = searcher->search->steps;

  return index == 0 || !cleave_fit_axes_has_halo (steps, cuts[index]) ||
         find_extent (searcher, end, cuts[index]) > find_extent (searcher, end, cuts[0]);
}

/* Strips along the axes of the last node before a step, and tiles: along each two axes that have a
 * halo, the outer one first, and along the first two of all axes. */
static void
walk_end (const Searcher *searcher, guint end, GArray *found)
{
  const Search *search = searcher->search;
  const CleaveFitEdges *strips = search->strips;
  CleaveFitCut cuts[CLEAVE_MAX_RANK];
  guint n;

  if (strips != NULL)
    g_array_append_vals (found, &g_array_index (strips->edges, CleaveFitEdge, strips->first[end]),
                         strips->first[end + 1] - strips->first[end]);
  if ((strips != NULL && search->steps->n_steps > MAX_STEPS_OF_TILES) ||
      !cleave_fit_walker_is_border (searcher->walker, end))
    return;
  n = cleave_fit_axes_list_cuts (search->steps, search->steps->first_node[end] - 1, cuts);
  for (guint i = 0; i < n && strips == NULL; i++)
    if (may_need_less (searcher, end, cuts, i))
      walk_cut (searcher, end, cuts[i], CLEAVE_FIT_NONE, found);
  for (guint i = 0; i < n && strips != NULL; i++)
    for (guint j = i + 1; j < n; j++)
      if ((i == 0 && j == 1) || cleave_fit_axes_has_halo (search->steps, cuts[j]))
        walk_cut (searcher, end, cuts[i], cuts[j], found);
}

static gpointer
find_edges (gpointer data)
{
  const Searcher *searcher = data;
  Search *search = searcher->search;
  const CleaveFitWatch *watch = search->watch;
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));
  guint end;

  while ((end = (guint) g_atomic_int_add (&search->n_begun, 1) + 1) <= search->steps->n_steps &&
         !g_cancellable_is_cancelled (watch->cancellable))
    {
      g_array_set_size (found, 0);
      walk_end (searcher, end, found);
      search->best[end] = cleave_fit_list_best (found, end, search->is_fine);
      if (searcher->tells && watch->tell != NULL)
        watch->tell ((double) end / search->steps->n_steps, watch->data);
    }
  return NULL;
}

/* Runs on this thread, and on others where they can be had; how many nodes they have come by. */
static guint64
run (Search *search)
{
  const guint asked = search->watch->n_threads;
  const guint n = asked > 0 ? asked
                            : MIN (MIN (g_get_num_processors (), MAX_THREADS),
                                   search->steps->n_steps / STEPS_OF_THREAD + 1);
  g_autofree Searcher *searchers = g_new0 (Searcher, n);
  g_autofree GThread **threads = g_new0 (GThread *, n);
  guint64 n_visits = 0;

  for (guint i = 0; i < n; i++)
    searchers[i] = (Searcher){ search, cleave_fit_walker_new (search->steps), i == 0 };
  for (guint i = 1; i < n; i++)
    threads[i] = g_thread_try_new ("cleave-fit", find_edges, &searchers[i], NULL);
  find_edges (&searchers[0]);
  for (guint i = 0; i < n; i++)
    {
      if (threads[i] != NULL)
        g_thread_join (threads[i]);
      n_visits += cleave_fit_walker_get_n_visits (searchers[i].walker);
      cleave_fit_walker_free (searchers[i].walker);
    }
  return n_visits;
}

static void
note_kind (CleaveFitEdges *edges, const CleaveFitEdge *edge)
{
  edges->has_tiles |= edge->n_columns > 1 && (edge->best_of & 1U << CLEAVE_FIT_APART) != 0;
  edges->has_laps |= edge->bold < edge->apart && edge->halo != CLEAVE_HALO_CARRY_NARROW;
  edges->has_narrow |= edge->halo == CLEAVE_HALO_CARRY_NARROW;
  edges->has_fine |= edge->n_strips * edge->n_columns > CLEAVE_FIT_MAX_TILES;
}

/* Puts together what was found for all ends. */
static void
join_ends (CleaveFitEdges *edges, GArray **best)
{
  const guint n_steps = edges->steps->n_steps;
  guint n = 0;

  for (guint end = 1; end <= n_steps; end++)
    n += best[end] == NULL ? 0 : best[end]->len;
  edges->edges = g_array_sized_new (FALSE, FALSE, sizeof (CleaveFitEdge), n);
  edges->first = g_new0 (guint, n_steps + 2);
  for (guint end = 1; end <= n_steps; end++)
    {
      edges->first[end] = edges->edges->len;
      if (best[end] != NULL)
        g_array_append_vals (edges->edges, best[end]->data, best[end]->len);
      g_clear_pointer (&best[end], g_array_unref);
    }
  edges->first[n_steps + 1] = edges->edges->len;
  for (guint e = 0; e < n; e++)
    note_kind (edges, &g_array_index (edges->edges, CleaveFitEdge, e));
}

static void
make_links (CleaveFitEdges *edges)
{
  edges->links = g_new (CleaveFitLink, edges->edges->len + 1);
  for (guint e = 0; e < edges->edges->len; e++)
    {
      const CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);

      edges->links[e] = (CleaveFitLink){ .n_bytes = edge->n_bytes,
                                         .work = edge->work,
                                         .again = edge->again,
                                         .macs = cleave_cost_of_macs_in_strips (edge->macs),
                                         .begin = edge->begin,
                                         .is_best = (edge->best_of & 1U << edges->laps) != 0 };
    }
}

/* The segments of what is given; FALSE and the error: it was cancelled, and not all are there. */
static gboolean
init (CleaveFitEdges *edges, Search *search, GError **error)
{
  const guint n_steps = edges->steps->n_steps;
  g_autofree GArray **best = g_new0 (GArray *, n_steps + 1);

  search->steps = edges->steps;
  search->max_steps = MAX (MIN_SEGMENT, MAX_WALKED / (20 * (n_steps + 1)));
  search->best = best;
  edges->n_visits = run (search);
  join_ends (edges, best);
  make_links (edges);
  return !g_cancellable_set_error_if_cancelled (search->watch->cancellable, error);
}

gboolean
cleave_fit_edges_init (CleaveFitEdges *edges,
                       const CleaveFitSteps *steps,
                       const CleaveFitEdges *strips,
                       const CleaveFitWatch *watch,
                       GError **error)
{
  Search search = { .strips = strips, .watch = watch };

  *edges = (CleaveFitEdges){ .steps = steps };
  return init (edges, &search, error);
}

gboolean
cleave_fit_edges_init_fine (CleaveFitEdges *edges,
                            const CleaveFitEdges *tiles,
                            const CleaveFitWatch *watch)
{
  Search search = { .strips = tiles, .is_fine = TRUE, .watch = watch };

  *edges = (CleaveFitEdges){ .steps = tiles->steps, .laps = CLEAVE_FIT_FINE };
  return init (edges, &search, NULL);
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
  make_links (edges);
  cleave_fit_edges_forget (edges);
}

void
cleave_fit_edges_init_kept (CleaveFitEdges *edges, const CleaveFitEdges *tiles)
{
  const guint n = tiles->steps->n_steps + 2;

  *edges = (CleaveFitEdges){ .steps = tiles->steps, .laps = CLEAVE_FIT_KEPT };
  edges->edges = g_array_copy (tiles->edges);
  edges->first = g_memdup2 (tiles->first, n * sizeof *tiles->first);
  for (guint e = 0; e < edges->edges->len; e++)
    {
      CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);

      if ((edge->best_of & 1U << CLEAVE_FIT_NARROW) != 0)
        edge->best_of |= 1U << CLEAVE_FIT_KEPT;
      edge->keeps_copies = edge->halo != CLEAVE_HALO_RECOMPUTE;
    }
  make_links (edges);
  cleave_fit_edges_forget (edges);
}

void
cleave_fit_edges_clear (CleaveFitEdges *edges)
{
  g_clear_pointer (&edges->links, g_free);
  g_clear_pointer (&edges->edges, g_array_unref);
  g_clear_pointer (&edges->first, g_free);
}

/* Whether nearly the same steps are cut in the same way. */
static gboolean
is_alike (const CleaveFitEdge *a, const CleaveFitEdge *b)
{
  guint n = MIN (a->end - a->begin, b->end - b->begin);
  guint begin = MAX (a->begin, b->begin) - MIN (a->begin, b->begin);

  return SIMILAR * begin <= n && a->cuts_weights == b->cuts_weights && a->halo == b->halo &&
         a->in_bands == b->in_bands && a->is_thin == b->is_thin &&
         a->keeps_copies == b->keeps_copies && (a->n_columns > 1) == (b->n_columns > 1);
}

/* With the step after it, or without its last, a segment is the same if that is foreseen. */
static gboolean
is_same (const CleaveFitEdge *a, const CleaveFitEdge *b)
{
  return a->begin == b->begin && a->n_strips == b->n_strips && a->n_columns == b->n_columns &&
         a->apart == b->apart;
}

static void
set_bytes (CleaveFitEdges *edges, guint e, gint64 n_bytes)
{
  g_array_index (edges->edges, CleaveFitEdge, e).n_bytes = edges->links[e].n_bytes = n_bytes;
}

void
cleave_fit_edges_learn (CleaveFitEdges *edges, const CleaveFitEdge *measured, gint64 n_bytes)
{
  gint64 foreseen = cleave_fit_get_foreseen (measured, edges->laps);
  double factor = (double) n_bytes / (double) MAX (foreseen, 1);
  guint last = MIN (measured->end + 2, edges->steps->n_steps + 1);

  for (guint e = edges->first[measured->end - 1]; e < edges->first[last]; e++)
    {
      CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);

      if (!is_alike (edge, measured))
        continue;
      if (is_same (edge, measured))
        {
          set_bytes (edges, e, edge->is_measured ? MIN (edge->n_bytes, n_bytes) : n_bytes);
          edge->is_measured = TRUE;
        }
      else if (!edge->is_measured && edge->end == measured->end)
        set_bytes (edges, e, MAX ((gint64) (factor * (double) edge->foreseen), edge->foreseen));
    }
}

void
cleave_fit_edges_recall (CleaveFitEdges *edges, const CleaveFitEdge *measured, gint64 n_bytes)
{
  for (guint e = edges->first[measured->end]; e < edges->first[measured->end + 1]; e++)
    {
      const CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);

      if (edge->n_bytes > n_bytes && is_alike (edge, measured) && is_same (edge, measured))
        set_bytes (edges, e, n_bytes);
    }
}

void
cleave_fit_edges_forget (CleaveFitEdges *edges)
{
  for (guint e = 0; e < edges->edges->len; e++)
    {
      CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);

      edge->foreseen = cleave_fit_get_foreseen (edge, edges->laps);
      set_bytes (edges, e, edge->foreseen);
      edge->is_measured = FALSE;
    }
}
