/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "steps.h"

/* Finds axes: sets of dimensions that a cut divides together.
 *
 * A dimension map connects a dimension of a result with a dimension of an operand. For example, the
 * map of a convolution connects the rows of the result with the rows of the image. An axis contains
 * all dimensions that are connected in this way, directly or through other values. Their names and
 * positions do not matter:
 *
 *     x [1, 255, 20, 20] -Reshape-> [1, 3, 85, 20, 20] -Transpose-> [1, 3, 20, 20, 85]
 *                rows^                         rows^                    ^rows
 *
 * A segment with several ends is cut along the same axis in all of them. A value may have two
 * dimensions on an axis: the scores of an attention have the tokens as rows and as columns.
 * Therefore, a cut names the axis and one of the dimensions that the value has on it. */

/* A cut: an axis, and one of the dimensions that a value has on it. The number is CLEAVE_MAX_RANK *
 * axis + index, where index 0 is the outermost of these dimensions. */
typedef guint CleaveFitCut;

/* Sets `axes` and `has_halo` of the steps. Call this function after nodes, values and operands are
 * set. */
void cleave_fit_axes_init (CleaveFitSteps *steps);

/* Returns the dimension of result 0 of a node that a cut divides. Returns -1 if there is no such
 * dimension, if it has only one element, or if the node cannot be split. */
gint cleave_fit_axes_find_dim (const CleaveFitSteps *steps, guint node, CleaveFitCut cut);
/* Fills `cuts` (CLEAVE_MAX_RANK entries) with the possible cuts of result 0 of a node, and returns
 * their number. Cuts along an axis with a halo come first, from the outermost dimension inwards.
 * The others follow, from the second-last dimension outwards, and then the last dimension. */
guint cleave_fit_axes_list_cuts (const CleaveFitSteps *steps, guint node, CleaveFitCut *cuts);

static inline gboolean
cleave_fit_axes_has_halo (const CleaveFitSteps *steps, CleaveFitCut cut)
{
  return steps->has_halo[cut / CLEAVE_MAX_RANK];
}
