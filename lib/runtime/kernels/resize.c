/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of Resize with interpolation. A run interpolates lines of the operand into
 * scratch, along the innermost resized dimension, once for all lines of the result that need them.
 * The lines of the result are weighted sums of the interpolated lines. Contiguous channels that are
 * not resized form a pixel. Sums have the order of the reference kernel.
 *
 * Over 400 lines: this file makes one plan, and computes the lines of the plan in two ways. */

#include "level.h"
#include "loops.h"
#include "resize-lines.h"

#include "../../ops/reference.h"
#include "../../ops/resize-taps.h"

enum { X };

/* Largest number of operand lines from which a result line is computed: 4 x 4 lines of two
 * dimensions, or 2 x 2 x 2 x 2 lines of four dimensions. */
#define MAX_LINES 16
/* Largest number of adjacent operand rows that are interpolated together, if the result needs all
 * these rows. The taps that the rows share then stay in registers. Scratch holds MAX_ROWS +
 * CLEAVE_RESIZE_MAX rows. */
#define MAX_ROWS (MAX_LINES - CLEAVE_RESIZE_MAX)
/* The kernel computes this many bytes of a result line at once, so that the bytes stay in the L1
 * cache. */
#define LINE_BYTES 8192

typedef struct
{
  guint c;     /* dimension of the channels; equal to the rank if pixels have no channels */
  guint inner; /* dimension along which lines run */
  /* dimension whose positions the kernel visits as rows (find_rows()); the rank of the result if
   * there is no such dimension */
  guint rows;
  gint64 n_lines;    /* number of interpolated lines in scratch */
  gint64 n_rows;     /* number of rows that are interpolated together */
  guint n_taps;      /* largest number of taps of a pixel */
  gboolean is_mixed; /* TRUE: not all pixels have the same number of taps */
  gint64 n_from;     /* number of pixels of an operand line */
  /* number of channels of a pixel; number of pixels that are processed at once */
  gint64 n_channels, n_together;
  CleaveShape lines; /* shape of the result, with extent 1 in the dimensions of a line (`inner` and
                      * `c`) */
  CleaveResizeTaps *taps[CLEAVE_MAX_RANK]; /* indexed by dimension: an array with the taps of each
                                              position; NULL for dimension `c`, the channels */
  CleaveResizeBlock *blocks; /* taps of each vector of pixels along a line, if a pixel has one
                                channel; NULL: results are computed one by one */
} Resize;

static void
resize_free (gpointer state)
{
  Resize *r = state;

  for (guint d = 0; d < CLEAVE_MAX_RANK; d++)
    g_free (r->taps[d]);
  g_aligned_free (r->blocks);
  g_free (r);
}

/* Returns the dimension along which lines run: the last interpolated dimension. If no dimension is
 * interpolated, returns the last dimension with several positions. If there is no such dimension,
 * returns the dimension `c` of the channels. */
static guint
find_inner (const Resize *r, const CleaveShape *y)
{
  guint found = r->c;

  for (guint d = 0; d < y->rank; d++)
    if (d != r->c && y->dim[d] > 1 &&
        (found == r->c || cleave_resize_most_taps (r->taps[found], y->dim[found]) == 1))
      found = d;
  for (guint d = 0; d < y->rank; d++)
    if (d != r->c && cleave_resize_most_taps (r->taps[d], y->dim[d]) > 1)
      found = d;
  return found;
}

/* Returns the dimension whose positions the kernel visits as rows. The function looks at the
 * dimensions besides the channels and `inner`:
 * - If exactly one of these dimensions is interpolated, returns this dimension.
 * - If no dimension is interpolated, returns a dimension with more than one position. If each
 * dimension has one position, returns the rank.
 * - If several dimensions are interpolated, returns the rank. */
