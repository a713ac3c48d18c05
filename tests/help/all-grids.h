/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A grid whose chunks of a dimension differ by at most one, and what comes of it. */
typedef struct
{
  gint64 n, n_bytes, macs; /* pieces, bytes of the largest, MACs of all */
  gboolean first;          /* the larger chunks come first in each dimension */
  guint hash;              /* of the ranges */
} CleaveGrid;

/* All grids of a node that can be, by planning each: what a search is held to.  NULL: they are more
 * than `most`. */
GArray *cleave_all_grids (CleaveNode *node, guint most);
/* Of the ranges of a plan, the same on every machine. */
guint cleave_plan_hash (const CleavePlan *plan);
