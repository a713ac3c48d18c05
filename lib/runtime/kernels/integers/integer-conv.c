/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of convolutions of bytes, computed in integer arithmetic. A run copies a few
 * rows of x at a time to scratch, with padding (byte-image.h). Each pixel of the result is a
 * product (byte-product.h) of the weights and the elements of scratch that its taps read. A tap is
 * one position of the convolution's kernel.
 *
 * Over 400 lines: this file makes one plan, which depends on layout, order and kinds of sums
 * together. */

#include "byte-image.h"
#include "byte-product.h"
#include "qdq.h"

#include "../pixels.h"

#include <cleave/cleave-tflite.h>

enum { X };

typedef struct
{
  CleavePlaces places;
  CleaveByteImage image;
  CleaveBytePanels panels;
  const gint8 *packed; /* packed weights; NULL: each run packs the weights */
  gint64 first;        /* index of the packed column at which the weights begin */
  gint64 n_groups, group_in, group_out;
  gint64 column_step;
  gboolean in_place; /* TRUE: kernels read x without a copy in scratch */
  CleaveQdq *qdq;    /* constants that convert sums to QDQ-exact results (qdq.h); NULL: results are
                        computed from the integer sums alone */
  gboolean has_w_zeros;
  gint64 n_taps;
  /* offsets of taps, of pixels of x and of pixels of y, from the begin of a band of rows; in bytes
   * for taps and x, in elements for y */
  gint64 *tap_at, *x_at, *y_at;
  gboolean is_fixed; /* TRUE: fixed-point factors are used instead of the scales of sums */
  gsize at_multiplier, at_shift;
  /* Byte offsets in scratch: of the image of x; of biases, scales and zero points; of the sum of x
   * for each pixel. The arrays of qdq.h and the packed weights follow. */
  gsize at_x, at_bias, at_scale, at_w_zero, at_sums, at_qdq, at_packed;
} Plan;

/* The following functions plan a convolution. */

/* Returns the layout of the packed weights, in which the adjacent taps of a kernel row form one
 * long tap. */
static CleaveBytePanels
panels_of (const CleaveView *w, const CleaveConvAttrs *a)
{
  CleaveBytePanels p = { .element = w->type.element,
                         .n_columns = w->type.shape.dim[0],
                         .column_stride = w->stride[0],
                         .extent = { 1, 1, 1, w->type.shape.dim[1] },
                         .stride = { 0, 0, 0, w->stride[1] },
                         .n_tap_dims = 3 };
  guint n = w->type.shape.rank - 2;

  for (guint i = 0; i < n; i++)
    {
      p.extent[3 - n + i] = w->type.shape.dim[2 + i];
      p.stride[3 - n + i] = w->stride[2 + i];
    }
  if (a->group <= 1 && cleave_ints_at (&a->dilations, n - 1, 1) == 1)
    p.n_tap_dims = 2;
  return p;
}

static void
list_taps (Plan *s)
{
  const CleaveByteImage *image = &s->image;
  const gint64 *n = s->panels.extent;
  gint64 pixel = cleave_byte_image_pixel (image), row = image->n_columns * pixel;
  gint64 n_last = s->panels.n_tap_dims == 3 ? n[2] : 1;
  gint64 *at;

  s->n_taps = cleave_byte_panels_n_taps (&s->panels);
  s->tap_at = at = g_new (gint64, (gsize) s->n_taps);
  for (gint64 i = 0; i < n[0]; i++)
    for (gint64 j = 0; j < n[1]; j++)
      for (gint64 k = 0; k < n_last; k++)
        *at++ = (i * image->n_rows + j * image->axis[1].dilation) * row +
                k * image->axis[2].dilation * pixel;
}

static void
list_pixels (Plan *s)
{
  const CleaveByteImage *image = &s->image;
  const CleaveAxis *rows = &image->axis[1], *columns = &image->axis[2];
  gint64 pixel = cleave_byte_image_pixel (image), at = 0;

  s->x_at = g_new (gint64, (gsize) (image->band * columns->n_y));
  s->y_at = g_new (gint64, (gsize) (image->band * columns->n_y));
  for (gint64 i = 0; i < image->band; i++)
    for (gint64 j = 0; j < columns->n_y; j++, at++)
      {
        if (s->in_place)
          s->x_at[at] = i * image->step[1] * rows->x_step + j * image->step[2] * columns->x_step;
        else
          s->x_at[at] = (i * rows->stride * image->n_columns + j * columns->stride) * pixel;
        s->y_at[at] = i * rows->y_step + j * columns->y_step;
      }
}

/* Returns whether kernels can read x without a copy in scratch. Kernels read groups of 4 bytes at
 * each pixel, and must not read beyond x. Returns FALSE if y overlaps x, since each panel reads the
 * rows of x again after an earlier panel has written to y. */
