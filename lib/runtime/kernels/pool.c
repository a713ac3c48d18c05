/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of poolings with channels innermost, in the order of the reference kernels. The
 * only pooling of bytes that it serves is MaxPool. It converts 16-bit floats, and bytes whose
 * channels are not innermost, to float32 in scratch. For each row of y, it converts the rows of x
 * that this row reads.
 *
 * Over 400 lines: this file makes one plan, and computes the rows of the plan in several ways. */

#include "axis.h"
#include "finish.h"
#include "level.h"
#include "pixels.h"
#include "pool-rows.h"

enum { X };

typedef struct
{
  CleavePool pool;
  CleaveElement element; /* element type in which windows are computed: float32, INT8 or UINT8 */
  CleaveAxis depth, axis[2];
  gint64 begin_inner, end_inner; /* columns [begin_inner, end_inner) of y read no padding */
  gboolean counts_padding;
  gint64 n_channels, n_batches, x_batch_step, y_batch_step;
  gboolean upcasts;  /* TRUE: x is converted to float32; the axes then describe the dense floats in
                        scratch */
  CleavePixels x, y; /* if `upcasts`: the pixels of x and of y */
  gint64 x_image_step; /* distance of adjacent images of x in elements, if `upcasts` */
  gint64 n_x_floats;   /* number of floats of x in scratch */
  gboolean y_is_dense;
  gint64 n_slots; /* number of rows in the ring of maxima (pool-rows.h); 0: there is no ring, and
                     each window is computed separately */
} Windows;

/* The following functions plan a pooling. */

/* Smallest ratio of a window's rows to the stride for which all windows share the maxima along rows
 * of x (pool-rows.h). A window of 3 x 3 with stride 1 has the ratio 3, so the maxima are shared.
 * With stride 2, the ratio is 1.5, and each window is computed separately. */
#define MIN_SHARED 3
/* Largest number of taps of a window. A float represents each smaller number exactly. */
#define MAX_COUNT (1 << 24)

static gboolean
is_served (const CleaveView *x, CleavePool pool)
{
  return x->type.element == CLEAVE_FLOAT32 ||
         ((x->type.element == CLEAVE_INT8 || x->type.element == CLEAVE_UINT8) &&
          pool == cleave_max_pool);
}

static Windows *
new_windows (const CleaveKernelInstance *instance, CleaveDims dims, CleavePool pool)
{
  const CleaveView *x = &instance->operands[X];
  const CleaveView *y = &instance->results[0];
  Windows *w;

  if (!is_served (x, pool) || dims.n_spatial < 1 || dims.n_spatial > 3 ||
      instance->call.n_results > 1 || !cleave_has_channels_innermost (x, dims.c) ||
      !cleave_has_channels_innermost (y, dims.c))
    return NULL;
  w = g_new0 (Windows, 1);
  w->pool = pool;
  w->element = x->type.element;
  w->n_channels = x->type.shape.dim[dims.c];
  w->n_batches = x->type.shape.dim[dims.n];
  w->x_batch_step = x->stride[dims.n];
  w->y_batch_step = y->stride[dims.n];
  return w;
}

static void
init_axes (Windows *w,
           const CleaveKernelInstance *instance,
           CleaveDims dims,
           const gint64 *kernel,
           const CleaveInts *strides,
           const CleaveInts *dilations,
           const CleaveInts *pads)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];

  cleave_axes_init (w->axis, x, y, dims, kernel, strides, dilations, pads);
  w->depth = (CleaveAxis) CLEAVE_AXIS_NONE;
  if (dims.n_spatial == 3)
    w->depth = cleave_axis_of (0, x, y, dims, kernel, strides, dilations, pads);
  if (w->depth.n_y == 1)
    w->depth.y_step = w->axis[0].n_y * w->axis[0].y_step;
  cleave_axis_find_inner (&w->axis[1], &w->begin_inner, &w->end_inner);
}

static Windows *
plan_windows (const CleaveKernelInstance *instance, CleavePool pool)
{
  const CleavePoolAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  Windows *w = new_windows (instance, dims, pool);

  if (w == NULL)
    return NULL;
  w->counts_padding = a->count_include_pad;
  init_axes (w, instance, dims, a->kernel_shape.v, &a->strides, &a->dilations, &a->pads);
  return w;
}

/* Returns the plan of a pooling with one window that covers the whole image. Returns NULL if the
 * family does not serve the instance. */
static Windows *
plan_global (const CleaveKernelInstance *instance, CleavePool pool)
{
  static const CleaveInts none = { 0 };
  const CleaveGlobalPoolAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  Windows *w = new_windows (instance, dims, pool);

  if (w == NULL)
    return NULL;
  init_axes (w, instance, dims, x->type.shape.dim + dims.h, &none, &none, &none);
  return w;
}

