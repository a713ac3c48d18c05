/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Copies parts of weights, so that a rank stores only the weights that it reads. build.c adds the
 * copies to the graph of the rank. */

/* Returns the set of constants (CleaveNode) that a rank should copy: parts of larger constants that
 * the rank does not read completely. Without a copy, the rank's kernels would pack the whole larger
 * constant, since kernels pack weights once for all pieces of a node. */
GHashTable *cleave_own_weights_find (const CleavePlacement *p, guint rank);
/* Adds a copy of a constant to a graph. Returns NULL if there is not enough memory. */
CleaveNode *cleave_own_weights_add (CleaveGraph *graph, CleaveNode *constant);