static gboolean
is_in_place (const Plan *s, const CleaveKernelInstance *instance)
{
  gboolean has_pads = cleave_places_overlap (&instance->operands[X], &instance->results[0]);

  for (guint i = 0; i < 3; i++)
    {
      const CleaveAxis *axis = &s->image.axis[i];

      has_pads = has_pads || axis->n_taps != 1 || axis->pad != 0 ||
                 (axis->n_y - 1) * s->image.step[i] >= axis->n_x;
    }
  return !has_pads && s->image.unit == CLEAVE_DOT4 && s->image.channel_step == 1 &&
         s->group_in % CLEAVE_DOT4 == 0 && !s->has_w_zeros;
}

static gsize
lay_out (Plan *s)
{
  gint64 n_columns = s->n_groups * s->group_out + CLEAVE_BYTE_PANEL;
  gint64 n_pixels = s->image.band * s->image.axis[2].n_y;
  G_GNUC_UNUSED gint64 n_x = s->image.axis[0].n_taps * s->image.n_rows * s->image.n_columns;
  gsize n = 0;

  s->at_x =
      cleave_take_scratch (&n, s->in_place ? 0 : (cleave_byte_image_n_bytes (&s->image) + 3) / 4);
  s->at_bias = cleave_take_scratch (&n, n_columns);
  s->at_scale = cleave_take_scratch (&n, n_columns);
  s->at_multiplier = cleave_take_scratch (&n, s->is_fixed ? n_columns : 0);
  s->at_shift = cleave_take_scratch (&n, s->is_fixed ? n_columns : 0);
  s->at_w_zero = cleave_take_scratch (&n, s->has_w_zeros ? n_columns : 0);
  s->at_sums = cleave_take_scratch (&n, s->has_w_zeros ? n_pixels : 0);
  s->at_qdq = n;
#if defined(CLEAVE_HAS_QDQ)
  if (s->qdq != NULL)
    n += (cleave_qdq_n_scratch (n_pixels, s->in_place ? 0 : n_x) + 63) / 64 * 64;
#endif
  s->at_packed = n;
  return s->packed == NULL ? n + cleave_byte_panels_n_bytes (&s->panels) : n;
}

/* Returns the dimension of the constant weights whose indices are the channels of the result. */
static guint
find_columns (const CleaveKernelInstance *instance)
{
  return cleave_is_qdq_conv (&instance->call)
             ? ((const CleaveQdqConv *) instance->call.attrs)->w_columns
             : 0;
}

static void
init_plan (Plan *s, const CleaveKernelInstance *instance, CleaveWeights *weights, CleaveDims dims)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveView *y = &instance->results[0], *w;

  s->places = cleave_places_find (&instance->call);
  w = &instance->operands[s->places.w];
  s->panels = panels_of (w, a);
  s->panels.unit = cleave_byte_panels_find_unit (weights, instance->constants[s->places.w],
                                                 find_columns (instance), &s->panels);
  s->image.unit = s->panels.unit;
  s->image.multiplier = 1;
  cleave_byte_image_init (&s->image, instance, w, dims);
  s->n_groups = MAX (a->group, 1);
  s->group_in = w->type.shape.dim[1];
  s->group_out = w->type.shape.dim[0] / s->n_groups;
  s->column_step = y->stride[dims.c];
  s->has_w_zeros =
      !cleave_is_qdq_conv (&instance->call) && cleave_places_have_w_zeros (&s->places, instance);
  s->is_fixed = cleave_places_are_fixed (&s->places, instance);
  s->in_place = is_in_place (s, instance);
}

static gint32
find_x_zero (const Plan *s, const CleaveKernelInstance *instance)
{
  return s->qdq != NULL ? ((const CleaveQdqConv *) instance->call.attrs)->x_zero
                        : (gint32) cleave_places_load (instance, s->places.x_zero, 0);
}

/* If the instance must give QDQ-exact results, computes the constants for them (qdq.h). Returns
 * FALSE if the kernel cannot give QDQ-exact results. */
static gboolean
prepare_qdq (Plan *s, const CleaveKernelInstance *instance)
{
  if (!cleave_is_qdq_conv (&instance->call))
    return TRUE;
#if defined(CLEAVE_HAS_QDQ)
  if (s->packed != NULL && s->column_step == 1 && s->panels.unit == CLEAVE_DOT4 &&
      cleave_qdq_runs_here ())
    {
      CleaveQdqLayout layout = { .panels = &s->panels,
                                 .packed = s->packed,
                                 .first = s->first,
                                 .n = s->n_groups * s->group_out,
                                 .n_taps = s->n_taps,
                                 .group_in = s->group_in,
                                 .group_out = s->group_out,
                                 .tap_at = s->tap_at,
                                 .image = &s->image,
                                 .in_place = s->in_place };

      s->qdq = cleave_qdq_new (instance->call.attrs, &layout);
    }
#endif
  return s->qdq != NULL;
}

