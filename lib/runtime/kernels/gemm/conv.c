/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans float convolutions as products (gemm.h). A tap is one position of the convolution's kernel,
 * such as (0, 2) of 3 x 3. A pixel is one position of y along the spatial axes; all its channels
 * belong to the pixel. */

#include "plans.h"

#include "../axis.h"

enum { X, W, B };

/* The pixels [begin, end) of an axis of y. For these pixels, the taps [first, last) read data, and
 * all other taps read padding. */
typedef struct
{
  gint64 begin, end, first, last;
} Span;

typedef struct
{
  CleaveAxis axis[3]; /* the spatial axes D, H and W */
  /* number of groups, and number of channels of a group in x and in y */
  gint64 n_groups, group_in, group_out;
  CleaveSpan channels; /* the channels of each group of x that the convolution reads */
  gint64 lda;
  gboolean has_bias;
  gboolean nests; /* TRUE: each pixel of y ends before the next pixel begins, each row before the
                     next row, and each plane before the next plane; gaps are allowed */
  gint64 y_size;  /* number of elements that an image of y spans, gaps included */
  gboolean joins_taps; /* TRUE: adjacent taps of a kernel row are contiguous in x, and the product
                          treats them as one long tap */
} Plan;

/* Limit on the number of floats of x and y in a band (gemm.h). If a convolution has more weights
 * than BAND_FLOATS, the limit is the number of weights, since each band reads all weights again. */
#define BAND_FLOATS 65536
/* With at most this number of channels, calling the code for one tap takes longer than the products
 * of the tap, so adjacent taps are joined. */
#define FEW_CHANNELS 8

static gboolean
reads_one_tap (const CleaveAxis *axis)
{
  return axis->n_taps == 1 && axis->pad == 0 && (axis->n_y - 1) * axis->stride < axis->n_x;
}

/* Merges rows into one long row if the rows follow each other in x and in y. The kernel must have a
 * single tap along the row, and along the axis that counts the rows. */
static void
join_rows (Plan *plan)
{
  CleaveAxis *inner = &plan->axis[2];

  for (guint i = 2; i-- > 0;)
    {
      CleaveAxis *outer = &plan->axis[i];

      if (!reads_one_tap (inner) || !reads_one_tap (outer) ||
          (outer->n_y > 1 &&
           (outer->x_step * outer->stride != inner->n_y * inner->x_step * inner->stride ||
            outer->y_step != inner->n_y * inner->y_step)))
        return;
      inner->n_y *= outer->n_y;
      inner->n_x = (inner->n_y - 1) * inner->stride + 1;
      *outer = (CleaveAxis) CLEAVE_AXIS_NONE;
    }
}

/* Sets `nests` to TRUE if pixels, rows and planes of y do not interleave in memory: a step along
 * each axis must pass all elements that the axes inside it span. If an axis has a single position,
 * sets its step to the number of these elements. Sets `y_size` to the number of elements that all
 * axes span. */
static void
find_nesting (Plan *plan)
{
  plan->nests = TRUE;
  plan->y_size = plan->n_groups * plan->group_out;
  for (guint i = 3; i-- > 0;)
    {
      CleaveAxis *axis = &plan->axis[i];

      if (axis->n_y == 1)
        axis->y_step = plan->y_size;
      plan->nests = plan->nests && axis->y_step >= plan->y_size;
      plan->y_size = axis->n_y * axis->y_step;
    }
}

static GArray *
cut_axis (const CleaveAxis *axis, gint64 begin, gint64 end)
{
  GArray *spans = g_array_new (FALSE, FALSE, sizeof (Span));

  for (gint64 pixel = begin; pixel < end; pixel++)
    {
      CleaveTaps taps = cleave_axis_taps (axis, pixel);
      Span span = { pixel, pixel + 1, taps.first, taps.last };
      Span *before = spans->len == 0 ? NULL : &g_array_index (spans, Span, spans->len - 1);

      if (before != NULL && before->first == span.first && before->last == span.last)
        before->end = span.end;
      else
        g_array_append_val (spans, span);
    }
  return spans;
}

static GArray *
list_taps (const Plan *plan, const Span *span[3])
{
  GArray *taps = g_array_new (FALSE, FALSE, sizeof (CleaveTap));
  const CleaveAxis *axis = plan->axis;
  gint64 last = plan->joins_taps ? MIN (span[2]->first + 1, span[2]->last) : span[2]->last;

  for (gint64 d = span[0]->first; d < span[0]->last; d++)
    for (gint64 h = span[1]->first; h < span[1]->last; h++)
      for (gint64 w = span[2]->first; w < last; w++)
        {
          CleaveTap tap = {
            .x = plan->channels.begin + (d - span[0]->first) * axis[0].dilation * axis[0].x_step +
                 (h - span[1]->first) * axis[1].dilation * axis[1].x_step +
                 (w - span[2]->first) * axis[2].dilation * axis[2].x_step,
            .a = (((d * axis[1].n_taps + h) * axis[2].n_taps + w) * plan->group_in +
                  plan->channels.begin) *
                 plan->lda,
          };

          g_array_append_val (taps, tap);
        }
  return taps;
}