extern const CleaveOp cleave_op_max_pool, cleave_op_average_pool, cleave_op_global_max_pool,
    cleave_op_global_average_pool;

static Windows *
plan (const CleaveKernelInstance *instance)
{
  static const struct
  {
    const CleaveOp *op;
    Windows *(*plan) (const CleaveKernelInstance *instance, CleavePool pool);
    CleavePool pool;
  } plans[] = { { &cleave_op_max_pool, plan_windows, cleave_max_pool },
                { &cleave_op_average_pool, plan_windows, cleave_average_pool },
                { &cleave_op_global_max_pool, plan_global, cleave_max_pool },
                { &cleave_op_global_average_pool, plan_global, cleave_global_average_pool } };
  Windows *w = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    if (plans[i].op == instance->call.op)
      w = plans[i].plan (instance, plans[i].pool);
  if (w != NULL && w->depth.n_taps * w->axis[0].n_taps * w->axis[1].n_taps > MAX_COUNT)
    g_clear_pointer (&w, g_free);
  return w;
}

static CleaveDims
dims_of (const CleaveCall *call)
{
  const char *letters =
      call->op->layout (call); /* NULL above rank 5, which the family does not serve */
  gboolean channels_first = letters == NULL || letters[1] == 'C';

  return cleave_layout_dims (channels_first ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC,
                             call->operands[X].shape.rank);
}

/* Returns the number of rows (or planes) of x from the first to the last tap of a row (or plane) of
 * y. Returns 0 if all taps read padding. */
static gint64
reach_of (const CleaveTaps *taps, const CleaveAxis *axis)
{
  return taps->last == 0 ? 0 : (taps->last - taps->first - 1) * axis->dilation + 1;
}

static gint64
most_reach (const CleaveAxis *axis)
{
  gint64 most = 0;

  for (gint64 i = 0; i < axis->n_y; i++)
    {
      CleaveTaps taps = cleave_axis_taps (axis, i);

      most = MAX (most, reach_of (&taps, axis));
    }
  return most;
}

static Windows *
plan_upcast (const CleaveKernelInstance *instance, gsize *n_scratch)
{
  CleaveDims dims = dims_of (&instance->call);
  CleaveView x = cleave_pixels_shadow (&instance->operands[X], dims);
  CleaveView y = cleave_pixels_shadow (&instance->results[0], dims);
  CleaveKernelInstance floats = { .call = instance->call, .operands = &x, .results = &y };
  Windows *w = plan (&floats);

  if (w == NULL)
    return NULL;
  w->upcasts = TRUE;
  w->x = cleave_pixels_of (&instance->operands[X], dims);
  w->y = cleave_pixels_of (&instance->results[0], dims);
  w->x_image_step = instance->operands[X].stride[dims.n];
  w->y_batch_step = instance->results[0].stride[dims.n];
  w->y_is_dense = cleave_pixels_are_dense (&instance->results[0], dims);
  w->depth.x_step = most_reach (&w->axis[0]) * w->axis[1].n_x * w->n_channels;
  w->n_x_floats = most_reach (&w->depth) * w->depth.x_step;
  *n_scratch = (gsize) (w->n_x_floats + w->axis[1].n_y * w->n_channels) * sizeof (float);
  return w;
}

/* Plans the ring of maxima along rows of x, if windows overlap enough. Returns the ring's bytes of
 * scratch; 0 if there is no ring. */
static gsize
plan_rows (Windows *w)
{
  const CleaveAxis *rows = &w->axis[0];
  gint64 size = (gint64) cleave_element_size (w->element);

  if (w->pool != cleave_max_pool || w->depth.n_taps * w->depth.n_y != 1 || w->axis[1].n_taps < 2 ||
      rows->dilation != 1 || rows->n_taps < MIN_SHARED * rows->stride || rows->n_y < 2)
    return 0;
  w->n_slots = rows->n_taps;
  return (gsize) (w->n_slots * w->axis[1].n_y * w->n_channels * size);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  *state = plan (instance);
  if (*state != NULL)
    *n_scratch = plan_rows (*state);
  if (*state == NULL && instance->operands[X].type.element != CLEAVE_FLOAT32)
    *state = plan_upcast (instance, n_scratch);
  return *state != NULL;
}

/* The taps of a window along one axis. `read`: taps that read data; `n_read`: their number;
 * `n_padded`: number of taps that read data or padding that the node's attribute `pads` gives.
 * Padding that ceil_mode adds is not counted. */
typedef struct
{
  CleaveTaps read;
  gint64 n_read, n_padded;
} Taps;

