/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../memory/buffers.h"

/* Which steps must be done before a step begins: preds[begin[s] … begin[s + 1] - 1].  Those that
 * make what it reads; and, where it overwrites an operand, those that read what lies there. */
typedef struct
{
  guint *begin, *preds;
} CleaveDependencies;

void cleave_dependencies_init (CleaveDependencies *dependencies,
                               const CleaveStorage *storage,
                               const CleaveGraph *graph);
void cleave_dependencies_clear (CleaveDependencies *dependencies);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveDependencies, cleave_dependencies_clear)
