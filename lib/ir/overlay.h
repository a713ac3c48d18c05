/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Overlays: a result that is written row by row over its operand, which dies. This is possible if a
 * kernel writes rows in order and no row of the result overwrites rows of the operand that are
 * still to be read. A depthwise convolution is of this kind, since its windows only move forward.
 *
 *   operand           |..rrrrrrrr|      r: still to be read
 *   result         |yyyyy........|      y: written
 *                  |--| shift: the operand begins this far after the result */

#include "op.h"

/* Returns whether the kernel of a call can write its result, a single image, over operand
 * `operand`. Sets `rows` to the dimension whose rows are written in order. Sets `shift` to the
 * smallest legal distance from the begin of the result to the begin of the operand, in elements of
 * the operand. */
gboolean cleave_call_overlay (const CleaveCall *call, guint operand, guint *rows, gint64 *shift);
