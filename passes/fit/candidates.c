/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the candidates of each segment end on several threads, and removes dominated candidates.
 * A segment end is the step after the last step of a segment. For each end, walks (walk.h) try
 * cuts, numbers of strips and tiles, and halo policies. One walk estimates all segments with one
 * end and one tiling. */

#include "candidates.h"

/* Limits the total number of steps that all walks visit, since a visit takes about a microsecond. A
 * segment has at most MAX_WALKED / (20 * (n_steps + 1)) steps, or at most MIN_SEGMENT steps if
 * MIN_SEGMENT is larger. In a graph of 500 steps, the limit is 99 steps. */
#define MAX_WALKED 1000000
#define MIN_SEGMENT 24

/* A segment has at most this many strips or tiles. Each strip or tile adds one piece of each
 * node. With a limit of 256 instead of 512, fits of 46 networks take 0.87 times the time. In the
 * geometric mean, the fits need the same bytes; the fit of MobileNetV2 needs 1.8 % more bytes. */
#define MAX_TILES 512

/* The search tries tiles only in graphs of at most this many steps: finding tiles takes ten times
 * as long as finding strips. */
#define MAX_STEPS_OF_TILES 400

/* The search starts one thread for each STEPS_OF_THREAD steps, and at most MAX_THREADS threads. A
 * thread finds the candidates of one segment end at a time. No end needs results of another end. */
#define STEPS_OF_THREAD 16
#define MAX_THREADS 16

/* The state of the search for candidates, which all threads share. */
typedef struct
{
  const CleaveFitSteps *steps;
  guint max_steps;
  const CleaveFitWatch *watch;
  /* candidates without tiles, to which the search adds candidates with tiles; NULL: the search
   * finds the candidates without tiles */
  const CleaveFitCandidates *strips;
  gint n_begun; /* number of segment ends for which threads have begun to search; atomic */
  /* indexed by end: the candidates (CleaveFitCandidate) with this end; NULL: not found yet */
  GArray **best;
} Search;

typedef struct
{
  Search *search;
  CleaveFitWalker *walker;
  gboolean reports;
} Searcher;

/* Walks twice, with carried overlap and with recomputed overlap, and appends the candidates to
 * `found`. Skips the second walk if no strips overlap, since both walks would be equal. Returns
 * whether strips overlap in a wide result (split/wide.h). */
static gboolean
walk_both (CleaveFitWalker *walker, CleaveFitWalk *walk, GArray *found)
{
  gboolean overlaps_wide;

  walk->halo = CLEAVE_HALO_CARRY;
  if (!cleave_fit_walker_walk (walker, walk, found))
    return FALSE;
  overlaps_wide = cleave_fit_walker_overlaps_wide (walker);
  walk->halo = CLEAVE_HALO_RECOMPUTE;
  cleave_fit_walker_walk (walker, walk, found);
  return overlaps_wide;
}

static void
walk_narrow (CleaveFitWalker *walker, const CleaveFitWalk *like, GArray *found)
{
  CleaveFitWalk walk = *like;

  walk.halo = CLEAVE_HALO_CARRY_NARROW;
  cleave_fit_walker_walk (walker, &walk, found);
}

/* Returns the number of blocks (cleave_node_get_block()) of result 0 of the last node before step
 * `end`, along the dimension that `cut` divides. In most dimensions, each element is a block. */
static gint64
find_extent (const Searcher *searcher, guint end, CleaveFitCut cut)
{
  const CleaveFitSteps *steps = searcher->search->steps;
  const guint last = steps->first_node[end] - 1;
  const gint dim = cleave_fit_axes_find_dim (steps, last, cut);

  return cleave_fit_node (steps, last)->node->results[0].type.shape.dim[dim] /
         cleave_fit_axes_get_block (steps, last, (guint) dim);
}

/* Walks with the strips of `strips`, cut into tiles of 1, 2, 4, 8 … columns, and appends the
 * candidates to `found`. If strips overlap in a wide result, also walks with the policy "carry
 * narrow". */
