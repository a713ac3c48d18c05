/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../kernels.h"

/* Loops over several views at once. The first view decides the shape, and the others are broadcast
 * to it. Dimensions are sorted from the largest step of the first view to the smallest, whatever
 * their logical order. Adjacent dimensions that are one in all views are merged. The innermost one
 * is the line: kernels get an offset into each view and a number of elements.
 *
 * Example: y [2, 3, 4] dense, x [1, 3, 4] dense gives one outer dimension of 2 and lines of 12. */

#define CLEAVE_LOOP_VIEWS 9

typedef struct
{
  guint n_views, n_dims; /* n_dims: dimensions outside the line */
  gint64 extent[CLEAVE_MAX_RANK];
  gint64 stride[CLEAVE_LOOP_VIEWS][CLEAVE_MAX_RANK];
  gint64 length, step[CLEAVE_LOOP_VIEWS]; /* number of elements and steps of the line */
  gint64 size[CLEAVE_LOOP_VIEWS];         /* bytes of an element */
} CleaveLoops;

/* The offset at which a line begins in each view, in elements. */
typedef struct
{
  gint64 index[CLEAVE_MAX_RANK];
  gint64 offset[CLEAVE_LOOP_VIEWS];
} CleaveLine;

static inline gint64
cleave_loops_stride (const CleaveView *view, guint rank, guint dim)
{
  guint missing = rank - view->type.shape.rank;

  return dim < missing || view->type.shape.dim[dim - missing] == 1 ? 0
                                                                   : view->stride[dim - missing];
}

/* Returns whether a dimension can be merged into the innermost one, in all views. */
static inline gboolean
cleave_loops_join (const CleaveLoops *loops, gint64 extent, const gint64 *strides)
{
  guint inner = loops->n_dims - 1;

  for (guint v = 0; v < loops->n_views; v++)
    if (loops->n_dims == 0 || loops->stride[v][inner] != extent * strides[v])
      return FALSE;
  return TRUE;
}

static inline void
cleave_loops_add (CleaveLoops *loops, gint64 extent, const gint64 *strides)
{
  if (cleave_loops_join (loops, extent, strides))
    loops->extent[loops->n_dims - 1] *= extent;
  else
    loops->extent[loops->n_dims++] = extent;
  for (guint v = 0; v < loops->n_views; v++)
    loops->stride[v][loops->n_dims - 1] = strides[v];
}

/* Sorts the dimensions with more than one element, the largest step first. Returns how many. */
static inline guint
cleave_loops_sort (const CleaveView *view, guint *order)
{
  guint n = 0;

  for (guint d = 0; d < view->type.shape.rank; d++)
    {
      guint at = n;

      if (view->type.shape.dim[d] == 1)
        continue;
      for (; at > 0 && view->stride[order[at - 1]] < view->stride[d]; at--)
        order[at] = order[at - 1];
      order[at] = d;
      n++;
    }
  return n;
}

/* Initializes loops with the dimension order of `along`, which has the shape of `first`. */
static inline void
cleave_loops_init_along (CleaveLoops *loops,
                         const CleaveView *along,
                         const CleaveView *first,
                         const CleaveView *others,
                         guint n_others)
{
  guint rank = first->type.shape.rank;
  guint order[CLEAVE_MAX_RANK];
  guint n = cleave_loops_sort (along, order);

  *loops = (CleaveLoops){ .n_views = n_others + 1, .length = 1 };
  for (guint i = 0; i < n; i++)
    {
      gint64 strides[CLEAVE_LOOP_VIEWS] = { 0 };

      strides[0] = first->stride[order[i]];
      for (guint v = 0; v < n_others; v++)
        strides[v + 1] = cleave_loops_stride (&others[v], rank, order[i]);
      cleave_loops_add (loops, first->type.shape.dim[order[i]], strides);
    }
  if (loops->n_dims > 0)
    loops->length = loops->extent[--loops->n_dims];
  for (guint v = 0; v < loops->n_views; v++)
    {
      const CleaveView *view = v == 0 ? first : &others[v - 1];

      loops->step[v] = n == 0 ? 1 : loops->stride[v][loops->n_dims];
      loops->size[v] = (gint64) cleave_element_size (view->type.element);
    }
}

static inline void
cleave_loops_init (CleaveLoops *loops,
                   const CleaveView *first,
                   const CleaveView *others,
                   guint n_others)
{
  cleave_loops_init_along (loops, first, first, others, n_others);
}

/* If lines have fewer than `few` elements, takes the longest dimension as the line instead. */
static inline void
cleave_loops_lengthen (CleaveLoops *loops, gint64 few)
{
  guint longest = 0;
  gint64 length = loops->length;

  for (guint d = 1; d < loops->n_dims; d++)
    longest = loops->extent[d] > loops->extent[longest] ? d : longest;
  if (length >= few || loops->n_dims == 0 || loops->extent[longest] <= length)
    return;
  loops->length = loops->extent[longest];
  loops->extent[longest] = length;
  for (guint v = 0; v < loops->n_views; v++)
    {
      gint64 step = loops->step[v];

      loops->step[v] = loops->stride[v][longest];
      loops->stride[v][longest] = step;
    }
}

/* Returns FALSE if there are no elements. */
static inline gboolean
cleave_line_first (const CleaveLoops *loops, CleaveLine *line)
{
  *line = (CleaveLine){ 0 };
  for (guint d = 0; d < loops->n_dims; d++)
    if (loops->extent[d] == 0)
      return FALSE;
  return loops->length > 0;
}

