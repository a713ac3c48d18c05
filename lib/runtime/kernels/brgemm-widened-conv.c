/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions of bytes and of 16-bit floats, band by band: what a band reads of x becomes floats
 * in scratch, a product of floats makes its sums, and these become elements of y.
 *
 * Floats hold whole numbers up to 2^24.  Where a sum of bytes could pass that, the input channels
 * are cut into parts that cannot, each a product of its own, and whole numbers add up the parts. */

#include "brgemm-plans.h"
#include "exact.h"
#include "finish.h"
#include "pixels.h"
#include "places.h"

#include "../../ops/reference.h"

enum { X };

/* What a run needs, in bytes from the beginning of scratch. */
typedef struct
{
  gsize x, y, sums, a, zeros, bias, scale;
} Layout;

typedef struct
{
  CleavePlaces places;
  gboolean has_bytes;
  CleavePixels x, y;
  gint64 n_batches, x_batch_step, y_batch_step; /* in the views */
  gint64 y_image;                               /* elements, if dense */
  gint64 n_parts;
  CleaveProduct **products;
  const float *a; /* packed for good; NULL: by each run */
  CleavePanels panels;
  gboolean tells;
  Layout layout;
} Widened;

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

/* The same of any channel: the largest there are. */
static void
sum_largest (const CleaveSite *site, gconstpointer self, gint64 channel, gint64 *sums)
{
  const CleavePlaces *p = self;
  const CleaveTensorType *w = &site->operands[p->w].type;
  gint64 n_taps = cleave_shape_n_elements (&w->shape) / (w->shape.dim[0] * w->shape.dim[1]);

  for (gint64 i = 0; i < w->shape.dim[1]; i++)
    sums[i] =
        n_taps * cleave_largest_byte (w->element, cleave_call_has (&site->call, p->w_zero), NULL);
}

static gboolean
is_constant (const CleaveSite *site, guint operand)
{
  return !cleave_call_has (&site->call, operand) || site->constants[operand] != NULL;
}