static guint
find_rows (const Resize *r, const CleaveShape *y)
{
  guint found = y->rank, n = 0;

  for (guint d = 0; d < y->rank; d++)
    if (d != r->c && d != r->inner)
      {
        gboolean is_interpolated = cleave_resize_most_taps (r->taps[d], y->dim[d]) > 1;

        if (is_interpolated || (n == 0 && y->dim[d] > 1))
          found = d;
        n += is_interpolated ? 1 : 0;
      }
  return n > 1 ? y->rank : found;
}

static void
find_blocks (Resize *r, gint64 n, gint64 n_from)
{
  const CleaveResizeTaps *taps = r->taps[r->inner];
  gint64 n_blocks = (n + CLEAVE_VECTOR - 1) / CLEAVE_VECTOR;
  gboolean all = TRUE;

  r->blocks = g_aligned_alloc ((gsize) n_blocks, sizeof (CleaveResizeBlock), 64);
  for (gint64 i = 0; i < n_blocks && all; i++)
    all = cleave_resize_block_init (&r->blocks[i], taps + i * CLEAVE_VECTOR,
                                    MIN (CLEAVE_VECTOR, n - i * CLEAVE_VECTOR), r->n_taps, n_from);
  if (!all)
    g_clear_pointer (&r->blocks, g_aligned_free);
}

static void
plan_line (Resize *r, const CleaveView *x, const CleaveView *y)
{
  gint64 n = r->inner == y->type.shape.rank || r->inner == r->c ? 1 : y->type.shape.dim[r->inner];

  r->n_taps = 1;
  r->n_from = r->inner == r->c ? 1 : x->type.shape.dim[r->inner];
  G_STATIC_ASSERT (LINE_BYTES / sizeof (float) % CLEAVE_VECTOR == 0);
  r->n_together = MIN (n, MAX (1, LINE_BYTES / (gint64) sizeof (float) / r->n_channels));
  if (r->inner == r->c)
    return;
  r->n_taps = cleave_resize_most_taps (r->taps[r->inner], n);
  for (gint64 i = 0; i < n; i++)
    r->is_mixed = r->is_mixed || r->taps[r->inner][i].n != r->n_taps;
  if (CLEAVE_RESIZE_HAS_BLOCKS && r->n_channels == 1 && x->stride[r->inner] == 1)
    find_blocks (r, n, r->n_from);
}

/* Returns the number of floats of a line in scratch, a multiple of a cache line. */
static gint64
scratch_step (const Resize *r)
{
  return (r->n_together * r->n_channels + 15) / 16 * 16;
}

/* Sets `lines` and `n_lines`. `n_lines` is the number of operand lines that one result line reads.
 * If `n_lines` is above MAX_LINES, another kernel computes the node. */
static void
count_lines (Resize *r, const CleaveShape *shape)
{
  r->lines = *shape;
  r->n_lines = 1;
  for (guint d = 0; d < shape->rank; d++)
    if (d == r->c || d == r->inner)
      r->lines.dim[d] = 1;
    else if (r->n_lines <= MAX_LINES)
      r->n_lines *= cleave_resize_most_taps (r->taps[d], shape->dim[d]);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveResizeAttrs *attrs = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  const CleaveShape *shape = &y->type.shape;
  Resize *r;

  if (x->type.element != CLEAVE_FLOAT32 ||
      attrs->coordinate_transformation_mode == CLEAVE_RESIZE_TF_CROP_AND_RESIZE ||
      cleave_shape_n_elements (shape) == 0)
    return FALSE;
  r = g_new0 (Resize, 1);
  r->c = cleave_resize_find_channels (attrs, x, y);
  r->n_channels = r->c < shape->rank ? shape->dim[r->c] : 1;
  for (guint d = 0; d < shape->rank; d++)
    if (d != r->c)
      {
        CleaveResizeAxis axis = cleave_resize_axis (attrs, d, x->type.shape.dim[d], shape->dim[d]);

        r->taps[d] = cleave_resize_new_taps (&axis);
      }
  r->inner = find_inner (r, shape);
  r->rows = find_rows (r, shape);
  count_lines (r, shape);
  plan_line (r, x, y);
  if (r->rows < shape->rank)
    {
      r->n_rows =
          r->blocks != NULL && shape->dim[r->rows] >= x->type.shape.dim[r->rows] ? MAX_ROWS : 1;
      r->n_lines = r->n_rows > 1 ? MAX_LINES : CLEAVE_RESIZE_MAX;
    }
  *state = r;
  /* scratch holds the interpolated lines and their intermediate sums */
  *n_scratch = (gsize) (2 * r->n_lines * scratch_step (r)) * sizeof (float);
  if (r->n_lines <= MAX_LINES)
    return TRUE;
  resize_free (r);
  return FALSE;
}

