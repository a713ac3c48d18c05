/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Poolings, channels innermost, in the order of their reference kernels.  Of 16-bit floats, and of
 * bytes where only the greatest is wanted, the rows that a row of the result reads become floats in
 * scratch. */

#include "axis.h"
#include "finish.h"
#include "level.h"
#include "pixels.h"
#include "vector.h"

#include "../../ops/lanes.h"

#include <math.h>

enum { X };

/* The windows of one pixel of y: rows and columns of taps. */
typedef struct
{
  gint64 n_rows, n_columns;
  gint64 row, column; /* from tap to tap */
  float count;        /* by which an average is divided */
} Window;

/* What becomes of one window, for some channels of it: all of a vector, or a single one. */
typedef struct
{
  CleaveVector (*vector) (const Window *window, const float *x);
  float (*one) (const Window *window, const float *x);
} Pool;

typedef struct
{
  Pool pool;
  CleaveAxis axis[2];
  gboolean counts_padding;
  gint64 n_channels, n_batches, x_batch_step, y_batch_step;
  gboolean upcasts;    /* if so, the axes are those of dense floats */
  CleavePixels x, y;   /* and these are of the views */
  gint64 x_image_step; /* as is this */
  gint64 n_x_floats;   /* in scratch */
  gboolean y_is_dense;
} Windows;

/* The first tap, then each that is greater or a NaN. */

static CleaveVector
max_vector (const Window *w, const float *x)
{
  CleaveVector max = cleave_vector_all (-INFINITY);

  for (gint64 i = 0; i < w->n_rows; i++)
    for (gint64 j = 0; j < w->n_columns; j++)
      {
        CleaveVector value = cleave_vector_load (x + i * w->row + j * w->column);

        max = (i | j) == 0 ? value
                           : cleave_vector_select ((value > max) | (value != value), value, max);
      }
  return max;
}

static float
max_one (const Window *w, const float *x)
{
  float max = -INFINITY;

  for (gint64 i = 0; i < w->n_rows; i++)
    for (gint64 j = 0; j < w->n_columns; j++)
      {
        float value = x[i * w->row + j * w->column];

        max = (i | j) == 0 || value > max || value != value ? value : max;
      }
  return max;
}

static CleaveVector
average_vector (const Window *w, const float *x)
{
  CleaveVector sum = cleave_vector_all (0);

  for (gint64 i = 0; i < w->n_rows; i++)
    for (gint64 j = 0; j < w->n_columns; j++)
      sum += cleave_vector_load (x + i * w->row + j * w->column);
  return w->n_rows * w->n_columns == 0 ? sum : sum / w->count;
}

static float
average_one (const Window *w, const float *x)
{
  float sum = 0;

  for (gint64 i = 0; i < w->n_rows; i++)
    for (gint64 j = 0; j < w->n_columns; j++)
      sum += x[i * w->row + j * w->column];
  return w->n_rows * w->n_columns == 0 ? sum : sum / w->count;
}

/* Eight sums, as lanes.h says. */

/* Adds n elements to the sums, each `step` after the one before, the first of them to sum
 * `first`. */
static void
add_to_lanes (const float *x, gint64 step, gint64 n, gint64 first, CleaveVector *lane)
{
  CleaveVector sum[CLEAVE_N_LANES];
  gint64 i = 0;

  for (; i < n && (first + i) % CLEAVE_N_LANES != 0; i++, x += step)
    lane[(first + i) % CLEAVE_N_LANES] += cleave_vector_load (x);
  for (guint j = 0; j < CLEAVE_N_LANES; j++)
    sum[j] = lane[j];
  for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES, x += CLEAVE_N_LANES * step)
    for (guint j = 0; j < CLEAVE_N_LANES; j++)
      sum[j] += cleave_vector_load (x + j * step);
  for (guint j = 0; j < CLEAVE_N_LANES; j++)
    lane[j] = sum[j];
  for (guint j = 0; i < n; i++, j++, x += step)
    lane[j] += cleave_vector_load (x);
}

