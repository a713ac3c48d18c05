/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Depthwise convolution of 16-bit floats. A run converts the rows of x that STRIP rows of y read to
 * float32 in scratch. It computes the rows of y with depthwise-rows.h, and converts each row to the
 * type of y. */

#include "depthwise-rows.h"
#include "pixels.h"
#include "places.h"

enum { X };

/* Number of rows of y that are computed from one converted range of rows of x. */
#define STRIP 4

typedef struct
{
  CleaveDepthwise floats; /* plan of the convolution of the dense floats in scratch */
  CleavePlaces places;
  CleavePixels x, y;
  gint64 n_batches, x_batch_step, y_batch_step; /* number of images; distances of adjacent images in
                                                   the views of x and y, in elements */
  gsize at_x, at_y, at_w, at_bias; /* byte offsets in scratch: of the rows of x and y, the weights
                                      and the bias, all as floats */
  gboolean reports_progress;
} Plan;

/* Returns the range of rows of x that rows [begin, end) of y read. With dilation, row i + 1 of y
 * may read an earlier row of x than row i of y, if the first taps of row i read padding. */
static CleaveSpan
rows_of_x (const CleaveAxis *axis, gint64 begin, gint64 end)
{
  CleaveSpan rows = { 0, 0 };

  for (gint64 i = begin; i < end; i++)
    {
      CleaveTaps taps = cleave_axis_taps (axis, i);
      gint64 last = taps.at + (taps.last - taps.first - 1) * axis->dilation + 1;

      if (taps.last == 0)
        continue;
      rows.begin = rows.end == 0 ? taps.at : MIN (rows.begin, taps.at);
      rows.end = MAX (rows.end, last);
    }
  return rows;
}

static gsize
lay_out (Plan *s)
{
  const CleaveAxis *axis = s->floats.axis;
  gint64 n_rows = 0, n_taps = axis[0].n_taps * axis[1].n_taps;
  gsize n = 0;

  for (gint64 i = 0; i < axis[0].n_y; i += STRIP)
    {
      CleaveSpan rows = rows_of_x (&axis[0], i, MIN (i + STRIP, axis[0].n_y));

      n_rows = MAX (n_rows, rows.end - rows.begin);
    }
  s->at_x = cleave_take_scratch (&n, n_rows * axis[1].n_x * s->x.n_channels);
  s->at_y = cleave_take_scratch (&n, axis[1].n_y * s->y.n_channels);
  s->at_w = cleave_take_scratch (&n, n_taps * s->floats.w_step);
  s->at_bias = cleave_take_scratch (&n, s->y.n_channels);
  return n;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  CleaveView x_floats = cleave_pixels_shadow (x, dims), y_floats = cleave_pixels_shadow (y, dims);
  CleaveKernelInstance floats = { .call = instance->call,
                                  .operands = &x_floats,
                                  .results = &y_floats };
  CleavePlaces places = cleave_places_find (&instance->call);
  Plan *s;

  if (dims.n_spatial < 1 || dims.n_spatial > 2)
    return FALSE;
  s = g_new0 (Plan, 1);
  s->places = places;
  cleave_depthwise_init (&s->floats, &floats, &instance->operands[places.w], dims);
  s->x = cleave_pixels_of (x, dims);
  s->y = cleave_pixels_of (y, dims);
  s->n_batches = x->type.shape.dim[dims.n];
  s->x_batch_step = x->stride[dims.n];
  s->y_batch_step = y->stride[dims.n];
  s->reports_progress = cleave_pixels_are_dense (y, dims);
  *n_scratch = lay_out (s);
  *state = s;
  return TRUE;
}

/* State of one run. */
typedef struct
{
  const Plan *s;
  const CleaveKernelInstance *instance;
  CleaveElement element; /* element type of y */
  const float *bias;
  float *x, *y, *w;
} Work;

static Work
begin_work (const Plan *s, const CleaveKernelInstance *instance, char *scratch)
{
  Work work = { .s = s,
                .instance = instance,
                .element = instance->results[0].type.element,
                .x = (float *) (void *) (scratch + s->at_x),
                .y = (float *) (void *) (scratch + s->at_y),
                .w = (float *) (void *) (scratch + s->at_w) };

  cleave_depthwise_pack (&instance->operands[s->places.w], s->floats.is_paired, work.w);
  work.bias =
      cleave_places_read_bias (&s->places, instance, (float *) (void *) (scratch + s->at_bias));
  return work;
}

static void
finish_line (gconstpointer self, gint64 at, gpointer y, gint64 step, gint64 n)
{
  const Work *work = self;

  cleave_narrow (work->element, work->y + at, y, step, n);
}

/* Computes rows [begin, end) of y for one image. */
static void
run_strip (const Work *work, gconstpointer x, gpointer y, gint64 begin, gint64 end)
{
  const Plan *s = work->s;
  const CleaveAxis *rows = &s->floats.axis[0], *columns = &s->floats.axis[1];
  CleaveSpan of_x = rows_of_x (rows, begin, end);
  CleaveDepthwiseRow row = {
    .planes = { 0, 1, 0 }, .w = work->w, .bias = work->bias, .y = work->y
  };

  cleave_pixels_upcast (&s->x, work->instance->operands[X].type.element, 0, x,
                        of_x.begin * columns->n_x, of_x.end * columns->n_x, work->x);
  for (gint64 i = begin; i < end; i++)
    {
      row.taps = cleave_axis_taps (rows, i);
      row.x = work->x + (row.taps.last == 0 ? 0 : row.taps.at - of_x.begin) * rows->x_step;
      cleave_depthwise_run_row (&s->floats, &row);
      cleave_pixels_finish (&s->y, (gint64) cleave_element_size (work->element), y,
                            i * columns->n_y, (i + 1) * columns->n_y, finish_line, work);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *s = state;
  const CleaveAxis *rows = &s->floats.axis[0];
  gint64 x_size = (gint64) cleave_element_size (instance->operands[X].type.element);
  gint64 y_size = (gint64) cleave_element_size (instance->results[0].type.element);
  Work work = begin_work (s, instance, scratch);

  for (gint64 n = 0; n < s->n_batches; n++)
    for (gint64 i = 0, end; i < rows->n_y; i = end)
      {
        gint64 at = n * s->y_batch_step;

        end = MIN (i + STRIP, rows->n_y);
        run_strip (&work, (const char *) instance->operands[X].data + n * s->x_batch_step * x_size,
                   (char *) instance->results[0].data + at * y_size, i, end);
        if (s->reports_progress)
          cleave_kernel_range_done (instance, at + i * rows->y_step, at + end * rows->y_step);
      }
}

static gboolean
reports_progress (gconstpointer state)
{
  const Plan *s = state;

  return s->reports_progress;
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_depthwise);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_depthwise) = {
  .prepare = prepare, .run = run, .free = g_free, .reports_progress = reports_progress
};
