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
