/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Resize with channels innermost, which stay as they are: all of a pixel have the same taps, found
 * when the program is made.  Sums in the order of the reference kernel. */

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
  guint c;
  gboolean copies; /* the nearest element, as it is */
  gint64 n_channels;
  CleaveShape pixels;                      /* of the result, one channel */
  CleaveResizeTaps *taps[CLEAVE_MAX_RANK]; /* of each element of a dimension; NULL: of c */
} Resize;

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
  if (c == y->rank)
    return FALSE;
  r = g_new0 (Resize, 1);
  r->c = c;
  r->copies = attrs->mode == CLEAVE_RESIZE_NEAREST;
  r->n_channels = y->dim[c];
  r->pixels = *y;
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

/* Those of a pixel, the first dimension outermost. */
static void
list_taps (const Resize *r, const CleaveView *x, const gint64 *at, Taps *to)
{
  *to = (Taps){ .n = 1, .weight = { 1 } };
  for (guint d = 0; d < r->pixels.rank; d++)
    {
      const CleaveResizeTaps *taps = d == r->c ? NULL : &r->taps[d][at[d]];

      if (taps == NULL)
        continue;
      for (guint k = to->n * taps->n; k-- > 0;)
        {
          guint outer = k / taps->n, inner = k % taps->n;

          to->from[k] = to->from[outer] + taps->at[inner] * x->stride[d];
          to->weight[k] = to->weight[outer] * taps->weight[inner];
        }
      to->n *= taps->n;
    }
}

static inline __attribute__ ((always_inline)) void
sum_channels (const Taps *taps, const float *x, float *y, gint64 n)
{
  double sum[N_TOGETHER] = { 0 };

  for (guint k = 0; k < taps->n; k++)
    for (gint64 i = 0; i < n; i++)
      sum[i] += taps->weight[k] * (double) x[taps->from[k] + i];
  for (gint64 i = 0; i < n; i++)
    y[i] = (float) sum[i];
}

static void
run_pixel (const Resize *r, const Taps *taps, const float *x, float *y)
{
  gint64 c = 0;

  for (; c + N_TOGETHER <= r->n_channels; c += N_TOGETHER)
    sum_channels (taps, x + c, y + c, N_TOGETHER);
  sum_channels (taps, x + c, y + c, r->n_channels - c);
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

/* Nearest elements, row by row: what all pixels of one have in common is found once. */
static void
copy_pixels (const Resize *r, const CleaveView *x, const CleaveView *y)
{
  guint inner = r->c + 1 == r->pixels.rank ? r->c - 1 : r->pixels.rank - 1;
  const CleaveResizeTaps *taps = r->taps[inner];
  CleaveShape rows = r->pixels;
  gint64 at[CLEAVE_MAX_RANK];
  Taps row;

  rows.dim[inner] = 1;
  for (gboolean more = cleave_index_first (&rows, at); more; more = cleave_index_next (&rows, at))
    {
      const float *from = x->data;
      float *to = (float *) y->data + cleave_index_offset (rows.rank, at, y->stride);

      list_taps (r, x, at, &row);
      from += row.from[0] - taps[0].at[0] * x->stride[inner];
      for (gint64 i = 0; i < r->pixels.dim[inner]; i++, to += y->stride[inner])
        copy_channels (from + taps[i].at[0] * x->stride[inner], to, r->n_channels);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Resize *r = state;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  gint64 at[CLEAVE_MAX_RANK];
  Taps taps;

  if (r->copies && r->pixels.rank > 1)
    {
      copy_pixels (r, x, y);
      return;
    }
  if (r->copies) /* a sum would make 0 of -0 */
    {
      copy_channels (x->data, y->data, r->n_channels);
      return;
    }
  for (gboolean more = cleave_index_first (&r->pixels, at); more;
       more = cleave_index_next (&r->pixels, at))
    {
      list_taps (r, x, at, &taps);
      run_pixel (r, &taps, x->data,
                 (float *) y->data + cleave_index_offset (r->pixels.rank, at, y->stride));
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_resize); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_resize) = {
  .prepare = prepare,
  .run = run,
  .free = resize_free,
};
