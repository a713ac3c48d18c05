/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Finds tasks that do nothing but copy rows, which run.c runs without a kernel. lower.c calls these
 * functions for COPY and COMPUTE steps. */

/* Sets the views of a COPY step. If the step copies rows, also sets its copy of rows. */
void cleave_task_set_copy (CleaveTask *task, const CleaveView *from, const CleaveView *to);
/* Finds the copy of rows that has the same effect as a COMPUTE step, if there is one. The step then
 * copies a part of its operand, such as a Slice that is no view. */
void cleave_task_find_rows (CleaveTask *task);
