/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: one search, upwards from the least memory and downwards from the least work. */

#include "fit-search.h"

#include <math.h>

#include "../../lib/memory/cost.h"
#include "fit-late.h"
#include "fit-reads.h"

/* A plan that takes more than it was thought to is asked for again with so much less, so often. */
#define MAX_TRIES 5

/* What plans are thought to take is a few per cent too much at times. */
#define MARGIN 0.05

/* What they are thought to compute is so much too much at times. */
#define MAC_MARGIN 0.3
/* Of those that have few tries, which are foreseen well: what is not allowed is not tried. */
#define MAC_MARGIN_OF_KEPT 0.03

/* From one plan to the next, memory is to fall by this part. */
#define STEP 0.06

/* The part of the search that finding segments is. */
#define PART_OF_EDGES 0.3

/* Plans that are thought to need least are measured until none is thought to save this part of what
 * was found, or those of all limits on MACs have had so many nodes. */
#define MIN_SAVED 0.01
#define MAX_NODES_OF_LEAST 40000
/* Of those that count on laps: without end an encoder of 12 layers comes to 305,024 bytes in place
 * of 344,064, in 2 s in place of 0.85. */
#define MAX_NODES_OF_LAPS 10000
/* Pieces of one of those, and of one that is carried narrow: a detector of text is searched in four
 * fifths of the time. */
#define MAX_PIECES_OF_LAST 30000
/* Of those that have more tiles than others, which are one or two, and of those that copy what they
 * keep: bottlenecks of 24 rows come to 17,600 bytes in place of 19,072. */
#define MAX_NODES_OF_LATE 25000
/* Of those from the least up, since the last that needs less. */
#define MAX_NODES_UP 10000

/* Of those that are tried for so many bytes at once: without end two detectors of faces are
 * searched for a quarter longer, for the same plans. */
#define MAX_NODES_OF_QUICK 25000

/* A plan that fits is not taken at once: cheaper ones are measured, of so many nodes in all, some
 * 0.1 ms each, until what they were thought to take lies this near. */
#define MAX_NODES_OF_CHEAPER 4000
#define NEAR 0.01

/* What strips add more than this part of a graph's work for is tried with tiles besides. */
#define LITTLE_WORK 0.03

/* Longer graphs are searched with the limit on MACs that is asked for alone: each other limit may
 * take as long again. */
#define MAX_STEPS_OF_LIMITS 200

/* Values of such a part of the memory may be made again; and so many MACs more where there is no
 * limit on them. */
#define MIN_PART_OF_COPIES 8
#define MACS_OF_COPIES 1

/* Smaller values need not be made in parts, or again where they wait long. */
#define MIN_PART_OF_READS 32
#define MIN_PART_OF_LATE 16

/* Smaller values need not move.  Plans are measured if strips are thought to need less by such a
 * part than where nothing moves. */
#define MIN_PART_OF_MOVES 32
#define MIN_SAVED_BY_MOVES 0.04

/* What a MAC costs besides, where few may be added: from next to nothing to more than all else. */
#define LOW_PRICE 0.03
#define HIGH_PRICE 1e6
#define N_PRICES 6

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

      g_string_append_printf (key, "%u-%u:%ux%u,%d,%d,%d,%d;", edge->begin, edge->end,
                              edge->n_strips, edge->n_columns, (int) edge->cut, (int) edge->halo,
                              edge->in_bands, edge->keeps_copies);
    }
  return g_string_free (key, FALSE);
}

/* Whether the graph is looked at otherwise, for less than was found already.  What helps is found
 * by the search for the least: the rest measured half of the nodes of a small U-net again, for
 * nothing there or in four other networks. */
static gboolean
is_second (const CleaveFitSearch *search)
{
  return search->most < G_MAXINT64;
}

/* What plans are made of. */
typedef enum { STRIPS, TILES, LAPS, BOLD_LAPS, NARROW, FINE, KEPT } Family;

static CleaveFitLaps
get_laps (Family family)
{
  return family < LAPS         ? CLEAVE_FIT_APART
         : family == LAPS      ? CLEAVE_FIT_LAPPED
         : family == BOLD_LAPS ? CLEAVE_FIT_BOLD
         : family == NARROW    ? CLEAVE_FIT_NARROW
         : family == FINE      ? CLEAVE_FIT_FINE
                               : CLEAVE_FIT_KEPT;
}

