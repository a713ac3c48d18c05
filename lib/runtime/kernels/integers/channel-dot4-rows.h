/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes one row of y for channel-dot4.c, with vectors of 64 or 32 bytes. channel-dot4.c includes
 * this file twice; before each include, it defines NAME(), V() and the types. This file also fills
 * the ring: rows of x in scratch, in which a position is a pair of adjacent pixels. */

#include "qdq-finish.h"

#define BYTES ((gint64) sizeof (VECTOR))
#define PLACE (4 * BYTES) /* bytes of one position of the ring */

static inline VECTOR
NAME (load) (gconstpointer from)
{
  VECTOR v;

  memcpy (&v, from, sizeof v);
  return v;
}

/* Loads the channels of two adjacent pixels and interleaves their bytes, within each 128-bit lane
 * of 16 channels. */
static inline __attribute__ ((always_inline)) void
NAME (load_two) (const Fill *f, const char *first, const char *second, VECTOR *two)
{
  const VECTOR flip = V (set1_epi8) ((char) f->flip);
  VECTOR a = V (maskz_loadu_epi8) ((MASK) f->mask, first);
  VECTOR b = V (maskz_loadu_epi8) ((MASK) f->mask, second);

  two[0] = V (unpacklo_epi8) (a, b) ^ flip;
  two[1] = V (unpackhi_epi8) (a, b) ^ flip;
}

/* Writes position i of a row of the ring: for each channel, the bytes of the four pixels 2 i to 2 i
 * + 3. `two` has pixels 2 i and 2 i + 1, as load_two() returns them. `first` and `second` are the
 * addresses of pixels 2 i + 2 and 2 i + 3. Replaces the contents of `two` by these two pixels, with
 * which position i + 1 begins. */
static inline __attribute__ ((always_inline)) void
NAME (fill_place) (const Fill *f, const char *first, const char *second, VECTOR *two, char *to)
{
  VECTOR next[2];

  NAME (load_two) (f, first, second, next);
  CLEAVE_EACH (i, 2)
    {
      VECTOR low = V (unpacklo_epi16) (two[i], next[i]),
             high = V (unpackhi_epi16) (two[i], next[i]);

      memcpy (to + 2 * i * BYTES, &low, sizeof low);
      memcpy (to + (2 * i + 1) * BYTES, &high, sizeof high);
      two[i] = next[i];
    }
}

/* Writes a row of x to the ring. Position i of the ring contains, for each channel, a group of the
 * four bytes of pixels 2 i to 2 i + 3. Interleaving within 128-bit lanes puts the channels out of
 * order; packing the results restores their order. */
