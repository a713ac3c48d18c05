/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "trial.h"

/* A search over several nodes at once, for limits on the peak of the whole graph.
 *
 * A level is a number of bytes. At a level, the search cuts each node into the fewest pieces whose
 * operands (without weights) and results have at most as many bytes as the level. The search begins
 * at the level of the largest node, lowers it by a quarter each time, and splits a copy of the
 * graph at each level to measure it. At each level, the search tries each dimension once as the
 * first one to cut, so that consecutive nodes are cut along the same dimension. roots.h runs this
 * search if a limit concerns the peak of the graph. */
typedef struct _CleaveLevelSearch CleaveLevelSearch;

CleaveLevelSearch *cleave_level_search_new (CleaveTrial *trial);
void cleave_level_search_free (CleaveLevelSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveLevelSearch, cleave_level_search_free)

/* Adds a node to the search. `space` lists the dimensions that the search may cut, and the rules
 * for their chunks. */
void cleave_level_search_add (CleaveLevelSearch *search,
                              const CleaveSplitRequest *request,
                              const CleaveSpace *space);
/* Runs the search. `roots` contains a root for each added node. Sets the ranges of these roots to
 * the split of the first level that meets the limits. If no level meets the limits, marks these
 * roots to stay whole, and records the reason in them. */
void cleave_level_search_run (CleaveLevelSearch *search, GArray *roots);
