/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The search for the least: upwards from the least memory and downwards from the least work. */

#include "fit-families.h"

/* From one plan to the next, memory is to fall by this part. */
#define STEP 0.06

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

static void
tell (const CleaveFitSearch *search, double part)
{
  const CleaveFitOptions *options = &search->options;

  if (options->watch != NULL)
    options->watch (CLEAVE_FIT_PART_OF_EDGES + (1 - CLEAVE_FIT_PART_OF_EDGES) * CLAMP (part, 0, 1),
                    options->watch_data);
}

/* From so many bytes down, to what needs least. */
static void
go_down (CleaveFitSearch *search, CleaveFitFamily family)
{
  gint64 target = search->before->predicted,
         least = cleave_fit_family_find_least (search, family, target);

  while (!cleave_fit_search_is_cancelled (search))
    {
      g_autoptr (CleaveFitPath) path =
          cleave_fit_family_find_path (search, family, MAX (target, least));

      if (path == NULL)
        break;
      cleave_fit_family_learn (search, family, cleave_fit_search_try (search, path));
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
search_least_of (CleaveFitSearch *search, CleaveFitFamily family, guint *n_nodes)
{
  const gint64 before = search->before->predicted;
  gint64 floor = 0;

  do
    {
      gint64 enough = search->enough;
      gint64 target =
          MAX (cleave_fit_family_find_least (search, family, MIN (enough, before)), floor);
      g_autoptr (CleaveFitPath) path = (double) target > (1 - MIN_SAVED) * (double) enough
                                           ? NULL
                                           : cleave_fit_family_find_path (search, family, target);
      const CleaveFitTry *tried;

      if (path == NULL)
        break;
      if (family >= CLEAVE_FIT_OF_LAPS &&
          cleave_fit_search_count_pieces (search, path) > MAX_PIECES_OF_LAST)
        {
          floor = next_target (target);
          continue;
        }
      tried = cleave_fit_search_try (search, path);
      *n_nodes += tried->n_nodes;
      tell (search, (double) target / (double) MAX (enough, 1));
      if (!cleave_fit_family_learn (search, family, tried) || search->enough == enough)
        floor = next_target (target);
    }
  while (!cleave_fit_search_is_cancelled (search) && *n_nodes < MAX_NODES_OF_LEAST);
}

static void
search_least (CleaveFitSearch *search, CleaveFitFamily first, CleaveFitFamily last, guint *n_nodes)
{
  for (CleaveFitFamily family = first; family <= last; family++)
    if (cleave_fit_family_is_its_own (search, family))
      search_least_of (search, family, n_nodes);
}

/* From the fewest bytes that a path is foreseen to need up to what was found: what was learned of
 * one plan may be wrong in another. */
static void
go_up (CleaveFitSearch *search, CleaveFitFamily family)
{
  gint64 target = cleave_fit_family_find_least (search, family, search->before->predicted);
  guint n_nodes = 0; /* since less was found */

  while (!cleave_fit_search_is_cancelled (search) && target < search->enough &&
         n_nodes < MAX_NODES_UP)
    {
      g_autoptr (CleaveFitPath) path = cleave_fit_family_find_path (search, family, target);
      gint64 enough = search->enough;
      const CleaveFitTry *tried = path == NULL ? NULL : cleave_fit_search_try (search, path);

      if (tried == NULL)
        break;
      n_nodes = search->enough < enough ? 0 : n_nodes + tried->n_nodes;
      target = MAX (target + 1, (gint64) ((1 + STEP) * (double) target));
    }
}

/* What adds fewer MACs than allowed is allowed, but plans that add more are thought to take less
 * and hide it: so it is looked for besides, where it is thought to better what was found.  Of a
 * long graph without a limit it is looked for first: an encoder of 12 layers comes to 313,344 bytes
 * in place of 368,640, in two thirds of the time. */
static void
search_limits (CleaveFitSearch *search, CleaveFitFamily first, CleaveFitFamily last)
{
  static const double fewer[] = { 0.3, 0.1, -1 };
  const double asked = search->options.max_added_macs;
  const gboolean is_long = search->steps.n_steps > CLEAVE_FIT_MAX_STEPS_OF_LIMITS;
  guint n_nodes = first < CLEAVE_FIT_OF_LAPS    ? 0
                  : first >= CLEAVE_FIT_OF_FINE ? MAX_NODES_OF_LEAST - MAX_NODES_OF_LATE
                                                : MAX_NODES_OF_LEAST - MAX_NODES_OF_LAPS;

  if (is_long && asked == 0)
    {
      search->options.max_added_macs = fewer[0];
      search_least (search, first, last, &n_nodes);
      search->options.max_added_macs = asked;
    }
  if (n_nodes < MAX_NODES_OF_LEAST)
    search_least (search, first, last, &n_nodes);
  for (guint i = 0; i < G_N_ELEMENTS (fewer) && n_nodes < MAX_NODES_OF_LEAST && !is_long; i++)
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
search_down (CleaveFitSearch *search, CleaveFitFamily first, CleaveFitFamily last)
{
  gint64 before;

  search->is_for_least = TRUE;
  search_limits (search, first, last);
  cleave_fit_search_forget (search);
  for (CleaveFitFamily family = first; family <= last; family++)
    if (cleave_fit_family_is_its_own (search, family) && !cleave_fit_search_is_second (search) &&
        (family < CLEAVE_FIT_OF_LAPS || (family < CLEAVE_FIT_OF_NARROW &&
                                         search->steps.n_steps <= CLEAVE_FIT_MAX_STEPS_OF_LIMITS)))
      go_up (search, family);
  search->is_for_least = FALSE;
  do
    {
      before = search->enough;
      cleave_fit_search_forget (search);
      cleave_fit_search_families_quickly (search, last, search->enough - 1);
    }
  while (search->enough < before && !cleave_fit_search_is_cancelled (search));
}

/* From what is as it is down to the least, by work and by MACs. */
static void
go_down_all (CleaveFitSearch *search, CleaveFitFamily first, CleaveFitFamily last)
{
  for (guint i = 0; i < 2; i++)
    {
      search->mac_price = i == 0 ? 0 : CLEAVE_FIT_HIGH_PRICE;
      for (CleaveFitFamily family = first; family <= last; family++)
        if (cleave_fit_family_is_its_own (search, family))
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

  if (search->steps.n_steps > CLEAVE_FIT_MAX_STEPS_OF_LIMITS ||
      cleave_fit_search_is_second (search))
    return;
  do
    {
      const CleaveFitTry *least = find_least_try (search);

      before = search->enough;
      cleave_fit_search_cheaper (search, least == NULL ? search->before : least, before);
      cleave_fit_search_forget (search);
      cleave_fit_search_quickly (search, search->enough - 1);
    }
  while (search->enough < before && !cleave_fit_search_is_cancelled (search));
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

  if (search->options.max_added_latency == 0 || cleave_fit_search_is_second (search))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (parts) && !cleave_fit_search_is_cancelled (search); i++)
    {
      const gint64 max_bytes = (gint64) (parts[i] * (double) search->enough);

      cleave_fit_search_forget (search);
      for (CleaveFitFamily family = CLEAVE_FIT_OF_STRIPS; family <= CLEAVE_FIT_OF_NARROW; family++)
        if (cleave_fit_family_is_its_own (search, family))
          cleave_fit_search_in_family (search, family, max_bytes, &n_nodes);
    }
  return search->enough < before;
}

/* More tiles are more nodes: they are for what would be refused although a segment has so many that
 * it could not have twice as many. */
static gboolean
needs_fine (const CleaveFitSearch *search)
{
  const CleaveFitTry *least = find_least_try (search);

  if (least == NULL || search->steps.n_steps > CLEAVE_FIT_MAX_STEPS_OF_LIMITS ||
      cleave_fit_search_is_second (search) || search->enough <= search->options.max_memory)
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
  const guint n_met = search->met->len, n_tries = search->tries->len;
  guint n_nodes = 0;

  if (max_bytes == 0 || before <= max_bytes + 1 ||
      cleave_fit_search_in_family (search, CLEAVE_FIT_OF_KEPT, max_bytes, &n_nodes) != NULL)
    return;
  search->enough = before;
  g_ptr_array_set_size (search->met, (gint) n_met);
  cleave_fit_search_forget_since (search, n_tries);
}

/* After all others, of which it then takes nothing.  FALSE: it found nothing. */
static gboolean
search_fine (CleaveFitSearch *search)
{
  const gint64 before = search->enough;

  if (!cleave_fit_search_is_cancelled (search) && needs_fine (search) &&
      cleave_fit_family_is_its_own (search, CLEAVE_FIT_OF_FINE))
    search_down (search, CLEAVE_FIT_OF_FINE, CLEAVE_FIT_OF_FINE);
  return search->enough < before;
}

/* Likewise. */
static gboolean
search_kept (CleaveFitSearch *search)
{
  const gint64 before = search->enough;

  if (cleave_fit_search_is_cancelled (search) ||
      search->steps.n_steps > CLEAVE_FIT_MAX_STEPS_OF_LIMITS ||
      cleave_fit_search_is_second (search) || search->enough <= search->options.max_memory ||
      !cleave_fit_family_is_its_own (search, CLEAVE_FIT_OF_KEPT))
    return FALSE;
  search->is_for_least = TRUE;
  search_limits (search, CLEAVE_FIT_OF_KEPT, CLEAVE_FIT_OF_KEPT);
  search->is_for_least = FALSE;
  search_asked (search);
  return search->enough < before;
}

/* Finds the segments of all families but the last two.  What is measured meanwhile must not depend
 * on whether a quick search has found them before. */
static void
init_edges (CleaveFitSearch *search)
{
  for (CleaveFitFamily family = CLEAVE_FIT_OF_TILES; family <= CLEAVE_FIT_OF_NARROW; family++)
    if (cleave_fit_family_is_its_own (search, family))
      cleave_fit_family_get_edges (search, family);
}

/* Plans that count on laps last, so that they take nothing from the others. */
static void
search_all (CleaveFitSearch *search, gboolean goes_down)
{
  /* The quick search measured for a budget, so its measurements stay out of the search for the
   * least memory, which must find the same for every budget. */
  g_ptr_array_set_size (search->met, 0);
  cleave_fit_search_forget_since (search, 1);
  init_edges (search);
  cleave_fit_search_foresee (search);
  /* copies and parts may take longer than allowed by themselves; what the graph takes is allowed */
  search->enough =
      MIN ((cleave_fit_search_allows (search, search->before) ? search->before : search->original)
               ->estimate.arena_bytes,
           search->most);
  search_down (search, CLEAVE_FIT_OF_STRIPS, CLEAVE_FIT_OF_TILES);
  if (goes_down)
    go_down_all (search, CLEAVE_FIT_OF_STRIPS, CLEAVE_FIT_OF_TILES);
  if (cleave_fit_family_is_its_own (search, CLEAVE_FIT_OF_LAPS))
    {
      search_down (search, CLEAVE_FIT_OF_LAPS, CLEAVE_FIT_OF_LAPS);
      if (goes_down)
        go_down_all (search, CLEAVE_FIT_OF_LAPS, CLEAVE_FIT_OF_BOLD_LAPS);
    }
  if (cleave_fit_family_is_its_own (search, CLEAVE_FIT_OF_NARROW))
    {
      search_down (search, CLEAVE_FIT_OF_NARROW, CLEAVE_FIT_OF_NARROW);
      if (goes_down)
        go_down_all (search, CLEAVE_FIT_OF_NARROW, CLEAVE_FIT_OF_NARROW);
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