static void
add_region (const Plan *plan, CleaveProduct *product, const Span *span[3])
{
  g_autoptr (GArray) taps = list_taps (plan, span);
  gint64 n_channels = plan->channels.end - plan->channels.begin;
  CleaveTapRegion region = { .k = n_channels *
                                  (plan->joins_taps ? span[2]->last - span[2]->first : 1),
                             .n_taps = taps->len,
                             .taps = (const CleaveTap *) (gpointer) taps->data };

  for (guint d = 0; d < 3; d++)
    {
      const CleaveAxis *axis = &plan->axis[d];
      gint64 first = span[d]->begin * axis->stride - axis->pad + span[d]->first * axis->dilation;

      region.extent[d] = span[d]->end - span[d]->begin;
      region.x_step[d] = axis->stride * axis->x_step;
      region.y_step[d] = axis->y_step;
      region.x_offset += taps->len == 0 ? 0 : first * axis->x_step;
      region.y_offset += span[d]->begin * axis->y_step;
    }
  cleave_product_add_region (product, &region);
}

/* Returns the elements of x that the pixels [begin, end) of axis `outer` of y read, as a range of
 * offsets in a dense x. If x has more than one position along an axis before `outer`, returns the
 * range of all of x. */
static CleaveSpan
band_of_x (const Plan *plan, guint outer, gint64 begin, gint64 end)
{
  const CleaveAxis *axis = &plan->axis[outer];
  gint64 first = begin * axis->stride - axis->pad;
  gint64 last = (end - 1) * axis->stride - axis->pad + (axis->n_taps - 1) * axis->dilation + 1;
  gint64 size = axis->n_x * axis->x_step;

  if (plan->axis[0].n_x * plan->axis[1].n_x * plan->axis[2].n_x ==
      0) /* no tap reads an element of x */
    return (CleaveSpan){ 0, 0 };
  for (guint d = outer; d-- > 0;)
    if (plan->axis[d].n_x > 1)
      size = MAX (size, plan->axis[d].n_x * plan->axis[d].x_step);
  if (size > axis->n_x * axis->x_step)
    return (CleaveSpan){ 0, size };
  first = CLAMP (first, 0, axis->n_x);
  return (CleaveSpan){ first * axis->x_step, CLAMP (last, first, axis->n_x) * axis->x_step };
}

/* Adds a band (gemm.h) that consists of the pixels [begin, end) of axis `outer` of y, and all
 * pixels of the axes inside it. */
static void
add_band (const Plan *plan, CleaveProduct *product, guint outer, gint64 begin, gint64 end)
{
  g_autoptr (GArray) d =
      cut_axis (&plan->axis[0], outer == 0 ? begin : 0, outer == 0 ? end : plan->axis[0].n_y);
  g_autoptr (GArray) h =
      cut_axis (&plan->axis[1], outer == 1 ? begin : 0, outer == 1 ? end : plan->axis[1].n_y);
  g_autoptr (GArray) w =
      cut_axis (&plan->axis[2], outer == 2 ? begin : 0, outer == 2 ? end : plan->axis[2].n_y);
  CleaveSpan x;

  for (guint i = 0; i < d->len; i++)
    for (guint j = 0; j < h->len; j++)
      for (guint k = 0; k < w->len; k++)
        {
          const Span *span[] = { &g_array_index (d, Span, i), &g_array_index (h, Span, j),
                                 &g_array_index (w, Span, k) };

          add_region (plan, product, span);
        }
  x = band_of_x (plan, outer, begin, end);
  cleave_product_end_band (product, &(CleaveBand){ .x_begin = x.begin,
                                                   .x_end = x.end,
                                                   .y_begin = begin * plan->axis[outer].y_step,
                                                   .y_end = end * plan->axis[outer].y_step });
}

static void
add_bands (const Plan *plan, CleaveProduct *product)
{
  const CleaveAxis *axis = plan->axis;
  guint outer = axis[0].n_y > 1 ? 0 : axis[1].n_y > 1 ? 1 : 2;
  gint64 n_taps = axis[0].n_taps * axis[1].n_taps * axis[2].n_taps;
  gint64 n_weights = n_taps * plan->group_in * plan->group_out * plan->n_groups;
  gint64 row = plan->n_groups * (plan->group_in * axis[outer].stride + plan->group_out);
  gint64 length;

  for (guint d = outer + 1; d < 3; d++)
    row *= axis[d].n_y;
  length = MAX (MAX (BAND_FLOATS, n_weights) / row, 1);
  for (gint64 begin = 0; begin < axis[outer].n_y; begin += length)
    add_band (plan, product, outer, begin, MIN (begin + length, axis[outer].n_y));
}

