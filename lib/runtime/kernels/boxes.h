/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "loops.h"

/* Groups evenly spaced lines into a two-dimensional box, which a kernel runs at once. elementwise.c
 * and choose.c use boxes; loops.h defines lines. Boxes save overhead per line, which matters if a
 * line has only a few elements. Example: 100 lines of 3 elements run as boxes with an inner loop
 * over the lines. */

/* A box of `n_lines` lines with `n` elements each. */
typedef struct
{
  gint64 n, n_lines;
  /* indexed by view, in elements: offset of the first line; distance of adjacent elements of a
   * line; distance of adjacent lines */
  const gint64 *offset, *step, *next;
} CleaveBox;

typedef void (*CleaveBoxRun) (gconstpointer state,
                              const CleaveKernelInstance *instance,
                              const CleaveBox *box);

/* The loops whose lines are grouped into boxes, and the function `run` that computes a box. */
typedef struct
{
  const CleaveLoops *loops;
  CleaveBoxRun run;
  gint64 shortest; /* if lines have at most this number of elements, each box is transposed: the
                      inner loop of `run` runs over the lines, not over the elements of a line */
  gint64 most;     /* limit on the number of elements of a box that is not transposed */
} CleaveBoxes;

static inline void
cleave_boxes_run_line (const CleaveBoxes *boxes,
                       gconstpointer state,
                       const CleaveKernelInstance *instance,
                       const gint64 *offset,
                       gint64 length)
{
  const gint64 *step = boxes->loops->step;

  boxes->run (state, instance, &(CleaveBox){ length, 1, offset, step, step });
}

/* Computes `line` and the evenly spaced lines after it that begin before `end`, as one box. Sets
 * `line` to the last line of the box. If lines are short, the box is transposed: line 0 of the box
 * consists of the first elements of all lines, and line 1 of the second elements. */
static inline void
cleave_boxes_run_lines (const CleaveBoxes *boxes,
                        gconstpointer state,
                        const CleaveKernelInstance *instance,
                        CleaveLine *line,
                        gint64 end)
{
  const CleaveLoops *loops = boxes->loops;
  guint inner = loops->n_dims - 1;
  gint64 offset[CLEAVE_LOOP_VIEWS], next[CLEAVE_LOOP_VIEWS], n;
  gint64 most = loops->length > boxes->shortest ? boxes->most : CLEAVE_PART;
  CleaveBox box;

  if (loops->length > most / 2 || loops->n_dims == 0)
    {
      cleave_boxes_run_line (boxes, state, instance, line->offset, loops->length);
      return;
    }
  for (guint v = 0; v < loops->n_views; v++)
    {
      offset[v] = line->offset[v];
      next[v] = loops->stride[v][inner];
    }
  n = MIN (loops->extent[inner] - line->index[inner], (end - 1 - offset[0]) / next[0] + 1);
  n = MIN (n, most / loops->length);
  if (loops->length > boxes->shortest)
    box = (CleaveBox){ loops->length, n, offset, loops->step, next };
  else
    box = (CleaveBox){ n, loops->length, offset, next, loops->step };
  boxes->run (state, instance, &box);
  line->index[inner] += n - 1;
  for (guint v = 0; v < loops->n_views; v++)
    line->offset[v] += (n - 1) * next[v];
}

/* Computes the elements at offsets [begin, end) of view 0, box by box. If this range is not the
 * whole view, each line of view 0 must end before the next line begins (cleave_loops_nest()). */
static inline void
cleave_boxes_run_part (const CleaveBoxes *boxes,
                       gconstpointer state,
                       const CleaveKernelInstance *instance,
                       gint64 begin,
                       gint64 end)
{
  const CleaveLoops *loops = boxes->loops;
  gint64 last =
      (loops->length - 1) *
      loops->step[0]; /* offset in elements from the first element of a line to the last element */
  CleaveLine line;

  for (gboolean more = cleave_line_find (loops, begin, &line); more && line.offset[0] < end;
       more = cleave_line_next (loops, &line))
    {
      gint64 offset[CLEAVE_LOOP_VIEWS], length;

      if (line.offset[0] >= begin &&
          line.offset[0] + last <
              end) /* the whole line is inside [begin, end), which is true for most short lines */
        {
          cleave_boxes_run_lines (boxes, state, instance, &line, end - last);
          continue;
        }
      length = cleave_line_cut (loops, &line, begin, end, offset);
      if (length > 0)
        cleave_boxes_run_line (boxes, state, instance, offset, length);
    }
}
