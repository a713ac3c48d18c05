/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Ways to compute what a graph says: splits of it, threads, kernels, a file in between. */

#include <cleave/cleave.h>

#include "counts.h"
#include "tape.h"

typedef struct
{
  Tape *tape;
  CleaveGraph *graph; /* owned */
  Counts *counts;
  GString *text; /* what was done, in words */
} Way;

/* FALSE: the graph cannot be changed so, which `failure` tells. */
gboolean way_change (Way *way, GString *failure);
/* Splits something of the graph, or refuses to. */
void way_split (Way *way);
/* A random split of a value of this shape. */
CleaveTiling *way_pick_split (Way *way, const CleaveShape *shape);
