/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Counts how often programs fuse the steps that can be fused. */

#include "../../lib/runtime/program-private.h"

/* Counts for an op, or for a pair of ops. */
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
/* Counts the steps directly after a possible head, and those that it fuses. */
void fusion_count (FusionCounts *counts, const CleaveProgram *program);
/* Prints the counts. Asserts that some steps of each op, and of each frequent pair, were fused,
 * and in registers if possible. */
void fusion_counts_assert (const FusionCounts *counts);