CleavePanels
cleave_brgemm_conv_panels (const CleaveView *w, guint columns)
{
  CleavePanels panels = { .element = w->type.element,
                          .n_columns = w->type.shape.dim[columns],
                          .column_stride = w->stride[columns],
                          .extent = { 1, 1, 1, w->type.shape.dim[1 - columns] },
                          .stride = { 0, 0, 0, w->stride[1 - columns] } };
  guint n = w->type.shape.rank - 2;

  for (guint i = 0; i < n; i++)
    {
      panels.extent[3 - n + i] = w->type.shape.dim[2 + i];
      panels.stride[3 - n + i] = w->stride[2 + i];
    }
  panels.width = cleave_panels_width (panels.n_columns);
  return panels;
}

void
cleave_brgemm_set_images (CleaveBrgemm *brgemm,
                          const CleaveKernelInstance *instance,
                          CleaveDims dims)
{
  guint n = dims.n;

  brgemm->columns_dim = dims.c;
  brgemm->operand_a = W;
  brgemm->operand_bias = cleave_call_has (&instance->call, B) ? B : 0;
  brgemm->n_batch_dims = 1;
  brgemm->extent[0] = instance->operands[X].type.shape.dim[n];
  brgemm->x_step[0] = instance->operands[X].stride[n];
  brgemm->y_step[0] = instance->results[0].stride[n];
}

gboolean
cleave_brgemm_can_serve_conv (const CleaveKernelInstance *instance, const CleaveDims *dims)
{
  const CleaveView *x = &instance->operands[X];
  const CleaveView *y = &instance->results[0];
  guint c = dims->c;

  if (y->type.element != CLEAVE_FLOAT32 || dims->n_spatial < 1 || dims->n_spatial > 3)
    return FALSE;
  for (guint d = 0; d < x->type.shape.rank; d++)
    if (x->stride[d] < 0 || y->stride[d] < 0)
      return FALSE;
  return (x->type.shape.dim[c] == 1 || x->stride[c] == 1) &&
         (y->type.shape.dim[c] == 1 || y->stride[c] == 1) &&
         (!cleave_call_has (&instance->call, B) || y->type.shape.dim[c] == 1 ||
          instance->operands[B].stride[0] == 1);
}

static void
init_plan (Plan *plan, const CleaveKernelInstance *instance, const CleaveSpan *channels)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveShape *w = &instance->operands[W].type.shape;
  CleaveDims dims = cleave_layout_dims (a->layout, instance->operands[X].type.shape.rank);
  const CleaveAxis *inner = &plan->axis[2];

  plan->n_groups = MAX (a->group, 1);
  plan->group_in = w->dim[1];
  plan->group_out = w->dim[0] / plan->n_groups;
  plan->channels = *channels;
  plan->has_bias = cleave_call_has (&instance->call, B);
  cleave_axes_init_three (plan->axis, instance, dims, &a->strides, &a->dilations, &a->pads);
  join_rows (plan);
  find_nesting (plan);
  plan->joins_taps = inner->n_taps > 1 && inner->dilation == 1 && inner->x_step == plan->group_in &&
                     plan->group_in <= FEW_CHANNELS &&
                     channels->end - channels->begin == plan->group_in;
}

static CleaveProduct *
make_product (Plan *plan, const CleavePanels *panels, gint64 first)
{
  CleaveProduct *product = cleave_product_new (panels->width, TRUE, plan->has_bias);

  plan->lda = panels->width;
  cleave_brgemm_add_columns (product, panels, first, plan->n_groups, plan->group_in,
                             plan->group_out);
  add_bands (plan, product);
  return product;
}

CleaveProduct *
cleave_brgemm_conv_product (const CleaveKernelInstance *instance,
                            const CleavePanels *panels,
                            gint64 first,
                            const CleaveSpan *channels)
{
  Plan plan = { 0 };

  init_plan (&plan, instance, channels);
  return make_product (&plan, panels, first);
}

gboolean
cleave_brgemm_plan_conv (const CleaveKernelInstance *instance,
                         CleaveWeights *weights,
                         CleaveBrgemm *brgemm)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  CleaveSpan channels = { 0, instance->operands[W].type.shape.dim[1] };
  CleaveDims dims = cleave_layout_dims (a->layout, instance->operands[X].type.shape.rank);
  Plan plan = { 0 };
  CleavePanels panels;
  gint64 first = 0;

  if (!cleave_brgemm_can_serve_conv (instance, &dims))
    return FALSE;
  init_plan (&plan, instance, &channels);
  panels = cleave_brgemm_conv_panels (&instance->operands[W], 0);
  if (instance->constants[W] != NULL)
    brgemm->a = cleave_panels_of_constant (weights, instance->constants[W], 0, &panels, &first);
  else
    brgemm->panels = panels;
  cleave_brgemm_set_images (brgemm, instance, dims);
  brgemm->narrow = cleave_narrow_of_conv (instance, &panels, first);
  if (brgemm->narrow != NULL)
    {
      brgemm->nests = cleave_narrow_nests (brgemm->narrow, &plan.y_size) &&
                      cleave_brgemm_nests (brgemm, plan.y_size);
      return TRUE;
    }
  brgemm->product = make_product (&plan, &panels, first);
  brgemm->nests = plan.nests && cleave_brgemm_nests (brgemm, plan.y_size);
  return TRUE;
}
