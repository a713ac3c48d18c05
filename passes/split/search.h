/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "trial.h"

/* Searches for the split of one node with the fewest pieces that meets its constraint. roots.c runs
 * this search for each request without a tiling. level-search.h searches for several nodes at
 * once. */

/* The task of a search: cut `node` within `space`, so that `constraint` is met. */
typedef struct
{
  CleaveNode *node;
  const CleaveSpace *space;
  const CleaveConstraint *constraint;
  CleaveTrial *trial; /* measures the peak of the graph; NULL: there is no limit on the peak */
  CleaveWork *work;
} CleaveSearchFor;

/* Returns the ranges (CleaveRange) of the fewest chunks that meet the constraint. If the whole node
 * meets the constraint, returns one range. If no chunks meet the constraint, returns NULL with the
 * reason in `why`. In this case, sets `least_bytes` to the smallest limit on the memory of a piece
 * that can be met, or to 0 if another limit is not met. */
GArray *cleave_search_ranges (const CleaveSearchFor *wanted, gint64 *least_bytes, GString *why);
