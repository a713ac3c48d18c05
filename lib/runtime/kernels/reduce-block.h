/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../ir/copy.h"
#include "../../ops/lines.h"

/* Elements that lie side by side are taken as a row from this length on. */
#define CLEAVE_REDUCE_LONG_LINE 16
/* Fewer rows that lie anywhere are gathered, if they are as long as this, so many elements at a
 * time: a row of 96,000 in 96 lines takes 35 us then, and 340 where 16 rows are taken at once. */
#define CLEAVE_REDUCE_FEW_ROWS 8
#define CLEAVE_REDUCE_LONG_ROW 256
#define CLEAVE_REDUCE_GATHERED 16384

/* Rows that are reduced, each to one element. */
typedef struct
{
  gint64 n;          /* elements of a row */
  CleaveLines lines; /* where they are, from the first of them on */
  gint64 row_step;   /* from one row to the next */
  float *gathered;   /* room for elements of a row side by side; NULL: there are rows enough to take
                        an element of each at once */
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

/* Where the elements of a row come from next. */
typedef struct
{
  CleaveLines lines;
  const float *x;
  gint64 begun; /* elements of the line */
  gboolean more;
} CleaveReduceWalk;

/* Gathers those that come next, of as many lines as are equally far apart and fit; how many. */
static inline gint64
cleave_reduce_gather (const CleaveReduceBlock *block, CleaveReduceWalk *walk)
{
  CleaveLines *lines = &walk->lines;
  const gint64 first = lines->offset[0], step = lines->step[0];
  const gint64 begun = walk->begun, length = MIN (lines->length - begun, CLEAVE_REDUCE_GATHERED);
  CleaveCopyLoops loops = { .size = sizeof (float) };
  gint64 n = 1, apart = 0;

  walk->begun += length;
  if (walk->begun == lines->length)
    {
      walk->begun = 0;
      walk->more = cleave_lines_next (lines);
      apart = lines->offset[0] - first;
      for (; walk->more && lines->offset[0] == first + n * apart &&
             (n + 1) * length <= CLEAVE_REDUCE_GATHERED && begun == 0;
           n++)
        walk->more = cleave_lines_next (lines);
    }
  cleave_copy_loops_add (&loops, n, length, apart);
  cleave_copy_loops_add (&loops, length, 1, step);
  cleave_copy_loops_run (&loops, block->gathered, walk->x + first + begun * step);
  return n * length;
}
