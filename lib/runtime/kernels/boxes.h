/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "loops.h"

/* Lines that follow each other evenly spaced are one box, so that going from line to line is as
 * short as it can be: a line may be a few elements. */

/* Where a box begins in each view, and its steps, all in elements. */
typedef struct
{
  gint64 n, n_lines;
  const gint64 *offset, *step, *next; /* along a line, and from one to the next */
} CleaveBox;

typedef void (*CleaveBoxRun) (gconstpointer state,
                              const CleaveKernelInstance *instance,
                              const CleaveBox *box);

/* What runs a box, of the lines of which loops. */
typedef struct
{
  const CleaveLoops *loops;
  CleaveBoxRun run;
  gint64 shortest; /* up to this length going from line to line takes longer than along them */
  gint64 most;     /* elements of several lines at once, if they are not short */
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

/* The line, and of those that follow it all that begin before `end`, as far as they lie evenly
 * spaced; the last of these is then the line.  Where lines are short, their first elements are one
 * line, their second elements, and so on. */
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

/* What lies in [begin, end) of the first view; if that is not all of it, its lines nest. */
static inline void
cleave_boxes_run_part (const CleaveBoxes *boxes,
                       gconstpointer state,
                       const CleaveKernelInstance *instance,
                       gint64 begin,
                       gint64 end)
{
  const CleaveLoops *loops = boxes->loops;
  gint64 last = (loops->length - 1) * loops->step[0]; /* of a line */
  CleaveLine line;

  for (gboolean more = cleave_line_find (loops, begin, &line); more && line.offset[0] < end;
       more = cleave_line_next (loops, &line))
    {
      gint64 offset[CLEAVE_LOOP_VIEWS], length;

      if (line.offset[0] >= begin &&
          line.offset[0] + last < end) /* nearly all, if lines are short */
        {
          cleave_boxes_run_lines (boxes, state, instance, &line, end - last);
          continue;
        }
      length = cleave_line_cut (loops, &line, begin, end, offset);
      if (length > 0)
        cleave_boxes_run_line (boxes, state, instance, offset, length);
    }
}
