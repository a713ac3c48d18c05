/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-search.h"

#include "../../lib/memory/cost.h"
#include "fit-families.h"

/* A plan that takes more than it was thought to is asked for again with so much less, so often. */
#define MAX_TRIES 5

/* What plans are thought to take is a few per cent too much at times. */
#define MARGIN 0.05

/* Of those that are tried for so many bytes at once: without end two detectors of faces are
 * searched for a quarter longer, for the same plans. */
#define MAX_NODES_OF_QUICK 25000

/* A plan that fits is not taken at once: cheaper ones are measured, of so many nodes in all, some
 * 0.1 ms each, until what they were thought to take lies this near. */
#define MAX_NODES_OF_CHEAPER 4000
#define NEAR 0.01

/* What strips add more than this part of a graph's work for is tried with tiles besides. */
#define LITTLE_WORK 0.03

static void
tell_edges (double part, gpointer data)
{
  const CleaveFitOptions *options = data;

  if (options->watch != NULL)
    options->watch (CLEAVE_FIT_PART_OF_EDGES * part, options->watch_data);
}

/* What a path cuts. */
static char *
make_key (const CleaveFitPath *path)
{
  GString *key = g_string_new (NULL);

  for (guint i = 0; i < path->edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (path->edges, CleaveFitEdge, i);

      g_string_append_printf (key, "%u-%u:%ux%u,%u,%u,%d,%d,%d;", edge->begin, edge->end,
                              edge->n_strips, edge->n_columns, edge->cut, edge->column_cut,
                              (int) edge->halo, edge->in_bands, edge->keeps_copies);
    }
  return g_string_free (key, FALSE);
}

void
cleave_fit_search_clear (CleaveFitSearch *search)
{
  cleave_fit_edges_clear (&search->strips);
  cleave_fit_edges_clear (&search->tiles);
  for (guint laps = 0; laps < CLEAVE_FIT_N_LAPS; laps++)
    {
      cleave_fit_edges_clear (&search->lapped[laps]);
      g_clear_pointer (&search->learned[laps], g_ptr_array_unref);
    }
  cleave_fit_steps_clear (&search->steps);
  g_clear_pointer (&search->known, g_hash_table_unref);
  g_clear_pointer (&search->met, g_ptr_array_unref);
  g_clear_pointer (&search->tries, g_ptr_array_unref);
  g_clear_pointer (&search->late, g_ptr_array_unref);
  g_clear_pointer (&search->copies, g_ptr_array_unref);
  g_clear_pointer (&search->graph, cleave_graph_unref);
}

gboolean
cleave_fit_search_allows (const CleaveFitSearch *search, const CleaveFitTry *tried)
{
  const CleaveFitOptions *options = &search->options;
  const CleaveFitTry *before = search->original;

  return (options->max_added_macs == 0 ||
          (double) tried->macs <=
              (1 + cleave_fit_limit (options->max_added_macs)) * (double) before->macs) &&
         (options->max_added_latency == 0 ||
          tried->estimate.nanoseconds <=
              (1 + cleave_fit_limit (options->max_added_latency)) * before->estimate.nanoseconds);
}

/* What needs more is never taken: packing it is a quarter of the time that plans take; 0: none is.
 */
static gint64
find_limit (const CleaveFitSearch *search)
{
  return search->keeps_all || search->options.n_threads > 1
             ? 0
             : MAX (search->enough, search->options.max_memory);
}

static gboolean
is_one_of (gpointer key, gpointer tried, gpointer data)
{
  return g_hash_table_contains (data, tried);
}

void
cleave_fit_search_forget_since (CleaveFitSearch *search, guint n_tries)
{
  g_autoptr (GHashTable) later = g_hash_table_new (NULL, NULL);

  for (guint i = n_tries; i < search->tries->len; i++)
    g_hash_table_add (later, search->tries->pdata[i]);
  g_hash_table_foreach_remove (search->known, is_one_of, later);
}

const CleaveFitTry *
cleave_fit_search_try (CleaveFitSearch *search, const CleaveFitPath *path)
{
  g_autofree char *key = make_key (path);
  CleaveFitTry *tried = g_hash_table_lookup (search->known, key);

  if (tried == NULL)
    {
      tried = cleave_fit_try_new (search->graph, &search->strips, path, search->is_listed,
                                  search->options.n_threads, find_limit (search));
      g_ptr_array_add (search->tries, tried);
      g_hash_table_insert (search->known, g_steal_pointer (&key), tried);
    }
  if (!g_ptr_array_find (search->met, tried, NULL))
    g_ptr_array_add (search->met, tried);
  if (search->before == NULL)
    search->before = tried;
  if (search->original == NULL)
    search->original = tried;
  if (cleave_fit_search_allows (search, tried))
    search->enough = MIN (search->enough, tried->estimate.arena_bytes);
  return tried;
}

gboolean
cleave_fit_search_take (CleaveFitSearch *search,
                        CleaveGraph *graph,
                        const CleaveFitOptions *options,
                        GError **error)
{
  const CleaveFitWatch watch = { .cancellable = options->cancellable,
                                 .tell = tell_edges,
                                 .data = &search->options };
  g_autoptr (CleaveFitPath) path = NULL;

  search->options = *options;
  search->enough = search->most;
  search->options.n_threads = MAX (options->n_threads, 1);
  search->graph = graph;
  search->graph->inputs_apart = options->inputs_apart;
  search->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  search->met = g_ptr_array_new ();
  search->tries = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_try_free);
  for (guint laps = 0; laps < CLEAVE_FIT_N_LAPS; laps++)
    search->learned[laps] = g_ptr_array_new ();
  if (search->steps.nodes == NULL && !cleave_fit_steps_init (&search->steps, graph, error))
    return FALSE;
  if (!cleave_fit_edges_init (&search->strips, &search->steps, NULL, &watch, error))
    return FALSE;
  search->strips.is_even = options->even_strips;
  /* Chunks read other weights each; what a pooling needs whole can be had in such alone. */
  search->strips.has_chunks = search->copies != NULL;
  path = cleave_fit_family_find_path (search, CLEAVE_FIT_OF_STRIPS, G_MAXINT64);
  cleave_fit_search_try (search, path);
  return TRUE;
}