static void
NAME (fill) (const Fill *of, char *to)
{
  const Fill fill = *of,
             *f = &fill; /* a local copy, so that the compiler knows that stores do not change it */
  const CleaveAxis *axis = &f->image->axis[2];
  gint64 place = 0, step = f->image->step[2] * axis->x_step, inner = (MAX (axis->pad, 0) + 1) / 2;
  const char *x;
  VECTOR two[2];

  NAME (load_two) (f, find_byte (f, 0), find_byte (f, 1), two);
  for (; place < f->n_places && place < inner; place++, to += PLACE)
    NAME (fill_place) (f, find_byte (f, 2 * place + 2), find_byte (f, 2 * place + 3), two, to);
  x = find_byte (f, 2 * place + 2);
  for (; place < f->n_places && f->x != NULL &&
         (2 * place + 3) * f->image->step[2] - axis->pad < axis->n_x;
       place++, to += PLACE, x += 2 * step)
    NAME (fill_place) (f, x, x + step, two, to);
  for (; place < f->n_places; place++, to += PLACE)
    NAME (fill_place) (f, find_byte (f, 2 * place + 2), find_byte (f, 2 * place + 3), two, to);
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
NAME (store) (const Row *r, VECTOR bytes, char *to)
{
  if (r->n == BYTES)
    memcpy (to, &bytes, sizeof bytes);
  else
    V (mask_storeu_epi8) (to, (MASK) r->mask, bytes);
}

static inline __attribute__ ((always_inline)) void
NAME (finish) (const Row *r, const VECTOR *sum, gboolean odd, char *to)
{
  const VECTOR zero = V (set1_epi16) ((gint16) r->y_zero);
  VECTOR whole[4], low, high;

  CLEAVE_EACH (k, 4)
    whole[k] = NAME (round) (sum[k], r->scale + k * DOT4_LANES, odd);
  low = V (adds_epi16) (V (packs_epi32) (whole[0], whole[1]), zero);
  high = V (adds_epi16) (V (packs_epi32) (whole[2], whole[3]), zero);
  NAME (store) (r, r->is_signed ? V (packs_epi16) (low, high) : V (packus_epi16) (low, high), to);
}

static inline __attribute__ ((always_inline)) void
NAME (store_whole) (const Row *r, const VECTOR *sum, char *to)
{
  const gint64 n_lanes = BYTES / (gint64) sizeof (gint32);
  VECTOR whole[4];

  NAME (put_in_order) (sum, whole);
  CLEAVE_EACH (i, 4)
    if (r->n == BYTES)
      memcpy (to + i * BYTES, &whole[i], sizeof whole[i]);
    else
      V (mask_storeu_epi32) (to + i * BYTES, (LANE_MASK) (r->mask >> i * n_lanes), whole[i]);
}

/* Recomputes the sum of one pixel and channel in float. The channel is in lane `lane` of vector `k`
 * of the block's four vectors. */
static void
NAME (make_again) (const Row *r, gint64 pixel, gint64 k, gint64 lane)
{
  const CleaveQdqConv *conv = r->conv;
  gint64 channel = lane / 4 * 16 + k * 4 + lane % 4;
  const gint8 *w = r->w + (k * DOT4_LANES + lane) * 4;
  float sum;

  if (channel >= r->n)
    return;
  sum = conv->bias[r->column + channel];
  for (gint64 t = 0; t < r->n_rows; t++)
    for (gint64 j = 0; j < r->n_columns; j++)
      {
        gint64 at = pixel * r->stride + j, place = MIN (at / 2, r->n_places - 1);
        guint8 x = *(const guint8 *) (r->x + r->row_at[t] + place * PLACE + k * BYTES + lane * 4 +
                                      at - 2 * place);
        gint8 by = w[(t * r->n_groups + j / 4) * DOT4_BLOCK + j % 4];

        sum = __builtin_fmaf ((float) (x - r->x_stands) * conv->x_scale,
                              (float) by * conv->w_scale[r->column + channel], sum);
      }
  r->y[pixel * r->y_step + channel] = (char) (cleave_qdq_conv_round (conv, sum) + r->y_zero);
}

/* Recomputes the ambiguous sums of a row of y in float. */
static void
NAME (run_again) (const Row *r)
{
  const gint64 n_lanes = BYTES / 4;

  for (gint64 pixel = 0; pixel < r->n_pixels; pixel++)
    for (guint64 left = r->lanes[pixel]; left != 0; left &= left - 1)
      NAME (make_again)
  (r, pixel, __builtin_ctzll (left) / n_lanes, __builtin_ctzll (left) % n_lanes);
}

/* Returns the permutation that selects the upper 16 bits of each lane of two vectors, in the order
 * in which an instruction such as packs_epi32 packs two vectors. */
static inline __attribute__ ((always_inline)) VECTOR
NAME (pack_order) (void)
{
  gint16 at[BYTES / 2] = { 0 };
  VECTOR order;

  for (gint16 i = 0; i < BYTES / 2; i++)
    at[i] = (gint16) (2 * (i / 8 * 4 + i % 4) + i % 8 / 4 * (BYTES / 2) + 1);
  memcpy (&order, at, sizeof order);
  return order;
}

/* Converts sums to bytes, and finds ambiguous sums. The error bound of a sum depends on the channel
 * only. Finds ambiguous sums before clamping, so a sum outside the bounds may be recomputed
 * needlessly, which is rare. */
static inline __attribute__ ((always_inline)) void
NAME (finish_sums) (const Row *r, const VECTOR *sum, gint64 pixel, char *to)
{
  const CleaveQdqColumns *c = &r->columns;
  const VECTOR order = NAME (word_order) (0), upper = NAME (pack_order) ();
  VECTOR whole[4], words[2], bytes;
  guint64 lanes[2];

  CLEAVE_EACH (k, 4)
    {
      gint64 lane = r->lane + k * DOT4_LANES;
      FLOATS f = V (fmadd_ps) (V (cvtepi32_ps) (sum[k]), V (loadu_ps) (c->factor + lane),
                               V (loadu_ps) (c->addend + lane));

      whole[k] = V (cvtps_epi32) (f);
    }
  CLEAVE_EACH (i, 2)
    {
      VECTOR low = whole[2 * i], high = whole[2 * i + 1];
      VECTOR rest = V (abs_epi16) (V (permutex2var_epi16) (low, order, high));

      words[i] = V (permutex2var_epi16) (low, upper, high);
      lanes[i] = V (cmplt_epu16_mask) (rest, WORDS (c->margin + r->lane + 2 * i * DOT4_LANES));
    }
  r->lanes[pixel] = lanes[0] | lanes[1] << BYTES / 2;
  if (r->is_signed)
    bytes =
        V (min_epi8) (V (max_epi8) (V (packs_epi16) (words[0], words[1]), V (set1_epi8) (r->least)),
                      V (set1_epi8) (r->most));
  else
    bytes = V (min_epu8) (
        V (max_epu8) (V (packus_epi16) (words[0], words[1]), V (set1_epi8) (r->least)),
        V (set1_epi8) (r->most));
  NAME (store) (r, bytes, to);
}

/* Computes `n` pixels of a row of y, from an even index on. `odd`: the stride is odd, so pixels
 * with an odd index begin at the second byte of a group. `shared`: the stride is 1, so two adjacent
 * pixels read the same groups. */
static inline __attribute__ ((always_inline)) void
NAME (run_pixels) (
    const Row *r, gint64 pixel, int n, gboolean odd, gboolean shared, gboolean is_qdq)
{
  VECTOR sum[PIXELS][4];
  gint64 at[PIXELS];
  char *to = r->y + pixel * r->y_step;

  CLEAVE_EACH (p, n)
    at[p] = (pixel + p) * r->stride / 2 * PLACE;
  CLEAVE_EACH (p, n)
    CLEAVE_EACH (k, 4)
      sum[p][k] = NAME (load) (r->bias + k * DOT4_LANES);
  for (gint64 t = 0; t < r->n_rows; t++)
    for (gint64 q = 0; q < r->n_groups; q++)
      {
        const gint8 *w = r->w + (t * r->n_groups + q) * DOT4_BLOCK;
        const char *x = r->x + r->row_at[t] + q * 2 * PLACE;

        CLEAVE_EACH (k, 4)
          {
            VECTOR even = NAME (load) (w + k * DOT4_BYTES), later = even, from = even;

            if (odd)
              later = NAME (load) (w + r->later + k * DOT4_BYTES);
            CLEAVE_EACH (p, n)
              {
                if (!shared || p % 2 == 0)
                  from = NAME (load) (x + at[p] + k * BYTES);
                if (p % 2 == 0)
                  CLEAVE_ADD_DOT4 (sum[p][k], from, even);
                else
                  CLEAVE_ADD_DOT4 (sum[p][k], from, later);
              }
          }
      }
  CLEAVE_EACH (p, n)
    if (is_qdq)
      NAME (finish_sums) (r, sum[p], pixel + p, to + p * r->y_step);
    else if (r->is_whole)
      NAME (store_whole) (r, sum[p], to + p * r->y_step);
    else if (r->has_odd_scales)
      NAME (finish) (r, sum[p], TRUE, to + p * r->y_step);
    else
      NAME (finish) (r, sum[p], FALSE, to + p * r->y_step);
}

static inline __attribute__ ((always_inline)) void
NAME (run_all) (const Row *of, gboolean odd, gboolean shared, gboolean is_qdq)
{
  const Row row = *of,
            *r = &row; /* a local copy, so that the compiler knows that stores do not change it */
  gint64 pixel = 0;

  for (; pixel + PIXELS <= r->n_pixels; pixel += PIXELS)
    NAME (run_pixels) (r, pixel, PIXELS, odd, shared, is_qdq);
  for (; pixel + 2 <= r->n_pixels; pixel += 2)
    NAME (run_pixels) (r, pixel, 2, odd, shared, is_qdq);
  if (pixel < r->n_pixels)
    NAME (run_pixels) (r, pixel, 1, odd, shared, is_qdq);
}

static inline __attribute__ ((always_inline)) void
NAME (run_strides) (const Row *r, gboolean is_qdq)
{
  if (r->stride == 1)
    NAME (run_all) (r, TRUE, TRUE, is_qdq);
  else if (r->stride % 2 == 1)
    NAME (run_all) (r, TRUE, FALSE, is_qdq);
  else
    NAME (run_all) (r, FALSE, FALSE, is_qdq);
}

static void
NAME (run_row) (const Row *r)
{
  if (r->conv == NULL)
    NAME (run_strides) (r, FALSE);
  else
    {
      NAME (run_strides) (r, TRUE);
      NAME (run_again) (r);
    }
}

#undef BYTES
#undef PLACE
#undef NAME
#undef V
#undef VECTOR
#undef FLOATS
#undef MASK
#undef LANE_MASK
#undef COLUMNS
#undef WORDS
