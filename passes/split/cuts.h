/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "plan.h"

/* Lists the ways to cut each dimension of a node's result. For each way, computes how much of each
 * operand and result a chunk reads or writes.
 *
 * A value is an operand or a result of the node. A chunk of a dimension reads an extent of each
 * value: the number of elements along this dimension. A piece has a chunk of each dimension, so the
 * bytes of a value in the piece are a product of extents and the bytes of an element. The bytes of
 * a piece are the sum over all values. Example: a 3x3 convolution without padding has 8 result
 * rows, cut into 2 chunks. The extent of the result is 4 rows. The extent of the operand X is 6: 4
 * rows and a halo of 2. The extent of the weights is 1, since no dimension of the weights depends
 * on the rows. search.h and level-search.h choose among the cuts. */

/* A value of the node: an operand, or a result that has users. */
typedef struct
{
  const char *name;
  CleaveShape shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  gboolean is_constant;
  gint64 fixed; /* bytes of an element times the extents of the dimensions that no cut changes */
} CleaveCutValue;

/* Where the larger chunks are, if the extent is not a multiple of the number of chunks. Larger
 * chunks at the ends can save memory, since chunks there read less halo. */
typedef enum { CLEAVE_LARGER_FIRST, CLEAVE_LARGER_LAST, CLEAVE_LARGER_AT_ENDS } CleaveLarger;

/* One chunk, `span`, that stands for `n` chunks of a cut. The pieces of these `n` chunks have equal
 * shapes. */
typedef struct
{
  CleaveSpan span;
  gint64 n;
} CleaveKind;

/* A cut of one dimension into `n` chunks, which end at multiples of `align`. */
typedef struct
{
  gint64 n, align;
  CleaveLarger larger;
  /* indexed by value: extent of the value that the largest chunk of the cut reads */
  gint64 *low;
  /* indexed by value: largest extent that a chunk of the cut reads; NULL: not computed yet */
  gint64 *high;
  GArray *kinds;       /* CleaveKind: the kinds of the chunks; NULL: not computed yet */
  gboolean is_refused; /* a chunk of the cut is not legal */
  /* there is another cut with at most as many chunks, and each chunk of the other cut reads at most
   * as much of each value */
  gboolean is_dominated;
} CleaveCut;

/* Settings of a list of cuts: which cuts to list, and how many chunks of each cut to check. */
typedef struct
{
  gboolean
      dominated; /* list dominated cuts, too, since the predicate of a constraint may prefer them */
  /* largest number of pieces into which the node may be cut; cuts with more chunks are not
   * listed */
  gint64 max_pieces;
  gboolean exact; /* check every chunk of a cut, not only a sample */
} CleaveCutsToList;

typedef struct
{
  CleaveNode *node;
  CleaveNodeCall call;
  CleaveShape shape;
  const CleaveSpace *space;
  guint n_values;
  CleaveCutValue *values;
  CleaveCutsToList list;
  GArray *cuts[CLEAVE_MAX_RANK]; /* CleaveCut, from few chunks to many; the first cut leaves the
                                    dimension whole */
  /* indexed by dimension and value: the smallest `low` of the value in all cuts of the dimension;
   * also includes cuts with too many chunks to be listed */
  gint64 *least[CLEAVE_MAX_RANK];
  gboolean is_truncated; /* there are finer cuts that are not listed */
  /* a chunk of a cut is illegal, and cleave_cuts_init() did not notice, since the chunk is not in
   * the sample that it checked */
  gboolean is_surprised;
} CleaveCuts;

/* Lists the cuts of each dimension that the search may cut (`space`). Lists at most some thousand
 * cuts for each dimension, even if its extent is large. */
void cleave_cuts_init (CleaveCuts *cuts,
                       CleaveNode *node,
                       const CleaveSpace *space,
                       const CleaveCutsToList *list);
void cleave_cuts_clear (CleaveCuts *cuts);
CleaveCut *cleave_cuts_get (const CleaveCuts *cuts, guint d, guint i);
CleaveSpan cleave_cut_span (const CleaveCut *cut, gint64 extent, gint64 i);
/* Finds the kinds of the chunks of a cut, if no earlier call found these kinds. Returns FALSE, with
 * the reason in `why`, if a chunk is not legal in any cut of the other dimensions. */
gboolean cleave_cut_find_kinds (CleaveCuts *cuts, guint d, CleaveCut *cut, GString *why);
/* Returns the ranges (CleaveRange) of the grid that cuts dimension d with cut number `at[d]`.
 * Dimension 0 is outermost. */
GArray *cleave_cuts_grid (const CleaveCuts *cuts, const guint *at);
