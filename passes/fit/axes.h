/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "steps.h"

/* Finds axes: sets of dimensions that a cut divides together.
 *
 * A dimension map connects a dimension of a result with a dimension of an operand. For example, the
 * map of a convolution connects the rows of the result with the rows of the image. An axis contains
 * all dimensions that are connected in this way, directly or through other values. The names and
 * positions of the dimensions do not matter:
 *
 *     x [1, 255, 20, 20] -Reshape-> [1, 3, 85, 20, 20] -Transpose-> [1, 3, 20, 20, 85]
 *                rows^                         rows^                    ^rows
 *
 * If a segment has several end nodes, the cuts of all end nodes divide dimensions of one axis. Two
 * dimensions of a value may belong to one axis: the scores of an attention have the tokens as rows
 * and as columns. Therefore, a cut names an axis, and one of the value's dimensions that belong to
 * this axis.
 *
 * steps.c finds the axes once for each graph. candidates.c tries the cuts of each value that may
 * end a segment, and required-regions.c cuts the end nodes. */

/* A cut names an axis, and the dimension of a value on this axis that the cut divides. A cut is
 * stored as the number CLEAVE_MAX_RANK * axis + index. The index counts the dimensions of the value
 * that belong to the axis; index 0 is the outermost of these dimensions. */
typedef guint CleaveFitCut;

/* Finds the axis of each dimension (`axes`), the axes with a halo (`has_halo`), and the blocks of
 * each node (`blocks`). The nodes, values and operands of `steps` must be set. */
void cleave_fit_axes_init (CleaveFitSteps *steps);

/* Returns the dimension of result 0 of a node that a cut divides. Returns -1 if there is no such
 * dimension, if the dimension has only one element, or if the node cannot be split. */
gint cleave_fit_axes_find_dim (const CleaveFitSteps *steps, guint node, CleaveFitCut cut);
/* Fills `cuts` (CLEAVE_MAX_RANK entries) with the possible cuts of result 0 of a node, and returns
 * their number. Cuts along an axis with a halo come first, from the outermost dimension inwards.
 * Cuts along axes without a halo follow: from the second-last dimension outwards, then the last
 * dimension. */
guint cleave_fit_axes_list_cuts (const CleaveFitSteps *steps, guint node, CleaveFitCut *cuts);

/* Returns the elements of a block (cleave_node_get_block()) along dimension `dim` of result 0 of a
 * node. */
static inline gint64
cleave_fit_axes_get_block (const CleaveFitSteps *steps, guint node, guint dim)
{
  return steps->blocks[node * CLEAVE_MAX_RANK + dim];
}

static inline gboolean
cleave_fit_axes_has_halo (const CleaveFitSteps *steps, CleaveFitCut cut)
{
  return steps->has_halo[cut / CLEAVE_MAX_RANK];
}
