/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans transposed convolutions, which a CleaveProduct (gemm.h) computes. Result pixels that are
 * `stride` apart along an axis use the same taps of the kernel, and the operand pixels that these
 * taps read are adjacent. */

#include "plans.h"

#include "../axis.h"

enum { X, W, B };

/* A tap of the kernel along one axis. `at` is the position in the operand that the tap reads for
 * the first pixel of a span. */
typedef struct
{
  gint64 tap, at;
} AxisTap;

/* `count` pixels of one axis of the result that use the same taps. The first pixel is at position
 * `begin`, and adjacent pixels are `stride` positions apart. */
typedef struct
{
  gint64 begin, count;
  GArray *taps; /* array of AxisTap: the taps that all pixels of the span use */
} Span;

typedef struct
{
  CleaveAxis axis[3];
  gint64 n_in, group_in, lda; /* number of channels of x; number of channels of x that a channel of
                                 y reads; distance of adjacent rows of a panel, in floats */
} Plan;

static void
span_clear (gpointer data)
{
  g_array_unref (((Span *) data)->taps);
}

static GArray *
taps_of (const CleaveAxis *axis, gint64 pixel)
{
  GArray *taps = g_array_new (FALSE, FALSE, sizeof (AxisTap));

  for (gint64 tap = 0; tap < axis->n_taps; tap++)
    {
      gint64 at = pixel + axis->pad - tap * axis->dilation;
      AxisTap found = { tap, at / axis->stride };

      if (at >= 0 && at % axis->stride == 0 && found.at < axis->n_x)
        g_array_append_val (taps, found);
    }
  return taps;
}

static gboolean
are_equal_taps (const GArray *a, const GArray *b)
{
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    if (g_array_index (a, AxisTap, i).tap != g_array_index (b, AxisTap, i).tap)
      return FALSE;
  return TRUE;
}

/* Returns the spans of an axis (Span): first the pixels 0, stride, 2 * stride, …, then the pixels
 * 1, 1 + stride, …, and so on up to stride - 1. */
static GArray *
cut_axis (const CleaveAxis *axis)
{
  GArray *spans = g_array_new (FALSE, FALSE, sizeof (Span));

  g_array_set_clear_func (spans, span_clear);
  for (gint64 phase = 0; phase < MIN (axis->stride, axis->n_y); phase++)
    for (gint64 pixel = phase; pixel < axis->n_y; pixel += axis->stride)
      {
        Span span = { .begin = pixel, .count = 1, .taps = taps_of (axis, pixel) };
        Span *before = pixel == phase ? NULL : &g_array_index (spans, Span, spans->len - 1);

        if (before == NULL || !are_equal_taps (before->taps, span.taps))
          {
            g_array_append_val (spans, span);
            continue;
          }
        before->count++;
        g_array_unref (span.taps);
      }
  return spans;
}

static GArray *
list_taps (const Plan *plan, const Span *span[3], gint64 *x_offset)
{
  GArray *taps = g_array_new (FALSE, FALSE, sizeof (CleaveTap));
  const CleaveAxis *axis = plan->axis;

  for (guint i = 0; i < span[0]->taps->len; i++)
    for (guint j = 0; j < span[1]->taps->len; j++)
      for (guint k = 0; k < span[2]->taps->len; k++)
        {
          const AxisTap *d = &g_array_index (span[0]->taps, AxisTap, i);
          const AxisTap *h = &g_array_index (span[1]->taps, AxisTap, j);
          const AxisTap *w = &g_array_index (span[2]->taps, AxisTap, k);
          CleaveTap tap = { .x = d->at * axis[0].x_step + h->at * axis[1].x_step +
                                 w->at * axis[2].x_step,
                            .a = ((d->tap * axis[1].n_taps + h->tap) * axis[2].n_taps + w->tap) *
                                 plan->n_in * plan->lda };

          if (taps->len == 0)
            *x_offset = tap.x;
          tap.x -= *x_offset;
          g_array_append_val (taps, tap);
        }
  return taps;
}

static void
add_region (const Plan *plan, CleaveProduct *product, const Span *span[3])
{
  CleaveTapRegion region = { .k = plan->group_in };
  g_autoptr (GArray) taps = list_taps (plan, span, &region.x_offset);

  region.n_taps = taps->len;
  region.taps = (const CleaveTap *) (gpointer) taps->data;
  for (guint d = 0; d < 3; d++)
    {
      const CleaveAxis *axis = &plan->axis[d];

      region.extent[d] = span[d]->count;
      region.x_step[d] = axis->x_step;
      region.y_step[d] = axis->y_step * axis->stride;
      region.y_offset += span[d]->begin * axis->y_step;
    }
  cleave_product_add_region (product, &region);
}

