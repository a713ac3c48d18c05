/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Packs weights of bytes into panels, adds up each column of the packed weights, and chooses
 * between dot-2 and dot-4 groups. A unit is one dot-2 or dot-4 group. */

#include "byte-panels.h"

#include <string.h>

/* Returns an offset in a column of the unpacked matrix, in elements: the distance from the column's
 * first element to element `at` of tap `tap`. */
static gint64
find_row (const CleaveBytePanels *p, gint64 tap, gint64 at)
{
  gint64 offset = 0;

  for (guint d = 4; d-- > p->n_tap_dims; at /= p->extent[d])
    offset += at % p->extent[d] * p->stride[d];
  for (guint d = p->n_tap_dims; d-- > 0; tap /= p->extent[d])
    offset += tap % p->extent[d] * p->stride[d];
  return offset;
}

static gint64
n_matrix_bytes (const CleaveBytePanels *p)
{
  gint64 n =
      p->n_columns * cleave_byte_panels_n_taps (p) * cleave_byte_panels_n_units (p) * p->unit +
      p->unit * CLEAVE_BYTE_PANEL;

  return (n + 63) / 64 * 64;
}

gsize
cleave_byte_panels_n_bytes (const CleaveBytePanels *p)
{
  return (gsize) n_matrix_bytes (p) +
         (p->unit == CLEAVE_DOT4 ? (gsize) p->n_columns * sizeof (gint32) : 0);
}

const gint32 *
cleave_byte_panels_sums (const CleaveBytePanels *p, const gint8 *packed)
{
  return (const gint32 *) (const void *) (packed + n_matrix_bytes (p));
}

/* Packs one row of n columns. Adjacent columns are `p->unit` bytes apart in the packed matrix. */
static void
pack_row (const CleaveBytePanels *p, const guint8 *from, gint64 n, gint8 *to)
{
  const guint8 flip = p->element == CLEAVE_UINT8 ? 0x80 : 0;
  gint64 step = p->column_stride, unit = p->unit;

  for (gint64 j = 0; j < n; j++)
    to[j * unit] = (gint8) (from[j * step] ^ flip);
}

static gint8 *
pack_panel (const CleaveBytePanels *p, const guint8 *from, gint64 n, gint8 *to)
{
  gint64 n_taps = cleave_byte_panels_n_taps (p), length = cleave_byte_panels_length (p);
  gint64 n_rows = cleave_byte_panels_n_units (p) * p->unit;

  for (gint64 tap = 0; tap < n_taps; tap++, to += n_rows * n)
    for (gint64 k = 0; k < length; k++)
      pack_row (p, from + find_row (p, tap, k), n, to + k / p->unit * p->unit * n + k % p->unit);
  return to;
}

static void
add_up (const CleaveBytePanels *p, const gint8 *packed, gint32 *sums)
{
  gint64 n_units = cleave_byte_panels_n_taps (p) * cleave_byte_panels_n_units (p);

  for (gint64 begin = 0, n; begin < p->n_columns; begin += n)
    {
      n = MIN (CLEAVE_BYTE_PANEL, p->n_columns - begin);
      for (gint64 u = 0; u < n_units; u++, packed += n * p->unit)
        for (gint64 j = 0; j < n; j++)
          for (gint64 e = 0; e < p->unit; e++)
            sums[begin + j] =
                (gint32) ((guint32) sums[begin + j] + (guint32) packed[j * p->unit + e]);
    }
}

void
cleave_byte_panels_pack (const CleaveBytePanels *p, gconstpointer from, gint8 *to)
{
  const guint8 *bytes = from;
  gint8 *at = to;

  memset (to, 0, cleave_byte_panels_n_bytes (p));
  for (gint64 begin = 0; begin < p->n_columns; begin += CLEAVE_BYTE_PANEL)
    at = pack_panel (p, bytes + begin * p->column_stride,
                     MIN (CLEAVE_BYTE_PANEL, p->n_columns - begin), at);
  if (p->unit == CLEAVE_DOT4)
    add_up (p, to, (gint32 *) (void *) (to + n_matrix_bytes (p)));
}

static void
pack_constant (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  cleave_byte_panels_pack (data, cleave_tensor_get_data (base), to);
}

