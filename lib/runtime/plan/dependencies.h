/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"

/* Finds the dependencies between steps. schedule-search.c passes them to the scheduler
 * (list-schedule.h); record.c checks saved schedules against them.
 *
 * Step s runs after its predecessors preds[begin[s] … begin[s + 1] - 1]. A predecessor computes an
 * operand of s or, if s overwrites an operand, reads that operand before s overwrites it. Example:
 * if step 2 reads the results of steps 0 and 1, and nothing else depends, then begin = {0, 0, 0, 2}
 * and preds = {0, 1}. */
typedef struct
{
  guint *begin, *preds;
} CleaveDependencies;

void cleave_dependencies_init (CleaveDependencies *dependencies,
                               const CleaveStorage *storage,
                               const CleaveGraph *graph);
void cleave_dependencies_clear (CleaveDependencies *dependencies);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveDependencies, cleave_dependencies_clear)
