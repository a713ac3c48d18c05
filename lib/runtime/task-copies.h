/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Makes the views of a COPY step, and its copy of rows if it is one. */
void cleave_task_set_copy (CleaveTask *task, const CleaveView *from, const CleaveView *to);
/* If a COMPUTE step copies a part of its operand, such as a Slice that is no view, finds the copy
 * of rows that has the same effect. */
void cleave_task_find_rows (CleaveTask *task);
