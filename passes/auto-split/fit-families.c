/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-families.h"

#include <math.h>

/* What they are thought to compute is so much too much at times. */
#define MAC_MARGIN 0.3
/* Of those that have few tries, which are foreseen well: what is not allowed is not tried. */
#define MAC_MARGIN_OF_KEPT 0.03

/* What a MAC costs besides, where few may be added: from next to nothing to more than all else. */
#define LOW_PRICE 0.03
#define N_PRICES 6

static CleaveFitLaps
get_laps (CleaveFitFamily family)
{
  return family < CLEAVE_FIT_OF_LAPS         ? CLEAVE_FIT_APART
         : family == CLEAVE_FIT_OF_LAPS      ? CLEAVE_FIT_LAPPED
         : family == CLEAVE_FIT_OF_BOLD_LAPS ? CLEAVE_FIT_BOLD
         : family == CLEAVE_FIT_OF_NARROW    ? CLEAVE_FIT_NARROW
         : family == CLEAVE_FIT_OF_FINE      ? CLEAVE_FIT_FINE
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

void
cleave_fit_search_forget (CleaveFitSearch *search)
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
init_late (CleaveFitSearch *search, CleaveFitFamily family, CleaveFitEdges *edges)
{
  const CleaveFitWatch watch = { .cancellable = search->options.cancellable };

  if (family == CLEAVE_FIT_OF_FINE)
    cleave_fit_edges_init_fine (edges, &search->tiles, &watch);
  else
    cleave_fit_edges_init_kept (edges, &search->tiles);
  cleave_fit_edges_forget (edges);
  for (guint i = 0; i < search->met->len; i++)
    learn_of (edges, search->met->pdata[i]);
}

const CleaveFitEdges *
cleave_fit_family_get_edges (CleaveFitSearch *search, CleaveFitFamily family)
{
  const CleaveFitWatch watch = { .cancellable = search->options.cancellable };
  CleaveFitEdges *lapped;

  if (family < CLEAVE_FIT_OF_TILES)
    return &search->strips;
  if (search->tiles.edges == NULL)
    {
      cleave_fit_edges_init (&search->tiles, &search->steps, &search->strips, &watch, NULL);
      cleave_fit_edges_forget (&search->tiles); /* strips among them may be measured */
      for (guint i = 0; i < search->learned[CLEAVE_FIT_APART]->len; i++)
        learn_of (&search->tiles, search->learned[CLEAVE_FIT_APART]->pdata[i]);
    }
  if (family < CLEAVE_FIT_OF_LAPS)
    return &search->tiles;
  lapped = &search->lapped[get_laps (family)];
  if (lapped->edges == NULL && family >= CLEAVE_FIT_OF_FINE)
    init_late (search, family, lapped);
  else if (lapped->edges == NULL)
    {
      cleave_fit_edges_init_lapped (lapped, &search->tiles, get_laps (family));
      recall (search, lapped);
    }
  return lapped;
}

gboolean
cleave_fit_family_is_its_own (CleaveFitSearch *search, CleaveFitFamily family)
{
  if (family == CLEAVE_FIT_OF_STRIPS)
    return TRUE;
  if (search->options.even_strips ||
      (family == CLEAVE_FIT_OF_BOLD_LAPS &&
       (search->steps.n_steps > CLEAVE_FIT_MAX_STEPS_OF_LIMITS ||
        (cleave_fit_search_is_second (search) && !search->keeps_all))))
    return FALSE;
  if (family == CLEAVE_FIT_OF_NARROW || family == CLEAVE_FIT_OF_KEPT)
    return cleave_fit_family_get_edges (search, CLEAVE_FIT_OF_TILES)->has_narrow;
  if (family == CLEAVE_FIT_OF_FINE)
    return cleave_fit_family_get_edges (search, CLEAVE_FIT_OF_TILES)->has_tiles &&
           cleave_fit_family_get_edges (search, CLEAVE_FIT_OF_FINE)->has_fine;
  return family == CLEAVE_FIT_OF_TILES
             ? cleave_fit_family_get_edges (search, CLEAVE_FIT_OF_TILES)->has_tiles
             : search->options.n_threads == 1 &&
                   cleave_fit_family_get_edges (search, CLEAVE_FIT_OF_TILES)->has_laps;
}

double
cleave_fit_search_get_allowed_macs (const CleaveFitSearch *search)
{
  const CleaveFitTry *original = search->original;
  gint64 now = search->steps.macs, before = original == NULL ? now : original->macs;

  return MAX (
      (1 + cleave_fit_limit (search->options.max_added_macs)) * (double) before - (double) now, 0);
}

static double
get_mac_margin (CleaveFitFamily family)
{
  return family == CLEAVE_FIT_OF_KEPT ? MAC_MARGIN_OF_KEPT : MAC_MARGIN;
}

CleaveFitPath *
cleave_fit_family_find_path (CleaveFitSearch *search, CleaveFitFamily family, gint64 max_bytes)
{
  const CleaveFitEdges *edges = cleave_fit_family_get_edges (search, family);
  const double asked = search->options.max_added_macs;
  double allowed = cleave_fit_search_get_allowed_macs (search);
  CleaveFitAsk ask = { max_bytes, search->mac_price,
                       !search->is_for_least || search->options.max_added_latency != 0 };
  g_autoptr (CleaveFitPath) path = cleave_fit_path_find (edges, &ask);
  double low = LOW_PRICE, high = CLEAVE_FIT_HIGH_PRICE;

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

gboolean
cleave_fit_family_learn (CleaveFitSearch *search, CleaveFitFamily family, const CleaveFitTry *tried)
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

/* Whether a path of so many bytes takes no longer than allowed.  Else those that take far too long
 * are measured first: under a limit of 25 per cent blazeface-back came to 1,474,560 bytes in place
 * of 1,414,208. */
static gboolean
is_quick_enough (CleaveFitSearch *search, CleaveFitFamily family, gint64 max_bytes)
{
  const CleaveFitAsk ask = { max_bytes, 0, TRUE };
  const double asked = search->options.max_added_latency;
  g_autoptr (CleaveFitPath) path = NULL;

  if (asked == 0)
    return TRUE;
  path = cleave_fit_path_find (cleave_fit_family_get_edges (search, family), &ask);
  return path != NULL &&
         path->work <= cleave_fit_limit (asked) * search->original->estimate.nanoseconds;
}

/* Whether a path of so many bytes adds no more MACs and time than allowed; then what it needs, else
 * -1. */
static gint64
find_possible (CleaveFitSearch *search, CleaveFitFamily family, gint64 max_bytes)
{
  const double asked = search->options.max_added_macs;
  const CleaveFitAsk ask = { max_bytes, asked == 0 ? 0 : CLEAVE_FIT_HIGH_PRICE, FALSE };
  g_autoptr (CleaveFitPath) path =
      cleave_fit_path_find (cleave_fit_family_get_edges (search, family), &ask);

  return path == NULL || !is_quick_enough (search, family, max_bytes) ||
                 (asked != 0 && path->macs > (1 + get_mac_margin (family)) *
                                                 cleave_fit_search_get_allowed_macs (search))
             ? -1
             : path->n_bytes;
}

gint64
cleave_fit_family_find_least (CleaveFitSearch *search, CleaveFitFamily family, gint64 enough)
{
  gint64 too_few = cleave_fit_path_find_least (cleave_fit_family_get_edges (search, family)) - 1;

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
