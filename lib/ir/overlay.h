/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "op.h"

/* A result that is made row by row, the rows being what lies outermost in memory, may lie over an
 * operand that nobody reads any more, if each row ends before the rows begin that later ones are
 * made of, and itself, unless these were read before:
 *
 *   operand        |..rrrrrrrr|
 *   result         |yyyy......|
 *
 * So of a depthwise convolution, whose windows only ever move on. */

/* Whether the kernels of a call make its result, one image, that way out of rows of operand
 * `operand`: the dimension of rows, and how many of its elements, at least, the operand must begin
 * after the result. */
gboolean cleave_call_overlay (const CleaveCall *call, guint operand, guint *rows, gint64 *shift);
