/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "upcast.h"

gboolean
cleave_upcast_make_products (CleaveUpcast *plan,
                             const CleaveKernelInstance *instance,
                             gint64 first,
                             gint64 n,
                             CleaveMakePart make)
{
  plan->products = g_new0 (CleaveProduct *, (gsize) plan->n_parts);
  for (gint64 p = 0; p < plan->n_parts; p++)
    {
      CleaveSpan part = { p * n / plan->n_parts, (p + 1) * n / plan->n_parts };

      plan->products[p] = make (instance, plan, first, &part);
      if (!cleave_product_prepare (plan->products[p]))
        return FALSE;
    }
  return TRUE;
}

gsize
cleave_upcast_lay_out (CleaveUpcast *plan, gint64 n_columns)
{
  gint64 x = 0, y = 0;
  gsize n = 0;

  for (guint b = 0; b < cleave_product_n_bands (plan->products[0]); b++)
    {
      const CleaveBand *band = cleave_product_get_band (plan->products[0], b);

      x = MAX (x, band->x_end - band->x_begin);
      y = MAX (y, band->y_end - band->y_begin);
    }
  plan->at_x = cleave_take_scratch (&n, x);
  plan->at_y = cleave_take_scratch (&n, y);
  plan->at_sums = cleave_take_scratch (&n, plan->n_parts > 1 ? y : 0);
  plan->at_bias = cleave_take_scratch (&n, n_columns);
  plan->at_scale = cleave_take_scratch (&n, n_columns);
  plan->at_zeros = cleave_take_scratch (&n, n_columns);
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
                             .finish = { .element = instance->results[0].type.element },
                             .x = (float *) (void *) (at + plan->at_x),
                             .y = (float *) (void *) (at + plan->at_y),
                             .sums = (gint32 *) (void *) (at + plan->at_sums),
                             .at_bias = at + plan->at_bias,
                             .at_scale = (float *) (void *) (at + plan->at_scale),
                             .at_zeros = (float *) (void *) (at + plan->at_zeros),
                             .at_packed = (float *) (void *) (at + plan->at_packed) };
}

void
cleave_upcast_pack (CleaveUpcastWork *work, gconstpointer from, const float *zeros)
{
  CleavePanels panels = work->plan->panels;

  panels.zeros = zeros;
  cleave_panels_pack (&panels, from, work->at_packed);
  work->packed = work->at_packed;
}

void
cleave_upcast_run_band (const CleaveUpcastWork *work, guint band)
{
  const CleaveUpcast *plan = work->plan;
  const CleaveBand *of = cleave_product_get_band (plan->products[0], band);

  for (gint64 p = 0; p < plan->n_parts; p++)
    {
      cleave_product_run_band (plan->products[p], band, work->x - of->x_begin, work->packed,
                               work->bias, work->y - of->y_begin);
      if (plan->n_parts > 1)
        cleave_flush_sums (work->y, of->y_end - of->y_begin, p == 0, work->sums);
    }
}

void
cleave_upcast_finish (gconstpointer self, gint64 at, gpointer y, gint64 step, gint64 n)
{
  const CleaveUpcastWork *work = self;

  if (work->plan->n_parts > 1)
    cleave_finish_ints (&work->finish, work->sums + at, y, step, n);
  else
    cleave_finish_floats (&work->finish, work->y + at, y, step, n);
}

void
cleave_upcast_free (gpointer self)
{
  CleaveUpcast *plan = self;

  for (gint64 p = 0; plan->products != NULL && p < plan->n_parts; p++)
    cleave_product_free (plan->products[p]);
  g_free (plan->products);
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
