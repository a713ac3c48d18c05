/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Finds tasks that do nothing but copy rows, which run.c runs without a kernel. lower.c calls these
 * functions for COPY and COMPUTE steps. */

/* Sets the views of the task of a COPY step. If the step copies rows, also fills in `rows` of the
 * task. */
void cleave_task_set_copy (CleaveTask *task, const CleaveView *from, const CleaveView *to);
/* If a COMPUTE step only copies a part of its operand, such as a Slice that is no view, fills in
 * `rows` of the task with the equivalent copy of rows. */
void cleave_task_find_rows (CleaveTask *task);