/* Interpolates pixels [begin, begin + n) of a result line from the operand line at x. */
static void
interpolate_line (
    const Resize *r, const float *x, gint64 x_stride, gint64 begin, gint64 n, float *y)
{
  static const CleaveResizeTaps itself = { .n = 1, .weight = { 1 } };

  for (gint64 i = 0; i < n; i++, y += r->n_channels)
    {
      const CleaveResizeTaps *taps = r->inner == r->c ? &itself : &r->taps[r->inner][begin + i];
      const float *from[CLEAVE_RESIZE_MAX] = { x };

      for (guint t = 0; t < taps->n; t++)
        from[t] = x + taps->at[t] * x_stride;
      if (r->n_channels > 1)
        cleave_resize_sum_lines (from, taps, y, r->n_channels);
      else
        {
          y[0] = (float) taps->weight[0] * from[0][0];
          for (guint t = 1; t < taps->n; t++)
            y[0] += (float) taps->weight[t] * from[t][0];
        }
    }
}

/* Interpolates the same pixels of several operand lines. */
static void
interpolate (const Resize *r,
             const CleaveResizeLines *lines,
             const float *x,
             gint64 x_stride,
             gint64 begin,
             gint64 n,
             float *y)
{
  const CleaveResizeBlock *blocks = r->blocks + (r->blocks != NULL ? begin / CLEAVE_VECTOR : 0);

  if (r->blocks == NULL)
    for (gint64 i = 0; i < lines->n; i++)
      interpolate_line (r, x + i * lines->x_step, x_stride, begin, n, y + i * lines->y_step);
  else if (r->n_taps == 2 && !r->is_mixed)
    cleave_resize_blocks (blocks, lines, x, y, n, r->n_from, 2, FALSE);
  else if (r->n_taps == 2)
    cleave_resize_blocks (blocks, lines, x, y, n, r->n_from, 2, TRUE);
  else if (r->n_taps == 4 && !r->is_mixed)
    cleave_resize_blocks (blocks, lines, x, y, n, r->n_from, 4, FALSE);
  else if (r->n_taps == 1)
    cleave_resize_blocks (blocks, lines, x, y, n, r->n_from, 1, FALSE);
  else if (r->n_taps == 3)
    cleave_resize_blocks (blocks, lines, x, y, n, r->n_from, 3, TRUE);
  else
    cleave_resize_blocks (blocks, lines, x, y, n, r->n_from, 4, TRUE);
}

/* A part of the result: the same pixels of all lines. A run computes the part line by line. */
typedef struct
{
  const Resize *r;
  const CleaveView *x;
  gint64 begin, n; /* pixels [begin, begin + n) of each line */
  gint64 length;   /* number of floats of the `n` pixels in one line */
  gint64 step;     /* distance of adjacent lines in scratch, in floats */
  float *lines;    /* the interpolated lines in scratch. Line i is for the operand line at address
                      from[i]; NULL: line i is unused */
  const float *from[MAX_LINES];
  float *sums;
} Part;