static void
learn_of (CleaveFitEdges *edges, const CleaveFitTry *tried)
{
  const gint64 *part_bytes = edges->laps == CLEAVE_FIT_LAPPED || edges->laps == CLEAVE_FIT_BOLD
                                 ? tried->part_bytes
                                 : tried->part_bytes_apart;

  if (edges->edges == NULL)
    return;
  for (guint i = 0; i < tried->parts->len; i++)
    if (part_bytes[i] > 0)
      cleave_fit_edges_learn (edges, &((const CleaveFitPart *) tried->parts->pdata[i])->edge,
                              part_bytes[i]);
}

/* Segments whose results lay over what died, although it was not counted on. */
static void
recall (const CleaveFitSearch *search, CleaveFitEdges *edges)
{
  for (guint t = 0; t < search->met->len; t++)
    {
      const CleaveFitTry *tried = search->met->pdata[t];

      for (guint i = 0; i < tried->parts->len; i++)
        if (tried->part_bytes[i] > 0)
          cleave_fit_edges_recall (edges, &((const CleaveFitPart *) tried->parts->pdata[i])->edge,
                                   tried->part_bytes[i]);
    }
}

static void
forget (CleaveFitSearch *search)
{
  cleave_fit_edges_forget (&search->strips);
  if (search->tiles.edges != NULL)
    cleave_fit_edges_forget (&search->tiles);
  for (guint laps = CLEAVE_FIT_LAPPED; laps < CLEAVE_FIT_N_LAPS; laps++)
    if (search->lapped[laps].edges != NULL)
      {
        cleave_fit_edges_forget (&search->lapped[laps]);
        recall (search, &search->lapped[laps]);
      }
  for (guint laps = 0; laps < CLEAVE_FIT_N_LAPS; laps++)
    g_ptr_array_set_size (search->learned[laps], 0);
}

/* Those of the last families: what is known of others rules out most of them. */
static void
init_late (CleaveFitSearch *search, Family family, CleaveFitEdges *edges)
{
  const CleaveFitWatch watch = { .cancellable = search->options.cancellable };

  if (family == FINE)
    cleave_fit_edges_init_fine (edges, &search->tiles, &watch);
  else
    cleave_fit_edges_init_kept (edges, &search->tiles);
  cleave_fit_edges_forget (edges);
  for (guint i = 0; i < search->met->len; i++)
    learn_of (edges, search->met->pdata[i]);
}

static const CleaveFitEdges *
get_edges (CleaveFitSearch *search, Family family)
{
  const CleaveFitWatch watch = { .cancellable = search->options.cancellable };
  CleaveFitEdges *lapped;

  if (family < TILES)
    return &search->strips;
  if (search->tiles.edges == NULL)
    {
      cleave_fit_edges_init (&search->tiles, &search->steps, &search->strips, &watch, NULL);
      for (guint i = 0; i < search->learned[CLEAVE_FIT_APART]->len; i++)
        learn_of (&search->tiles, search->learned[CLEAVE_FIT_APART]->pdata[i]);
    }
  if (family < LAPS)
    return &search->tiles;
  lapped = &search->lapped[get_laps (family)];
  if (lapped->edges == NULL && family >= FINE)
    init_late (search, family, lapped);
  else if (lapped->edges == NULL)
    {
      cleave_fit_edges_init_lapped (lapped, &search->tiles, get_laps (family));
      recall (search, lapped);
    }
  return lapped;
}

/* Whether it has plans that no family before it has.  Where a graph is looked at otherwise, the
 * search for the least does without the last, and so does any other for that number of bytes. */
static gboolean
is_its_own (CleaveFitSearch *search, Family family)
{
  if (family == STRIPS)
    return TRUE;
  if (search->options.even_strips ||
      (family == BOLD_LAPS &&
       (search->steps.n_steps > MAX_STEPS_OF_LIMITS || (is_second (search) && !search->keeps_all))))
    return FALSE;
  if (family == NARROW || family == KEPT)
    return get_edges (search, TILES)->has_narrow;
  if (family == FINE)
    return get_edges (search, TILES)->has_tiles && get_edges (search, FINE)->has_fine;
  return family == TILES ? get_edges (search, TILES)->has_tiles
                         : search->options.n_threads == 1 && get_edges (search, TILES)->has_laps;
}

