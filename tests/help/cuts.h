/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Finds the dimensions along which an op can be cut, by trying every cut into two of random
 * nodes. */

#include "random-ops.h"

#define N_CUT_SEEDS 200

/* The results of the cuts along one dimension of one op. */
typedef struct
{
  guint accepted, refused;
  GHashTable *reasons; /* text without numbers → count */
} CutDimension;

/* Returns CutDimensions by layout letter; "*" if there is no letter. */
GTree *cut_dimensions (const CleaveRandomOp *op);
/* Returns the names of all ops that have a random node. */
GPtrArray *cut_ops (void);
