/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Counts how often programs fuse the steps that can be fused. The suite
 * tests/runtime/plan/fusion-pairs.c counts each program that it runs, and asserts the counts at the
 * end. So a change that stops a fusion is found. */

#include "../../lib/runtime/program-private.h"

/* Counts of pairs of steps, for one op or for one pair of ops. `n`: pairs that could be fused.
 * `n_fused`: fused pairs. `n_possible_epilogue_ops`: pairs that could be fused in registers.
 * `n_epilogue_ops`: pairs fused in registers. */
typedef struct
{
  guint n, n_fused, n_possible_epilogue_ops, n_epilogue_ops;
} FusionCount;

typedef struct
{
  FusionCount all;
  GHashTable *pairs, *heads,
      *consumers; /* values are FusionCount; keys: in `pairs` the names of both ops, in `heads` the
                     name of the first op, in `consumers` the name of the second op */
} FusionCounts;

void fusion_counts_init (FusionCounts *counts);
void fusion_counts_clear (FusionCounts *counts);
/* Counts the steps of a program that could be fused with the step before them, a head. Also counts
 * how many of these steps are fused with their head. */
void fusion_count (FusionCounts *counts, const CleaveProgram *program);
/* Prints the counts. Asserts that at least one step of each frequent op, and of each frequent pair
 * of ops, was fused. If a pair of ops could be fused in registers, also asserts that at least one
 * step was fused in registers. */
void fusion_counts_assert (const FusionCounts *counts);
