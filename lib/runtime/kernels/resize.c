/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Resize.  Channels that lie side by side and stay as they are have the same taps, and are summed
 * together; else each element is a pixel of one channel.  Taps are found when the program is made.
 * Sums in the order of the reference kernel. */

#include "level.h"
#include "vector.h"

#include "../../ops/reference.h"
#include "../../ops/resize-taps.h"

enum { X };

/* Of one pixel: two of each of four dimensions, or four of each of two. */
#define MAX_TAPS 16
/* Channels whose sums are in registers. */
#define N_TOGETHER 16

typedef struct
{
  guint c;         /* the dimension of the channels; the rank: there is none */
  gboolean copies; /* the nearest element, as it is */
  gint64 n_channels;
  CleaveShape pixels;                      /* of the result, one channel */
  CleaveResizeTaps *taps[CLEAVE_MAX_RANK]; /* of each element of a dimension; NULL: of c */
} Resize;

/* Of all dimensions but the one along which pixels follow each other. */
typedef struct
{
  guint n;
  gint64 from[MAX_TAPS];
  double weight[MAX_TAPS];
} Taps;

static void
resize_free (gpointer state)
{
  Resize *r = state;

  for (guint d = 0; d < CLEAVE_MAX_RANK; d++)
    g_free (r->taps[d]);
  g_free (r);
}

static CleaveResizeAxis
axis_of (const CleaveKernelInstance *instance, guint d)
{
  return cleave_resize_axis (instance->call.attrs, d, instance->operands[X].type.shape.dim[d],
                             instance->results[0].type.shape.dim[d]);
}

static gboolean
stays (const CleaveKernelInstance *instance, guint d)
{
  CleaveResizeAxis axis = axis_of (instance, d);

  for (gint64 i = 0; i < axis.to; i++)
    {
      CleaveResizeTaps taps = cleave_resize_taps (&axis, i);

      if (taps.n != 1 || taps.at[0] != i || taps.weight[0] != 1)
        return FALSE;
    }
  return axis.to == axis.from;
}

/* The dimension whose elements lie side by side, and stay; the rank: there is none. */
static guint
find_channels (const CleaveKernelInstance *instance)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  guint d = 0;

  while (d < x->type.shape.rank && !(x->stride[d] == 1 && y->stride[d] == 1 &&
                                     y->type.shape.dim[d] > 1 && stays (instance, d)))
    d++;
  return d;
}

/* Returns the most that one element has. */
static guint
find_taps (const CleaveKernelInstance *instance, guint d, CleaveResizeTaps *taps)
{
  CleaveResizeAxis axis = axis_of (instance, d);
  guint most = 0;

  for (gint64 i = 0; i < axis.to; i++)
    {
      taps[i] = cleave_resize_taps (&axis, i);
      most = MAX (most, taps[i].n);
    }
  return most;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveResizeAttrs *attrs = instance->call.attrs;
  const CleaveShape *y = &instance->results[0].type.shape;
  guint c, n_taps = 1;
  Resize *r;

  if (instance->operands[X].type.element != CLEAVE_FLOAT32 ||
      attrs->coordinate_transformation_mode == CLEAVE_RESIZE_TF_CROP_AND_RESIZE ||
      cleave_shape_n_elements (y) == 0)
    return FALSE;
  c = find_channels (instance);
  r = g_new0 (Resize, 1);
  r->c = c;
  r->copies = attrs->mode == CLEAVE_RESIZE_NEAREST;
  r->n_channels = c < y->rank ? y->dim[c] : 1;
  r->pixels = *y;
  if (c < y->rank)
    r->pixels.dim[c] = 1;
  for (guint d = 0; d < y->rank && n_taps <= MAX_TAPS; d++)
    if (d != c)
      {
        r->taps[d] = g_new (CleaveResizeTaps, (gsize) y->dim[d]);
        n_taps *= find_taps (instance, d, r->taps[d]);
      }
  *state = r;
  if (n_taps <= MAX_TAPS)
    return TRUE;
  resize_free (r);
  return FALSE;
}

/* Those of a row of pixels along a dimension, which has its own; the first dimension outermost. */
static void
list_taps (const Resize *r, const CleaveView *x, const gint64 *at, guint inner, Taps *to)
{
  *to = (Taps){ .n = 1, .weight = { 1 } };
  for (guint d = 0; d < r->pixels.rank; d++)
    {
      const CleaveResizeTaps *taps = d == r->c || d == inner ? NULL : &r->taps[d][at[d]];

      if (taps == NULL)
        continue;
      for (guint k = to->n * taps->n; k-- > 0;)
        {
          guint outer = k / taps->n, i = k % taps->n;

          to->from[k] = to->from[outer] + taps->at[i] * x->stride[d];
          to->weight[k] = to->weight[outer] * taps->weight[i];
        }
      to->n *= taps->n;
    }
}

/* Of `n` channels, with so many taps of the row and of the pixel. */
static inline __attribute__ ((always_inline)) void
sum_channels (const Taps *row,
              guint n_row,
              const CleaveResizeTaps *taps,
              guint n_taps,
              gint64 stride,
              const float *x,
              float *y,
              gint64 n)
{
  double sum[N_TOGETHER] = { 0 };

  for (guint k = 0; k < n_row; k++)
    for (guint j = 0; j < n_taps; j++)
      {
        const float *from = x + row->from[k] + taps->at[j] * stride;
        double weight = row->weight[k] * taps->weight[j];

        for (gint64 i = 0; i < n; i++)
          sum[i] += weight * (double) from[i];
      }
  for (gint64 i = 0; i < n; i++)
    y[i] = (float) sum[i];
}

