/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How often programs fuse what they could. */

#include "../../lib/runtime/program-private.h"

/* Of an op, or of a pair of them. */
typedef struct
{
  guint n, n_fused, n_possible_epilogue_ops, n_epilogue_ops;
} FusionCount;

typedef struct
{
  FusionCount all;
  GHashTable *pairs, *heads, *consumers; /* FusionCount, by name */
} FusionCounts;

void fusion_counts_init (FusionCounts *counts);
void fusion_counts_clear (FusionCounts *counts);
/* Steps right after one that may lead, and which of them it leads. */
void fusion_count (FusionCounts *counts, const CleaveProgram *program);
/* Prints the counts.  Of each op, and of each pair that is there often, some were fused, and in
 * registers if they can be: nothing was tested in vain. */
void fusion_counts_assert (const FusionCounts *counts);
