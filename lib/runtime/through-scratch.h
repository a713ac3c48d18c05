/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Wraps the kernel of a task: the wrapped kernel computes the dense result in scratch, and a copy
 * then moves the result to its address. Adds the result's size in bytes to `n_scratch`. lower.c
 * calls this function for a task whose result overlays an operand and whose kernel does not compute
 * row by row. Without the copy, the kernel would overwrite elements that it still reads. */
void cleave_task_go_through_scratch (CleaveTask *task, gsize *n_scratch);
