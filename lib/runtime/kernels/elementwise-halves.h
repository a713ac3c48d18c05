/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"

/* Element-wise ops on float16 in registers: a block is converted to float32, the formula is
 * computed and the result rounded before the next block is read. */

/* Lines of two operands; if an op has one operand, it is both operands. Steps along a line are 1,
 * or 0 for a scalar operand. The result is float16, or bool for comparisons. */
typedef struct
{
  const guint16 *a, *b;
  gpointer y;
  gint64 n, a_step, b_step;
  gint64 n_lines, a_next, b_next, y_next;
} CleaveHalfBox;

typedef void (*CleaveHalfLoop) (const CleaveHalfBox *box, gconstpointer attrs);

static inline gboolean
cleave_half_box_serves (const CleaveHalfBox *box, gint64 y_step)
{
  return y_step == 1 && (box->a_step | 1) == 1 && (box->b_step | 1) == 1;
}

/* Returns the loop of an op, or NULL if there is none. */
CleaveHalfLoop CLEAVE_LEVELLED (cleave_half_loop_find) (const CleaveOp *op);
