/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-copies.h"
#include "fit-try.h"

#include <cleave/cleave-fit.h>

/* Plans for a graph, each measured once.  What is measured depends on the number of bytes asked for
 * alone, so that the least that was found is found again when it is asked for. */
typedef struct
{
  CleaveGraph *graph; /* a copy */
  CleaveFitOptions options;
  CleaveFitSteps steps;
  CleaveFitEdges strips, tiles;             /* tiles only once strips do not do */
  CleaveFitEdges lapped[CLEAVE_FIT_N_LAPS]; /* of tiles, if there are such; the first is not */
  GHashTable *known;                        /* CleaveFitTry, by what is cut */
  GPtrArray *tries;                         /* the same; the first cuts nothing */
  GPtrArray *met;                           /* the same, unowned: since the search began */
  const CleaveFitTry *before;               /* the first */
  const CleaveFitTry *original;             /* the same, without copies */
  GPtrArray *late;                          /* CleaveFitCopy: of values that wait long, made before
                                               the other copies; NULL: none */
  GPtrArray *copies;                        /* CleaveFitCopy: that the graph has; NULL: none */
  gint64 parted;                            /* values of so many bytes are made in the parts that
                                               are read; 0: as they are */
  gboolean is_listed; /* its steps are its nodes as they stand, and pieces keep their order */
  GPtrArray *learned[CLEAVE_FIT_N_LAPS]; /* CleaveFitTry, unowned: what edges were corrected by */
  gboolean is_for_least;                 /* time is no matter */
  gboolean keeps_all;                    /* what needs more than enough is of use, too */
  double mac_price;                      /* of a MAC, besides the work that it is */
  gint64 most;                           /* bytes that were found otherwise: more are no matter */
  gint64 foreseen; /* bytes that strips were thought to need, before others were measured */
  gint64 enough;   /* those, or fewer that were found with any limit on MACs */
} CleaveFitSearch;

/* FALSE: the graph has a cycle, or the search was cancelled. */
gboolean cleave_fit_search_init (CleaveFitSearch *search,
                                 const CleaveGraph *graph,
                                 const CleaveFitOptions *options,
                                 GError **error);
/* How a graph is looked at otherwise than as it is: with values that are made in the parts that are
 * read, or with copies of values that wait long, which are then searched as if they were the graph
 * itself; with copies of values that stand in the way; as if parts of joins lay apart, for plans in
 * which no join of theirs is there whole; or with such copies, and nodes that run where what is
 * small waits in place of what is large. */
typedef enum {
  CLEAVE_FIT_PARTED,
  CLEAVE_FIT_LATE,
  CLEAVE_FIT_COPIES,
  CLEAVE_FIT_STAGED,
  CLEAVE_FIT_MOVED,
  CLEAVE_FIT_N_OTHERWISE
} CleaveFitOtherwise;

/* For fewer than `most` bytes.  The first search is to live as long.  FALSE: there is nothing of
 * the kind, or the search was cancelled. */
gboolean cleave_fit_search_init_again (CleaveFitSearch *search,
                                       CleaveFitSearch *first,
                                       CleaveFitOtherwise otherwise,
                                       gint64 most);
void cleave_fit_search_clear (CleaveFitSearch *search);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitSearch, cleave_fit_search_clear)

/* A cheap plan whose arena has no more than so many bytes; NULL: none was found at once, or the
 * search was cancelled. */
const CleaveFitTry *cleave_fit_search_quickly (CleaveFitSearch *search, gint64 max_bytes);
/* Tries others that may be cheaper and have no more than so many bytes, either. */
void
cleave_fit_search_cheaper (CleaveFitSearch *search, const CleaveFitTry *found, gint64 max_bytes);
/* Tries plans until one of those tried has the fewest bytes that can be found. */
void cleave_fit_search_least (CleaveFitSearch *search);
/* Tries those, and plans from the most memory to the least; then all are worth a look. */
void cleave_fit_search_all (CleaveFitSearch *search);
/* Whether it adds no more MACs and time than allowed. */
gboolean cleave_fit_search_allows (const CleaveFitSearch *search, const CleaveFitTry *tried);
