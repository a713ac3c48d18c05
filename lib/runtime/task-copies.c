/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the tasks that copy rows. In a program of many pieces, most tasks copy a few carried rows.
 * A task that copies rows reads only the first cache line of its struct (CleaveTask). */

#include "task-copies.h"

#include "../memory/placement.h"
#include "../ops/reference.h"

void
cleave_task_set_copy (CleaveTask *task, const CleaveView *from, const CleaveView *to)
{
  CleaveKernelInstance *instance = &task->instance;

  instance->operands = g_new (CleaveView, 2);
  instance->results = instance->operands + 1;
  instance->operands[0] = *from;
  instance->results[0] = *to;
  if (!task->streams)
    cleave_row_copy_init (&task->rows, to, from);
}

void
cleave_task_find_rows (CleaveTask *task)
{
  const CleaveCall *call = &task->instance.call;
  const CleaveView *operand = task->instance.operands;
  CleaveViewDim dims[CLEAVE_MAX_RANK];
  CleaveLocation location;
  CleaveView from;

  if (call->n_results != 1 || call->n_operands == 0 || !cleave_call_is_view (call))
    return;
  from = *operand;
  cleave_location_get_view_dims (call, dims);
  location = cleave_location_view (&(CleaveLocation){ .stride = operand->stride }, dims,
                                   operand->type.shape.rank, from.stride);
  from.type = call->results[0];
  from.data = cleave_view_element (operand, location.offset);
  cleave_row_copy_init (&task->rows, &task->instance.results[0], &from);
}