/* However large, it leaves a product with nothing a number. */
static double
get_limit (double asked)
{
  return CLAMP (asked, 0, G_MAXUINT32);
}

/* MACs that halos may add, besides those of copies. */
static double
get_allowed_macs (const CleaveFitSearch *search)
{
  const CleaveFitTry *original = search->original;
  gint64 now = search->steps.macs, before = original == NULL ? now : original->macs;

  return MAX ((1 + get_limit (search->options.max_added_macs)) * (double) before - (double) now, 0);
}

static double
get_mac_margin (Family family)
{
  return family == KEPT ? MAC_MARGIN_OF_KEPT : MAC_MARGIN;
}

/* The path of least work that adds no more MACs than allowed, or of fewest MACs; NULL if those are
 * many more than allowed. */
static CleaveFitPath *
find_path (CleaveFitSearch *search, Family family, gint64 max_bytes)
{
  const CleaveFitEdges *edges = get_edges (search, family);
  const double asked = search->options.max_added_macs;
  double allowed = get_allowed_macs (search);
  CleaveFitAsk ask = { max_bytes, search->mac_price,
                       !search->is_for_least || search->options.max_added_latency != 0 };
  g_autoptr (CleaveFitPath) path = cleave_fit_path_find (edges, &ask);
  double low = LOW_PRICE, high = HIGH_PRICE;

  if (path == NULL || asked == 0 || path->macs <= allowed)
    return g_steal_pointer (&path);
  cleave_fit_path_free (path);
  ask.mac_price = high;
  path = cleave_fit_path_find (edges, &ask);
  for (guint i = 0; i < N_PRICES && path->macs < allowed; i++)
    {
      double between = ask.mac_price = sqrt (low * high);
      g_autoptr (CleaveFitPath) other = cleave_fit_path_find (edges, &ask);

      if (other->macs > allowed)
        low = between;
      else
        {
          CleaveFitPath *worse = path;

          high = between;
          path = g_steal_pointer (&other);
          other = worse;
        }
    }
  return path->macs <= (1 + get_mac_margin (family)) * allowed ? g_steal_pointer (&path) : NULL;
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
              (1 + get_limit (options->max_added_macs)) * (double) before->macs) &&
         (options->max_added_latency == 0 ||
          tried->estimate.nanoseconds <=
              (1 + get_limit (options->max_added_latency)) * before->estimate.nanoseconds);
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

/* What a plan comes to, which is measured once. */
static const CleaveFitTry *
try_path (CleaveFitSearch *search, const CleaveFitPath *path)
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

/* Takes the graph; the steps are there, unless they are those of the graph as it is. */
static gboolean
init (CleaveFitSearch *search, CleaveGraph *graph, const CleaveFitOptions *options, GError **error)
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
  path = find_path (search, STRIPS, G_MAXINT64);
  try_path (search, path);
  return TRUE;
}

gboolean
cleave_fit_search_init (CleaveFitSearch *search,
                        const CleaveGraph *graph,
                        const CleaveFitOptions *options,
                        GError **error)
{
  *search = (CleaveFitSearch){ .most = G_MAXINT64 };
  return init (search, cleave_graph_copy (graph), options, error);
}

/* FALSE: nothing was learned of it, since it is known.  Whether results lie over what dies depends
 * on all segments around: so what is learned of plans that count on it is not held against those
 * that do not, and the other way round. */
static gboolean
learn (CleaveFitSearch *search, Family family, const CleaveFitTry *tried)
{
  const CleaveFitLaps laps = get_laps (family);
  GPtrArray *learned = search->learned[laps];

  if (g_ptr_array_find (learned, tried, NULL))
    return FALSE;
  g_ptr_array_add (learned, (gpointer) tried);
  if (laps != CLEAVE_FIT_APART)
    learn_of (&search->lapped[laps], tried);
  else
    {
      learn_of (&search->strips, tried);
      learn_of (&search->tiles, tried);
    }
  return TRUE;
}