static CleaveTensor *
find_base (CleaveTensor *constant, guint columns, CleaveBytePanels *panels, gint64 *first)
{
  CleaveTensor *base = cleave_weights_find_base (constant, columns, first);

  panels->n_columns = cleave_tensor_get_type (base)->shape.dim[columns];
  return base;
}

static char *
make_key (const CleaveBytePanels *panels, guint columns)
{
  return g_strdup_printf ("units of %d bytes, columns %u, %u dimensions of taps, rows "
                          "%" G_GINT64_FORMAT " apart",
                          (int) panels->unit, columns, panels->n_tap_dims, panels->stride[3]);
}

const gint8 *
cleave_byte_panels_of_constant (CleaveWeights *weights,
                                CleaveTensor *constant,
                                guint columns,
                                CleaveBytePanels *panels,
                                gint64 *first)
{
  CleaveTensor *base = find_base (constant, columns, panels, first);
  g_autofree char *key = make_key (panels, columns);

  return cleave_weights_get (weights, base, key, cleave_byte_panels_n_bytes (panels), pack_constant,
                             panels);
}

/* The following functions choose dot-2 or dot-4 groups. */

#if defined(CLEAVE_AVX2)
/* Limit on a pair of weights in one column and two adjacent rows: neither the positive nor the
 * negative weights of the pair may add up to a larger magnitude. The products of the pair with any
 * two unsigned bytes then add up to a signed 16-bit integer. */
#define PAIR_BOUND 128

/* Returns whether the weights of two adjacent rows satisfy the limit PAIR_BOUND in each column.
 * `even` and `odd` are the addresses of the rows. */
static gboolean
pair_fits (const CleaveBytePanels *p, const guint8 *even, const guint8 *odd)
{
  const guint8 flip = p->element == CLEAVE_UINT8 ? 0x80 : 0;
  int most = 0, least = 0;

  for (gint64 j = 0; j < p->n_columns; j++)
    {
      int a = (gint8) (even[j * p->column_stride] ^ flip);
      int b = (gint8) (odd[j * p->column_stride] ^ flip);

      most = MAX (most, MAX (a, 0) + MAX (b, 0));
      least = MIN (least, MIN (a, 0) + MIN (b, 0));
    }
  return most <= PAIR_BOUND && least >= -PAIR_BOUND;
}

static void
find_whether_pairs_fit (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  const CleaveBytePanels *p = data;
  const guint8 *from = cleave_tensor_get_data (base);
  gint64 n_taps = cleave_byte_panels_n_taps (p), length = cleave_byte_panels_length (p);
  gboolean *fit = to;

  *fit = TRUE;
  for (gint64 tap = 0; *fit && tap < n_taps; tap++)
    for (gint64 k = 0; *fit && k + 1 < length; k += 2)
      *fit = pair_fits (p, from + find_row (p, tap, k), from + find_row (p, tap, k + 1));
}

static gboolean
pairs_fit (CleaveWeights *weights, CleaveTensor *constant, guint columns, CleaveBytePanels panels)
{
  gint64 first;
  CleaveTensor *base = find_base (constant, columns, &panels, &first);
  g_autofree char *key = make_key (&panels, columns);
  g_autofree char *question = g_strconcat ("whether pairs fit: ", key, NULL);
  const gboolean *fit = cleave_weights_ask (weights, base, question, sizeof (gboolean),
                                            find_whether_pairs_fit, &panels);

  return fit != NULL && *fit;
}
#endif

gint64
cleave_byte_panels_find_unit (CleaveWeights *weights,
                              CleaveTensor *constant,
                              guint columns,
                              const CleaveBytePanels *panels)
{
#if defined(CLEAVE_HAS_DOT4)
  if (__builtin_cpu_supports ("avx512vnni"))
    return CLEAVE_DOT4;
#endif
#if defined(CLEAVE_DOT)
  return CLEAVE_DOT4;
#endif
#if defined(CLEAVE_AVX2)
  if (constant != NULL && pairs_fit (weights, constant, columns, *panels))
    return CLEAVE_DOT4;
#endif
  return CLEAVE_DOT2;
}
