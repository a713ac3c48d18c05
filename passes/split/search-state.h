/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cuts.h"
#include "search.h"

/* The state of a search, its bounds, and its messages if it finds nothing. */

/* A combination: one cut for each dimension, as an index into its cuts. */
typedef struct
{
  gint64 n_bytes;
  guint at[CLEAVE_MAX_RANK];
} CleaveCombination;

typedef struct
{
  CleaveCuts cuts;
  const CleaveConstraint *constraint;
  CleaveTrial *trial; /* measures the peak of the graph; NULL: it has no limit */
  CleaveWork *work;
  gint64 work_end;  /* the search pauses when this much work is done */
  guint n_looks;    /* combinations looked at */
  gint64 max_bytes; /* limit on the largest piece; 0: none */
  gint64 max_n;     /* pieces */
  gboolean all;     /* look at dominated cuts, too */
  gint64 more_than; /* combinations with at most this many pieces were tried */
  gint64 fewest;    /* fewest pieces of a combination found that may fit */
  GArray *found;    /* CleaveCombination: the combinations with `fewest` pieces */
  guint at[CLEAVE_MAX_RANK];
  /* taken[d][v]: bytes of an element of value v times the factors of the cuts chosen for dimensions
   * before d.  least[d][v]: product of the smallest factors of the dimensions from d on. */
  gint64 *taken[CLEAVE_MAX_RANK + 1];
  gint64 *least[CLEAVE_MAX_RANK + 1];
  guint n_tries;
  gboolean has_fitting; /* some combination meets the limits on its pieces */
  gboolean is_capped;   /* a combination was skipped because it has too many pieces */
  gint64 least_bytes;   /* bytes of the smallest largest piece found; G_MAXINT64: none was found */
  CleaveCombination least_one; /* the combination of cuts that has this largest piece */
  GString *why;
} CleaveSearch;

static inline gboolean
cleave_search_fits (const CleaveSearch *search, gint64 n_bytes)
{
  return search->max_bytes == 0 || n_bytes <= search->max_bytes;
}

/* Returns a lower bound on the bytes of a value in the largest chunk: dimensions from `d` on are
 * cut as finely as possible. */
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

/* Says that no piece can be as small as the limit, or not with the number of pieces allowed, and
 * what size is possible. */
void cleave_search_explain_least (CleaveSearch *search);
/* Says why no combination meets the limits on pieces and graph. */
void cleave_search_explain (CleaveSearch *search);
