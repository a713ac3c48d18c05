/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "help.h"

/* Moves a node that names dimensions, such as a reduction or a Softmax, above the Transpose that it
 * reads:
 *
 *     x -> Transpose -> ReduceMean   =>   x -> ReduceMean -> Transpose
 *
 * The struct holds the attributes and the permutation after the move. sink-transposes.c makes the
 * move. */
typedef struct
{
  gpointer attrs;  /* attributes of the node above the Transpose */
  CleaveInts perm; /* permutation of the Transpose below the node */
} CleavePastAxes;

/* Initializes the move of a node. Returns FALSE if the node reads no Transpose, or would not
 * compute the same bits above the Transpose. */
gboolean cleave_past_axes_init (CleavePastAxes *past, const CleaveNode *node);
/* Returns whether a node is of a kind that may move above a Transpose. */
gboolean cleave_past_axes_may_be (const CleaveNode *node);
void cleave_past_axes_clear (CleavePastAxes *past, const CleaveNode *node);
