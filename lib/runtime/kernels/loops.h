/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../kernels.h"

/* Loops over several views at once. Kernel families make the loops in `prepare`, and compute the
 * elements of one line at a time in `run`. View 0 decides the shape, and the other views are
 * broadcast to this shape. Dimensions are sorted by the strides of view 0, largest first, whatever
 * their logical order. Adjacent dimensions that form one dimension in all views are merged. The
 * innermost dimension is the line: kernels get an offset into each view and a number of elements.
 *
 * Example: y [2, 3, 4] dense and x [1, 3, 4] dense give one outer dimension of extent 2 and lines
 * of 12 elements. */

#define CLEAVE_LOOP_VIEWS 9

typedef struct
{
  guint n_views, n_dims; /* number of views; number of dimensions outside the line */
  gint64 extent[CLEAVE_MAX_RANK];
  gint64 stride[CLEAVE_LOOP_VIEWS][CLEAVE_MAX_RANK];
  gint64 length, step[CLEAVE_LOOP_VIEWS]; /* number of elements of a line; indexed by view: distance
                                             of adjacent elements of a line, in elements */
  gint64 size[CLEAVE_LOOP_VIEWS];         /* indexed by view: size of an element in bytes */
} CleaveLoops;

/* A line: the offset of the line's first element in each view, in elements; and the position of the
 * line in the loops. */
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

/* Returns whether a new dimension can be merged with the dimension that was added last: both must
 * form one dimension in all views. */
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

/* Lists in `order` the dimensions with more than one element, in order of descending stride.
 * Returns their number. */
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

/* Initializes loops over the views `first` and `others`. The order of dimensions comes from the
 * strides of `along`, a view with the shape of `first`. */
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

/* If lines have fewer than `few` elements, exchanges the dimension of the lines and the longest
 * other dimension, so that lines become longer. */
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

/* Sets `line` to the first line. Returns FALSE if the views have no elements. */
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

/* Returns whether each line of view 0 ends in memory before the next line begins. */
static inline gboolean
cleave_loops_nest (const CleaveLoops *loops)
{
  gint64 size = loops->length * loops->step[0];

  for (guint d = loops->n_dims; d-- > 0; size = loops->extent[d] * loops->stride[0][d])
    if (loops->stride[0][d] < size)
      return FALSE;
  return loops->step[0] > 0;
}

/* Returns the number of elements from the first to the last element of view 0 in memory, gaps
 * included. */
static inline gint64
cleave_loops_end (const CleaveLoops *loops)
{
  gint64 end = (loops->length - 1) * loops->step[0] + 1;

  for (guint d = 0; d < loops->n_dims; d++)
    end += (loops->extent[d] - 1) * loops->stride[0][d];
  return end;
}

/* Finds the first line that has elements at or after offset `begin` of view 0. Each line of view 0
 * must end before the next line begins (cleave_loops_nest()). Returns FALSE if there is no such
 * line. */
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

/* Returns how many elements of a line are at offsets [begin, end) of view 0. Sets `offset` to the
 * offset in each view of the first of these elements. */
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

/* Function that computes `n` elements of a line. `offset`: the offset of the first element in each
 * view. */
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

/* Computes the elements at offsets [begin, end) of view 0, line by line. Each line of view 0 must
 * end before the next line begins (cleave_loops_nest()). */
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

/* Number of elements that are computed before the fused consumers run on them, so that the elements
 * are still in the L1 cache. */
#define CLEAVE_PART 2048

/* Computes all elements. If there are fused consumers, computes CLEAVE_PART elements at a time and
 * then runs the consumers on them. */
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

/* Declares the iterations of the next loop independent, so that the compiler vectorizes it although
 * the result may overlay an operand. */
#ifdef __clang__
#define CLEAVE_INDEPENDENT _Pragma ("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed" /* do not warn about loops that call libm */
#define CLEAVE_INDEPENDENT_FEW CLEAVE_INDEPENDENT
#else
#define CLEAVE_INDEPENDENT _Pragma ("GCC ivdep")
/* Makes compilers vectorize a loop of few iterations. By default, gcc unrolls such a loop
 * completely. */
#define CLEAVE_INDEPENDENT_FEW _Pragma ("GCC unroll 1") _Pragma ("GCC ivdep")
#endif
