/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cuts.h"
#include "search.h"

/* The state of a search for one node, its bounds, and its messages if it finds nothing. The search
 * tries combinations, which choose a cut of each dimension. search.c and search-explain.c share
 * this state. */

/* A combination of cuts: `at[d]` is the index of the cut of dimension d. `n_bytes` is the size of
 * the largest piece. */
typedef struct
{
  gint64 n_bytes;
  guint at[CLEAVE_MAX_RANK];
} CleaveCombination;

typedef struct
{
  CleaveCuts cuts;
  const CleaveConstraint *constraint;
  CleaveTrial *trial; /* measures the peak of the graph; NULL: there is no limit on the peak */
  CleaveWork *work;
  gint64 work_end;  /* number of units of `work` at which the search for the fewest pieces ends */
  guint n_looks;    /* number of combinations that were compared with the limits */
  gint64 max_bytes; /* limit on the bytes of the largest piece; 0: no limit */
  gint64 max_n;     /* limit on the number of pieces */
  gboolean all;     /* also try dominated cuts */
  /* the search has already tried all combinations with at most this many pieces */
  gint64 more_than;
  gint64 fewest; /* smallest number of pieces among the combinations that may meet the limits */
  GArray *found; /* CleaveCombination: the combinations with `fewest` pieces */
  guint at[CLEAVE_MAX_RANK];
  /* `taken[d][v]` and `least[d][v]` are factors of the bytes of value v in the largest piece. The
   * search chooses the cuts of the dimensions in order. `taken[d][v]` is for the chosen cuts: the
   * bytes of an element, times the extents of v in the dimensions before d (`low` of each cut,
   * cuts.h). `least[d][v]` is for the dimensions from d on: the product of the smallest extents of
   * v in any cut. */
  gint64 *taken[CLEAVE_MAX_RANK + 1];
  gint64 *least[CLEAVE_MAX_RANK + 1];
  guint n_tries;
  gboolean has_fitting; /* a combination meets the limits on its pieces */
  gboolean is_capped;   /* a combination was skipped because it has too many pieces */
  gint64 least_bytes;   /* bytes of the largest piece of `least_one`; G_MAXINT64: no combination was
                           tried yet */
  CleaveCombination least_one; /* the tried combination whose largest piece is the smallest */
  GString *why;
} CleaveSearch;

static inline gboolean
cleave_search_fits (const CleaveSearch *search, gint64 n_bytes)
{
  return search->max_bytes == 0 || n_bytes <= search->max_bytes;
}

/* Returns a lower bound on the bytes of value `v` in the largest chunk, if the dimensions from `d`
 * on are cut as finely as possible. */
static inline gint64
cleave_search_value_bytes (const CleaveSearch *search, guint d, guint v)
{
  return search->taken[d][v] * search->least[d][v];
}

static inline gint64
cleave_search_chunk_bytes (const CleaveSearch *search, guint d)
{
  gint64 n = 0;

  for (guint v = 0; v < search->cuts.n_values; v++)
    n += cleave_search_value_bytes (search, d, v);
  return n;
}

/* Composes the message that the limit is too small for any piece, or for the allowed number of
 * pieces. The message states the smallest possible size. */
void cleave_search_explain_least (CleaveSearch *search);
/* Composes the message why the search found no split. States which limit, on the pieces or on the
 * graph, no combination of cuts meets. */
void cleave_search_explain (CleaveSearch *search);