static gboolean
is_cancelled (const CleaveFitSearch *search)
{
  return g_cancellable_is_cancelled (search->options.cancellable);
}

/* Of the pieces alone. */
static guint64
count_pieces (const CleaveFitSearch *search, const CleaveFitPath *path)
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

static const CleaveFitTry *
search_family (CleaveFitSearch *search, Family family, gint64 max_bytes, guint *n_nodes)
{
  gint64 target = (gint64) ((1 + MARGIN) * (double) max_bytes);

  for (guint i = 0; i < MAX_TRIES && !is_cancelled (search); i++)
    {
      g_autoptr (CleaveFitPath) path = find_path (search, family, target);
      const guint n_met = search->met->len;
      const CleaveFitTry *tried;
      gboolean is_new;

      if (path == NULL ||
          (*n_nodes > 0 && *n_nodes + count_pieces (search, path) > MAX_NODES_OF_QUICK))
        break;
      tried = try_path (search, path);
      *n_nodes += search->met->len > n_met ? tried->n_nodes : 0;
      is_new = learn (search, family, tried);
      if (tried->estimate.arena_bytes <= max_bytes)
        return cleave_fit_search_allows (search, tried) ? tried : NULL;
      if (!is_new)
        target = path->n_bytes - MAX (tried->estimate.arena_bytes - max_bytes, 1);
    }
  return NULL;
}

static const CleaveFitTry *
search_quickly (CleaveFitSearch *search, Family last, gint64 max_bytes)
{
  const CleaveFitTry *found = NULL;
  guint n_nodes = 0;

  if (search->before->estimate.arena_bytes <= max_bytes &&
      cleave_fit_search_allows (search, search->before))
    return search->before;
  for (Family family = STRIPS; family <= last && found == NULL; family++)
    if (is_its_own (search, family))
      found = search_family (search, family, max_bytes, &n_nodes);
  return found;
}

const CleaveFitTry *
cleave_fit_search_quickly (CleaveFitSearch *search, gint64 max_bytes)
{
  return search_quickly (search, NARROW, max_bytes);
}

/* Whether a path of so many bytes takes no longer than allowed.  Else those that take far too long
 * are measured first: under a limit of 25 per cent blazeface-back came to 1,474,560 bytes in place
 * of 1,414,208. */
static gboolean
is_quick_enough (CleaveFitSearch *search, Family family, gint64 max_bytes)
{
  const CleaveFitAsk ask = { max_bytes, 0, TRUE };
  const double asked = search->options.max_added_latency;
  g_autoptr (CleaveFitPath) path = NULL;

  if (asked == 0)
    return TRUE;
  path = cleave_fit_path_find (get_edges (search, family), &ask);
  return path != NULL && path->work <= get_limit (asked) * search->original->estimate.nanoseconds;
}

/* Whether a path of so many bytes adds no more MACs and time than allowed; then what it needs, else
 * -1. */
static gint64
find_possible (CleaveFitSearch *search, Family family, gint64 max_bytes)
{
  const double asked = search->options.max_added_macs;
  const CleaveFitAsk ask = { max_bytes, asked == 0 ? 0 : HIGH_PRICE, FALSE };
  g_autoptr (CleaveFitPath) path = cleave_fit_path_find (get_edges (search, family), &ask);

  return path == NULL || !is_quick_enough (search, family, max_bytes) ||
                 (asked != 0 &&
                  path->macs > (1 + get_mac_margin (family)) * get_allowed_macs (search))
             ? -1
             : path->n_bytes;
}

/* The fewest bytes that a path is thought to need. */
static gint64
find_least (CleaveFitSearch *search, Family family, gint64 enough)
{
  gint64 too_few = cleave_fit_path_find_least (get_edges (search, family)) - 1;

  while (enough - too_few > 1)
    {
      gint64 between = too_few + (enough - too_few) / 2;
      gint64 needed = find_possible (search, family, between);

      if (needed < 0)
        too_few = between;
      else
        enough = MIN (between, needed);
    }
  return enough;
}

/* MACs that copies may add. */
static double
get_macs_of_copies (const CleaveFitSearch *first)
{
  return first->options.max_added_macs == 0 ? MACS_OF_COPIES * (double) first->steps.macs
                                            : get_allowed_macs (first);
}

