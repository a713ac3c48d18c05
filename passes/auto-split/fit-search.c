/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-search.h"

#include <string.h>

/* A plan that takes more than it was thought to is asked for again with so much less, so often. */
#define MAX_TRIES 8

/* What plans are thought to take is a few per cent too much at times. */
#define MARGIN 0.05

/* From one plan to the next, memory is to fall by this part. */
#define STEP 0.06

/* The part of the search that finding segments is. */
#define PART_OF_EDGES 0.3

/* Plans are measured until no more memory is saved, so often at most. */
#define MAX_DESCENTS 40

static void
tell_edges (double part, gpointer data)
{
  const CleaveFitOptions *options = data;

  if (options->watch != NULL)
    options->watch (PART_OF_EDGES * part, options->watch_data);
}

/* What a path cuts. */
static char *
make_key (const CleaveFitPath *path)
{
  GString *key = g_string_new (NULL);

  for (guint i = 0; i < path->edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (path->edges, CleaveFitEdge, i);

      g_string_append_printf (key, "%u-%u:%ux%u,%d,%d,%d;", edge->begin, edge->end, edge->n_strips,
                              edge->n_columns, (int) edge->cut, (int) edge->halo, edge->in_bands);
    }
  return g_string_free (key, FALSE);
}

static const CleaveFitEdges *
get_tiles (CleaveFitSearch *search)
{
  const CleaveFitWatch watch = { .cancellable = search->options.cancellable };

  if (search->tiles.edges == NULL)
    cleave_fit_edges_init (&search->tiles, &search->steps, TRUE, &watch, NULL);
  return &search->tiles;
}

static const CleaveFitTry *
try_path (CleaveFitSearch *search, const CleaveFitPath *path)
{
  g_autofree char *key = make_key (path);
  CleaveFitTry *tried = g_hash_table_lookup (search->known, key);

  if (tried != NULL)
    return tried;
  tried = cleave_fit_try_new (search->graph, &search->strips, path, search->options.n_threads);
  g_ptr_array_add (search->tries, tried);
  g_hash_table_insert (search->known, g_steal_pointer (&key), tried);
  return tried;
}

static CleaveFitPath *
find_path (const CleaveFitSearch *search, const CleaveFitEdges *edges, gint64 max_bytes)
{
  return cleave_fit_path_find (edges, max_bytes, search->options.max_added_macs != 0);
}

gboolean
cleave_fit_search_init (CleaveFitSearch *search,
                        const CleaveGraph *graph,
                        const CleaveFitOptions *options,
                        GError **error)
{
  const CleaveFitWatch watch = { options->cancellable, tell_edges, &search->options };
  g_autoptr (CleaveFitPath) path = NULL;

  *search = (CleaveFitSearch){ .options = *options };
  search->options.n_threads = MAX (options->n_threads, 1);
  search->graph = cleave_graph_copy (graph);
  search->graph->inputs_apart = options->inputs_apart;
  search->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  search->tries = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_try_free);
  if (!cleave_fit_steps_init (&search->steps, search->graph, error) ||
      !cleave_fit_edges_init (&search->strips, &search->steps, FALSE, &watch, error))
    return FALSE;
  path = cleave_fit_path_find (&search->strips, G_MAXINT64, FALSE);
  search->before = try_path (search, path);
  return TRUE;
}

void
cleave_fit_search_clear (CleaveFitSearch *search)
{
  cleave_fit_edges_clear (&search->strips);
  cleave_fit_edges_clear (&search->tiles);
  cleave_fit_steps_clear (&search->steps);
  g_clear_pointer (&search->known, g_hash_table_unref);
  g_clear_pointer (&search->tries, g_ptr_array_unref);
  g_clear_pointer (&search->graph, cleave_graph_unref);
}

/* However large, it leaves a product with nothing a number. */
static double
get_limit (double asked)
{
  return CLAMP (asked, 0, G_MAXUINT32);
}

