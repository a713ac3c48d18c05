/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Makes a task compute its dense result in scratch memory and copy it to its place afterwards. A
 * task needs this if the result overlays an operand and the kernel does not go row by row. */
void cleave_task_go_through_scratch (CleaveTask *task, gsize *n_scratch);