static void
add_regions (const Plan *plan, CleaveProduct *product)
{
  g_autoptr (GArray) d = cut_axis (&plan->axis[0]);
  g_autoptr (GArray) h = cut_axis (&plan->axis[1]);
  g_autoptr (GArray) w = cut_axis (&plan->axis[2]);

  for (guint i = 0; i < d->len; i++)
    for (guint j = 0; j < h->len; j++)
      for (guint k = 0; k < w->len; k++)
        {
          const Span *span[] = { &g_array_index (d, Span, i), &g_array_index (h, Span, j),
                                 &g_array_index (w, Span, k) };

          add_region (plan, product, span);
        }
  cleave_product_end_band (product, &(CleaveBand){ 0 });
}

/* Adds ranges of columns (CleaveColumns) to the product, for each group. In the packed weights,
 * channel i of every group has the same column, but other rows. Within a tap, the first group_in
 * rows are the weights of group 0, the next group_in rows the weights of group 1, and so on. */
static void
add_columns (const Plan *plan,
             const CleavePanels *panels,
             gint64 first,
             gint64 group_out,
             CleaveProduct *product)
{
  gint64 panel_floats = panels->width * cleave_panels_n_rows (panels);

  for (gint64 group = 0; group < plan->n_in / plan->group_in; group++)
    for (gint64 i = 0, end; i < group_out; i = end)
      {
        gint64 panel = (first + i) / panels->width, at = (first + i) % panels->width;
        CleaveColumns columns = { .a_offset = panel * panel_floats + at +
                                              group * plan->group_in * plan->lda,
                                  .x_offset = group * plan->group_in,
                                  .y_offset = group * group_out + i };

        end = MIN (i + panels->width - at, group_out);
        columns.m = end - i;
        cleave_product_add_columns (product, &columns);
      }
}

static gboolean
can_serve (const CleaveKernelInstance *instance, CleaveDims dims)
{
  const CleaveView *x = &instance->operands[X];
  const CleaveView *y = &instance->results[0];
  guint c = dims.c;

  for (guint d = 0; d < y->type.shape.rank; d++)
    if (x->stride[d] < 0 || y->stride[d] < 0)
      return FALSE;
  return y->type.element == CLEAVE_FLOAT32 && dims.n_spatial >= 1 && dims.n_spatial <= 3 &&
         (x->type.shape.dim[c] == 1 || x->stride[c] == 1) &&
         (y->type.shape.dim[c] == 1 || y->stride[c] == 1) &&
         (!cleave_call_has (&instance->call, B) || y->type.shape.dim[c] == 1 ||
          instance->operands[B].stride[0] == 1);
}

gboolean
cleave_brgemm_plan_conv_transpose (const CleaveKernelInstance *instance,
                                   CleaveWeights *weights,
                                   CleaveBrgemm *brgemm)
{
  const CleaveConvTransposeAttrs *a = instance->call.attrs;
  CleaveDims dims = cleave_layout_dims (a->layout, instance->operands[X].type.shape.rank);
  CleavePanels panels = cleave_brgemm_conv_panels (&instance->operands[W], 1);
  const CleaveShape *w = &instance->operands[W].type.shape;
  Plan plan = { .n_in = w->dim[0], .group_in = w->dim[0] / MAX (a->group, 1) };
  gint64 first = 0, y_size;

  if (!can_serve (instance, dims))
    return FALSE;
  if (instance->constants[W] != NULL)
    brgemm->a = cleave_panels_of_constant (weights, instance->constants[W], 1, &panels, &first);
  else
    brgemm->panels = panels;
  cleave_brgemm_set_images (brgemm, instance, dims);
  brgemm->narrow = cleave_narrow_of_conv_transpose (instance, &panels, first);
  if (brgemm->narrow != NULL)
    {
      brgemm->nests =
          cleave_narrow_nests (brgemm->narrow, &y_size) && cleave_brgemm_nests (brgemm, y_size);
      return TRUE;
    }
  plan.lda = panels.width;
  cleave_axes_init_three (plan.axis, instance, dims, &a->strides, &a->dilations, &a->pads);
  brgemm->product = cleave_product_new (panels.width, TRUE, cleave_call_has (&instance->call, B));
  add_columns (&plan, &panels, first, w->dim[1], brgemm->product);
  add_regions (&plan, brgemm->product);
  return TRUE;
}
