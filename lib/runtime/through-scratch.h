/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Has a task make its result, which is dense, in scratch and copy it to its place when it is done:
 * for one whose result lies over an operand, and whose kernel does not take rows in turn. */
void cleave_task_go_through_scratch (CleaveTask *task, gsize *n_scratch);