static void
walk_tiles (const Searcher *searcher, const CleaveFitWalk *strips, GArray *found)
{
  CleaveFitWalker *walker = searcher->walker;
  const gint64 extent = find_extent (searcher, strips->end, strips->column_cut);
  CleaveFitWalk walk = *strips;
  gboolean overlaps_wide = FALSE;

  for (gint64 columns = 1; columns < extent; columns *= 2)
    {
      gint64 n = (extent + columns - 1) / columns;

      if (n * strips->n_strips > MAX_TILES)
        continue;
      walk.n_columns = (guint) n;
      if (walk_both (walker, &walk, found))
        {
          walk_narrow (walker, &walk, found);
          overlaps_wide = TRUE;
        }
      walk.in_bands = TRUE;
      walk.halo = CLEAVE_HALO_CARRY;
      cleave_fit_walker_walk (walker, &walk, found);
      walk.in_bands = FALSE;
    }
  if (overlaps_wide)
    walk_narrow (walker, strips, found);
}

/* Walks from step `end` with strips of 1, 2, 3, 4, 6, 8, 12 … rows, and appends the candidates
 * to `found`. Cuts the strips into tiles along `column_cut`, unless `column_cut` is
 * CLEAVE_FIT_NONE. */
static void
walk_cut (
    const Searcher *searcher, guint end, CleaveFitCut cut, CleaveFitCut column_cut, GArray *found)
{
  const CleaveFitWatch *watch = searcher->search->watch;
  const gint64 extent = find_extent (searcher, end, cut);
  const gint64 max_bytes = watch->max_bytes > 0 ? watch->max_bytes : G_MAXINT64;
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
                             .max_bytes =
                                 column_cut == CLEAVE_FIT_NONE ? max_bytes : watch->tile_bytes,
                             .cut = cut,
                             .column_cut = column_cut,
                             .halo = CLEAVE_HALO_CARRY };

      if (n == before || n > MAX_TILES)
        continue;
      before = n;
      if (column_cut == CLEAVE_FIT_NONE)
        walk_both (searcher->walker, &walk, found);
      else
        walk_tiles (searcher, &walk, found);
    }
}

/* Returns whether strips along cut number `index` may need less memory than strips along cut 0. If
 * the axis of the cut has a halo, each strip carries elements to the next strip. Strips along a
 * longer axis carry fewer elements. Example: strips of an image with 100 rows of 40 elements carry
 * rows of 40 elements, or columns of 100 elements. Therefore, returns TRUE for an axis with a halo
 * only if this axis is longer than the axis of cut 0. */
static gboolean
may_need_less (const Searcher *searcher, guint end, const CleaveFitCut *cuts, guint index)
{
  const CleaveFitSteps *steps = searcher->search->steps;

  return index == 0 || !cleave_fit_axes_has_halo (steps, cuts[index]) ||
         find_extent (searcher, end, cuts[index]) > find_extent (searcher, end, cuts[0]);
}

/* Appends to `found` the candidates that end at the step `end`. Cuts the last node before this step
 * into strips along each axis, if may_need_less(). If the search adds tiles, instead cuts this node
 * into tiles along pairs of axes. The first axis of a pair cuts the node into strips, and the
 * second axis cuts the strips into tiles. The pairs are the first two axes that
 * cleave_fit_axes_list_cuts() lists, and each pair whose second axis has a halo. */
static void
walk_end (const Searcher *searcher, guint end, GArray *found)
{
  const Search *search = searcher->search;
  CleaveFitCut cuts[CLEAVE_MAX_RANK];
  guint n;

  if (!cleave_fit_walker_is_border (searcher->walker, end))
    return;
  n = cleave_fit_axes_list_cuts (search->steps, search->steps->first_node[end] - 1, cuts);
  for (guint i = 0; i < n; i++)
    {
      if (search->strips == NULL && may_need_less (searcher, end, cuts, i))
        walk_cut (searcher, end, cuts[i], CLEAVE_FIT_NONE, found);
      for (guint j = i + 1; j < n && search->strips != NULL; j++)
        if ((i == 0 && j == 1) || cleave_fit_axes_has_halo (search->steps, cuts[j]))
          walk_cut (searcher, end, cuts[i], cuts[j], found);
    }
}

