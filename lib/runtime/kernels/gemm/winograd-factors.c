/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Transforms the weights of convolutions by Winograd's F(2x2, 3x3), and packs them into panels. A
 * tap is one of the nine positions of a 3 x 3 kernel; a column is a channel of y. */

#include "winograd-factors.h"

#include <string.h>

#include "../../../ops/winograd.h"
#include "../upcast.h"
#include "panels.h"

#define N_TAPS 9
/* Number of operand channels whose taps are loaded at once. */
#define N_CHANNELS 8

gsize
cleave_winograd_n_bytes (const CleaveWinogradFactors *factors)
{
  gint64 n_panels = (factors->n_columns + factors->width - 1) / factors->width;

  return (gsize) (n_panels * factors->width * CLEAVE_WINOGRAD_PRODUCTS * factors->n_in +
                  CLEAVE_PANEL_MAX_WIDTH) *
         sizeof (float);
}

/* The taps of N_CHANNELS operand channels for a vector of columns. Indexed by lane of the vector;
 * each lane belongs to one column, a channel of y. */
typedef float Taps[CLEAVE_VECTOR][N_CHANNELS * N_TAPS];

static void
load_taps (const CleaveWinogradFactors *factors,
           const char *w,
           gint64 n_columns,
           gint64 n_channels,
           Taps taps)
{
  const gint64 *stride = factors->stride, size = (gint64) cleave_element_size (factors->element);
  const gboolean is_dense = stride[3] == 1 && stride[2] == 3 && stride[1] == N_TAPS;

  for (gint64 o = 0; o < n_columns; o++, w += stride[0] * size)
    if (is_dense)
      cleave_upcast (factors->element, w, 1, 0, taps[o], n_channels * N_TAPS);
    else
      for (gint64 i = 0; i < 3 * n_channels; i++)
        cleave_upcast (factors->element, w + (i / 3 * stride[1] + i % 3 * stride[2]) * size,
                       stride[3], 0, taps[o] + 3 * i, 3);
}

static CLEAVE_SPECIALISED void
transform_taps (Taps taps, gint64 channel, gint64 to_step, float *to)
{
  CleaveVector g[N_TAPS], u[CLEAVE_WINOGRAD_PRODUCTS];

  CLEAVE_EACH (i, N_TAPS)
    {
      float lanes[CLEAVE_VECTOR];

      for (int o = 0; o < CLEAVE_VECTOR; o++)
        lanes[o] = taps[o][channel * N_TAPS + i];
      g[i] = cleave_vector_load (lanes);
    }
  CLEAVE_WINOGRAD_FILTER (CleaveVector, g, u);
  CLEAVE_EACH (i, CLEAVE_WINOGRAD_PRODUCTS)
    cleave_vector_store (to + i * to_step, u[i]);
}

/* Packs the weights of a vector of columns. `w` is the address of the first column's weights. If
 * there are fewer columns than lanes, the remaining lanes are 0. */
static void
pack_lanes (const CleaveWinogradFactors *factors, const char *w, gint64 n_columns, float *to)
{
  gint64 size = (gint64) cleave_element_size (factors->element);
  Taps taps = { 0 };

  for (gint64 c = 0; c < factors->n_in; c += N_CHANNELS)
    {
      gint64 n = MIN (N_CHANNELS, factors->n_in - c);

      load_taps (factors, w + c * factors->stride[1] * size, n_columns, n, taps);
      for (gint64 i = 0; i < n; i++, to += factors->width)
        transform_taps (taps, i, factors->n_in * factors->width, to);
    }
}

void
cleave_winograd_pack (const CleaveWinogradFactors *factors, gconstpointer w, float *to)
{
  gint64 n_floats = factors->width * CLEAVE_WINOGRAD_PRODUCTS * factors->n_in;
  gint64 n_all = (factors->n_columns + factors->width - 1) / factors->width * factors->width;
  gint64 size = (gint64) cleave_element_size (factors->element);

  for (gint64 o = 0; o < n_all; o += CLEAVE_VECTOR)
    pack_lanes (factors, (const char *) w + o * factors->stride[0] * size,
                CLAMP (factors->n_columns - o, 0, CLEAVE_VECTOR),
                to + o / factors->width * n_floats + o % factors->width);
  memset (to + n_all / factors->width * n_floats, 0, CLEAVE_PANEL_MAX_WIDTH * sizeof *to);
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