static void
plan_free (gpointer state)
{
  Plan *s = state;

#if defined(CLEAVE_HAS_QDQ)
  if (s->qdq != NULL)
    cleave_qdq_free (s->qdq);
#endif
  g_free (s->tap_at);
  g_free (s->x_at);
  g_free (s->y_at);
  g_free (s);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, instance->operands[X].type.shape.rank);
  Plan *s;

  if (dims.n_spatial < 1 || dims.n_spatial > 3)
    return FALSE;
  s = g_new0 (Plan, 1);
  init_plan (s, instance, weights, dims);
  if (instance->constants[s->places.w] != NULL)
    s->packed = cleave_byte_panels_of_constant (weights, instance->constants[s->places.w],
                                                find_columns (instance), &s->panels, &s->first);
  list_taps (s);
  list_pixels (s);
  if (!prepare_qdq (s, instance))
    {
      plan_free (s);
      return FALSE;
    }
  *n_scratch = lay_out (s);
  *state = s;
  return TRUE;
}

/* The following functions run a convolution. */

/* State of a run. */
typedef struct
{
  const Plan *s;
  const CleaveKernelInstance *instance;
  CleaveByteProduct product;
  gint32 x_zero;
  char *x;
  gint32 *sums;
} Work;

static void
read_finish (const Plan *s,
             const CleaveKernelInstance *instance,
             gint32 x_zero,
             char *scratch,
             const gint8 *packed,
             CleaveByteFinish *f)
{
  const CleavePlaces *p = &s->places;
  gint64 n = s->n_groups * s->group_out;
  gint32 *bias = (gint32 *) (void *) (scratch + s->at_bias);
  gint32 *w_zero = (gint32 *) (void *) (scratch + s->at_w_zero);
  const gint32 *sums = cleave_byte_panels_sums (&s->panels, packed) + s->first;
  gint32 none = s->panels.element == CLEAVE_UINT8 ? 128 : 0;
  float *scale = (float *) (void *) (scratch + s->at_scale);
  gboolean has_scales = cleave_places_read_scales (p, instance, n, bias, scale);

  for (gint64 c = 0; s->has_w_zeros && c < n; c++)
    w_zero[c] = (gint32) cleave_places_load (instance, p->w_zero, c) - none;
  if (s->image.unit == CLEAVE_DOT4)
    for (gint64 c = 0; c < n; c++)
      bias[c] = (gint32) ((guint32) bias[c] -
                          (guint32) cleave_byte_unit_zero (CLEAVE_DOT4, s->image.element, x_zero) *
                              (guint32) sums[c]);
  *f = (CleaveByteFinish){ .element = instance->results[0].type.element,
                           .bias = bias,
                           .scale = scale,
                           .w_zero = s->has_w_zeros ? w_zero : NULL,
                           .zero = (gint32) cleave_places_load (instance, p->y_zero, 0),
                           .has_odd_scales = has_scales && cleave_byte_has_odd_scales (scale, n) };
  if (cleave_places_are_fixed (p, instance))
    {
      const CleaveTfliteConvAttrs *a = instance->call.attrs;
      gint32 *multiplier = (gint32 *) (void *) (scratch + s->at_multiplier);
      gint32 *shift = (gint32 *) (void *) (scratch + s->at_shift);

      cleave_places_read_factors (p, instance, n, CLEAVE_BYTE_PANEL, multiplier, shift);
      f->multiplier = multiplier;
      f->shift = shift;
      f->min = (gint32) a->min;
      f->max = (gint32) a->max;
    }
}

static Work
begin_work (const Plan *s, const CleaveKernelInstance *instance, char *scratch)
{
  Work work = { .s = s,
                .instance = instance,
                .x_zero = find_x_zero (s, instance),
                .x = scratch + s->at_x,
                .sums = (gint32 *) (void *) (scratch + s->at_sums) };
  const gint8 *packed = s->packed;

  if (packed == NULL)
    {
      cleave_byte_panels_pack (&s->panels, instance->operands[s->places.w].data,
                               (gint8 *) scratch + s->at_packed);
      packed = (const gint8 *) scratch + s->at_packed;
    }
  work.product = (CleaveByteProduct){ .panels = &s->panels,
                                      .w = packed,
                                      .n_columns = s->group_out,
                                      .x_at = s->x_at,
                                      .tap_at = s->tap_at,
                                      .flip = s->in_place && s->image.element == CLEAVE_INT8
                                                  ? (gint32) 0x80808080
                                                  : 0,
                                      .y_at = s->y_at,
                                      .column_step = s->column_step,
                                      .x_sums = work.sums,
                                      .qdq = s->qdq,
                                      .qdq_scratch = scratch + s->at_qdq,
                                      .n_pixels_most = s->image.band * s->image.axis[2].n_y };
  read_finish (s, instance, work.x_zero, scratch, packed, &work.product.finish);
  return work;
}