static gboolean
is_among (const float *from, const float *const *needed, guint n)
{
  for (guint k = 0; k < n; k++)
    if (needed[k] == from)
      return TRUE;
  return FALSE;
}

/* Returns the interpolated line for the operand line at address `from`. If scratch does not hold
 * this interpolated line, computes it, and overwrites another interpolated line in scratch. Does
 * not overwrite the interpolated lines of the `n_needed` operand lines in `needed`. */
static const float *
find_line (Part *part, const float *from, const float *const *needed, guint n_needed)
{
  const Resize *r = part->r;
  gint64 at = 0;

  while (at < r->n_lines && part->from[at] != from)
    at++;
  if (at == r->n_lines)
    {
      at = 0;
      while (is_among (part->from[at], needed, n_needed))
        at++;
      part->from[at] = from;
      interpolate (r, &(CleaveResizeLines){ .n = 1 }, from,
                   r->inner == r->c ? 0 : part->x->stride[r->inner], part->begin, part->n,
                   part->lines + at * part->step);
    }
  return part->lines + at * part->step;
}

/* Lists the operand lines from which the result line at position `at` is computed; the index of the
 * first dimension varies slowest. Returns their number. */
static guint
list_lines (const Part *part, const gint64 *at, const float **from)
{
  const Resize *r = part->r;
  guint n = 1;

  from[0] = part->x->data;
  for (guint d = 0; d < r->lines.rank; d++)
    if (d != r->c && d != r->inner)
      {
        const CleaveResizeTaps *taps = &r->taps[d][at[d]];

        for (guint k = n * taps->n; k-- > 0;)
          from[k] = from[k / taps->n] + taps->at[k % taps->n] * part->x->stride[d];
        n *= taps->n;
      }
  return n;
}

/* Computes one result line. Sums interpolated lines with the weights along the last dimension, then
 * sums these sums with the weights along the dimension before it, and so on. Stores the last sum in
 * y. */
static void
make_line (Part *part, const gint64 *at, float *y)
{
  const Resize *r = part->r;
  const float *from[MAX_LINES], *lines[MAX_LINES];
  guint n = list_lines (part, at, from);
  float *sum = part->sums;

  for (guint k = 0; k < n; k++)
    lines[k] = find_line (part, from[k], from, n);
  for (guint d = r->lines.rank; d-- > 0;)
    if (d != r->c && d != r->inner && r->taps[d][at[d]].n > 1)
      {
        const CleaveResizeTaps *taps = &r->taps[d][at[d]];

        n /= taps->n;
        for (guint k = 0; k < n; k++, sum += part->step)
          {
            float *to = n == 1 ? y : sum;

            cleave_resize_sum_lines (lines + k * taps->n, taps, to, part->length);
            lines[k] = to;
          }
      }
  if (lines[0] != y)
    memcpy (y, lines[0], (gsize) part->length * sizeof (float));
}

/* Copies a computed line to its address in the result. */
static inline void
put_line (const Part *part, const float *from, float *to, gint64 stride)
{
  gint64 n_channels = part->r->n_channels;

  for (gint64 i = 0; i < part->n; i++)
    for (gint64 c = 0; c < n_channels; c++)
      to[i * stride + c] = from[i * n_channels + c];
}

/* Interpolates the operand rows from `begin` to `last`. If these are fewer than n_rows rows, also
 * interpolates the next rows, up to n_rows in total. Returns the end of the interpolated rows. */
static gint64
make_rows (const Part *part, const float *x, gint64 begin, gint64 last)
{
  const Resize *r = part->r;
  gint64 end = MIN (MAX (begin + r->n_rows, last + 1), part->x->type.shape.dim[r->rows]);
  gint64 stride = part->x->stride[r->rows];
  CleaveResizeLines lines = { .x_step = stride, .y_step = part->step };

  for (gint64 at = begin, slot; at < end; at += lines.n)
    {
      slot = at & (r->n_lines - 1);
      lines.n = MIN (end - at, r->n_lines - slot);
      interpolate (r, &lines, x + at * stride, r->inner == r->c ? 0 : part->x->stride[r->inner],
                   part->begin, part->n, part->lines + slot * part->step);
    }
  return end;
}