/* Appends to `found` the candidates that have no tiles and end at the step `end`. */
static void
append_strips (const CleaveFitCandidates *strips, guint end, GArray *found)
{
  const guint first = strips->first[end], n = strips->first[end + 1] - first;

  if (n > 0)
    g_array_append_vals (found, cleave_fit_candidate (strips, first), n);
}

/* Does nothing unless strips must have equal size (`is_even`). If the pieces of a candidate read
 * different weights, keeps the candidate only if `has_chunks` is TRUE. Keeps any other candidate
 * only if it has at least CLEAVE_FIT_MIN_EVEN_STRIPS strips. */
static void
keep_even (GArray *found, const CleaveFitWatch *watch)
{
  guint n = 0;

  for (guint i = 0; i < found->len && watch->is_even; i++)
    {
      const CleaveFitCandidate candidate = g_array_index (found, CleaveFitCandidate, i);

      if (candidate.cuts_weights ? watch->has_chunks
                                 : candidate.n_strips >= CLEAVE_FIT_MIN_EVEN_STRIPS)
        g_array_index (found, CleaveFitCandidate, n++) = candidate;
    }
  if (watch->is_even)
    g_array_set_size (found, n);
}

static gpointer
find_candidates (gpointer data)
{
  const Searcher *searcher = data;
  Search *search = searcher->search;
  const CleaveFitWatch *watch = search->watch;
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
  guint end;

  while ((end = (guint) g_atomic_int_add (&search->n_begun, 1) + 1) <= search->steps->n_steps &&
         !g_cancellable_is_cancelled (watch->cancellable))
    {
      g_array_set_size (found, 0);
      if (search->strips != NULL)
        append_strips (search->strips, end, found);
      walk_end (searcher, end, found);
      keep_even (found, watch);
      search->best[end] = cleave_fit_candidates_select (found);
      if (searcher->reports && watch->report != NULL)
        watch->report ((double) end / search->steps->n_steps, watch->data);
    }
  return NULL;
}

/* Runs the search on this thread, and on other threads if they can be started. Returns the number
 * of visits to nodes, summed over all walks. */
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
    threads[i] = g_thread_try_new ("cleave-fit", find_candidates, &searchers[i], NULL);
  find_candidates (&searchers[0]);
  for (guint i = 0; i < n; i++)
    {
      if (threads[i] != NULL)
        g_thread_join (threads[i]);
      n_visits += cleave_fit_walker_get_n_visits (searchers[i].walker);
      cleave_fit_walker_free (searchers[i].walker);
    }
  return n_visits;
}

/* Appends the candidates of all ends to one array, and frees the arrays in `best`. */
static void
join_ends (CleaveFitCandidates *candidates, GArray **best)
{
  const guint n_steps = candidates->steps->n_steps;

  candidates->candidates = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
  candidates->first = g_new0 (guint, n_steps + 2);
  for (guint end = 1; end <= n_steps; end++)
    {
      candidates->first[end] = candidates->candidates->len;
      if (best[end] != NULL && best[end]->len > 0)
        g_array_append_vals (candidates->candidates, best[end]->data, best[end]->len);
      g_clear_pointer (&best[end], g_array_unref);
    }
  candidates->first[n_steps + 1] = candidates->candidates->len;
  candidates->least_bytes = g_new (gint64, candidates->candidates->len + 1);
  for (guint i = 0; i < candidates->candidates->len; i++)
    candidates->least_bytes[i] =
        cleave_fit_candidate_get_least (cleave_fit_candidate (candidates, i));
}