/* Into how many parts the input channels are cut; 0: no cut makes the sums exact. */
static gint64
count_parts (const CleaveSite *site, const CleavePlaces *p)
{
  const CleaveShape *w = &site->operands[p->w].type.shape;
  gboolean has_zero = cleave_call_has (&site->call, p->x_zero);
  gint64 largest = cleave_largest_byte (site->operands[X].type.element, has_zero,
                                        has_zero ? site->constants[p->x_zero] : NULL);
  gboolean known = is_constant (site, p->w) && is_constant (site, p->w_zero);

  return cleave_count_exact_parts (site, p, known ? sum_weights : sum_largest,
                                   known ? w->dim[0] : 1, w->dim[1], largest);
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

static gboolean
make_products (const CleaveSite *site, const CleavePanels *panels, gint64 first, Widened *s)
{
  CleaveTensorType types[4];
  CleaveView views[4];
  CleaveSite floats;
  gint64 n_in = site->operands[s->places.w].type.shape.dim[1];

  shadow (site, &s->places, types, views, &floats);
  s->products = g_new0 (CleaveProduct *, (gsize) s->n_parts);
  for (gint64 p = 0; p < s->n_parts; p++)
    {
      CleaveSpan channels = { p * n_in / s->n_parts, (p + 1) * n_in / s->n_parts };

      s->products[p] = cleave_brgemm_conv_product (&floats, panels, first, &channels);
      if (!cleave_product_prepare (s->products[p]))
        return FALSE;
    }
  return TRUE;
}

static gsize
lay_out (const CleaveSite *site, Widened *s)
{
  gint64 n_out = s->y.n_channels, x = 0, y = 0;
  gsize n = 0;

  for (guint b = 0; b < cleave_product_n_bands (s->products[0]); b++)
    {
      const CleaveBand *band = cleave_product_get_band (s->products[0], b);

      x = MAX (x, band->x_end - band->x_begin);
      y = MAX (y, band->y_end - band->y_begin);
    }
  s->layout.x = cleave_take_scratch (&n, x);
  s->layout.y = cleave_take_scratch (&n, y);
  s->layout.sums = cleave_take_scratch (&n, s->n_parts > 1 ? y : 0);
  s->layout.bias = cleave_take_scratch (&n, n_out);
  s->layout.scale = cleave_take_scratch (&n, n_out);
  s->layout.zeros = cleave_take_scratch (&n, n_out);
  s->layout.a = n;
  return s->a == NULL ? n + cleave_panels_n_bytes (&s->panels) : n;
}

static void
widened_free (gpointer state)
{
  Widened *s = state;

  for (gint64 p = 0; s->products != NULL && p < s->n_parts; p++)
    cleave_product_free (s->products[p]);
  g_free (s->products);
  g_free (s);
}

static gint64
pack_weights (const CleaveSite *site, CleaveWeights *weights, Widened *s)
{
  const CleavePlaces *p = &s->places;
  gboolean has_zero = cleave_call_has (&site->call, p->w_zero);
  gint64 first = 0;

  s->panels = cleave_brgemm_conv_panels (&site->operands[p->w]);
  if (is_constant (site, p->w) && is_constant (site, p->w_zero))
    s->a = cleave_panels_of_constant (weights, site->constants[p->w],
                                      has_zero ? site->constants[p->w_zero] : NULL, 0, &s->panels,
                                      &first);
  return first;
}

static gboolean
prepare (const CleaveSite *site, CleaveWeights *weights, gpointer *state, gsize *n_scratch)
{
  const CleaveConvAttrs *a = site->call.attrs;
  const CleaveView *x = &site->operands[X], *y = &site->results[0];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  Widened *s;
  gint64 first;

  if (dims.n_spatial > 3)
    return FALSE;
  s = g_new0 (Widened, 1);
  s->places = cleave_places_find (&site->call);
  s->has_bytes = cleave_is_byte (x->type.element);
  s->x = cleave_pixels_of (x, dims);
  s->y = cleave_pixels_of (y, dims);
  s->n_batches = x->type.shape.dim[dims.n];
  s->x_batch_step = x->stride[dims.n];
  s->y_batch_step = y->stride[dims.n];
  s->y_image = cleave_shape_n_elements (&y->type.shape) / MAX (s->n_batches, 1);
  s->tells = cleave_pixels_are_dense (y, dims);
  s->n_parts = s->has_bytes ? count_parts (site, &s->places) : 1;
  first = pack_weights (site, weights, s);
  if (s->n_parts == 0 || !make_products (site, &s->panels, first, s))
    {
      widened_free (s);
      return FALSE;
    }
  *n_scratch = lay_out (site, s);
  *state = s;
  return TRUE;
}

/* Running. */

/* A run at work. */
typedef struct
{
  const Widened *s;
  const CleaveSite *site;
  const float *a, *bias;
  gint32 x_zero;
  CleaveFinish finish;
  char *scratch;
} Work;

static float *
floats_at (const Work *work, gsize at)
{
  return (float *) (void *) (work->scratch + at);
}

static const float *
pack_panels (const Work *work)
{
  const Widened *s = work->s;
  guint zero = s->places.w_zero;
  float *zeros = floats_at (work, s->layout.zeros), *a = floats_at (work, s->layout.a);
  CleavePanels panels = s->panels;

  if (cleave_call_has (&work->site->call, zero))
    {
      for (gint64 c = 0; c < panels.n_columns; c++)
        zeros[c] = (float) cleave_quantized_load (&work->site->call, work->site->operands, zero, c);
      panels.zeros = zeros;
    }
  cleave_panels_pack (&panels, work->site->operands[s->places.w].data, a);
  return a;
}

static Work
begin_work (const Widened *s, const CleaveSite *site, gpointer scratch)
{
  const CleaveCall *call = &site->call;
  Work work = { .s = s, .site = site, .a = s->a, .scratch = scratch };

  work.finish.element = site->results[0].type.element;
  work.x_zero = (gint32) cleave_quantized_load (call, site->operands, s->places.x_zero, 0);
  if (s->a == NULL)
    work.a = pack_panels (&work);
  work.bias = cleave_places_read_bias (&s->places, site, floats_at (&work, s->layout.bias));
  cleave_places_read_scales (&s->places, site, s->y.n_channels,
                             (guint32 *) (void *) (work.scratch + s->layout.bias),
                             floats_at (&work, s->layout.scale), &work.finish);
  return work;
}

static void
finish_line (gconstpointer self, gint64 at, gpointer y, gint64 step, gint64 n)
{
  const Work *work = self;
  const Layout *l = &work->s->layout;

  if (work->s->n_parts > 1)
    cleave_finish_ints (&work->finish, (const gint32 *) (void *) (work->scratch + l->sums) + at, y,
                        step, n);
  else
    cleave_finish_floats (&work->finish, floats_at (work, l->y) + at, y, step, n);
}

static void
run_band (const Work *work, guint b, const char *x, char *y)
{
  const Widened *s = work->s;
  const CleaveBand *band = cleave_product_get_band (s->products[0], b);
  gint64 n_in = s->x.n_channels, n_out = s->y.n_channels;
  float *from = floats_at (work, s->layout.x), *to = floats_at (work, s->layout.y);
  gint32 *sums = (gint32 *) (void *) (work->scratch + s->layout.sums);

  cleave_pixels_widen (&s->x, work->site->operands[X].type.element, work->x_zero, x,
                       band->x_begin / n_in, band->x_end / n_in, from);
  for (gint64 p = 0; p < s->n_parts; p++)
    {
      cleave_product_run_band (s->products[p], b, from - band->x_begin, work->a, work->bias,
                               to - band->y_begin);
      if (s->n_parts > 1)
        cleave_flush_sums (to, band->y_end - band->y_begin, p == 0, sums);
    }
  cleave_pixels_finish (&s->y, (gint64) cleave_element_size (work->finish.element),
                        work->finish.scale != NULL, y, band->y_begin / n_out, band->y_end / n_out,
                        finish_line, work);
}

static void
run (gconstpointer state, const CleaveSite *site, gpointer scratch)
{
  const Widened *s = state;
  gint64 x_size = (gint64) cleave_element_size (site->operands[X].type.element);
  gint64 y_size = (gint64) cleave_element_size (site->results[0].type.element);
  Work work = begin_work (s, site, scratch);

  for (gint64 n = 0; n < s->n_batches; n++)
    for (guint b = 0; b < cleave_product_n_bands (s->products[0]); b++)
      {
        const CleaveBand *band = cleave_product_get_band (s->products[0], b);

        run_band (&work, b, (const char *) site->operands[X].data + n * s->x_batch_step * x_size,
                  (char *) site->results[0].data + n * s->y_batch_step * y_size);
        if (s->tells)
          cleave_site_made (site, n * s->y_image + band->y_begin, n * s->y_image + band->y_end);
      }
}

static gboolean
tells (gconstpointer state)
{
  const Widened *s = state;

  return s->tells;
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const Widened *s = state;

  return s->a == NULL || operand != s->places.w;
}

extern const CleaveKernelFamily cleave_kernel_widened_conv; /* for levels.h */
const CleaveKernelFamily cleave_kernel_widened_conv = {
  .prepare = prepare, .run = run, .free = widened_free, .tells = tells, .reads = reads
};
