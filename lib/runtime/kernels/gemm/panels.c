/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Packs the columns of a matrix into panels, and chooses the width of the panels with the least
 * estimated time. */

#include "panels.h"
#include "../upcast.h"

#include <string.h>

/* Returns the estimated time of a panel of m columns. The unit is the time that a full panel takes
 * per vector (measured). */
static double
cost (gint64 m)
{
  /* indexed by number of vectors of a panel: the time of the panel. A single vector takes 1.3 times
   * as long as each of four vectors, since each addition waits for the addition before it */
  static const double of[] = { 0, 1.3, 2.1, 3.05, 4 };

  return of[(m + CLEAVE_VECTOR - 1) / CLEAVE_VECTOR];
}

gint64
cleave_panels_width (gint64 n_columns)
{
  gint64 best = CLEAVE_PANEL_MAX_WIDTH;
  double least = G_MAXDOUBLE;

  for (gint64 width = CLEAVE_PANEL_MAX_WIDTH; width >= CLEAVE_VECTOR; width -= CLEAVE_VECTOR)
    {
      double total = (double) (n_columns / width) * cost (width) + cost (n_columns % width);

      if (total <= least)
        {
          least = total;
          best = width;
        }
    }
  return best;
}

gint64
cleave_panels_n_rows (const CleavePanels *panels)
{
  const gint64 *extent = panels->extent;

  return extent[0] * extent[1] * extent[2] * extent[3];
}

gsize
cleave_panels_n_bytes (const CleavePanels *panels)
{
  gint64 n_panels = (panels->n_columns + panels->width - 1) / panels->width;

  return (gsize) (n_panels * panels->width * cleave_panels_n_rows (panels) +
                  CLEAVE_PANEL_MAX_WIDTH) *
         sizeof (float);
}

static void
pack_row (const CleavePanels *panels, gconstpointer from, gint64 n, float *to)
{
  cleave_upcast (panels->element, from, panels->column_stride, 0, to, n);
  for (gint64 j = n; j < panels->width; j++)
    to[j] = 0;
}

static void
pack_panel (const CleavePanels *panels, const char *from, gint64 begin, float *to)
{
  const gint64 *e = panels->extent;
  const gint64 *s = panels->stride;
  gint64 n = MIN (panels->width, panels->n_columns - begin);
  gint64 size = (gint64) cleave_element_size (panels->element);

  from += begin * panels->column_stride * size;
  for (gint64 a = 0; a < e[0]; a++)
    for (gint64 b = 0; b < e[1]; b++)
      for (gint64 c = 0; c < e[2]; c++)
        for (gint64 d = 0; d < e[3]; d++, to += panels->width)
          pack_row (panels, from + (a * s[0] + b * s[1] + c * s[2] + d * s[3]) * size, n, to);
}

void
cleave_panels_pack (const CleavePanels *panels, gconstpointer from, float *to)
{
  gint64 n_floats = panels->width * cleave_panels_n_rows (panels);

  for (gint64 begin = 0; begin < panels->n_columns; begin += panels->width, to += n_floats)
    pack_panel (panels, from, begin, to);
  memset (to, 0, CLEAVE_PANEL_MAX_WIDTH * sizeof (float));
}

static void
pack_constant (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  cleave_panels_pack (data, cleave_tensor_get_data (base), to);
}

gconstpointer
cleave_panels_of_constant (CleaveWeights *weights,
                           CleaveTensor *constant,
                           guint columns,
                           CleavePanels *panels,
                           gint64 *first)
{
  CleaveTensor *base = cleave_weights_find_base (constant, columns, first);
  g_autofree char *key = NULL;

  panels->element = cleave_tensor_get_type (base)->element;
  panels->n_columns = cleave_tensor_get_type (base)->shape.dim[columns];
  panels->width = cleave_panels_width (panels->n_columns);
  key = g_strdup_printf ("panels of %" G_GINT64_FORMAT ", columns %u, rows %" G_GINT64_FORMAT
                         " apart",
                         panels->width, columns, panels->stride[3]);
  return cleave_weights_get (weights, base, key, cleave_panels_n_bytes (panels), pack_constant,
                             panels);
}
