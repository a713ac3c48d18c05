/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions of bytes and of 16-bit floats.  What a band reads of x becomes floats, and the
 * product is that of a convolution of dense floats. */

#include "../pixels.h"
#include "../places.h"
#include "widened.h"

#include "../../../ops/reference.h"

enum { X };

typedef struct
{
  CleaveWidened common;
  CleavePlaces places;
  CleavePixels x, y;
  gint64 n_batches, x_batch_step, y_batch_step; /* in the views */
  gint64 y_image;                               /* elements, if dense */
} Plan;

/* Preparing. */

/* Of one channel of the result: what the weights are. */
static void
sum_weights (const CleaveSite *site, gconstpointer self, gint64 channel, gint64 *sums)
{
  const CleavePlaces *p = self;
  const CleaveView *w = &site->operands[p->w];
  double zero = cleave_quantized_load (&site->call, site->operands, p->w_zero, channel);
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
count_parts (const CleaveSite *site, const CleavePlaces *p)
{
  const CleaveTensorType *w = &site->operands[p->w].type;
  gboolean known = cleave_site_knows (site, p->w) && cleave_site_knows (site, p->w_zero);
  CleaveSums sums = { .n_columns = w->shape.dim[0],
                      .n_channels = w->shape.dim[1],
                      .largest_x = cleave_largest_byte_of (site, X, p->x_zero),
                      .largest_w = cleave_largest_byte (
                          w->element, cleave_call_has (&site->call, p->w_zero), NULL),
                      .distances = known ? sum_weights : NULL,
                      .self = p };

  for (guint d = 2; d < w->shape.rank; d++)
    sums.largest_w *= w->shape.dim[d];
  return cleave_count_exact_parts (site, &sums);
}

/* The same convolution, of dense floats that lie nowhere. */
static void
shadow (const CleaveSite *site,
        const CleavePlaces *p,
        CleaveTensorType types[4],
        CleaveView views[4],
        CleaveSite *to)
{
  const CleaveConvAttrs *a = site->call.attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, site->operands[X].type.shape.rank);
  gboolean has_bias =
      !cleave_is_byte (site->operands[X].type.element) && cleave_call_has (&site->call, p->bias);

  types[0] = (CleaveTensorType){ CLEAVE_FLOAT32, site->operands[X].type.shape };
  types[1] = (CleaveTensorType){ CLEAVE_FLOAT32, site->operands[p->w].type.shape };
  types[2] = (CleaveTensorType){ has_bias ? CLEAVE_FLOAT32 : CLEAVE_NONE, { 0 } };
  types[3] = (CleaveTensorType){ CLEAVE_FLOAT32, site->results[0].type.shape };
  for (guint i = 0; i < 4; i++)
    views[i] = (CleaveView){ .type = types[i] };
  cleave_pixels_strides (&types[0].shape, dims, views[0].stride);
  cleave_pixels_strides (&types[3].shape, dims, views[3].stride);
  *to = (CleaveSite){ .call = { .attrs = a,
                                .n_operands = 3,
                                .n_results = 1,
                                .operands = types,
                                .results = &types[3] },
                      .operands = views,
                      .results = &views[3] };
}

static CleaveProduct *
make_part (const CleaveSite *site, gconstpointer self, gint64 first, const CleaveSpan *part)
{
  const Plan *s = self;
  CleaveTensorType types[4];
  CleaveView views[4];
  CleaveSite floats;

  shadow (site, &s->places, types, views, &floats);
  return cleave_brgemm_conv_product (&floats, &s->common.panels, first, part);
}

/* Returns the packed column of the first. */
static gint64
pack_weights (const CleaveSite *site, CleaveWeights *weights, Plan *s)
{
  const CleavePlaces *p = &s->places;
  gboolean has_zero = cleave_call_has (&site->call, p->w_zero);
  gint64 first = 0;

  s->common.panels = cleave_brgemm_conv_panels (&site->operands[p->w], 0);
  if (cleave_site_knows (site, p->w) && cleave_site_knows (site, p->w_zero))
    s->common.packed = cleave_panels_of_constant (weights, site->constants[p->w],
                                                  has_zero ? site->constants[p->w_zero] : NULL, 0,
                                                  &s->common.panels, &first);
  return first;
}

