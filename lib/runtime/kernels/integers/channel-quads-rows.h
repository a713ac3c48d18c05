/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A row of channel-quads.c, for vectors of 64 or of 32 bytes.  What includes this says which:
 * NAME(), V() and the types. */

#include "written-finish.h"

#define BYTES ((gint64) sizeof (VECTOR))
#define PLACE (4 * BYTES) /* of the channels of a place in scratch */

static inline VECTOR
NAME (load) (gconstpointer from)
{
  VECTOR v;

  memcpy (&v, from, sizeof v);
  return v;
}

/* The channels of four neighbours in a row as quads, at each other place of it: bytes are
 * interleaved in each quarter of 16 channels, which is undone where results are packed. */
static void
NAME (fill) (const Fill *f, char *to)
{
  const VECTOR flip = V (set1_epi8) ((char) f->flip);
  VECTOR a = V (maskz_loadu_epi8) ((MASK) f->mask, find_byte (f, 0));
  VECTOR b = V (maskz_loadu_epi8) ((MASK) f->mask, find_byte (f, 1));
  VECTOR low = V (unpacklo_epi8) (a, b) ^ flip, high = V (unpackhi_epi8) (a, b) ^ flip;

  for (gint64 place = 0; place < f->n_places; place++, to += PLACE)
    {
      VECTOR c = V (maskz_loadu_epi8) ((MASK) f->mask, find_byte (f, 2 * place + 2));
      VECTOR d = V (maskz_loadu_epi8) ((MASK) f->mask, find_byte (f, 2 * place + 3));
      VECTOR next_low = V (unpacklo_epi8) (c, d) ^ flip;
      VECTOR next_high = V (unpackhi_epi8) (c, d) ^ flip;
      VECTOR quads[4] = { V (unpacklo_epi16) (low, next_low), V (unpackhi_epi16) (low, next_low),
                          V (unpacklo_epi16) (high, next_high),
                          V (unpackhi_epi16) (high, next_high) };

      memcpy (to, quads, sizeof quads);
      low = next_low;
      high = next_high;
    }
}

static inline __attribute__ ((always_inline)) VECTOR
NAME (round) (VECTOR sum, const float *scale, gboolean odd)
{
  FLOATS f = V (mul_ps) (V (cvtepi32_ps) (sum), V (loadu_ps) (scale));

  if (odd)
    f = V (maskz_mov_ps) (V (cmp_ps_mask) (f, f, _CMP_ORD_Q), f);
  return V (cvtps_epi32) (V (min_ps) (f, V (set1_ps) (CLEAVE_BYTE_BOUND)));
}

static inline __attribute__ ((always_inline)) void
NAME (store) (const Row *r, const VECTOR *whole, char *to)
{
  const VECTOR zero = V (set1_epi16) ((gint16) r->y_zero);
  VECTOR low = V (adds_epi16) (V (packs_epi32) (whole[0], whole[1]), zero);
  VECTOR high = V (adds_epi16) (V (packs_epi32) (whole[2], whole[3]), zero);
  VECTOR bytes;

  bytes = r->is_signed ? V (packs_epi16) (low, high) : V (packus_epi16) (low, high);
  if (r->n == BYTES)
    memcpy (to, &bytes, sizeof bytes);
  else
    V (mask_storeu_epi8) (to, (MASK) r->mask, bytes);
}

static inline __attribute__ ((always_inline)) void
NAME (finish) (const Row *r, const VECTOR *sum, gboolean odd, char *to)
{
  VECTOR whole[4];

  CLEAVE_EACH (k, 4)
    whole[k] = NAME (round) (sum[k], r->scale + k * QUAD_LANES, odd);
  NAME (store) (r, whole, to);
}

/* Sums in floats, of a lane of each of four vectors that there may be. */
static __attribute__ ((noinline)) void
NAME (run_again) (const Row *r, gint64 pixel, const guint16 *lanes, char *to)
{
  const CleaveWrittenConv *conv = r->conv;

  for (gint64 k = 0; k < 4; k++)
    for (guint32 left = lanes[k]; left != 0; left &= left - 1)
      {
        gint64 lane = __builtin_ctz (left), channel = lane / 4 * 16 + k * 4 + lane % 4;
        const gint8 *w = r->w + (k * QUAD_LANES + lane) * 4;
        float sum;

        if (channel >= r->n)
          continue;
        sum = conv->bias[r->column + channel];
        for (gint64 t = 0; t < r->n_rows; t++)
          for (gint64 j = 0; j < r->n_columns; j++)
            {
              gint64 at = pixel * r->stride + j, place = MIN (at / 2, r->n_places - 1);
              guint8 x = *(const guint8 *) (r->x + r->row_at[t] + place * PLACE + k * BYTES +
                                            lane * 4 + at - 2 * place);
              gint8 by = w[(t * r->n_quads + j / 4) * QUAD_BLOCK + j % 4];

              sum = __builtin_fmaf ((float) (x - r->x_stands) * conv->x_scale,
                                    (float) by * conv->w_scale[r->column + channel], sum);
            }
        to[channel] = (char) (cleave_written_conv_round (conv, sum) + r->y_zero);
      }
}