gboolean
cleave_fit_search_init (CleaveFitSearch *search,
                        const CleaveGraph *graph,
                        const CleaveFitOptions *options,
                        GError **error)
{
  *search = (CleaveFitSearch){ .most = G_MAXINT64 };
  return cleave_fit_search_take (search, cleave_graph_copy (graph), options, error);
}

guint64
cleave_fit_search_count_pieces (const CleaveFitSearch *search, const CleaveFitPath *path)
{
  const guint *first_node = search->steps.first_node;
  guint64 n = 0;

  for (guint i = 0; i < path->edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (path->edges, CleaveFitEdge, i);

      n += (guint64) edge->n_strips * edge->n_columns *
           (first_node[edge->end] - first_node[edge->begin]);
    }
  return n;
}

const CleaveFitTry *
cleave_fit_search_in_family (CleaveFitSearch *search,
                             CleaveFitFamily family,
                             gint64 max_bytes,
                             guint *n_nodes)
{
  gint64 target = (gint64) ((1 + MARGIN) * (double) max_bytes);

  for (guint i = 0; i < MAX_TRIES && !cleave_fit_search_is_cancelled (search); i++)
    {
      g_autoptr (CleaveFitPath) path = cleave_fit_family_find_path (search, family, target);
      const guint n_met = search->met->len;
      const CleaveFitTry *tried;
      gboolean is_new;

      if (path == NULL ||
          (*n_nodes > 0 &&
           *n_nodes + cleave_fit_search_count_pieces (search, path) > MAX_NODES_OF_QUICK))
        break;
      tried = cleave_fit_search_try (search, path);
      *n_nodes += search->met->len > n_met ? tried->n_nodes : 0;
      is_new = cleave_fit_family_learn (search, family, tried);
      if (tried->estimate.arena_bytes <= max_bytes)
        return cleave_fit_search_allows (search, tried) ? tried : NULL;
      if (!is_new)
        target = path->n_bytes - MAX (tried->estimate.arena_bytes - max_bytes, 1);
    }
  return NULL;
}

const CleaveFitTry *
cleave_fit_search_families_quickly (CleaveFitSearch *search, CleaveFitFamily last, gint64 max_bytes)
{
  const CleaveFitTry *found = NULL;
  guint n_nodes = 0;

  if (search->before->estimate.arena_bytes <= max_bytes &&
      cleave_fit_search_allows (search, search->before))
    return search->before;
  for (CleaveFitFamily family = CLEAVE_FIT_OF_STRIPS; family <= last && found == NULL; family++)
    if (cleave_fit_family_is_its_own (search, family))
      found = cleave_fit_search_in_family (search, family, max_bytes, &n_nodes);
  return found;
}

const CleaveFitTry *
cleave_fit_search_quickly (CleaveFitSearch *search, gint64 max_bytes)
{
  return cleave_fit_search_families_quickly (search, CLEAVE_FIT_OF_NARROW, max_bytes);
}

/* Between a plan that fits and one that does not, or as far as all fit. */
static void
search_cheaper (CleaveFitSearch *search,
                CleaveFitFamily family,
                const CleaveFitTry *found,
                gint64 max_bytes)
{
  gint64 does_not =
      search->before->predicted; /* what others are thought to take tells of no laps */
  gint64 fits = family < CLEAVE_FIT_OF_LAPS
                    ? found->predicted
                    : cleave_fit_family_find_least (search, family, found->predicted);
  gint64 near = MAX ((gint64) (NEAR * (double) max_bytes), 1);
  guint n_nodes = 0;

  while (does_not - fits > near && n_nodes < MAX_NODES_OF_CHEAPER &&
         !cleave_fit_search_is_cancelled (search))
    {
      gint64 between = fits + MIN ((does_not - fits) / 2, MAX (max_bytes / 8, 1));
      g_autoptr (CleaveFitPath) path = cleave_fit_family_find_path (search, family, between);
      const CleaveFitTry *tried;

      if (path == NULL || path->n_bytes <= fits ||
          n_nodes + cleave_fit_search_count_pieces (search, path) > MAX_NODES_OF_CHEAPER)
        {
          fits = between;
          continue;
        }
      tried = cleave_fit_search_try (search, path);
      cleave_fit_family_learn (search, family, tried);
      n_nodes += tried->n_nodes;
      if (tried->estimate.arena_bytes <= max_bytes)
        fits = between;
      else
        does_not = path->n_bytes;
    }
}

void
cleave_fit_search_cheaper (CleaveFitSearch *search, const CleaveFitTry *found, gint64 max_bytes)
{
  const double little = LITTLE_WORK * cleave_cost_of_macs_in_strips ((double) search->steps.macs);

  if (found == search->before)
    return;
  search_cheaper (search, CLEAVE_FIT_OF_STRIPS, found, max_bytes);
  for (CleaveFitFamily family = CLEAVE_FIT_OF_TILES;
       family < CLEAVE_FIT_OF_NARROW && found->work > little; family++)
    if (cleave_fit_family_is_its_own (search, family))
      search_cheaper (search, family, found, max_bytes);
}