/* Finds candidates for all segment ends. If `strips` is NULL, returns the candidates without tiles.
 * Otherwise, finds the candidates with tiles, adds the candidates in `strips`, and returns the
 * candidates that no other candidate dominates. */
static CleaveFitCandidates
search_all (const CleaveFitSteps *steps,
            const CleaveFitWatch *watch,
            const CleaveFitCandidates *strips)
{
  const guint n_steps = steps->n_steps;
  g_autofree GArray **best = g_new0 (GArray *, n_steps + 1);
  Search search = { .steps = steps, .watch = watch, .strips = strips, .best = best };
  CleaveFitCandidates candidates = { .steps = steps, .is_even = watch->is_even };

  search.max_steps = MAX (MIN_SEGMENT, MAX_WALKED / (20 * (n_steps + 1)));
  candidates.n_visits = run (&search);
  join_ends (&candidates, best);
  return candidates;
}

gboolean
cleave_fit_candidates_init (CleaveFitCandidates *candidates,
                            const CleaveFitSteps *steps,
                            const CleaveFitWatch *watch,
                            GError **error)
{
  *candidates = search_all (steps, watch, NULL);
  return !g_cancellable_set_error_if_cancelled (watch->cancellable, error);
}

gboolean
cleave_fit_candidates_add_tiles (CleaveFitCandidates *candidates,
                                 const CleaveFitWatch *watch,
                                 GError **error)
{
  const CleaveFitSteps *steps = candidates->steps;
  CleaveFitCandidates both;

  if (steps->n_steps > MAX_STEPS_OF_TILES || watch->tile_bytes == 0 || watch->is_even)
    return TRUE;
  both = search_all (steps, watch, candidates);
  both.n_visits += candidates->n_visits;
  cleave_fit_candidates_clear (candidates);
  *candidates = both;
  return !g_cancellable_set_error_if_cancelled (watch->cancellable, error);
}

void
cleave_fit_candidates_clear (CleaveFitCandidates *candidates)
{
  g_clear_pointer (&candidates->candidates, g_array_unref);
  g_clear_pointer (&candidates->first, g_free);
  g_clear_pointer (&candidates->least_bytes, g_free);
}

static int
compare_candidates (gconstpointer a, gconstpointer b)
{
  const CleaveFitCandidate *x = a, *y = b;

  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  if (x->n_bytes != y->n_bytes)
    return x->n_bytes < y->n_bytes ? -1 : 1;
  return (x->work > y->work) - (x->work < y->work);
}

/* Returns whether x dominates y: x needs no more bytes with overlays, no more time and no more MACs
 * than y. The caller ensures that x also needs no more bytes without overlays than y. */
static gboolean
dominates (const CleaveFitCandidate *x, const CleaveFitCandidate *y)
{
  return cleave_fit_candidate_get_least (x) <= cleave_fit_candidate_get_least (y) &&
         x->work <= y->work && x->macs <= y->macs;
}

GArray *
cleave_fit_candidates_select (const GArray *found)
{
  g_autoptr (GArray) sorted = g_array_copy ((GArray *) found);
  GArray *best = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
  guint first = 0; /* index in `best` of the first candidate that begins at the same step as
                      `candidate` */

  g_array_sort (sorted, compare_candidates); /* the sort is stable */
  for (guint i = 0; i < sorted->len; i++)
    {
      const CleaveFitCandidate *candidate = &g_array_index (sorted, CleaveFitCandidate, i);
      gboolean is_dominated = FALSE;

      if (best->len > first &&
          g_array_index (best, CleaveFitCandidate, first).begin != candidate->begin)
        first = best->len;
      for (guint j = first; j < best->len && !is_dominated; j++)
        is_dominated = dominates (&g_array_index (best, CleaveFitCandidate, j), candidate);
      if (!is_dominated)
        g_array_append_vals (best, candidate, 1);
    }
  return best;
}
