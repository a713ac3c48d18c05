/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Ways to compute what a graph says: splits of it, fits, threads, kernels, a file in between. */

#include <cleave/cleave.h>

#include "counts.h"
#include "tape.h"

typedef struct
{
  Tape *tape;
  CleaveGraph *graph; /* owned */
  Counts *counts;
  GString *text; /* what was done, in words */
  gboolean deep; /* fits are likely to find something */
} Way;

/* FALSE: the graph cannot be changed so, which `failure` tells. */
gboolean way_change (Way *way, GString *failure);
/* Splits something of the graph, or refuses to. */
void way_split (Way *way);
/* Returns a random tiling of a value of this shape. */
CleaveTiling *way_pick_split (Way *way, const CleaveShape *shape);
/* Returns a tiling that leaves the chunks to a search, which needs a constraint. */
CleaveTiling *way_pick_search (Way *way, const CleaveShape *shape);
/* Fits the graph into part of its memory.  FALSE: the plan breaks a promise; `failure` says which.
 */
gboolean way_fit (Way *way, GString *failure);
