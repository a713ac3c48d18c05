/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Along which dimensions an op can be cut, found by trying every cut in two of random nodes. */

#include "random-ops.h"

#define N_CUT_SEEDS 200

/* What became of the cuts along one dimension of one op. */
typedef struct
{
  guint accepted, refused;
  GHashTable *reasons; /* text without its numbers → how often */
} CutDimension;

/* CutDimension by the letter of the layout, "*" where there is none. */
GTree *cut_dimensions (const CleaveRandomOp *op);
/* Every op that there is a random node of, by name. */
GPtrArray *cut_ops (void);
