/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions of bytes and of 16-bit floats.  What a band reads of x becomes floats, and the
 * product is that of a convolution of dense floats. */

#include "../pixels.h"
#include "../places.h"
#include "upcast.h"

#include "../../../ops/reference.h"

enum { X };

typedef struct
{
  CleaveUpcast common;
  CleavePlaces places;
  CleavePixels x, y;
  gint64 n_batches, x_batch_step, y_batch_step; /* in the views */
  gint64 y_image;                               /* elements, if dense */
} Plan;

/* Preparing. */

/* Of one channel of the result: what the weights are. */
static void
sum_weights (const CleaveKernelInstance *instance, gconstpointer self, gint64 channel, gint64 *sums)
{
  const CleavePlaces *p = self;
  const CleaveView *w = &instance->operands[p->w];
  double zero = cleave_quantized_load (&instance->call, instance->operands, p->w_zero, channel);
  CleaveShape shape = w->type.shape;
  gint64 at[CLEAVE_MAX_RANK];

  shape.dim[0] = 1;
  for (gint64 i = 0; i < shape.dim[1]; i++)
    sums[i] = 0;
  for (gboolean more = cleave_index_first (&shape, at); more; more = cleave_index_next (&shape, at))
    {
      gint64 offset = channel * w->stride[0] + cleave_view_offset (w, at);
      double value = cleave_real_load (w->type.element, cleave_view_element (w, offset));

      sums[at[1]] += (gint64) ABS (value - zero);
    }
}

/* Into how many parts the input channels are cut; 0: no cut makes the sums exact. */
static gint64
count_parts (const CleaveKernelInstance *instance, const CleavePlaces *p)
{
  const CleaveTensorType *w = &instance->operands[p->w].type;
  gboolean known =
      cleave_instance_knows (instance, p->w) && cleave_instance_knows (instance, p->w_zero);
  CleaveSums sums = { .n_columns = w->shape.dim[0],
                      .n_channels = w->shape.dim[1],
                      .largest_x = cleave_largest_byte_of (instance, X, p->x_zero),
                      .largest_w = cleave_largest_byte (
                          w->element, cleave_call_has (&instance->call, p->w_zero), NULL),
                      .distances = known ? sum_weights : NULL,
                      .self = p };

  for (guint d = 2; d < w->shape.rank; d++)
    sums.largest_w *= w->shape.dim[d];
  return cleave_count_exact_parts (instance, &sums);
}

/* The same convolution, of dense floats that lie nowhere. */
static void
shadow (const CleaveKernelInstance *instance,
        const CleavePlaces *p,
        CleaveTensorType types[4],
        CleaveView views[4],
        CleaveKernelInstance *to)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, instance->operands[X].type.shape.rank);
  gboolean has_bias = !cleave_is_byte (instance->operands[X].type.element) &&
                      cleave_call_has (&instance->call, p->bias);

  types[0] = (CleaveTensorType){ CLEAVE_FLOAT32, instance->operands[X].type.shape };
  types[1] = (CleaveTensorType){ CLEAVE_FLOAT32, instance->operands[p->w].type.shape };
  types[2] = (CleaveTensorType){ has_bias ? CLEAVE_FLOAT32 : CLEAVE_NONE, { 0 } };
  types[3] = (CleaveTensorType){ CLEAVE_FLOAT32, instance->results[0].type.shape };
  for (guint i = 0; i < 4; i++)
    views[i] = (CleaveView){ .type = types[i] };
  cleave_pixels_strides (&types[0].shape, dims, views[0].stride);
  cleave_pixels_strides (&types[3].shape, dims, views[3].stride);
  *to = (CleaveKernelInstance){ .call = { .attrs = a,
                                          .n_operands = 3,
                                          .n_results = 1,
                                          .operands = types,
                                          .results = &types[3] },
                                .operands = views,
                                .results = &views[3] };
}

static CleaveProduct *
make_part (const CleaveKernelInstance *instance,
           gconstpointer self,
           gint64 first,
           const CleaveSpan *part)
{
  const Plan *s = self;
  CleaveTensorType types[4];
  CleaveView views[4];
  CleaveKernelInstance floats;

  shadow (instance, &s->places, types, views, &floats);
  return cleave_brgemm_conv_product (&floats, &s->common.panels, first, part);
}

/* Returns the packed column of the first. */
static gint64
pack_weights (const CleaveKernelInstance *instance, CleaveWeights *weights, Plan *s)
{
  const CleavePlaces *p = &s->places;
  gboolean has_zero = cleave_call_has (&instance->call, p->w_zero);
  gint64 first = 0;

  s->common.panels = cleave_brgemm_conv_panels (&instance->operands[p->w], 0);
  if (cleave_instance_knows (instance, p->w) && cleave_instance_knows (instance, p->w_zero))
    s->common.packed = cleave_panels_of_constant (weights, instance->constants[p->w],
                                                  has_zero ? instance->constants[p->w_zero] : NULL,
                                                  0, &s->common.panels, &first);
  return first;
}

