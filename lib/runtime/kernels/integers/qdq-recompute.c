/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Recomputes ambiguous integer sums in float, in the order of the reference kernel. qdq.h defines
 * ambiguous sums. */

#include "qdq.h"

#include <string.h>

#if defined(CLEAVE_AVX512)
/* A vector of sums that are recomputed in float. Each lane has its own pixel and its own column of
 * a panel. */
typedef struct
{
  const CleaveQdq *s;
  /* indexed by lane: address of the elements of x that the lane's pixel reads */
  const char *from[CLEAVE_LANES];
  __m512i column;
  __m512 scale; /* scale of the weights of each lane's column */
  __m512i flip;
} Lanes;

/* Loads up to 4 consecutive dot-4 groups of x for each lane. Transposes squares of 4 x 4 groups. */
static inline __attribute__ ((always_inline)) void
read_units (const Lanes *l, gint64 at, gint64 n, __m512i *to)
{
  __mmask8 mask = (__mmask8) ((1 << n) - 1);
  __m512i v[4], low[2], high[2];

  CLEAVE_EACH (i, 4)
    {
      v[i] = _mm512_castsi128_si512 (_mm_maskz_loadu_epi32 (mask, l->from[i] + at));
      v[i] = _mm512_inserti32x4 (v[i], _mm_maskz_loadu_epi32 (mask, l->from[i + 4] + at), 1);
      v[i] = _mm512_inserti32x4 (v[i], _mm_maskz_loadu_epi32 (mask, l->from[i + 8] + at), 2);
      v[i] = _mm512_inserti32x4 (v[i], _mm_maskz_loadu_epi32 (mask, l->from[i + 12] + at), 3);
    }
  CLEAVE_EACH (i, 2)
    {
      low[i] = _mm512_unpacklo_epi32 (v[2 * i], v[2 * i + 1]);
      high[i] = _mm512_unpackhi_epi32 (v[2 * i], v[2 * i + 1]);
    }
  to[0] = _mm512_unpacklo_epi64 (low[0], low[1]) ^ l->flip;
  to[1] = _mm512_unpackhi_epi64 (low[0], low[1]) ^ l->flip;
  to[2] = _mm512_unpacklo_epi64 (high[0], high[1]) ^ l->flip;
  to[3] = _mm512_unpackhi_epi64 (high[0], high[1]) ^ l->flip;
}

/* Multiplies the four bytes of a dot-4 group by their weights in float, and adds the products to
 * the sums. An integer product with a group of weights 1, 0, 0, 0 extracts the first byte; products
 * with the groups 0, 1, 0, 0 and so on extract the other bytes. */
static inline __attribute__ ((always_inline)) __m512
add_unit (const Lanes *l, __m512i x, __m512i w, __m512 sum)
{
  const __m512i less = _mm512_set1_epi32 (-l->s->stands);
  const __m512 x_scale = _mm512_set1_ps (l->s->x_scale);

  CLEAVE_EACH (e, 4)
    {
      __m512i one = _mm512_set1_epi32 (1 << 8 * e), x_byte = less, w_byte = _mm512_setzero_si512 ();

      CLEAVE_ADD_DOT4 (x_byte, x, one);
      CLEAVE_ADD_DOT4 (w_byte, one, w);
      sum = _mm512_fmadd_ps (_mm512_mul_ps (_mm512_cvtepi32_ps (x_byte), x_scale),
                             _mm512_mul_ps (_mm512_cvtepi32_ps (w_byte), l->scale), sum);
    }
  return sum;
}

static __m512
add_all (const Lanes *l, const CleaveQdqPanel *panel, __m512 sum)
{
  const gint8 *w = panel->w;

  for (gint64 t = 0; t < l->s->n_taps; t++)
    for (gint64 u = 0, at = panel->product->tap_at[t]; u < l->s->n_units;
         u += 4, at += 4 * CLEAVE_DOT4)
      {
        gint64 n = MIN (4, l->s->n_units - u);
        __m512i x[4];

        read_units (l, at, n, x);
        CLEAVE_EACH (i, 4)
          if (i < n)
            {
              __m512i columns =
                  _mm512_permutex2var_epi32 (_mm512_loadu_si512 (w), l->column,
                                             _mm512_loadu_si512 (w + CLEAVE_DOT4 * CLEAVE_LANES));

              sum = add_unit (l, x[i], columns, sum);
              w += panel->w_step;
            }
      }
  return sum;
}