static inline gboolean
cleave_line_next (const CleaveLoops *loops, CleaveLine *line)
{
  for (guint d = loops->n_dims; d-- > 0;)
    {
      gboolean more = ++line->index[d] < loops->extent[d];

      for (guint v = 0; v < loops->n_views; v++)
        line->offset[v] +=
            more ? loops->stride[v][d] : (1 - loops->extent[d]) * loops->stride[v][d];
      if (more)
        return TRUE;
      line->index[d] = 0;
    }
  return FALSE;
}

/* Returns whether the lines of the first view nest: each ends in memory before the next begins. */
static inline gboolean
cleave_loops_nest (const CleaveLoops *loops)
{
  gint64 size = loops->length * loops->step[0];

  for (guint d = loops->n_dims; d-- > 0; size = loops->extent[d] * loops->stride[0][d])
    if (loops->stride[0][d] < size)
      return FALSE;
  return loops->step[0] > 0;
}

/* Returns the number of elements that the first view spans. */
static inline gint64
cleave_loops_end (const CleaveLoops *loops)
{
  gint64 end = (loops->length - 1) * loops->step[0] + 1;

  for (guint d = 0; d < loops->n_dims; d++)
    end += (loops->extent[d] - 1) * loops->stride[0][d];
  return end;
}

/* Finds the first line with elements at or after `begin` of the first view; lines must nest.
 * Returns FALSE if there is none. */
static inline gboolean
cleave_line_find (const CleaveLoops *loops, gint64 begin, CleaveLine *line)
{
  if (!cleave_line_first (loops, line))
    return FALSE;
  for (guint d = 0; d < loops->n_dims && begin > 0; d++)
    {
      line->index[d] = MIN (begin / loops->stride[0][d], loops->extent[d] - 1);
      begin -= line->index[d] * loops->stride[0][d];
      for (guint v = 0; v < loops->n_views; v++)
        line->offset[v] += line->index[d] * loops->stride[v][d];
    }
  return TRUE;
}

/* Returns how many elements of a line are in [begin, end) of the first view. Sets `offset` to
 * the first of them in each view. */
static inline gint64
cleave_line_cut (
    const CleaveLoops *loops, const CleaveLine *line, gint64 begin, gint64 end, gint64 *offset)
{
  gint64 step = loops->step[0], at = line->offset[0];
  gint64 first = begin <= at ? 0 : (begin - at + step - 1) / step;
  gint64 last =
      end - at > (loops->length - 1) * step ? loops->length : (end - at + step - 1) / step;

  for (guint v = 0; v < loops->n_views; v++)
    offset[v] = line->offset[v] + first * loops->step[v];
  return MAX (last - first, 0);
}

/* Processes `n` elements of a line, at an offset in each view. */
typedef void (*CleaveLineRun) (gconstpointer state,
                               const CleaveKernelInstance *instance,
                               const gint64 *offset,
                               gint64 n);

static inline void
cleave_loops_run_lines (const CleaveLoops *loops,
                        CleaveLineRun run_line,
                        gconstpointer state,
                        const CleaveKernelInstance *instance)
{
  CleaveLine line;

  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    run_line (state, instance, line.offset, loops->length);
}

/* Runs the elements in [begin, end) of the first view; lines must nest. */
static inline void
cleave_loops_run_part (const CleaveLoops *loops,
                       CleaveLineRun run_line,
                       gconstpointer state,
                       const CleaveKernelInstance *instance,
                       gint64 begin,
                       gint64 end)
{
  CleaveLine line;

  for (gboolean more = cleave_line_find (loops, begin, &line); more && line.offset[0] < end;
       more = cleave_line_next (loops, &line))
    {
      gint64 offset[CLEAVE_LOOP_VIEWS];
      gint64 length = cleave_line_cut (loops, &line, begin, end, offset);

      if (length > 0)
        run_line (state, instance, offset, length);
    }
}

/* Elements computed before the fused consumers run on them: they are then still in the L1 cache. */
#define CLEAVE_PART 2048

/* Runs all elements; part by part if there are fused consumers. */
static inline void
cleave_loops_run (const CleaveLoops *loops,
                  CleaveLineRun run_line,
                  gconstpointer state,
                  const CleaveKernelInstance *instance)
{
  gint64 end = cleave_loops_end (loops), stop;

  if (instance->n_fused == 0)
    cleave_loops_run_lines (loops, run_line, state, instance);
  else
    for (gint64 begin = 0; begin < end; begin = stop)
      {
        stop = MIN (begin + CLEAVE_PART, end);
        cleave_loops_run_part (loops, run_line, state, instance, begin, stop);
        cleave_kernel_range_done (instance, begin, stop);
      }
}

/* Declares the elements of the next loop independent, even if the result overlays an operand. */
#ifdef __clang__
#define CLEAVE_INDEPENDENT _Pragma ("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed" /* loops that call libm are not vectorized */
#define CLEAVE_INDEPENDENT_FEW CLEAVE_INDEPENDENT
#else
#define CLEAVE_INDEPENDENT _Pragma ("GCC ivdep")
/* Marks a loop that is so short that the compiler would unroll it instead of vectorizing it. */
#define CLEAVE_INDEPENDENT_FEW _Pragma ("GCC unroll 1") _Pragma ("GCC ivdep")
#endif