static Plan *
new_plan (const CleaveSite *site, CleaveDims dims)
{
  const CleaveView *x = &site->operands[X], *y = &site->results[0];
  Plan *s = g_new0 (Plan, 1);

  s->places = cleave_places_find (&site->call);
  s->x = cleave_pixels_of (x, dims);
  s->y = cleave_pixels_of (y, dims);
  s->n_batches = x->type.shape.dim[dims.n];
  s->x_batch_step = x->stride[dims.n];
  s->y_batch_step = y->stride[dims.n];
  s->y_image = cleave_shape_n_elements (&y->type.shape) / MAX (s->n_batches, 1);
  s->common.weights = s->places.w;
  s->common.tells = cleave_pixels_are_dense (y, dims);
  s->common.n_parts = cleave_is_byte (x->type.element) ? count_parts (site, &s->places) : 1;
  return s;
}

static gboolean
prepare (const CleaveSite *site, CleaveWeights *weights, gpointer *state, gsize *n_scratch)
{
  const CleaveConvAttrs *a = site->call.attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, site->operands[X].type.shape.rank);
  Plan *s;

  if (dims.n_spatial > 3)
    return FALSE;
  s = new_plan (site, dims);
  if (s->common.n_parts == 0 ||
      !cleave_widened_make_products (&s->common, site, pack_weights (site, weights, s),
                                     site->operands[s->places.w].type.shape.dim[1], make_part))
    {
      cleave_widened_free (s);
      return FALSE;
    }
  *n_scratch = cleave_widened_lay_out (&s->common, s->y.n_channels);
  *state = s;
  return TRUE;
}

/* Running. */

static void
pack_panels (CleaveWidenedWork *work, const Plan *s)
{
  const CleaveSite *site = work->site;
  gboolean has_zero = cleave_call_has (&site->call, s->places.w_zero);

  for (gint64 c = 0; has_zero && c < s->common.panels.n_columns; c++)
    work->at_zeros[c] = (float) cleave_places_load (site, s->places.w_zero, c);
  cleave_widened_pack (work, site->operands[s->places.w].data, has_zero ? work->at_zeros : NULL);
}

static CleaveWidenedWork
begin_work (const Plan *s, const CleaveSite *site, gpointer scratch)
{
  CleaveWidenedWork work = cleave_widened_begin (&s->common, site, scratch);

  if (s->common.packed == NULL)
    pack_panels (&work, s);
  work.bias = cleave_places_read_bias (&s->places, site, work.at_bias);
  cleave_places_read_scales (&s->places, site, s->y.n_channels, work.at_bias, work.at_scale,
                             &work.finish);
  return work;
}

static void
run_band (const CleaveWidenedWork *work, const Plan *s, guint b, const char *x, char *y)
{
  const CleaveBand *band = cleave_product_get_band (s->common.products[0], b);
  gint32 x_zero = (gint32) cleave_places_load (work->site, s->places.x_zero, 0);
  gint64 n_in = s->x.n_channels, n_out = s->y.n_channels;

  cleave_pixels_widen (&s->x, work->site->operands[X].type.element, x_zero, x, band->x_begin / n_in,
                       band->x_end / n_in, work->x);
  cleave_widened_run_band (work, b);
  cleave_pixels_finish (&s->y, (gint64) cleave_element_size (work->finish.element),
                        work->finish.scale != NULL, y, band->y_begin / n_out, band->y_end / n_out,
                        cleave_widened_finish, work);
}

static void
run (gconstpointer state, const CleaveSite *site, gpointer scratch)
{
  const Plan *s = state;
  gint64 x_size = (gint64) cleave_element_size (site->operands[X].type.element);
  gint64 y_size = (gint64) cleave_element_size (site->results[0].type.element);
  CleaveWidenedWork work = begin_work (s, site, scratch);

  for (gint64 n = 0; n < s->n_batches; n++)
    for (guint b = 0; b < cleave_product_n_bands (s->common.products[0]); b++)
      {
        const CleaveBand *band = cleave_product_get_band (s->common.products[0], b);

        run_band (&work, s, b, (const char *) site->operands[X].data + n * s->x_batch_step * x_size,
                  (char *) site->results[0].data + n * s->y_batch_step * y_size);
        if (s->common.tells)
          cleave_site_made (site, n * s->y_image + band->y_begin, n * s->y_image + band->y_end);
      }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_widened_conv); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_widened_conv) = {
  .prepare = prepare,
  .run = run,
  .free = cleave_widened_free,
  .tells = cleave_widened_tells,
  .reads = cleave_widened_reads,
};