static inline __attribute__ ((always_inline)) void
NAME (finish_sums) (const Row *r, VECTOR *sum, gint64 pixel, char *to)
{
  guint16 lanes[4];
  guint32 any = 0;

  CLEAVE_EACH (k, 4)
    {
      lanes[k] = (guint16) NAME (finish_written) (&r->columns, r->lane + k * QUAD_LANES,
                                                  CLEAVE_WRITTEN_CONSTANT, sum[k], 0, &sum[k]);
      any |= lanes[k];
    }
  NAME (store) (r, sum, to);
  if (any != 0)
    NAME (run_again) (r, pixel, lanes, to);
}

/* `n` pixels, the first of them even.  Those that are odd begin at the second byte of a quad where
 * the stride is `odd`; two neighbours read the same one if it is 1. */
static inline __attribute__ ((always_inline)) void
NAME (run_pixels) (const Row *r, gint64 pixel, int n, gboolean odd, gboolean shared)
{
  VECTOR sum[PIXELS][4];
  gint64 at[PIXELS];
  char *to = r->y + pixel * r->y_step;

  CLEAVE_EACH (p, n)
    at[p] = (pixel + p) * r->stride / 2 * PLACE;
  CLEAVE_EACH (p, n)
    CLEAVE_EACH (k, 4)
      sum[p][k] = NAME (load) (r->bias + k * QUAD_LANES);
  for (gint64 t = 0; t < r->n_rows; t++)
    for (gint64 q = 0; q < r->n_quads; q++)
      {
        const gint8 *w = r->w + (t * r->n_quads + q) * QUAD_BLOCK;
        const char *x = r->x + r->row_at[t] + q * 2 * PLACE;

        CLEAVE_EACH (k, 4)
          {
            VECTOR even = NAME (load) (w + k * QUAD_BYTES), later = even, from = even;

            if (odd)
              later = NAME (load) (w + r->later + k * QUAD_BYTES);
            CLEAVE_EACH (p, n)
              {
                if (!shared || p % 2 == 0)
                  from = NAME (load) (x + at[p] + k * BYTES);
                if (p % 2 == 0)
                  CLEAVE_ADD_QUADS (sum[p][k], from, even);
                else
                  CLEAVE_ADD_QUADS (sum[p][k], from, later);
              }
          }
      }
  CLEAVE_EACH (p, n)
    if (r->conv != NULL)
      NAME (finish_sums) (r, sum[p], pixel + p, to + p * r->y_step);
    else if (r->has_odd_scales)
      NAME (finish) (r, sum[p], TRUE, to + p * r->y_step);
    else
      NAME (finish) (r, sum[p], FALSE, to + p * r->y_step);
}

static inline __attribute__ ((always_inline)) void
NAME (run_all) (const Row *r, gboolean odd, gboolean shared)
{
  gint64 pixel = 0;

  for (; pixel + PIXELS <= r->n_pixels; pixel += PIXELS)
    NAME (run_pixels) (r, pixel, PIXELS, odd, shared);
  for (; pixel + 2 <= r->n_pixels; pixel += 2)
    NAME (run_pixels) (r, pixel, 2, odd, shared);
  if (pixel < r->n_pixels)
    NAME (run_pixels) (r, pixel, 1, odd, shared);
}

static void
NAME (run_row) (const Row *r)
{
  if (r->stride == 1)
    NAME (run_all) (r, TRUE, TRUE);
  else if (r->stride % 2 == 1)
    NAME (run_all) (r, TRUE, FALSE);
  else
    NAME (run_all) (r, FALSE, FALSE);
}

#undef BYTES
#undef PLACE
#undef NAME
#undef V
#undef VECTOR
#undef FLOATS
#undef MASK
