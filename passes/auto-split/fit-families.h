/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-search.h"

/* What the files of the search ask each other. */

/* Longer graphs are searched with the limit on MACs that is asked for alone: each other limit may
 * take as long again. */
#define CLEAVE_FIT_MAX_STEPS_OF_LIMITS 200
/* What a MAC costs besides, where few may be added: from next to nothing to more than all else. */
#define CLEAVE_FIT_HIGH_PRICE 1e6
/* The part of the search that finding segments is. */
#define CLEAVE_FIT_PART_OF_EDGES 0.3

/* What plans are made of. */
typedef enum {
  CLEAVE_FIT_OF_STRIPS,
  CLEAVE_FIT_OF_TILES,
  CLEAVE_FIT_OF_LAPS,
  CLEAVE_FIT_OF_BOLD_LAPS,
  CLEAVE_FIT_OF_NARROW,
  CLEAVE_FIT_OF_FINE,
  CLEAVE_FIT_OF_KEPT
} CleaveFitFamily;

/* Whether the graph is looked at otherwise, for less than was found already.  What helps is found
 * by the search for the least: the rest measured half of the nodes of a small U-net again, for
 * nothing there or in four other networks. */
static inline gboolean
cleave_fit_search_is_second (const CleaveFitSearch *search)
{
  return search->most < G_MAXINT64;
}

/* However large, it leaves a product with nothing a number. */
static inline double
cleave_fit_limit (double asked)
{
  return CLAMP (asked, 0, G_MAXUINT32);
}

static inline gboolean
cleave_fit_search_is_cancelled (const CleaveFitSearch *search)
{
  return g_cancellable_is_cancelled (search->options.cancellable);
}

/* fit-families.c */
/* What its paths are of, which is found when it is first asked for. */
const CleaveFitEdges *cleave_fit_family_get_edges (CleaveFitSearch *search, CleaveFitFamily family);
/* Whether it has plans that no family before it has.  Where a graph is looked at otherwise, the
 * search for the least does without the last, and so does any other for that number of bytes. */
gboolean cleave_fit_family_is_its_own (CleaveFitSearch *search, CleaveFitFamily family);
/* MACs that halos may add, besides those of copies. */
double cleave_fit_search_get_allowed_macs (const CleaveFitSearch *search);
/* The path of least work that adds no more MACs than allowed, or of fewest MACs; NULL if those are
 * many more than allowed. */
CleaveFitPath *
cleave_fit_family_find_path (CleaveFitSearch *search, CleaveFitFamily family, gint64 max_bytes);
/* The fewest bytes that a path is thought to need. */
gint64
cleave_fit_family_find_least (CleaveFitSearch *search, CleaveFitFamily family, gint64 enough);
/* FALSE: nothing was learned of it, since it is known.  Whether results lie over what dies depends
 * on all segments around: so what is learned of plans that count on it is not held against those
 * that do not, and the other way round. */
gboolean cleave_fit_family_learn (CleaveFitSearch *search,
                                  CleaveFitFamily family,
                                  const CleaveFitTry *tried);
/* Forgets what was learned. */
void cleave_fit_search_forget (CleaveFitSearch *search);

/* fit-search.c */
/* Takes the graph; the steps are there, unless they are those of the graph as it is. */
gboolean cleave_fit_search_take (CleaveFitSearch *search,
                                 CleaveGraph *graph,
                                 const CleaveFitOptions *options,
                                 GError **error);
/* Returns what a plan takes.  A plan is measured once under the smallest memory found so far: one
 * that needs more is not packed, and its arena is then a lower bound. */
const CleaveFitTry *cleave_fit_search_try (CleaveFitSearch *search, const CleaveFitPath *path);
/* Measures all plans again but the first `n_tries`: the memory that bounds them has risen since. */
void cleave_fit_search_forget_since (CleaveFitSearch *search, guint n_tries);
/* Of the pieces alone. */
guint64 cleave_fit_search_count_pieces (const CleaveFitSearch *search, const CleaveFitPath *path);
/* A plan of one family that takes no more than so many bytes, or NULL; `n_nodes` counts those of
 * what was measured. */
const CleaveFitTry *cleave_fit_search_in_family (CleaveFitSearch *search,
                                                 CleaveFitFamily family,
                                                 gint64 max_bytes,
                                                 guint *n_nodes);
/* The same of the first family, up to the last, that has one. */
const CleaveFitTry *cleave_fit_search_families_quickly (CleaveFitSearch *search,
                                                        CleaveFitFamily last,
                                                        gint64 max_bytes);

/* fit-otherwise.c */
/* The fewest bytes that strips are thought to need, before anything is measured. */
void cleave_fit_search_foresee (CleaveFitSearch *search);