/* FALSE: there are none, or there is nothing to move. */
static gboolean
make_copies (CleaveFitSearch *search,
             const CleaveFitSearch *first,
             CleaveGraph *graph,
             gboolean moves)
{
  const gint64 n_bytes = first->before->estimate.arena_bytes;
  const gint64 min_bytes = MAX (n_bytes / MIN_PART_OF_COPIES, 1);
  const gint64 min_moved = moves ? MAX (n_bytes / MIN_PART_OF_MOVES, 1) : 0;

  search->copies = cleave_fit_copies_make (graph, min_bytes, get_macs_of_copies (first), min_moved);
  if (search->copies->len == 0 ||
      (moves &&
       ((const CleaveFitCopy *) search->copies->pdata[search->copies->len - 1])->copy != NULL))
    return FALSE;
  search->is_listed = moves;
  cleave_fit_steps_init_as_listed (&search->steps, graph);
  return TRUE;
}

/* FALSE: there are none. */
static gboolean
make_parts (CleaveFitSearch *search, const CleaveFitSearch *first, CleaveGraph *graph)
{
  if (first->options.even_strips)
    return FALSE;
  search->parted = MAX (first->before->estimate.arena_bytes / MIN_PART_OF_READS, 1);
  return cleave_fit_reads_cut (graph, search->parted, NULL);
}

/* FALSE: there are none. */
static gboolean
make_late (CleaveFitSearch *search, const CleaveFitSearch *first, CleaveGraph *graph)
{
  const gint64 n_bytes = first->before->estimate.arena_bytes;

  if (first->options.even_strips)
    return FALSE;
  search->late =
      cleave_fit_late_copy (graph, MAX (n_bytes / MIN_PART_OF_LATE, 1), get_macs_of_copies (first));
  return search->late->len > 0;
}

static gboolean
look_otherwise (CleaveFitSearch *search,
                const CleaveFitSearch *first,
                CleaveGraph *graph,
                CleaveFitOtherwise otherwise)
{
  search->parted = first->parted;
  if (otherwise == CLEAVE_FIT_PARTED)
    return make_parts (search, first, graph);
  if (otherwise == CLEAVE_FIT_LATE)
    return make_late (search, first, graph);
  search->late = first->late == NULL ? NULL : g_ptr_array_ref (first->late);
  return otherwise == CLEAVE_FIT_STAGED
             ? cleave_fit_steps_init_staged (&search->steps, graph)
             : make_copies (search, first, graph, otherwise == CLEAVE_FIT_MOVED);
}

/* The fewest bytes that strips are thought to need, before anything is measured. */
static void
foresee (CleaveFitSearch *search)
{
  forget (search);
  search->foreseen = find_least (search, STRIPS, search->before->predicted);
}

/* Whether plans of strips are thought to need no more than those of the graph as it is; or, where
 * nodes move, much less. */
static gboolean
is_promising (CleaveFitSearch *search, CleaveFitSearch *first, CleaveFitOtherwise otherwise)
{
  if (otherwise == CLEAVE_FIT_COPIES || otherwise == CLEAVE_FIT_STAGED)
    return TRUE;
  foresee (search);
  if (otherwise == CLEAVE_FIT_MOVED)
    return (double) search->foreseen <= (1 - MIN_SAVED_BY_MOVES) * (double) first->foreseen;
  if (otherwise == CLEAVE_FIT_PARTED)
    foresee (first);
  return search->foreseen <= first->foreseen;
}

gboolean
cleave_fit_search_init_again (CleaveFitSearch *search,
                              CleaveFitSearch *first,
                              CleaveFitOtherwise otherwise,
                              gint64 most)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_copy (first->graph);
  CleaveFitOptions options = first->options;

  *search = (CleaveFitSearch){ .original = first->original,
                               .most = otherwise <= CLEAVE_FIT_LATE    ? G_MAXINT64
                                       : otherwise == CLEAVE_FIT_MOVED ? most
                                                                       : first->enough,
                               .keeps_all = first->keeps_all };
  graph->inputs_apart = options.inputs_apart;
  options.watch = NULL;
  return look_otherwise (search, first, graph, otherwise) &&
         init (search, g_steal_pointer (&graph), &options, NULL) &&
         is_promising (search, first, otherwise);
}

