/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks and prints the windows of layers that call CMSIS-NN, and the poolings (cmsis-parts.h). */

#include <cleave/cleave-tflite.h>

#include "cmsis-parts.h"

CleaveBundleWindow
cleave_bundle_cmsis_window (const gint64 *kernel,
                            guint n,
                            const CleaveInts *strides,
                            const CleaveInts *dilations,
                            const CleaveInts *pads)
{
  CleaveBundleWindow w;

  for (guint d = 0; d < 2; d++)
    {
      w.kernel[d] = d < n ? kernel[d] : 1;
      w.stride[d] = d < n ? cleave_ints_at (strides, d, 1) : 1;
      w.dilation[d] = w.kernel[d] > 1 ? cleave_ints_at (dilations, d, 1) : 1;
      w.pad[d] = d < n ? cleave_ints_at (pads, d, 0) : 0;
    }
  return w;
}

gint64
cleave_bundle_cmsis_end_pad (const CleaveBundleCmsisCall *call,
                             const CleaveBundleWindow *w,
                             guint d)
{
  gint64 x = d == 0 ? call->x.rows : call->x.columns, y = d == 0 ? call->y.rows : call->y.columns;

  return (y - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 - x - w->pad[d];
}

gboolean
cleave_bundle_cmsis_has_few_pads (const CleaveBundleCmsisCall *call, const CleaveBundleWindow *w)
{
  for (guint d = 0; d < 2; d++)
    {
      gint64 extent = (w->kernel[d] - 1) * w->dilation[d] + 1;

      if (w->pad[d] < 0 || w->pad[d] >= extent ||
          cleave_bundle_cmsis_end_pad (call, w, d) >= extent)
        return FALSE;
    }
  return TRUE;
}

void
cleave_bundle_cmsis_print_tile (const char *name, const gint64 *v, GString *fields)
{
  g_string_append_printf (
      fields, ".%s = { .w = %" G_GINT64_FORMAT ", .h = %" G_GINT64_FORMAT " }, ", name, v[1], v[0]);
}

void
cleave_bundle_cmsis_print_dims (
    const char *name, gint64 n, gint64 rows, gint64 columns, gint64 channels, GString *fields)
{
  g_string_append_printf (fields,
                          ".%s = { .n = %" G_GINT64_FORMAT ", .h = %" G_GINT64_FORMAT
                          ", .w = %" G_GINT64_FORMAT ", .c = %" G_GINT64_FORMAT " }, ",
                          name, n, rows, columns, channels);
}

void
cleave_bundle_cmsis_print_images (const CleaveBundleCmsisCall *call, GString *fields)
{
  cleave_bundle_cmsis_print_dims ("x", 1, call->x.rows, call->x.columns, call->x.channels, fields);
  cleave_bundle_cmsis_print_dims ("y", 1, call->y.rows, call->y.columns, call->y.channels, fields);
}

/* The functions below check and print poolings. */

static CleaveBundleWindow
pool_window (const CleavePoolAttrs *a)
{
  return cleave_bundle_cmsis_window (a->kernel_shape.v, a->kernel_shape.n, &a->strides,
                                     &a->dilations, &a->pads);
}

static gboolean
check_pool (const CleaveBundleCmsisCall *call, const CleavePoolAttrs *a)
{
  CleaveBundleWindow w = pool_window (a);

  return w.dilation[0] == 1 && w.dilation[1] == 1 && cleave_bundle_cmsis_has_few_pads (call, &w);
}

static void
print_pool (const CleaveBundleCmsisCall *call,
            const CleavePoolAttrs *a,
            gint64 low,
            gint64 high,
            GString *fields)
{
  CleaveBundleWindow w = pool_window (a);

  g_string_append_printf (fields, ".context_bytes = %" G_GINT64_FORMAT ", ", call->context_bytes);
  cleave_bundle_cmsis_print_images (call, fields);
  cleave_bundle_cmsis_print_dims ("w", 1, w.kernel[0], w.kernel[1], 1, fields);
  g_string_append (fields, ".params = { ");
  cleave_bundle_cmsis_print_tile ("stride", w.stride, fields);
  cleave_bundle_cmsis_print_tile ("padding", w.pad, fields);
  g_string_append_printf (fields, ".activation = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " } }",
                          low, high);
}

gboolean
cleave_bundle_cmsis_check_max_pool (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer)
{
  return check_pool (call, call->node->attrs);
}

void
cleave_bundle_cmsis_print_max_pool (const CleaveBundleCmsisCall *call,
                                    CleaveBundleLayer *layer,
                                    GString *fields)
{
  print_pool (call, call->node->attrs, G_MININT8, G_MAXINT8, fields);
}

gboolean
cleave_bundle_cmsis_check_average_pool (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer)
{
  const CleaveTflitePoolAttrs *a = call->node->attrs;

  call->context_bytes = 4 * call->x.channels;
  return check_pool (call, &a->pool);
}

void
cleave_bundle_cmsis_print_average_pool (const CleaveBundleCmsisCall *call,
                                        CleaveBundleLayer *layer,
                                        GString *fields)
{
  const CleaveTflitePoolAttrs *a = call->node->attrs;

  print_pool (call, &a->pool, a->min, a->max, fields);
}