/* Recomputes n sums, at most CLEAVE_LANES, and stores their bytes. */
static void
run_some (const CleaveQdqPanel *panel, const gint32 *pixel, const gint32 *column, gint64 n)
{
  const CleaveByteProduct *product = panel->product;
  const CleaveQdq *s = panel->s;
  gint32 columns[CLEAVE_LANES], bytes[CLEAVE_LANES];
  Lanes l = { .s = s, .flip = _mm512_set1_epi32 (product->flip) };
  __m512i at, y;
  __m512 sum;

  for (gint64 i = 0; i < CLEAVE_LANES; i++)
    {
      l.from[i] = product->x + product->x_at[pixel[MIN (i, n - 1)]];
      columns[i] = column[MIN (i, n - 1)];
    }
  l.column = at = _mm512_loadu_si512 (columns);
  l.scale = _mm512_i32gather_ps (at, s->w_scale + panel->column, sizeof (float));
  sum = _mm512_i32gather_ps (at, s->bias + panel->column, sizeof (float));
  if (s->bias_is_last)
    sum = _mm512_add_ps (add_all (&l, panel, _mm512_setzero_ps ()), sum);
  else
    sum = add_all (&l, panel, sum);
  y = _mm512_cvtps_epi32 (_mm512_min_ps (_mm512_div_ps (sum, _mm512_set1_ps (s->y_scale)),
                                         _mm512_set1_ps (CLEAVE_BYTE_BOUND)));
  y = _mm512_min_epi32 (_mm512_max_epi32 (y, _mm512_set1_epi32 (s->least)),
                        _mm512_set1_epi32 (s->most));
  _mm512_storeu_si512 (bytes, _mm512_add_epi32 (y, _mm512_set1_epi32 (s->y_zero)));
  for (gint64 i = 0; i < n; i++)
    product->y[product->y_at[pixel[i]] + panel->column + columns[i]] = (char) bytes[i];
}

/* Lists the pixels with ambiguous columns in `pixel`. Stores a mask of the ambiguous columns of
 * each listed pixel in `lanes`. Both arrays have memory for one more vector after the last pixel.
 * Returns the number of listed pixels. */
static gint64
list_doubtful (const CleaveQdqPanel *panel, gint32 *pixel, guint32 *lanes)
{
  const __m512i mask = _mm512_set1_epi32 ((gint32) panel->mask);
  const guint32 *of = panel->scratch.lanes;
  __m512i at = _mm512_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  gint64 n_found = 0, n = panel->product->n_pixels;

  for (gint64 i = 0; i < n; i += CLEAVE_LANES)
    {
      __mmask16 there = (__mmask16) (n - i >= CLEAVE_LANES ? 0xffff : (1u << (n - i)) - 1);
      __m512i v = _mm512_and_si512 (_mm512_loadu_si512 (of + i), mask);
      __mmask16 found = _mm512_mask_test_epi32_mask (there, v, v);

      _mm512_storeu_si512 (pixel + n_found, _mm512_maskz_compress_epi32 (found, at));
      _mm512_storeu_si512 (lanes + n_found, _mm512_maskz_compress_epi32 (found, v));
      n_found += __builtin_popcount (found);
      at = _mm512_add_epi32 (at, _mm512_set1_epi32 (CLEAVE_LANES));
    }
  return n_found;
}
#else
/* A vector of sums that are recomputed in float. Each lane has its own pixel and its own column of
 * a panel. */
typedef struct
{
  const CleaveQdq *s;
  /* indexed by lane: address of the elements of x that the lane's pixel reads */
  const char *from[CLEAVE_LANES];
  gint64 w_at[CLEAVE_LANES]; /* indexed by lane: byte offset of the lane's column in each row of the
                                panel; in a row, each column has four weights, a dot-4 group */
  CleaveVector scale;        /* scale of the weights of each lane's column */
} Lanes;

/* Multiplies the four bytes of dot-4 group `at` of x by the weights at `w` in float, and adds the
 * products to the sums. */