static void
tell (const CleaveFitSearch *search, double part)
{
  const CleaveFitOptions *options = &search->options;

  if (options->watch != NULL)
    options->watch (PART_OF_EDGES + (1 - PART_OF_EDGES) * CLAMP (part, 0, 1), options->watch_data);
}

/* From so many bytes down, to what needs least. */
static void
go_down (CleaveFitSearch *search, Family family)
{
  gint64 target = search->before->predicted, least = find_least (search, family, target);

  while (!is_cancelled (search))
    {
      g_autoptr (CleaveFitPath) path = find_path (search, family, MAX (target, least));

      if (path == NULL)
        break;
      learn (search, family, try_path (search, path));
      tell (search, (double) least / (double) MAX (path->n_bytes, 1));
      if (path->n_bytes <= least)
        break;
      target = MIN (path->n_bytes - 1, (gint64) ((1 - STEP) * (double) path->n_bytes));
    }
}

static gint64
next_target (gint64 target)
{
  return MAX (target + 1, (gint64) ((1 + STEP / 2) * (double) target));
}

/* Measures what is thought to need least, over and over: what is learned of it rules out others. */
static void
search_least_of (CleaveFitSearch *search, Family family, guint *n_nodes)
{
  const gint64 before = search->before->predicted;
  gint64 floor = 0;

  do
    {
      gint64 enough = search->enough;
      gint64 target = MAX (find_least (search, family, MIN (enough, before)), floor);
      g_autoptr (CleaveFitPath) path = (double) target > (1 - MIN_SAVED) * (double) enough
                                           ? NULL
                                           : find_path (search, family, target);
      const CleaveFitTry *tried;

      if (path == NULL)
        break;
      if (family >= LAPS && count_pieces (search, path) > MAX_PIECES_OF_LAST)
        {
          floor = next_target (target);
          continue;
        }
      tried = try_path (search, path);
      *n_nodes += tried->n_nodes;
      tell (search, (double) target / (double) MAX (enough, 1));
      if (!learn (search, family, tried) || search->enough == enough)
        floor = next_target (target);
    }
  while (!is_cancelled (search) && *n_nodes < MAX_NODES_OF_LEAST);
}

static void
search_least (CleaveFitSearch *search, Family first, Family last, guint *n_nodes)
{
  for (Family family = first; family <= last; family++)
    if (is_its_own (search, family))
      search_least_of (search, family, n_nodes);
}