/* Blocks of channels, the last of which may overlap the one before. */
static inline __attribute__ ((always_inline)) void
sum_blocks (const Taps *row,
            guint n_row,
            const CleaveResizeTaps *taps,
            guint n_taps,
            gint64 stride,
            const float *x,
            float *y,
            gint64 n,
            gint64 block)
{
  gint64 c = 0;

  for (; c + block <= n; c += block)
    sum_channels (row, n_row, taps, n_taps, stride, x + c, y + c, block);
  if (c < n)
    sum_channels (row, n_row, taps, n_taps, stride, x + n - block, y + n - block, block);
}

static inline __attribute__ ((always_inline)) void
sum_pixel (const Taps *row,
           guint n_row,
           const CleaveResizeTaps *taps,
           guint n_taps,
           gint64 stride,
           const float *x,
           float *y,
           gint64 n)
{
  if (n >= N_TOGETHER)
    sum_blocks (row, n_row, taps, n_taps, stride, x, y, n, N_TOGETHER);
  else if (n >= N_TOGETHER / 2)
    sum_blocks (row, n_row, taps, n_taps, stride, x, y, n, N_TOGETHER / 2);
  else if (n >= N_TOGETHER / 4)
    sum_blocks (row, n_row, taps, n_taps, stride, x, y, n, N_TOGETHER / 4);
  else
    sum_blocks (row, n_row, taps, n_taps, stride, x, y, n, 1);
}

/* With two taps in each of two dimensions, as linear ones have: few channels one by one. */
static inline __attribute__ ((always_inline)) void
sum_four (const Taps *row,
          const CleaveResizeTaps *taps,
          gint64 stride,
          const float *x,
          float *y,
          gint64 n)
{
  const float *a = x + taps->at[0] * stride, *b = x + taps->at[1] * stride;
  double first[2] = { row->weight[0] * taps->weight[0], row->weight[0] * taps->weight[1] };
  double last[2] = { row->weight[1] * taps->weight[0], row->weight[1] * taps->weight[1] };

  for (gint64 i = 0; i < n; i++)
    {
      double sum = 0;

      sum += first[0] * (double) a[row->from[0] + i];
      sum += first[1] * (double) b[row->from[0] + i];
      sum += last[0] * (double) a[row->from[1] + i];
      sum += last[1] * (double) b[row->from[1] + i];
      y[i] = (float) sum;
    }
}

static void
sum_row (const Resize *r,
         const Taps *row,
         const CleaveResizeTaps *taps,
         gint64 n_pixels,
         const float *x,
         gint64 x_stride,
         float *y,
         gint64 y_stride)
{
  gint64 n = r->n_channels;

  for (gint64 i = 0; i < n_pixels; i++, taps++, y += y_stride)
    if (row->n != 2 || taps->n != 2)
      sum_pixel (row, row->n, taps, taps->n, x_stride, x, y, n);
    else if (n == 1)
      sum_four (row, taps, x_stride, x, y, 1);
    else if (n < N_TOGETHER / 4)
      sum_four (row, taps, x_stride, x, y, n);
    else
      sum_pixel (row, 2, taps, 2, x_stride, x, y, n);
}

/* The last vector may overlap the one before. */
static inline void
copy_channels (const float *from, float *to, gint64 n)
{
  gint64 c = 0;

  for (; c + CLEAVE_VECTOR <= n; c += CLEAVE_VECTOR)
    cleave_vector_store (to + c, cleave_vector_load (from + c));
  if (c < n && c > 0)
    cleave_vector_store (to + n - CLEAVE_VECTOR, cleave_vector_load (from + n - CLEAVE_VECTOR));
  else
    for (; c < n; c++)
      to[c] = from[c];
}

static void
copy_row (const Resize *r,
          const CleaveResizeTaps *taps,
          gint64 n_pixels,
          const float *x,
          gint64 x_stride,
          float *y,
          gint64 y_stride)
{
  if (r->n_channels == 1)
    for (gint64 i = 0; i < n_pixels; i++)
      y[i * y_stride] = x[taps[i].at[0] * x_stride];
  else
    for (gint64 i = 0; i < n_pixels; i++)
      copy_channels (x + taps[i].at[0] * x_stride, y + i * y_stride, r->n_channels);
}

static gboolean
is_single (const Resize *r, guint d)
{
  return r->pixels.dim[d] == 1 && r->taps[d][0].n == 1 && r->taps[d][0].weight[0] == 1;
}

/* The last dimension that has pixels; that of the channels, if none has. */
static guint
find_inner (const Resize *r)
{
  guint d = r->pixels.rank - 1;

  while (d > 0 && (d == r->c || is_single (r, d)))
    d--;
  return d;
}

/* Row by row: what all pixels of one have in common is found once. */
static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  static const CleaveResizeTaps itself = { .n = 1, .weight = { 1 } };
  const Resize *r = state;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  guint inner = find_inner (r);
  const CleaveResizeTaps *taps = inner == r->c ? &itself : r->taps[inner];
  CleaveShape rows = r->pixels;
  gint64 n = r->pixels.dim[inner], stride = x->stride[inner], at[CLEAVE_MAX_RANK];
  Taps row;

  rows.dim[inner] = 1;
  CLEAVE_EACH_INDEX (at, &rows)
    {
      const float *from = x->data;
      float *to = (float *) y->data + cleave_index_offset (rows.rank, at, y->stride);

      list_taps (r, x, at, inner, &row);
      if (r->copies) /* a sum would make 0 of -0 */
        copy_row (r, taps, n, from + row.from[0], stride, to, y->stride[inner]);
      else
        sum_row (r, &row, taps, n, from, stride, to, y->stride[inner]);
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_resize); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_resize) = {
  .prepare = prepare,
  .run = run,
  .free = resize_free,
};
