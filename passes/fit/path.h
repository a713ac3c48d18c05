/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "candidates.h"

/* An estimated plan: a sequence of segment candidates. Segments meet only at whole values.
 * Therefore, the peak of a plan is the maximum of the peaks of its segments, and the cost of a plan
 * is the sum of their costs. The cheapest plan within a number of bytes is a shortest path over the
 * steps. search.c asks for paths with falling numbers of bytes, and measures them
 * (measurement.h). */

typedef struct
{
  GArray *segments;  /* CleaveFitCandidate, in order; steps between them stay whole */
  gint64 n_bytes;    /* estimated peak of the plan, in bytes */
  double macs, work; /* MACs that the segments add, and nanoseconds that they add */
} CleaveFitPath;

void cleave_fit_path_free (CleaveFitPath *path);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitPath, cleave_fit_path_free)

typedef struct
{
  gint64 max_bytes;
  double mac_price; /* price of an added MAC in nanoseconds, which the search adds to the cost of a
                       path */
  /* limit on overlays of results on dying operands: strips may read ahead by at most this fraction
   * of the smaller of the two values. Negative: no overlays */
  double max_ahead;
} CleaveFitPathQuery;

/* Returns the path with the lowest cost within `max_bytes`. Returns NULL if there is none. Takes
 * time in proportion to the number of candidates. */
CleaveFitPath *cleave_fit_path_find (const CleaveFitCandidates *candidates,
                                     const CleaveFitPathQuery *query);
/* Returns a lower bound in bytes of the estimates of all paths. The estimate of a path is the size
 * of its largest segment or step, with the drift of overlays (path.c). The bound counts no drift.
 * If `has_overlays` is FALSE, the bound counts no overlays, and one path needs exactly the bound.
 * Takes time in proportion to the number of candidates. */
gint64 cleave_fit_path_bound (const CleaveFitCandidates *candidates, gboolean has_overlays);
/* Returns whether two paths have the same segments. */
gboolean cleave_fit_path_equal (const CleaveFitPath *a, const CleaveFitPath *b);
