/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Wraps the kernel of a task, so that it computes its dense result in scratch and then copies the
 * result to its address. Adds the result's size in bytes to `n_scratch`. A task needs this if its
 * result overlays an operand and its kernel does not compute row by row. */
void cleave_task_go_through_scratch (CleaveTask *task, gsize *n_scratch);