/* Between a plan that fits and one that does not, or as far as all fit. */
static void
search_cheaper (CleaveFitSearch *search, Family family, const CleaveFitTry *found, gint64 max_bytes)
{
  gint64 does_not =
      search->before->predicted; /* what others are thought to take tells of no laps */
  gint64 fits = family < LAPS ? found->predicted : find_least (search, family, found->predicted);
  gint64 near = MAX ((gint64) (NEAR * (double) max_bytes), 1);
  guint n_nodes = 0;

  while (does_not - fits > near && n_nodes < MAX_NODES_OF_CHEAPER && !is_cancelled (search))
    {
      gint64 between = fits + MIN ((does_not - fits) / 2, MAX (max_bytes / 8, 1));
      g_autoptr (CleaveFitPath) path = find_path (search, family, between);
      const CleaveFitTry *tried;

      if (path == NULL || path->n_bytes <= fits ||
          n_nodes + count_pieces (search, path) > MAX_NODES_OF_CHEAPER)
        {
          fits = between;
          continue;
        }
      tried = try_path (search, path);
      learn (search, family, tried);
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
  search_cheaper (search, STRIPS, found, max_bytes);
  for (Family family = TILES; family < NARROW && found->work > little; family++)
    if (is_its_own (search, family))
      search_cheaper (search, family, found, max_bytes);
}

/* From the fewest bytes that a path is foreseen to need up to what was found: what was learned of
 * one plan may be wrong in another. */
static void
go_up (CleaveFitSearch *search, Family family)
{
  gint64 target = find_least (search, family, search->before->predicted);
  guint n_nodes = 0; /* since less was found */

  while (!is_cancelled (search) && target < search->enough && n_nodes < MAX_NODES_UP)
    {
      g_autoptr (CleaveFitPath) path = find_path (search, family, target);
      gint64 enough = search->enough;
      const CleaveFitTry *tried = path == NULL ? NULL : try_path (search, path);

      if (tried == NULL)
        break;
      n_nodes = search->enough < enough ? 0 : n_nodes + tried->n_nodes;
      target = MAX (target + 1, (gint64) ((1 + STEP) * (double) target));
    }
}

/* What adds fewer MACs than allowed is allowed, but plans that add more are thought to take less
 * and hide it: so it is looked for besides, where it is thought to better what was found. */
static void
search_limits (CleaveFitSearch *search, Family first, Family last)
{
  static const double fewer[] = { 0.3, 0.1, -1 };
  const double asked = search->options.max_added_macs;
  guint n_nodes = first < LAPS    ? 0
                  : first >= FINE ? MAX_NODES_OF_LEAST - MAX_NODES_OF_LATE
                                  : MAX_NODES_OF_LEAST - MAX_NODES_OF_LAPS;

  search_least (search, first, last, &n_nodes);
  for (guint i = 0; i < G_N_ELEMENTS (fewer) && n_nodes < MAX_NODES_OF_LEAST &&
                    search->steps.n_steps <= MAX_STEPS_OF_LIMITS;
       i++)
    if (asked == 0 || fewer[i] < asked)
      {
        search->options.max_added_macs = fewer[i];
        search_least (search, first, last, &n_nodes);
      }
  search->options.max_added_macs = asked;
}

/* Of some families; who then asks all up to the last of them for one byte less is to find nothing.
 */
static void
search_down (CleaveFitSearch *search, Family first, Family last)
{
  gint64 before;

  search->is_for_least = TRUE;
  search_limits (search, first, last);
  forget (search);
  for (Family family = first; family <= last; family++)
    if (is_its_own (search, family) && !is_second (search) &&
        (family < LAPS || (family < NARROW && search->steps.n_steps <= MAX_STEPS_OF_LIMITS)))
      go_up (search, family);
  search->is_for_least = FALSE;
  do
    {
      before = search->enough;
      forget (search);
      search_quickly (search, last, search->enough - 1);
    }
  while (search->enough < before && !is_cancelled (search));
}

/* From what is as it is down to the least, by work and by MACs. */
static void
go_down_all (CleaveFitSearch *search, Family first, Family last)
{
  for (guint i = 0; i < 2; i++)
    {
      search->mac_price = i == 0 ? 0 : HIGH_PRICE;
      for (Family family = first; family <= last; family++)
        if (is_its_own (search, family))
          go_down (search, family);
    }
  search->mac_price = 0;
}

/* The last of those that need least; NULL: it was found otherwise. */
static const CleaveFitTry *
find_least_try (const CleaveFitSearch *search)
{
  const CleaveFitTry *least = NULL;

  for (guint i = 0; i < search->met->len; i++)
    {
      const CleaveFitTry *tried = search->met->pdata[i];

      if (tried->estimate.arena_bytes == search->enough && cleave_fit_search_allows (search, tried))
        least = tried;
    }
  return least;
}

/* What takes less than it was thought to is found in search of what is cheaper, too. */
static void
settle (CleaveFitSearch *search)
{
  gint64 before;

  if (search->steps.n_steps > MAX_STEPS_OF_LIMITS || is_second (search))
    return;
  do
    {
      const CleaveFitTry *least = find_least_try (search);

      before = search->enough;
      cleave_fit_search_cheaper (search, least == NULL ? search->before : least, before);
      forget (search);
      cleave_fit_search_quickly (search, search->enough - 1);
    }
  while (search->enough < before && !is_cancelled (search));
}

/* What is found under a limit of time depends on how much is asked for, so less is asked for
 * besides.  With 25 per cent more time a gated network comes to 63 per cent of its arena in place
 * of 74, a residual one to 29 in place of 31, and searches take a fifth longer.  FALSE: that found
 * nothing. */
static gboolean
search_less (CleaveFitSearch *search)
{
  static const double parts[] = { 0.97, 0.94, 0.9 };
  const gint64 before = search->enough;
  guint n_nodes = 1; /* all of these together */

  if (search->options.max_added_latency == 0 || is_second (search))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (parts) && !is_cancelled (search); i++)
    {
      const gint64 max_bytes = (gint64) (parts[i] * (double) search->enough);

      forget (search);
      for (Family family = STRIPS; family <= NARROW; family++)
        if (is_its_own (search, family))
          search_family (search, family, max_bytes, &n_nodes);
    }
  return search->enough < before;
}

