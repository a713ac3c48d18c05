/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "winograd-factors.h"

#include <string.h>

#include "../../../ops/winograd.h"
#include "../upcast.h"
#include "panels.h"

gsize
cleave_winograd_n_bytes (const CleaveWinogradFactors *factors)
{
  gint64 n_panels = (factors->n_columns + factors->width - 1) / factors->width;

  return (gsize) (n_panels * factors->width * CLEAVE_WINOGRAD_PRODUCTS * factors->n_in +
                  CLEAVE_PANEL_MAX_WIDTH) *
         sizeof (float);
}

static void
pack_column (const CleaveWinogradFactors *factors, const char *w, float *to)
{
  gint64 size = (gint64) cleave_element_size (factors->element);

  for (gint64 c = 0; c < factors->n_in; c++, w += factors->stride[1] * size, to += factors->width)
    {
      float taps[9], u[CLEAVE_WINOGRAD_PRODUCTS];

      for (gint64 i = 0; i < 3; i++)
        cleave_upcast (factors->element, w + i * factors->stride[2] * size, factors->stride[3], 0,
                       taps + 3 * i, 3);
      cleave_winograd_filter (taps, u);
      for (gint64 i = 0; i < CLEAVE_WINOGRAD_PRODUCTS; i++)
        to[i * factors->n_in * factors->width] = u[i];
    }
}

void
cleave_winograd_pack (const CleaveWinogradFactors *factors, gconstpointer w, float *to)
{
  gint64 n_floats = factors->width * CLEAVE_WINOGRAD_PRODUCTS * factors->n_in;
  gint64 size = (gint64) cleave_element_size (factors->element);

  memset (to, 0, cleave_winograd_n_bytes (factors));
  for (gint64 o = 0; o < factors->n_columns; o++)
    pack_column (factors, (const char *) w + o * factors->stride[0] * size,
                 to + o / factors->width * n_floats + o % factors->width);
}

static void
pack_constant (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  cleave_winograd_pack (data, cleave_tensor_get_data (base), to);
}

const float *
cleave_winograd_pack_for_good (CleaveWeights *weights,
                               CleaveTensor *constant,
                               CleaveWinogradFactors *factors,
                               gint64 *first)
{
  CleaveTensor *base = cleave_weights_find_base (constant, 0, first);
  g_autofree char *key = NULL;

  factors->element = cleave_tensor_get_type (base)->element;
  factors->n_columns = cleave_tensor_get_type (base)->shape.dim[0];
  factors->width = cleave_panels_width (factors->n_columns);
  key = g_strdup_printf ("winograd, panels of %" G_GINT64_FORMAT, factors->width);
  return cleave_weights_get (weights, base, key, cleave_winograd_n_bytes (factors), pack_constant,
                             factors);
}

/* CleaveWinogradColumns of y, from the packed column `first` on, cut where panels end. */
GArray *
cleave_winograd_cut_columns (const CleaveWinogradFactors *factors, gint64 first, gint64 n)
{
  GArray *cut = g_array_new (FALSE, FALSE, sizeof (CleaveWinogradColumns));
  gint64 n_floats = factors->width * CLEAVE_WINOGRAD_PRODUCTS * factors->n_in;

  for (gint64 i = 0, end; i < n; i = end)
    {
      gint64 at = (first + i) % factors->width;
      CleaveWinogradColumns columns = { .at = (first + i) / factors->width * n_floats + at,
                                        .y = i };

      end = MIN (i + factors->width - at, n);
      columns.m = end - i;
      g_array_append_val (cut, columns);
    }
  return cut;
}