/* Returns whether the first tap of a position lies before the first tap of the previous position.
 * This occurs with four taps: a position exactly on an element has one tap, and the next position
 * has four. */
static gboolean
go_back (const CleaveResizeTaps *taps, gint64 n)
{
  for (gint64 i = 1; i < n; i++)
    if (taps[i].at[0] < taps[i - 1].at[0])
      return TRUE;
  return FALSE;
}

/* Computes the result lines along dimension `r->rows`, for one position in the other dimensions.
 * `x` and `to`: addresses of this position in the operand and in the result. */
static void
run_rows (Part *part, const float *x, const CleaveView *y, float *to, float *scratch)
{
  const Resize *r = part->r;
  const CleaveResizeTaps *taps = r->taps[r->rows];
  gint64 y_stride = r->inner == r->c ? 0 : y->stride[r->inner], made = 0;
  gint64 back = go_back (taps, y->type.shape.dim[r->rows]) ? 1 : 0;
  gboolean is_dense = part->n == 1 || y_stride == r->n_channels;

  for (gint64 i = 0; i < y->type.shape.dim[r->rows]; i++, taps++, to += y->stride[r->rows])
    {
      const float *lines[CLEAVE_RESIZE_MAX] = { x };

      for (guint k = 0; k < taps->n; k++)
        {
          if (taps->at[k] >= made)
            made = make_rows (part, x, MAX (made, taps->at[k] - back), taps->at[k]);
          lines[k] = part->lines + (taps->at[k] & (r->n_lines - 1)) * part->step;
        }
      cleave_resize_sum_lines (lines, taps, is_dense ? to : scratch, part->length);
      if (!is_dense)
        put_line (part, scratch, to, y_stride);
    }
}

static void
run_part (Part *part, const CleaveView *y, float *scratch)
{
  const Resize *r = part->r;
  gint64 at[CLEAVE_MAX_RANK], stride = r->inner == r->c ? 0 : y->stride[r->inner];
  gboolean is_dense = part->n == 1 || stride == r->n_channels, has_rows = r->rows < r->lines.rank;
  CleaveShape lines = r->lines;

  if (has_rows)
    lines.dim[r->rows] = 1;
  CLEAVE_EACH_INDEX (at, &lines)
    {
      float *to = (float *) y->data + cleave_index_offset (lines.rank, at, y->stride) +
                  part->begin * stride;
      const float *x = part->x->data;

      if (has_rows)
        {
          for (guint d = 0; d < lines.rank; d++)
            if (d != r->c && d != r->inner && d != r->rows)
              x += r->taps[d][at[d]].at[0] * part->x->stride[d];
          run_rows (part, x, y, to, scratch);
          continue;
        }
      make_line (part, at, is_dense ? to : scratch);
      if (!is_dense)
        put_line (part, scratch, to, stride);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Resize *r = state;
  const CleaveView *y = &instance->results[0];
  gint64 n = r->inner == r->c ? 1 : y->type.shape.dim[r->inner];
  gint64 step = scratch_step (r);
  float *rest = (float *) scratch + r->n_lines * step;

  for (gint64 begin = 0; begin < n; begin += r->n_together)
    {
      gint64 n_pixels = MIN (r->n_together, n - begin);
      Part part = { .r = r,
                    .x = &instance->operands[X],
                    .begin = begin,
                    .n = n_pixels,
                    .length = n_pixels * r->n_channels,
                    .lines = scratch,
                    .step = step,
                    .sums = rest + step };

      run_part (&part, y, rest);
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_resize);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_resize) = {
  .prepare = prepare,
  .run = run,
  .free = resize_free,
};
