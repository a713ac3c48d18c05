/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "trial.h"

/* The search for one node: the fewest pieces that meet its constraint.  See joint.h for several
 * nodes at once. */

/* The task of a search: a cut of `node` inside `space` that meets `constraint`. */
typedef struct
{
  CleaveNode *node;
  const CleaveSpace *space;
  const CleaveConstraint *constraint;
  CleaveTrial *trial; /* measures the peak of the graph; NULL: it has no limit */
  CleaveWork *work;
} CleaveSearchFor;

/* Returns the ranges of the fewest chunks that meet the constraint; one range if the whole node
 * meets it. If none do, returns NULL with the reason in `why`. It then sets `least_bytes` to the
 * smallest limit on the memory of a piece that can be met, or to 0 if another limit is the problem.
 */
GArray *cleave_search_ranges (const CleaveSearchFor *wanted, gint64 *least_bytes, GString *why);
