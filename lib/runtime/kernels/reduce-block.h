/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../ops/lines.h"

/* Elements that lie side by side are taken as a row from this length on. */
#define CLEAVE_REDUCE_LONG_LINE 16

/* Rows that are reduced, each to one element. */
typedef struct
{
  gint64 n;          /* elements of a row */
  CleaveLines lines; /* where they are, from the first of them on */
  gint64 row_step;   /* from one row to the next */
} CleaveReduceBlock;

/* Reduces so many rows, from one on. */
typedef void (*CleaveReduction) (
    const CleaveReduceBlock *block, gconstpointer x, gint64 n_rows, gpointer y, gint64 y_step);

/* Whether rows that do not lie side by side have elements that do. */
static inline gboolean
cleave_reduce_by_row (const CleaveReduceBlock *block, gint64 n_rows)
{
  return block->lines.step[0] == 1 && block->row_step != 1 &&
         (block->lines.length >= CLEAVE_REDUCE_LONG_LINE || n_rows == 1);
}
