/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The segment candidates of a graph, for the suites that test them. */

#include "../../../passes/fit/measurement.h"
#include "test.h"

/* The steps of a graph, and its segment candidates. */
typedef struct
{
  CleaveFitSteps steps;
  CleaveFitCandidates candidates;
} Found;

static inline void
found_clear (Found *found)
{
  cleave_fit_candidates_clear (&found->candidates);
  cleave_fit_steps_clear (&found->steps);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Found, found_clear)

/* Finds all segment candidates of the graph, without a limit on the bytes of tiles. */
static inline void
find (Found *found, const CleaveGraph *graph, guint n_threads)
{
  const CleaveFitWatch watch = { .tile_bytes = G_MAXINT64, .n_threads = n_threads };
  g_autoptr (GError) error = NULL;

  *found = (Found){ 0 };
  ck_assert (cleave_fit_steps_init (&found->steps, graph, &error));
  ck_assert (cleave_fit_candidates_init (&found->candidates, &found->steps, &watch, &error));
  ck_assert (cleave_fit_candidates_add_tiles (&found->candidates, &watch, &error));
}

/* Splits one segment of a copy of the graph, and measures the copy. */
static inline CleaveFitMeasurement *
try_segment (const CleaveGraph *graph, const Found *found, const CleaveFitCandidate *segment)
{
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
  const CleaveFitPath path = { .segments = segments };

  g_array_append_vals (segments, segment, 1);
  return cleave_fit_measurement_new (graph, &found->candidates, &path, 1);
}