static CleaveVector
global_average_vector (const Window *w, const float *x)
{
  CleaveVector lane[CLEAVE_N_LANES] = { 0 };

  for (gint64 i = 0; i < w->n_rows; i++)
    add_to_lanes (x + i * w->row, w->column, w->n_columns, i * w->n_columns % CLEAVE_N_LANES, lane);
  for (guint half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
    for (guint j = 0; j < half; j++)
      lane[j] += lane[j + half];
  return lane[0] / w->count;
}

static float
global_average_one (const Window *w, const float *x)
{
  float lane[CLEAVE_N_LANES] = { 0 };
  guint n = 0;

  for (gint64 i = 0; i < w->n_rows; i++)
    for (gint64 j = 0; j < w->n_columns; j++, n = (n + 1) % CLEAVE_N_LANES)
      lane[n] += x[i * w->row + j * w->column];
  for (guint half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
    for (guint j = 0; j < half; j++)
      lane[j] += lane[j + half];
  return lane[0] / w->count;
}

static const Pool max_pool = { max_vector, max_one };
static const Pool average_pool = { average_vector, average_one };
static const Pool global_average_pool = { global_average_vector, global_average_one };

/* Sites. */

/* A count is exact as a float. */
#define MAX_COUNT (1 << 24)

static Windows *
new_windows (const CleaveKernelInstance *instance, CleaveDims dims, const Pool *pool)
{
  const CleaveView *x = &instance->operands[X];
  const CleaveView *y = &instance->results[0];
  Windows *w;

  if (x->type.element != CLEAVE_FLOAT32 || dims.n_spatial < 1 || dims.n_spatial > 2 ||
      instance->call.n_results > 1 || !cleave_has_channels_innermost (x, dims.c) ||
      !cleave_has_channels_innermost (y, dims.c))
    return NULL;
  w = g_new0 (Windows, 1);
  w->pool = *pool;
  w->n_channels = x->type.shape.dim[dims.c];
  w->n_batches = x->type.shape.dim[dims.n];
  w->x_batch_step = x->stride[dims.n];
  w->y_batch_step = y->stride[dims.n];
  return w;
}

static Windows *
plan_windows (const CleaveKernelInstance *instance, const Pool *pool)
{
  const CleavePoolAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  Windows *w = new_windows (instance, dims, pool);

  if (w == NULL)
    return NULL;
  w->counts_padding = a->count_include_pad;
  cleave_axes_init (w->axis, x, &instance->results[0], dims, a->kernel_shape.v, &a->strides,
                    &a->dilations, &a->pads);
  return w;
}

/* One window that is everything. */
static Windows *
plan_global (const CleaveKernelInstance *instance, const Pool *pool)
{
  static const CleaveInts none = { 0 };
  const CleaveGlobalPoolAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  Windows *w = new_windows (instance, dims, pool);

  if (w == NULL)
    return NULL;
  cleave_axes_init (w->axis, x, &instance->results[0], dims, x->type.shape.dim + dims.h, &none,
                    &none, &none);
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
    Windows *(*plan) (const CleaveKernelInstance *instance, const Pool *pool);
    const Pool *pool;
  } plans[] = { { &cleave_op_max_pool, plan_windows, &max_pool },
                { &cleave_op_average_pool, plan_windows, &average_pool },
                { &cleave_op_global_max_pool, plan_global, &max_pool },
                { &cleave_op_global_average_pool, plan_global, &global_average_pool } };
  Windows *w = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    if (plans[i].op == instance->call.op)
      w = plans[i].plan (instance, plans[i].pool);
  if (w != NULL && w->axis[0].n_taps * w->axis[1].n_taps > MAX_COUNT)
    g_clear_pointer (&w, g_free);
  return w;
}

static CleaveDims
dims_of (const CleaveCall *call)
{
  gboolean channels_first = call->op->layout (call)[1] == 'C';

  return cleave_layout_dims (channels_first ? CLEAVE_LAYOUT_NCHW : CLEAVE_LAYOUT_NHWC,
                             call->operands[X].shape.rank);
}

/* Rows of x that a row of y reaches over. */
static gint64
n_rows_of (const CleaveTaps *taps, const CleaveAxis *axis)
{
  return taps->last == 0 ? 0 : (taps->last - taps->first - 1) * axis->dilation + 1;
}

static Windows *
plan_upcast (const CleaveKernelInstance *instance, gsize *n_scratch)
{
  CleaveDims dims = dims_of (&instance->call);
  CleaveView x = cleave_pixels_shadow (&instance->operands[X], dims);
  CleaveView y = cleave_pixels_shadow (&instance->results[0], dims);
  CleaveKernelInstance floats = { .call = instance->call, .operands = &x, .results = &y };
  Windows *w = plan (&floats);
  gint64 n_rows = 0;

  if (w == NULL)
    return NULL;
  w->upcasts = TRUE;
  w->x = cleave_pixels_of (&instance->operands[X], dims);
  w->y = cleave_pixels_of (&instance->results[0], dims);
  w->x_image_step = instance->operands[X].stride[dims.n];
  w->y_batch_step = instance->results[0].stride[dims.n];
  w->y_is_dense = cleave_pixels_are_dense (&instance->results[0], dims);
  for (gint64 i = 0; i < w->axis[0].n_y; i++)
    {
      CleaveTaps taps = cleave_axis_taps (&w->axis[0], i);

      n_rows = MAX (n_rows, n_rows_of (&taps, &w->axis[0]));
    }
  w->n_x_floats = n_rows * w->axis[1].n_x * w->n_channels;
  *n_scratch = (gsize) (w->n_x_floats + w->axis[1].n_y * w->n_channels) * sizeof (float);
  return w;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  gboolean is_float = instance->operands[X].type.element == CLEAVE_FLOAT32;

  *state = is_float ? plan (instance) : plan_upcast (instance, n_scratch);
  return *state != NULL;
}

/* Taps of one axis that lie in the data or the node's own padding: what ceil_mode adds does not
 * count. */
static gint64
padded_taps (const CleaveAxis *axis, gint64 pixel)
{
  gint64 room = axis->n_x + axis->pad_end + axis->pad - pixel * axis->stride;

  return MIN (axis->n_taps, (room + axis->dilation - 1) / axis->dilation);
}

/* The last vector may overlap the one before: the same bits are written twice. */
static void
run_window (const Windows *w, const Window *window, const float *x, float *y)
{
  gint64 c = 0;

  for (; c + CLEAVE_VECTOR <= w->n_channels; c += CLEAVE_VECTOR)
    cleave_vector_store (y + c, w->pool.vector (window, x + c));
  if (c < w->n_channels && c > 0)
    cleave_vector_store (y + w->n_channels - CLEAVE_VECTOR,
                         w->pool.vector (window, x + w->n_channels - CLEAVE_VECTOR));
  else
    for (; c < w->n_channels; c++)
      y[c] = w->pool.one (window, x + c);
}

static void
run_pixel (const Windows *w, gint64 i, gint64 j, const float *x, float *y)
{
  const CleaveAxis *axis = w->axis;
  CleaveTaps rows = cleave_axis_taps (&axis[0], i), columns = cleave_axis_taps (&axis[1], j);
  Window window = { .n_rows = rows.last - rows.first,
                    .n_columns = columns.last - columns.first,
                    .row = axis[0].dilation * axis[0].x_step,
                    .column = axis[1].dilation * axis[1].x_step };

  window.count = (float) (w->counts_padding ? padded_taps (&axis[0], i) * padded_taps (&axis[1], j)
                                            : window.n_rows * window.n_columns);
  run_window (w, &window, x + rows.at * axis[0].x_step + columns.at * axis[1].x_step,
              y + i * axis[0].y_step + j * axis[1].y_step);
}

/* A row of floats and what it is to become. */
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

/* Row i of image n. */
static void
run_upcast_row (
    const Windows *w, const CleaveKernelInstance *instance, gint64 n, gint64 i, float *scratch)
{
  const CleaveAxis *rows = &w->axis[0], *columns = &w->axis[1];
  CleaveTaps taps = cleave_axis_taps (rows, i);
  CleaveElement element = instance->operands[X].type.element;
  gint64 size = (gint64) cleave_element_size (element);
  float *row = scratch + w->n_x_floats;
  Finish finish = { element, row };

  cleave_pixels_upcast (
      &w->x, element, 0, (const char *) instance->operands[X].data + n * w->x_image_step * size,
      taps.at * columns->n_x, (taps.at + n_rows_of (&taps, rows)) * columns->n_x, scratch);
  for (gint64 j = 0; j < columns->n_y; j++)
    run_pixel (w, i, j, scratch - taps.at * rows->x_step, row - i * rows->y_step);
  cleave_pixels_finish (&w->y, size,
                        (char *) instance->results[0].data + n * w->y_batch_step * size,
                        i * columns->n_y, (i + 1) * columns->n_y, finish_line, &finish);
}

static void
run_row (const Windows *w, const CleaveKernelInstance *instance, gint64 n, gint64 i)
{
  for (gint64 j = 0; j < w->axis[1].n_y; j++)
    run_pixel (w, i, j, (const float *) instance->operands[X].data + n * w->x_batch_step,
               (float *) instance->results[0].data + n * w->y_batch_step);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Windows *w = state;

  for (gint64 n = 0; n < w->n_batches; n++)
    for (gint64 i = 0; i < w->axis[0].n_y; i++)
      {
        gint64 at = n * w->y_batch_step + i * w->axis[0].y_step;

        if (w->upcasts)
          run_upcast_row (w, instance, n, i, scratch);
        else
          run_row (w, instance, n, i);
        if (!w->upcasts || w->y_is_dense)
          cleave_kernel_range_done (instance, at, at + w->axis[0].y_step);
      }
}

static gboolean
reports_progress (gconstpointer state)
{
  const Windows *w = state;

  return w->upcasts ? w->y_is_dense
                    : cleave_axes_nest (w->axis, w->n_channels, w->n_batches, w->y_batch_step);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_pool); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_pool) = {
  .prepare = prepare, .run = run, .free = g_free, .reports_progress = reports_progress
};