/* Computes the sum of the elements of x that each pixel of the result reads, for one group of
 * channels. */
static void
add_up (const Work *work, const char *x)
{
  const Plan *s = work->s;
  gint32 stands = cleave_byte_unit_zero (s->image.unit, s->image.element, work->x_zero);
  gint64 length = cleave_byte_panels_length (&s->panels);

  for (gint64 p = 0; p < work->product.n_pixels; p++)
    {
      gint64 sum = 0;

      for (gint64 t = 0; t < s->n_taps; t++)
        sum += cleave_byte_units_add (s->image.unit, stands, x + s->x_at[p] + s->tap_at[t], length);
      work->sums[p] = (gint32) sum;
    }
}

/* Computes n_rows rows of the result at `y`. `x` is the address of the rows of x that these rows
 * read. */
static void
run_band (Work *work, const char *x, char *y, gint64 n_rows)
{
  const Plan *s = work->s;
  CleaveByteProduct *product = &work->product;

  product->n_pixels = n_rows * s->image.axis[2].n_y;
  product->y = y;
  for (gint64 g = 0; g < s->n_groups; g++)
    {
      product->x = x + g * s->group_in * cleave_byte_unit_size (s->image.unit);
      product->column = g * s->group_out;
      product->first = s->first + product->column;
      if (s->has_w_zeros)
        add_up (work, product->x);
#if defined(CLEAVE_HAS_QDQ)
      if (s->qdq != NULL)
        cleave_qdq_read_norms (product, s->in_place ? NULL : &s->image, n_rows);
#endif
      cleave_byte_product_run (product);
    }
}

/* Computes all rows of the result at one index of the batch and of the outer axis. */
static void
run_slice (Work *work, gint64 batch, gint64 depth)
{
  const Plan *s = work->s;
  const CleaveAxis *outer = &s->image.axis[0], *rows = &s->image.axis[1];
  gint64 size = (gint64) cleave_element_size (work->product.finish.element);
  gint64 row_size = s->image.y_image / MAX (outer->n_y * rows->n_y, 1);
  const char *x = (const char *) work->instance->operands[X].data + batch * s->image.x_batch_step,
             *from;
  gint64 y_at = batch * s->image.y_batch_step + depth * outer->y_step;

  for (gint64 i = 0, n; i < rows->n_y; i += n)
    {
      gint64 at = batch * s->image.y_image + (depth * rows->n_y + i) * row_size;

      n = MIN (s->image.band, rows->n_y - i);
      from = work->x;
      if (s->in_place)
        from = x + depth * s->image.step[0] * outer->x_step + i * s->image.step[1] * rows->x_step;
      else
        cleave_byte_image_fill (&s->image, work->x_zero, x, depth, i, n, work->x);
      run_band (work, from,
                (char *) work->instance->results[0].data + (y_at + i * rows->y_step) * size, n);
      if (s->image.y_is_dense)
        cleave_kernel_range_done (work->instance, at, at + n * row_size);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *s = state;
  Work work;

  if (s->image.n_batches == 0 || s->image.y_image == 0)
    return;
  work = begin_work (s, instance, scratch);
  for (gint64 n = 0; n < s->image.n_batches; n++)
    for (gint64 d = 0; d < s->image.axis[0].n_y; d++)
      run_slice (&work, n, d);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Plan *s = state;

  return s->image.y_is_dense;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Plan *s = state;

  return s->packed == NULL || operand != s->places.w;
}

static void
add_memory (gconstpointer state, GArray *lines)
{
  const Plan *s = state;
  gsize n = (gsize) (s->image.band * s->image.axis[2].n_y) * sizeof (gint64);

  cleave_memory_lines_add (lines, s->tap_at, (gsize) s->n_taps * sizeof *s->tap_at);
  cleave_memory_lines_add (lines, s->x_at, n);
  cleave_memory_lines_add (lines, s->y_at, n);
#if defined(CLEAVE_HAS_QDQ)
  if (s->qdq != NULL)
    cleave_qdq_add_memory (s->qdq, lines);
#endif
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_integer_conv);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_integer_conv) = {
  .prepare = prepare,
  .run = run,
  .free = plan_free,
  .reports_progress = reports_progress,
  .reads = reads,
  .n_state = sizeof (Plan),
  .add_memory = add_memory,
};
