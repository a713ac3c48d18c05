/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"

/* Element-wise ops of float16 in registers: some elements become floats, the formula is computed
 * and its result rounded, before the next are read. */

/* Lines of one operand, that twice, or two; steps along a line are 1 or, of an operand, 0.  The
 * result is float16, or bool where the op makes that. */
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

/* NULL: there is none of that op. */
CleaveHalfLoop CLEAVE_LEVELLED (cleave_half_loop_find) (const CleaveOp *op);