gboolean
cleave_fit_search_allows (const CleaveFitSearch *search, const CleaveFitTry *tried)
{
  const CleaveFitOptions *options = &search->options;
  const CleaveFitTry *before = search->before;

  return (options->max_added_macs == 0 ||
          (double) tried->macs <=
              (1 + get_limit (options->max_added_macs)) * (double) before->macs) &&
         (options->max_added_latency == 0 ||
          tried->estimate.nanoseconds <=
              (1 + get_limit (options->max_added_latency)) * before->estimate.nanoseconds);
}

static gboolean
is_cancelled (const CleaveFitSearch *search)
{
  return g_cancellable_is_cancelled (search->options.cancellable);
}

static const CleaveFitTry *
search_edges (CleaveFitSearch *search, const CleaveFitEdges *edges, gint64 max_bytes)
{
  gint64 target = (gint64) ((1 + MARGIN) * (double) max_bytes);

  for (guint i = 0; i < MAX_TRIES && !is_cancelled (search); i++)
    {
      g_autoptr (CleaveFitPath) path = find_path (search, edges, target);
      const CleaveFitTry *tried = path == NULL ? NULL : try_path (search, path);

      if (tried == NULL)
        break;
      if (tried->estimate.arena_bytes <= max_bytes)
        return cleave_fit_search_allows (search, tried) ? tried : NULL;
      target = path->n_bytes - MAX (tried->estimate.arena_bytes - max_bytes, 1);
    }
  return NULL;
}

const CleaveFitTry *
cleave_fit_search_quickly (CleaveFitSearch *search, gint64 max_bytes)
{
  const CleaveFitTry *found;

  if (search->before->estimate.arena_bytes <= max_bytes)
    return search->before;
  found = search_edges (search, &search->strips, max_bytes);
  return found != NULL ? found : search_edges (search, get_tiles (search), max_bytes);
}

/* The fewest bytes that a path is thought to need. */
static gint64
find_least (const CleaveFitSearch *search, const CleaveFitEdges *edges, gint64 enough)
{
  gint64 too_few = -1;

  while (enough - too_few > 1)
    {
      gint64 between = too_few + (enough - too_few) / 2;
      g_autoptr (CleaveFitPath) path = find_path (search, edges, between);

      if (path == NULL)
        too_few = between;
      else
        enough = MIN (between, path->n_bytes);
    }
  return enough;
}

static void
tell_ladder (const CleaveFitSearch *search, gint64 n_bytes, gint64 least)
{
  const CleaveFitOptions *options = &search->options;
  gint64 all = MAX (search->before->predicted - least, 1);

  if (options->watch != NULL)
    options->watch (PART_OF_EDGES +
                        (1 - PART_OF_EDGES) *
                            (double) (search->before->predicted - MAX (n_bytes, least)) /
                            (double) all,
                    options->watch_data);
}

static const CleaveFitTry *
find_smallest (const CleaveFitSearch *search)
{
  const CleaveFitTry *best = search->before;

  for (guint i = 0; i < search->tries->len; i++)
    {
      const CleaveFitTry *tried = search->tries->pdata[i];

      if (tried->estimate.arena_bytes < best->estimate.arena_bytes &&
          cleave_fit_search_allows (search, tried))
        best = tried;
    }
  return best;
}

/* From so many bytes down; returns the fewest that a path is thought to need. */
static gint64
go_down (CleaveFitSearch *search, const CleaveFitEdges *edges, gint64 target)
{
  gint64 least = find_least (search, edges, search->before->predicted);

  while (!is_cancelled (search))
    {
      g_autoptr (CleaveFitPath) path = find_path (search, edges, MAX (target, least));

      if (path == NULL)
        break;
      try_path (search, path);
      tell_ladder (search, path->n_bytes, least);
      if (path->n_bytes <= least)
        break;
      target = MIN (path->n_bytes - 1, (gint64) ((1 - STEP) * (double) path->n_bytes));
    }
  return least;
}

void
cleave_fit_search_all (CleaveFitSearch *search)
{
  gint64 least = go_down (search, &search->strips, search->before->predicted);

  go_down (search, get_tiles (search), least - 1);
  for (guint i = 0; i < MAX_DESCENTS && !is_cancelled (search); i++)
    if (cleave_fit_search_quickly (search, find_smallest (search)->estimate.arena_bytes - 1) ==
        NULL)
      break;
}
