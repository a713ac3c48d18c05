/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Finds the dimensions along which an op can be cut: tries every cut into two chunks on random
 * nodes of the op. The programs operators.c and split-table.c in tests/docs print the results as
 * pages of the guide. */

#include "random-ops.h"

#define N_CUT_SEEDS 200

/* Counts of the accepted and the refused cuts along one dimension of one op. */
typedef struct
{
  guint accepted, refused;
  GHashTable *reasons; /* number (guint) of refusals by reason; a reason has "…" for each number */
} CutDimension;

/* Returns a tree of the dimensions along which nodes of an op were cut. A key is the letter of a
 * dimension, such as "H", or "*" for dimensions without a letter. A value is a CutDimension. */
GTree *cut_dimensions (const CleaveRandomOp *op);
/* Returns the names of all ops of which random-ops.h can make a node. */
GPtrArray *cut_ops (void);