static inline __attribute__ ((always_inline)) CleaveVector
add_unit (const Lanes *l, gint64 at, const gint8 *w, CleaveMask flip, CleaveVector sum)
{
  const CleaveVector x_scale = cleave_vector_all (l->s->x_scale);
  CleaveMask x, by;

  for (int i = 0; i < CLEAVE_LANES; i++)
    {
      gint32 x_unit, w_unit;

      memcpy (&x_unit, l->from[i] + at, sizeof x_unit);
      memcpy (&w_unit, w + l->w_at[i], sizeof w_unit);
      x[i] = x_unit;
      by[i] = w_unit;
    }
  x ^= flip;
  CLEAVE_EACH (e, 4)
    {
      CleaveMask x_byte = ((x >> 8 * e) & 0xff) - l->s->stands;
      CleaveMask w_byte = (by << (24 - 8 * e)) >> 24;

      sum = cleave_vector_fma (__builtin_convertvector(x_byte, CleaveVector) * x_scale,
                               __builtin_convertvector(w_byte, CleaveVector) * l->scale, sum);
    }
  return sum;
}

static CleaveVector
add_all (const Lanes *l, const CleaveQdqPanel *panel, CleaveVector sum)
{
  const CleaveMask flip = (CleaveMask) cleave_ints_all (panel->product->flip);
  const gint8 *w = panel->w;

  for (gint64 t = 0; t < l->s->n_taps; t++)
    for (gint64 u = 0, at = panel->product->tap_at[t]; u < l->s->n_units; u++, at += CLEAVE_DOT4)
      {
        sum = add_unit (l, at, w, flip, sum);
        w += panel->w_step;
      }
  return sum;
}

/* Recomputes up to CLEAVE_LANES sums, and stores their bytes. */
static void
run_some (const CleaveQdqPanel *panel, const gint32 *pixel, const gint32 *column, gint64 n)
{
  const CleaveByteProduct *product = panel->product;
  const CleaveQdq *s = panel->s;
  gint32 bytes[CLEAVE_LANES];
  Lanes l = { .s = s };
  CleaveVector bias, sum = { 0 };
  CleaveIntVector y;

  for (gint64 i = 0; i < CLEAVE_LANES; i++)
    {
      gint64 from = MIN (i, n - 1);

      l.from[i] = product->x + product->x_at[pixel[from]];
      l.w_at[i] = column[from] * CLEAVE_DOT4;
      l.scale[i] = s->w_scale[panel->column + column[from]];
      bias[i] = s->bias[panel->column + column[from]];
    }
  if (s->bias_is_last)
    sum = add_all (&l, panel, sum) + bias;
  else
    sum = add_all (&l, panel, bias);
  sum = cleave_vector_within (sum / cleave_vector_all (s->y_scale),
                              cleave_vector_all (-CLEAVE_BYTE_BOUND),
                              cleave_vector_all (CLEAVE_BYTE_BOUND));
  y = cleave_ints_clamp (cleave_ints_of_floats (sum), s->least, s->most);
  cleave_ints_store (bytes, cleave_ints_add (y, cleave_ints_all (s->y_zero)));
  for (gint64 i = 0; i < n; i++)
    product->y[product->y_at[pixel[i]] + panel->column + column[i]] = (char) bytes[i];
}

/* Lists the pixels with ambiguous columns in `pixel`. Stores a mask of the ambiguous columns of
 * each listed pixel in `lanes`. Both arrays have memory for one more element after the last pixel.
 * Returns the number of listed pixels. */
static gint64
list_doubtful (const CleaveQdqPanel *panel, gint32 *pixel, guint32 *lanes)
{
  gint64 n_found = 0, n = panel->product->n_pixels;

  for (gint64 i = 0; i < n; i++)
    {
      guint32 found = panel->scratch.lanes[i] & panel->mask;

      pixel[n_found] = (gint32) i;
      lanes[n_found] = found;
      n_found += found != 0;
    }
  return n_found;
}
#endif

void
cleave_qdq_recompute (const CleaveQdqPanel *panel)
{
  gint32 pixel[CLEAVE_LANES], column[CLEAVE_LANES];
  gint32 *doubtful = panel->scratch.doubtful;
  guint32 *doubtful_lanes = panel->scratch.doubtful_lanes;
  gint64 n = 0, n_doubtful = list_doubtful (panel, doubtful, doubtful_lanes);

  for (gint64 i = 0; i < n_doubtful; i++)
    for (guint32 lanes = doubtful_lanes[i]; lanes != 0; lanes &= lanes - 1)
      {
        pixel[n] = doubtful[i];
        column[n++] = __builtin_ctz (lanes);
        if (n == CLEAVE_LANES)
          {
            run_some (panel, pixel, column, n);
            n = 0;
          }
      }
  if (n > 0)
    run_some (panel, pixel, column, n);
}