static Taps
find_taps (const CleaveAxis *axis, gint64 pixel)
{
  gint64 at = pixel * axis->stride - axis->pad, room = axis->n_x + axis->pad_end - at;
  Taps taps = { { 0, axis->n_taps, at }, axis->n_taps, axis->n_taps };

  /* most windows return here: computing the divisions below would take longer than the whole
   * window */
  if (at >= 0 && at + (axis->n_taps - 1) * axis->dilation < axis->n_x)
    return taps;
  taps.read = cleave_axis_taps (axis, pixel);
  taps.n_read = taps.read.last - taps.read.first;
  taps.n_padded = MIN (axis->n_taps, (room + axis->dilation - 1) / axis->dilation);
  return taps;
}

/* Computes the windows of n_pixels adjacent pixels. For floats, n_pixels is 1 or
 * CLEAVE_POOL_PIXELS. */
static void
run_windows (
    const Windows *w, const CleavePoolWindow *window, gint64 n_pixels, gconstpointer x, gpointer y)
{
  if (w->element == CLEAVE_FLOAT32)
    w->pool (window, x, y, w->n_channels, n_pixels > 1);
  else
    cleave_pool_bytes (window, w->element == CLEAVE_INT8, x, y, n_pixels, w->n_channels);
}

/* Returns the number of pixels that one call computes, from `pixel` on. The windows of these pixels
 * have the same taps. */
static gint64
count_alike (const Windows *w, gint64 pixel)
{
  gint64 n = pixel >= w->begin_inner ? w->end_inner - pixel : 1;

  if (w->element != CLEAVE_FLOAT32)
    return MAX (n, 1);
  return n >= CLEAVE_POOL_PIXELS ? CLEAVE_POOL_PIXELS : 1;
}

/* Computes row `row` of plane `plane` of y. `x`: address of column 0 of the first row of x that the
 * row of y reads; `y`: address of the first pixel of the row of y. */
static void
run_pixels (const Windows *w, gint64 plane, gint64 row, gconstpointer x, gpointer y)
{
  gint64 size = (gint64) cleave_element_size (w->element);
  const CleaveAxis *axis = w->axis;
  Taps planes = find_taps (&w->depth, plane), rows = find_taps (&axis[0], row);
  CleavePoolWindow window = { .n_planes = planes.n_read,
                              .n_rows = rows.n_read,
                              .plane = w->depth.dilation * w->depth.x_step,
                              .row = axis[0].dilation * axis[0].x_step,
                              .column = axis[1].dilation * axis[1].x_step,
                              .x_pixel = axis[1].stride * axis[1].x_step,
                              .y_pixel = axis[1].y_step };

  for (gint64 i = 0, n; i < axis[1].n_y; i += n)
    {
      Taps columns = find_taps (&axis[1], i);

      n = count_alike (w, i);
      window.n_columns = columns.n_read;
      window.count =
          (float) (w->counts_padding ? planes.n_padded * rows.n_padded * columns.n_padded
                                     : window.n_planes * window.n_rows * window.n_columns);
      run_windows (w, &window, n, (const char *) x + columns.read.at * axis[1].x_step * size,
                   (char *) y + i * axis[1].y_step * size);
    }
}

/* A row of floats in scratch, and the element type of the result. The row is converted to this
 * type. */
typedef struct
{
  CleaveElement element;
  const float *row;
} Finish;

static void
finish_line (gconstpointer self, gint64 at, gpointer y, gint64 step, gint64 n)
{
  const Finish *f = self;

  if (f->element == CLEAVE_FLOAT16 || f->element == CLEAVE_BFLOAT16)
    cleave_narrow (f->element, f->row + at, y, step, n);
  else
    cleave_finish_plain_byte (f->element == CLEAVE_INT8, f->row + at, y, step, n);
}

static void
run_upcast_row (const Windows *w,
                const CleaveKernelInstance *instance,
                gint64 n,
                gint64 plane,
                gint64 i,
                float *scratch)
{
  const CleaveAxis *rows = &w->axis[0], *columns = &w->axis[1];
  CleaveTaps planes = cleave_axis_taps (&w->depth, plane);
  CleaveTaps taps = cleave_axis_taps (rows, i);
  CleaveElement element = instance->operands[X].type.element;
  gint64 size = (gint64) cleave_element_size (element);
  gint64 y_row = (plane * rows->n_y + i) * columns->n_y;
  const char *x = (const char *) instance->operands[X].data + n * w->x_image_step * size;
  float *row = scratch + w->n_x_floats;
  Finish finish = { element, row };

  for (gint64 p = 0; p < reach_of (&planes, &w->depth); p++)
    {
      gint64 first = (planes.at + p) * rows->n_x + taps.at;

      cleave_pixels_upcast (&w->x, element, 0, x, first * columns->n_x,
                            (first + reach_of (&taps, rows)) * columns->n_x,
                            scratch + p * w->depth.x_step);
    }
  run_pixels (w, plane, i, scratch, row);
  cleave_pixels_finish (&w->y, size,
                        (char *) instance->results[0].data + n * w->y_batch_step * size, y_row,
                        y_row + columns->n_y, finish_line, &finish);
}

