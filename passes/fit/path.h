/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "candidates.h"

/* Plans as the search sees them: segment candidates one after the other. Segments meet only at
 * whole values, so the peak of a plan is the maximum over its segments and its cost their sum. The
 * cheapest plan within a number of bytes is a shortest path over the steps. */

typedef struct
{
  GArray *segments;  /* CleaveFitCandidate, in order; steps between candidates stay whole */
  gint64 n_bytes;    /* estimated peak */
  double macs, work; /* added */
} CleaveFitPath;

void cleave_fit_path_free (CleaveFitPath *path);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitPath, cleave_fit_path_free)

typedef struct
{
  gint64 max_bytes;
  double mac_price; /* nanoseconds that an added MAC costs the search, besides its run time */
  /* Limit on overlays of results on dying operands: strips may read ahead by at most this part of
   * the smaller of the two values. */
  double max_ahead;
} CleaveFitPathQuery;

/* Returns the path that costs least within `max_bytes`, or NULL if there is none.  Costs time in
 * proportion to the candidates. */
CleaveFitPath *cleave_fit_path_find (const CleaveFitCandidates *candidates,
                                     const CleaveFitPathQuery *query);
/* Returns whether two paths have the same segments. */
gboolean cleave_fit_path_equal (const CleaveFitPath *a, const CleaveFitPath *b);
