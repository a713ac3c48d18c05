/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Tries all grids of a node, as the expected result of a search. tests/passes/split/search.c asks
 * the search for the fewest pieces under a limit, and compares the answer with this list. A row of
 * 5 elements in 2 chunks gives two grids: 3 + 2 and 2 + 3. */

#include <cleave/cleave.h>

/* A grid of pieces, and the totals of the pieces. In each dimension, the chunks differ by at most
 * one element. */
typedef struct
{
  gint64 n, n_bytes, macs; /* number of pieces, bytes of the largest piece, MACs of all pieces */
  gboolean first;          /* TRUE: in each dimension, the larger chunks come first */
  guint hash;              /* hash of the ranges of the chunks */
} CleaveGrid;

/* Plans every grid of a node, and returns the legal grids (CleaveGrid). Tests compare the results
 * of a search with this list. Returns NULL if there are more than `most` grids. */
GArray *cleave_all_grids (CleaveNode *node, guint most);
/* Returns a hash of the ranges of a plan, the same on every machine. */
guint cleave_plan_hash (const CleavePlan *plan);
