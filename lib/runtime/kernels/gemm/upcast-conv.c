/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions of 16-bit floats. For each band (gemm.h), a run converts the elements of x that the
 * band reads to 32-bit floats. It then runs the CleaveProduct that was planned for a convolution of
 * dense 32-bit floats. */

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
  /* number of images; distances of adjacent images in x and y, in elements */
  gint64 n_batches, x_batch_step, y_batch_step;
  gint64 y_image; /* number of elements of an image of y, if y is dense */
} Plan;

/* The following functions plan a convolution. */

/* Sets `to` to a kernel instance of the same convolution on dense floats, with views that have no
 * data. */
static void
shadow (const CleaveKernelInstance *instance,
        const CleavePlaces *p,
        CleaveTensorType types[4],
        CleaveView views[4],
        CleaveKernelInstance *to)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, instance->operands[X].type.shape.rank);
  gboolean has_bias = cleave_call_has (&instance->call, p->bias);

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
make_product (const CleaveKernelInstance *instance, const Plan *s, gint64 first)
{
  CleaveSpan channels = { 0, instance->operands[s->places.w].type.shape.dim[1] };
  CleaveTensorType types[4];
  CleaveView views[4];
  CleaveKernelInstance floats;

  shadow (instance, &s->places, types, views, &floats);
  return cleave_brgemm_conv_product (&floats, &s->common.panels, first, &channels);
}

/* Packs constant weights. Returns the index of the packed column at which the weights begin. */
static gint64
pack_weights (const CleaveKernelInstance *instance, CleaveWeights *weights, Plan *s)
{
  const CleavePlaces *p = &s->places;
  gint64 first = 0;

  s->common.panels = cleave_brgemm_conv_panels (&instance->operands[p->w], 0);
  if (instance->constants[p->w] != NULL)
    s->common.packed = cleave_panels_of_constant (weights, instance->constants[p->w], 0,
                                                  &s->common.panels, &first);
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
  s->common.product = make_product (instance, s, pack_weights (instance, weights, s));
  cleave_product_prepare (s->common.product);
  *n_scratch = cleave_upcast_lay_out (&s->common, s->y.n_channels);
  *state = s;
  return TRUE;
}

/* The following functions run a convolution. */

static CleaveUpcastWork
begin_work (const Plan *s, const CleaveKernelInstance *instance, gpointer scratch)
{
  CleaveUpcastWork work = cleave_upcast_begin (&s->common, instance, scratch);

  if (s->common.packed == NULL)
    cleave_upcast_pack (&work, instance->operands[s->places.w].data);
  work.bias = cleave_places_read_bias (&s->places, instance, work.at_bias);
  return work;
}

static void
run_band (const CleaveUpcastWork *work, const Plan *s, guint b, const char *x, char *y)
{
  const CleaveBand *band = cleave_product_get_band (s->common.product, b);
  gint64 n_in = s->x.n_channels, n_out = s->y.n_channels;

  cleave_pixels_upcast (&s->x, work->instance->operands[X].type.element, 0, x, band->x_begin / n_in,
                        band->x_end / n_in, work->x);
  cleave_upcast_run_band (work, b);
  cleave_pixels_finish (&s->y, (gint64) cleave_element_size (work->element), y,
                        band->y_begin / n_out, band->y_end / n_out, cleave_upcast_finish, work);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *s = state;
  gint64 x_size = (gint64) cleave_element_size (instance->operands[X].type.element);
  gint64 y_size = (gint64) cleave_element_size (instance->results[0].type.element);
  CleaveUpcastWork work = begin_work (s, instance, scratch);

  for (gint64 n = 0; n < s->n_batches; n++)
    for (guint b = 0; b < cleave_product_n_bands (s->common.product); b++)
      {
        const CleaveBand *band = cleave_product_get_band (s->common.product, b);

        run_band (&work, s, b,
                  (const char *) instance->operands[X].data + n * s->x_batch_step * x_size,
                  (char *) instance->results[0].data + n * s->y_batch_step * y_size);
        if (s->common.reports_progress)
          cleave_kernel_range_done (instance, n * s->y_image + band->y_begin,
                                    n * s->y_image + band->y_end);
      }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_conv);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_upcast_conv) = {
  .prepare = prepare,
  .run = run,
  .free = cleave_upcast_free,
  .reports_progress = cleave_upcast_reports_progress,
  .reads = cleave_upcast_reads,
};