static void
run_row (const Windows *w, gint64 plane, gint64 i, const char *x, char *y)
{
  gint64 first = cleave_axis_taps (&w->depth, plane).at * w->depth.x_step +
                 cleave_axis_taps (&w->axis[0], i).at * w->axis[0].x_step;

  run_pixels (w, plane, i, x + first * (gint64) cleave_element_size (w->element), y);
}

/* Computes the rows of one image with the ring of maxima (pool-rows.h). `scratch` holds the maxima
 * along the last n_slots rows of x. */
static void
run_shared_rows (const Windows *w,
                 const CleaveKernelInstance *instance,
                 gint64 batch,
                 char *scratch)
{
  const char *x = instance->operands[X].data;
  char *y = instance->results[0].data;
  const CleaveAxis *rows = &w->axis[0], *columns = &w->axis[1];
  gint64 size = (gint64) cleave_element_size (w->element), step = columns->n_y * w->n_channels;
  gboolean is_dense = columns->y_step == w->n_channels;
  gint64 n_lines = is_dense ? 1 : columns->n_y, n = is_dense ? step : w->n_channels, made = 0;
  Windows along = *w;

  along.axis[0].n_taps = along.axis[0].stride = 1;
  along.axis[0].pad = 0;
  along.axis[1].y_step = w->n_channels;
  x += batch * w->x_batch_step * size;
  y += batch * w->y_batch_step * size;
  for (gint64 i = 0; i < rows->n_y; i++)
    {
      CleaveTaps taps = cleave_axis_taps (rows, i);
      gint64 n_rows = taps.last - taps.first;

      if (n_rows == 0)
        run_row (w, 0, i, x, y + i * rows->y_step * size);
      for (made = MAX (made, taps.at); made < taps.at + n_rows; made++)
        run_pixels (&along, 0, made, x + made * rows->x_step * size,
                    scratch + made % w->n_slots * step * size);
      for (gint64 k = 0; k < n_lines && n_rows > 0; k++)
        {
          char *to = y + (i * rows->y_step + k * columns->y_step) * size;
          const char *from = scratch + k * w->n_channels * size;

          if (w->element == CLEAVE_FLOAT32)
            cleave_pool_greatest_floats ((const float *) (gconstpointer) from, step, taps.at,
                                         n_rows, w->n_slots, (float *) (gpointer) to, n);
          else
            cleave_pool_greatest_bytes (from, step, taps.at, n_rows, w->n_slots,
                                        w->element == CLEAVE_INT8, to, n);
        }
      cleave_kernel_range_done (instance, batch * w->y_batch_step + i * rows->y_step,
                                batch * w->y_batch_step + (i + 1) * rows->y_step);
    }
}

static void
run_plane (
    const Windows *w, const CleaveKernelInstance *instance, gint64 n, gint64 plane, float *scratch)
{
  gint64 size = (gint64) cleave_element_size (w->element);

  if (w->n_slots != 0)
    {
      run_shared_rows (w, instance, n, (char *) scratch);
      return;
    }
  for (gint64 i = 0; i < w->axis[0].n_y; i++)
    {
      gint64 begin = n * w->y_batch_step + plane * w->depth.y_step + i * w->axis[0].y_step;

      if (w->upcasts)
        run_upcast_row (w, instance, n, plane, i, scratch);
      else
        run_row (w, plane, i,
                 (const char *) instance->operands[X].data + n * w->x_batch_step * size,
                 (char *) instance->results[0].data + begin * size);
      if (!w->upcasts || w->y_is_dense)
        cleave_kernel_range_done (instance, begin, begin + w->axis[0].y_step);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Windows *w = state;

  for (gint64 n = 0; n < w->n_batches; n++)
    for (gint64 plane = 0; plane < w->depth.n_y; plane++)
      run_plane (w, instance, n, plane, scratch);
}

/* Returns whether each row of the result ends in memory before the next row begins. */
static gboolean
nests (const Windows *w)
{
  return cleave_axes_nest (w->axis, w->n_channels, w->depth.n_y, w->depth.y_step) &&
         (w->n_batches == 1 || w->y_batch_step >= w->depth.n_y * w->depth.y_step);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Windows *w = state;

  return w->upcasts ? w->y_is_dense : nests (w);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_pool);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_pool) = {
  .prepare = prepare,
  .run = run,
  .free = g_free,
  .reports_progress = reports_progress,
  .n_state = sizeof (Windows),
};
