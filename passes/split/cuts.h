/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "options.h"
#include "plan.h"

/* The ways to cut each dimension of a node's result, and what each makes of its values.  Bytes of a
 * chunk are a sum over operands and results, each a product over the dimensions of the result, so a
 * way to cut a dimension is one factor for each of them. */

/* An operand, or a result that is used. */
typedef struct
{
  const char *name;
  CleaveShape shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  gboolean is_constant;
  gint64 fixed; /* bytes of an element, and extents that no cut changes */
} CleaveCutValue;

/* Where the larger chunks lie, since those at the ends of a dimension read less. */
typedef enum { CLEAVE_LARGER_FIRST, CLEAVE_LARGER_LAST, CLEAVE_LARGER_AT_ENDS } CleaveLarger;

/* A span that stands for `n` chunks of a cut: in all of them a piece is of the same shapes. */
typedef struct
{
  CleaveSpan span;
  gint64 n;
} CleaveKind;

/* A way to cut one dimension: n chunks that end at multiples of `align`. */
typedef struct
{
  gint64 n, align;
  CleaveLarger larger;
  gint64 *low;         /* of each value: how much one of the largest chunks takes of it */
  gint64 *high;        /* how much any chunk takes at most; NULL: not known yet */
  GArray *kinds;       /* CleaveKind; NULL: not known yet */
  gboolean is_refused; /* one of its chunks cannot be a node */
  gboolean is_spare;   /* one with fewer chunks takes no more of any value */
} CleaveCut;

/* Which cuts are listed, and how well each is checked. */
typedef struct
{
  gboolean spare;    /* also dominated cuts, which only a predicate can tell from better ones */
  gint64 max_pieces; /* of the node: finer cuts are not listed */
  gboolean exact;    /* check every chunk of a cut, not only a sample of the chunks */
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
  GArray *cuts[CLEAVE_MAX_RANK];  /* CleaveCut, from few chunks to many; the first is no cut */
  gint64 *least[CLEAVE_MAX_RANK]; /* of each value, the least that a cut takes, listed or not */
  gboolean is_truncated;          /* there are finer cuts than those listed */
  gboolean is_surprised;          /* a cut was refused whose sample of chunks was legal */
} CleaveCuts;

/* Lists the cuts inside a space.  Cost: at most some thousand cuts a dimension, of any extent. */
void cleave_cuts_init (CleaveCuts *cuts,
                       CleaveNode *node,
                       const CleaveSpace *space,
                       const CleaveCutsToList *list);
void cleave_cuts_clear (CleaveCuts *cuts);
CleaveCut *cleave_cuts_get (const CleaveCuts *cuts, guint d, guint i);
CleaveSpan cleave_cut_span (const CleaveCut *cut, gint64 extent, gint64 i);
/* The kinds of the chunks.  FALSE and `why`: one of them cannot be a node, whatever else is cut. */
gboolean cleave_cut_find_kinds (CleaveCuts *cuts, guint d, CleaveCut *cut, GString *why);
/* The grid of a cut of each dimension, the first dimension outermost. */
GArray *cleave_cuts_grid (const CleaveCuts *cuts, const guint *at);
