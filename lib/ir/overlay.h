/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Overlays: a result that is written row by row over its operand, which no later node reads. An
 * overlay is possible if the kernel writes rows in order, and no row of the result overwrites
 * operand rows that the kernel must still read. A depthwise convolution is an example: its windows
 * only move forward. lib/memory/overlays.c lets the two buffers overlap except for the shift in the
 * drawing. The lower bound of memory in passes/split/bound.c also takes overlays into account.
 *
 *   operand           |..rrrrrrrr|      r: still to be read
 *   result         |yyyyy........|      y: written
 *                  |--|
 *                  shift: the operand begins this far after the result */

#include "op.h"

/* Returns whether the kernel of a call can write its result, a single image, over operand
 * `operand`. Sets `rows` to the dimension whose rows are written in order. Sets `shift` to the
 * smallest legal distance from the beginning of the result to the beginning of the operand, in
 * elements of the operand. */
gboolean cleave_call_overlay (const CleaveCall *call, guint operand, guint *rows, gint64 *shift);
