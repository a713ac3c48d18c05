/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cuts the result of an end node of a segment into strips and tiles, as
 * cleave_segment_list_ranges() does, and sets the ranges of the pieces that a walk samples
 * (CleaveFitSample). */

#include "required-regions.h"

/* The number of elements of a dimension (`extent`) and of a block (`block`). A piece contains whole
 * blocks. */
typedef struct
{
  gint64 extent, block;
} Cuttable;

/* Returns the index where chunk `k` of `n` chunks begins. If `n` does not divide the number of
 * blocks, the first chunks are one block larger: 4 chunks of 10 elements begin at 0, 3, 6 and 8. */
static gint64
find_begin (Cuttable of, gint64 n, gint64 k)
{
  const gint64 n_blocks = of.extent / of.block;

  return of.block * (k * (n_blocks / n) + MIN (k, n_blocks % n));
}

/* Returns a range that is typical of `n` chunks. The range begins where the chunk in the middle
 * begins, since a chunk near a border may have less halo. If two or more chunks are larger than the
 * others, the range is as long as a larger chunk. Example: 10 elements in 4 chunks have the chunks
 * [0, 3), [3, 6), [6, 8) and [8, 10), so the range is [6, 9). */
static CleaveSpan
find_middle (Cuttable of, gint64 n)
{
  const gint64 k = n / 2, n_blocks = of.extent / of.block, begin = find_begin (of, n, k);

  return (CleaveSpan){ begin, begin + of.block * (n_blocks / n + (n_blocks % n > MIN (k, 1))) };
}

static gint
find_dim (const CleaveFitState *state, guint node, CleaveFitCut cut)
{
  return cleave_fit_axes_find_dim (state->walker->steps, node, cut);
}

/* Returns the numbers of elements and of elements of a block, along dimension `dim` of result 0 of
 * node number `index`. */
static Cuttable
get_cuttable (const CleaveFitState *state, guint index, guint dim)
{
  const CleaveFitSteps *steps = state->walker->steps;

  return (Cuttable){ cleave_fit_node (steps, index)->node->results[0].type.shape.dim[dim],
                     cleave_fit_axes_get_block (steps, index, dim) };
}

/* Returns whether result 0 of node number `index` can be cut into `n` chunks along `dim`. */
static gboolean
can_cut (const CleaveFitState *state, guint index, gint dim, gint64 n)
{
  Cuttable of;

  if (dim < 0)
    return FALSE;
  of = get_cuttable (state, index, (guint) dim);
  return of.extent / of.block >= n;
}

/* Cuts the first strip and the strip in the middle into tiles along dimension `dim`. */
static void
begin_tile (CleaveFitState *state, guint index, guint dim, CleaveFitRequired *required)
{
  const gint64 n = state->walk->n_columns;
  const Cuttable of = get_cuttable (state, index, dim);
  const CleaveSpan middle = find_middle (of, n);

  required->range[CLEAVE_FIT_FIRST].dim[dim].end = find_begin (of, n, 1);
  required->range[CLEAVE_FIT_LEFT] = required->range[CLEAVE_FIT_TILE] =
      required->range[CLEAVE_FIT_MIDDLE];
  required->range[CLEAVE_FIT_LEFT].dim[dim].end = middle.begin;
  required->range[CLEAVE_FIT_TILE].dim[dim] = middle;
}

/* Cuts the result into bands along dimension `dim`: each column of tiles is a band. Limits the
 * ranges of all samples to one band. For the sample CLEAVE_FIT_LEFT, this band is the first band.
 * For all other samples, this band is the band in the middle. */
static void
begin_band (CleaveFitState *state, guint index, guint dim, CleaveFitRequired *required)
{
  const gint64 n = state->walk->n_columns;
  const Cuttable of = get_cuttable (state, index, dim);

  for (guint s = 0; s < state->n_samples; s++)
    required->range[s].dim[dim] = find_middle (of, n);
  required->range[CLEAVE_FIT_LEFT].dim[dim] = (CleaveSpan){ 0, find_begin (of, n, 1) };
}

gboolean
cleave_fit_begin_at (CleaveFitState *state, guint index)
{
  const CleaveFitWalk *walk = state->walk;
  const CleaveFitNode *node = cleave_fit_node (state->walker->steps, index);
  const gint dim = find_dim (state, index, walk->cut);
  const gint column_dim = walk->n_columns > 1 ? find_dim (state, index, walk->column_cut) : -1;
  CleaveFitRequired *required = &state->walker->required[node->first_value];
  Cuttable of;
  CleaveSpan middle;

  if (!can_cut (state, index, dim, walk->n_strips) ||
      (walk->n_columns > 1 &&
       (dim == column_dim || !can_cut (state, index, column_dim, walk->n_columns))))
    return FALSE;
  of = get_cuttable (state, index, (guint) dim);
  middle = find_middle (of, walk->n_strips);
  required->set_by_walk = state->walker->walk_number;
  required->joined = 0;
  for (guint s = 0; s < state->n_samples; s++)
    required->range[s] = cleave_range_whole (&node->node->results[0].type.shape);
  required->range[CLEAVE_FIT_BEFORE].dim[dim].end = middle.begin;
  required->range[CLEAVE_FIT_MIDDLE].dim[dim] = middle;
  required->range[CLEAVE_FIT_LATER].dim[dim].begin = middle.begin;
  required->range[CLEAVE_FIT_FIRST].dim[dim].end = find_begin (of, walk->n_strips, 1);
  if (walk->in_bands)
    begin_band (state, index, (guint) column_dim, required);
  else if (walk->n_columns > 1)
    begin_tile (state, index, (guint) column_dim, required);
  return TRUE;
}
