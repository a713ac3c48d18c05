/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "trial.h"

/* A node, cut inside a space, and what is asked of it. */
typedef struct
{
  CleaveNode *node;
  const CleaveSpace *space;
  const CleaveConstraint *constraint;
  CleaveTrial *trial; /* of what is asked of the graph; NULL: nothing is */
  CleaveWork *work;
} CleaveSearchFor;

/* The fewest chunks of a node that meet what is asked: one chunk if it does as it is.  NULL and
 * `why` if none do; `least_bytes` is then the smallest limit on the memory of pieces that would do,
 * or 0 if that is not what stands against it. */
GArray *cleave_search_ranges (const CleaveSearchFor *wanted, gint64 *least_bytes, GString *why);
