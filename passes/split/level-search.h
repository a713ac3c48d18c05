/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "trial.h"

/* A search over several nodes at once, for limits on the peak of the whole graph.
 *
 * A level is a number of bytes. At a level, each node is cut into the fewest pieces whose operands
 * (without weights) and results fit into the level. The search begins at the level of the largest
 * node, lowers it by a quarter each time, and splits a copy of the graph at each level to measure
 * it. It tries each level once for each dimension that is cut first, so that consecutive nodes are
 * cut along the same dimension. */
typedef struct _CleaveLevelSearch CleaveLevelSearch;

CleaveLevelSearch *cleave_level_search_new (CleaveTrial *trial);
void cleave_level_search_free (CleaveLevelSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveLevelSearch, cleave_level_search_free)

/* Adds a node to the search. `space` lists the dimensions that the search may cut, and the rules
 * for their chunks. */
void cleave_level_search_add (CleaveLevelSearch *search,
                              const CleaveSplitRequest *request,
                              const CleaveSpace *space);
/* Sets the ranges of the roots of these nodes to those of the first level that meets the limits. If
 * no level does, the roots stay whole, with the reason. */
void cleave_level_search_run (CleaveLevelSearch *search, GArray *roots);
