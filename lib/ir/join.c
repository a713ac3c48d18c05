/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the range of the result that each operand of a join fills. */

#include "join.h"

#include "graph-private.h"

CleaveRange
cleave_join_range (const CleaveCall *call, guint operand)
{
  const CleaveShape *shape = &call->operands[operand].shape;
  CleaveRange range = { .rank = shape->rank };
  CleaveDimMap map[CLEAVE_MAX_RANK];

  call->op->maps (call, operand, map);
  for (guint d = 0; d < shape->rank; d++)
    range.dim[d] = (CleaveSpan){ -map[d].offset, shape->dim[d] - map[d].offset };
  return range;
}

void
cleave_join_get_ranges (const CleaveNode *node, CleaveRange *ranges)
{
  g_auto (CleaveNodeCall) call = { 0 };

  cleave_node_call_init (&call, node);
  for (guint i = 0; i < node->n_operands; i++)
    ranges[i] = cleave_join_range (&call.call, i);
}

CleaveRange *
cleave_join_ranges (const CleaveNode *node)
{
  CleaveRange *ranges = g_new (CleaveRange, node->n_operands);

  cleave_join_get_ranges (node, ranges);
  return ranges;
}
