/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Divides the scratch of a product of 16-bit floats into buffers, packs its weights, and computes
 * one band at a time with a float product. */

#include "upcast.h"

gsize
cleave_upcast_lay_out (CleaveUpcast *plan, gint64 n_columns)
{
  gint64 x = 0, y = 0;
  gsize n = 0;

  for (guint b = 0; b < cleave_product_n_bands (plan->product); b++)
    {
      const CleaveBand *band = cleave_product_get_band (plan->product, b);

      x = MAX (x, band->x_end - band->x_begin);
      y = MAX (y, band->y_end - band->y_begin);
    }
  plan->at_x = cleave_take_scratch (&n, x);
  plan->at_y = cleave_take_scratch (&n, y);
  plan->at_bias = cleave_take_scratch (&n, n_columns);
  plan->at_packed = n;
  return plan->packed == NULL ? n + cleave_panels_n_bytes (&plan->panels) : n;
}

CleaveUpcastWork
cleave_upcast_begin (const CleaveUpcast *plan,
                     const CleaveKernelInstance *instance,
                     gpointer scratch)
{
  char *at = scratch;

  return (CleaveUpcastWork){ .plan = plan,
                             .instance = instance,
                             .packed = plan->packed,
                             .element = instance->results[0].type.element,
                             .x = (float *) (void *) (at + plan->at_x),
                             .y = (float *) (void *) (at + plan->at_y),
                             .at_bias = (float *) (void *) (at + plan->at_bias),
                             .at_packed = (float *) (void *) (at + plan->at_packed) };
}

void
cleave_upcast_pack (CleaveUpcastWork *work, gconstpointer from)
{
  cleave_panels_pack (&work->plan->panels, from, work->at_packed);
  work->packed = work->at_packed;
}

void
cleave_upcast_run_band (const CleaveUpcastWork *work, guint band)
{
  const CleaveUpcast *plan = work->plan;
  const CleaveBand *of = cleave_product_get_band (plan->product, band);

  cleave_product_run_band (plan->product, band, work->x - of->x_begin, work->packed, work->bias,
                           work->y - of->y_begin);
}

void
cleave_upcast_finish (gconstpointer self, gint64 at, gpointer y, gint64 step, gint64 n)
{
  const CleaveUpcastWork *work = self;

  cleave_narrow (work->element, work->y + at, y, step, n);
}

void
cleave_upcast_free (gpointer self)
{
  CleaveUpcast *plan = self;

  cleave_product_free (plan->product);
  g_free (plan);
}

gboolean
cleave_upcast_reports_progress (gconstpointer self)
{
  const CleaveUpcast *plan = self;

  return plan->reports_progress;
}

gboolean
cleave_upcast_reads (gconstpointer self, guint operand)
{
  const CleaveUpcast *plan = self;

  return plan->packed == NULL || operand != plan->weights;
}
