/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"

/* Dependencies between steps. The predecessors of step s are preds[begin[s] … begin[s + 1] - 1].
 * They compute the operands of s or, if s overwrites an operand, read that operand before. */
typedef struct
{
  guint *begin, *preds;
} CleaveDependencies;

void cleave_dependencies_init (CleaveDependencies *dependencies,
                               const CleaveStorage *storage,
                               const CleaveGraph *graph);
void cleave_dependencies_clear (CleaveDependencies *dependencies);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveDependencies, cleave_dependencies_clear)