static Plan *
new_plan (const CleaveKernelInstance *instance, CleaveDims dims)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  Plan *s = g_new0 (Plan, 1);

  s->places = cleave_places_find (&instance->call);
  s->x = cleave_pixels_of (x, dims);
  s->y = cleave_pixels_of (y, dims);
  s->n_batches = x->type.shape.dim[dims.n];
  s->x_batch_step = x->stride[dims.n];
  s->y_batch_step = y->stride[dims.n];
  s->y_image = cleave_shape_n_elements (&y->type.shape) / MAX (s->n_batches, 1);
  s->common.weights = s->places.w;
  s->common.reports_progress = cleave_pixels_are_dense (y, dims);
  s->common.n_parts = cleave_is_byte (x->type.element) ? count_parts (instance, &s->places) : 1;
  return s;
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

  if (dims.n_spatial > 3)
    return FALSE;
  s = new_plan (instance, dims);
  if (s->common.n_parts == 0 ||
      !cleave_upcast_make_products (&s->common, instance, pack_weights (instance, weights, s),
                                    instance->operands[s->places.w].type.shape.dim[1], make_part))
    {
      cleave_upcast_free (s);
      return FALSE;
    }
  *n_scratch = cleave_upcast_lay_out (&s->common, s->y.n_channels);
  *state = s;
  return TRUE;
}

/* Running. */

static void
pack_panels (CleaveUpcastWork *work, const Plan *s)
{
  const CleaveKernelInstance *instance = work->instance;
  gboolean has_zero = cleave_call_has (&instance->call, s->places.w_zero);

  for (gint64 c = 0; has_zero && c < s->common.panels.n_columns; c++)
    work->at_zeros[c] = (float) cleave_places_load (instance, s->places.w_zero, c);
  cleave_upcast_pack (work, instance->operands[s->places.w].data, has_zero ? work->at_zeros : NULL);
}

static CleaveUpcastWork
begin_work (const Plan *s, const CleaveKernelInstance *instance, gpointer scratch)
{
  CleaveUpcastWork work = cleave_upcast_begin (&s->common, instance, scratch);

  if (s->common.packed == NULL)
    pack_panels (&work, s);
  work.bias = cleave_places_read_bias (&s->places, instance, work.at_bias);
  cleave_places_read_scales (&s->places, instance, s->y.n_channels, work.at_bias, work.at_scale,
                             &work.finish);
  return work;
}

static void
run_band (const CleaveUpcastWork *work, const Plan *s, guint b, const char *x, char *y)
{
  const CleaveBand *band = cleave_product_get_band (s->common.products[0], b);
  gint32 x_zero = (gint32) cleave_places_load (work->instance, s->places.x_zero, 0);
  gint64 n_in = s->x.n_channels, n_out = s->y.n_channels;

  cleave_pixels_upcast (&s->x, work->instance->operands[X].type.element, x_zero, x,
                        band->x_begin / n_in, band->x_end / n_in, work->x);
  cleave_upcast_run_band (work, b);
  cleave_pixels_finish (&s->y, (gint64) cleave_element_size (work->finish.element),
                        work->finish.scale != NULL, y, band->y_begin / n_out, band->y_end / n_out,
                        cleave_upcast_finish, work);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *s = state;
  gint64 x_size = (gint64) cleave_element_size (instance->operands[X].type.element);
  gint64 y_size = (gint64) cleave_element_size (instance->results[0].type.element);
  CleaveUpcastWork work = begin_work (s, instance, scratch);

  for (gint64 n = 0; n < s->n_batches; n++)
    for (guint b = 0; b < cleave_product_n_bands (s->common.products[0]); b++)
      {
        const CleaveBand *band = cleave_product_get_band (s->common.products[0], b);

        run_band (&work, s, b,
                  (const char *) instance->operands[X].data + n * s->x_batch_step * x_size,
                  (char *) instance->results[0].data + n * s->y_batch_step * y_size);
        if (s->common.reports_progress)
          cleave_kernel_range_done (instance, n * s->y_image + band->y_begin,
                                    n * s->y_image + band->y_end);
      }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_conv); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_conv) = {
  .prepare = prepare,
  .run = run,
  .free = cleave_upcast_free,
  .reports_progress = cleave_upcast_reports_progress,
  .reads = cleave_upcast_reads,
};
