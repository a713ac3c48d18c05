/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"

/* Element-wise ops on float16 in registers. elementwise.c and choose.c find the loop of an op in
 * `prepare`, and run it on boxes (boxes.h). A loop converts a block to float32, computes the
 * formula and rounds the results before it reads the next block. */

/* Lines of two operands and a result. If an op has one operand, `a` and `b` are both this operand.
 * Steps along a line are 1, or 0 for a scalar operand. The result is float16, or bool for
 * comparisons. */
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

/* Returns the float16 loop of an op; NULL: the op has none. */
CleaveHalfLoop CLEAVE_LEVELLED (cleave_half_loop_find) (const CleaveOp *op);