/* More tiles are more nodes: they are for what would be refused although a segment has so many that
 * it could not have twice as many. */
static gboolean
needs_fine (const CleaveFitSearch *search)
{
  const CleaveFitTry *least = find_least_try (search);

  if (least == NULL || search->steps.n_steps > MAX_STEPS_OF_LIMITS || is_second (search) ||
      search->enough <= search->options.max_memory)
    return FALSE;
  for (guint i = 0; i < least->parts->len; i++)
    {
      const CleaveFitEdge *edge = &((const CleaveFitPart *) least->parts->pdata[i])->edge;

      if (2 * edge->n_strips * edge->n_columns > CLEAVE_FIT_MAX_TILES)
        return TRUE;
    }
  return FALSE;
}

/* What strips need is foreseen well where they copy what they keep, so that what is asked for may
 * be found where the least is not.  Else nothing was: the least is the same whoever asks, and one
 * byte less than that is refused. */
static void
search_asked (CleaveFitSearch *search)
{
  const gint64 before = search->enough, max_bytes = search->options.max_memory;
  const guint n_met = search->met->len;
  guint n_nodes = 0;

  if (max_bytes == 0 || before <= max_bytes + 1 ||
      search_family (search, KEPT, max_bytes, &n_nodes) != NULL)
    return;
  search->enough = before;
  g_ptr_array_set_size (search->met, (gint) n_met);
}

/* After all others, of which it then takes nothing.  FALSE: it found nothing. */
static gboolean
search_fine (CleaveFitSearch *search)
{
  const gint64 before = search->enough;

  if (!is_cancelled (search) && needs_fine (search) && is_its_own (search, FINE))
    search_down (search, FINE, FINE);
  return search->enough < before;
}

/* Likewise. */
static gboolean
search_kept (CleaveFitSearch *search)
{
  const gint64 before = search->enough;

  if (is_cancelled (search) || search->steps.n_steps > MAX_STEPS_OF_LIMITS || is_second (search) ||
      search->enough <= search->options.max_memory || !is_its_own (search, KEPT))
    return FALSE;
  search->is_for_least = TRUE;
  search_limits (search, KEPT, KEPT);
  search->is_for_least = FALSE;
  search_asked (search);
  return search->enough < before;
}

/* Plans that count on laps last, so that they take nothing from the others. */
static void
search_all (CleaveFitSearch *search, gboolean goes_down)
{
  /* what a quick search met before is to change nothing: who asks for the least finds it again */
  g_ptr_array_set_size (search->met, 0);
  foresee (search);
  /* copies and parts may take longer than allowed by themselves; what the graph takes is allowed */
  search->enough =
      MIN ((cleave_fit_search_allows (search, search->before) ? search->before : search->original)
               ->estimate.arena_bytes,
           search->most);
  search_down (search, STRIPS, TILES);
  if (goes_down)
    go_down_all (search, STRIPS, TILES);
  if (is_its_own (search, LAPS))
    {
      search_down (search, LAPS, LAPS);
      if (goes_down)
        go_down_all (search, LAPS, BOLD_LAPS);
    }
  if (is_its_own (search, NARROW))
    {
      search_down (search, NARROW, NARROW);
      if (goes_down)
        go_down_all (search, NARROW, NARROW);
    }
  settle (search);
  if (search_less (search))
    settle (search);
  if (search_fine (search))
    settle (search);
  if (search_kept (search))
    settle (search);
  tell (search, 1);
}

void
cleave_fit_search_least (CleaveFitSearch *search)
{
  search_all (search, FALSE);
}

void
cleave_fit_search_all (CleaveFitSearch *search)
{
  search->keeps_all = TRUE;
  search_all (search, TRUE);
}
