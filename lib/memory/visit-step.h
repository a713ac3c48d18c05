/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Calls `visit` for each value that a step reads or writes. Inline, since it runs for every step
 * of every candidate assignment. */
static inline void
cleave_visit_step (const CleaveStorage *storage,
                   const CleaveGraph *graph,
                   const CleaveStep *step,
                   CleaveStepVisit visit,
                   gpointer data)
{
  CleaveNode *node = step->node;

  switch (step->kind)
    {
    case CLEAVE_STEP_JOIN: /* a JOIN step reads and writes no memory */
      return;
    case CLEAVE_STEP_STORE:
      visit (cleave_storage_assignment (
                 storage, cleave_operand_get_result (cleave_graph_get_output (graph, step->index))),
             FALSE, data);
      return;
    case CLEAVE_STEP_COPY:
      visit (cleave_storage_assignment (storage, node->operands[step->index].result), FALSE, data);
      break;
    case CLEAVE_STEP_LOAD:
    case CLEAVE_STEP_COMPUTE:
      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i].result != NULL)
          visit (cleave_storage_assignment (storage, node->operands[i].result), FALSE, data);
      break;
    }
  for (guint r = 0; r < node->n_results; r++)
    visit (cleave_storage_assignment (storage, &node->results[r]), TRUE, data);
}
