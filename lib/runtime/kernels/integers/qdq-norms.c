/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lays out the scratch memory of a QDQ-exact product, and computes a norm for each pixel of the
 * product's result. The norm of a pixel is the square root of the sum of c x^2 over all elements x
 * of the operand that the pixel reads. qdq.h defines the coefficient c of an element. CleaveQdq
 * stores c / 2, rounded up, in place of c. The functions below therefore compute sums of c / 2 *
 * x^2, which their comments call weighted sums. */

#include "qdq.h"
#include "word-vector.h"

#include <math.h>
#include <string.h>

/* The following functions lay out scratch. */

gsize
cleave_qdq_n_scratch (gint64 n_pixels, gint64 n_x)
{
  return (gsize) (4 * (n_pixels + CLEAVE_LANES) + n_x) * 4;
}

CleaveQdqScratch
cleave_qdq_find_scratch (const CleaveByteProduct *product)
{
  gint64 n = product->n_pixels_most + CLEAVE_LANES;
  guint32 *norm = product->qdq_scratch;

  return (CleaveQdqScratch){ .norm = norm,
                             .lanes = norm + n,
                             .doubtful = (gint32 *) (void *) (norm + 2 * n),
                             .doubtful_lanes = norm + 3 * n,
                             .squares = (float *) (void *) (norm + 4 * n) };
}

/* The following functions compute norms. */

/* Number of pixels whose sums of squares are computed together. */
#define PIXELS 4

#if defined(CLEAVE_AVX512)
/* Returns a vector whose lanes add up to the weighted sum over a pixel's bytes. */
static inline __attribute__ ((always_inline)) __m512
add_squares (const CleaveQdq *s, const char *from, __m256i flips, __m512i less)
{
  __m512i sum = _mm512_setzero_si512 ();

  for (gint64 i = 0; i < s->pixel_length; i += 32)
    {
      gint64 left = s->pixel_length - i;
      guint32 rest = left >= 32 ? ~0u : (1u << left) - 1;
      __m256i bytes = _mm256_maskz_loadu_epi8 (rest, from + i) ^ flips;
      __m512i v =
          _mm512_sub_epi16 (_mm512_cvtepu8_epi16 (bytes),
                            less); /* bytes beyond the end of the pixel have coefficient 0 */

      sum = _mm512_dpwssd_epi32 (sum, v,
                                 _mm512_mullo_epi16 (v, _mm512_loadu_si512 (s->coefficient + i)));
    }
  return _mm512_cvtepi32_ps (sum);
}

/* Computes the weighted sums over the bytes of the first `n` of PIXELS pixels. `from` contains the
 * addresses of all PIXELS pixels. */
static void
add_all_squares (const CleaveQdq *s, const char *const *from, guint8 flip, gint64 n, float *to)
{
  const __m512i less = _mm512_set1_epi16 ((gint16) s->stands);
  const __m256i flips = _mm256_set1_epi8 ((char) flip);
  __m512 sum[PIXELS], two[2], all;
  __m256 half;
  __m128 quarter;

  CLEAVE_EACH (p, PIXELS)
    sum[p] = add_squares (s, from[p], flips, less);
  CLEAVE_EACH (i, 2)
    two[i] = _mm512_add_ps (_mm512_unpacklo_ps (sum[2 * i], sum[2 * i + 1]),
                            _mm512_unpackhi_ps (sum[2 * i], sum[2 * i + 1]));
  all = _mm512_add_ps (_mm512_shuffle_ps (two[0], two[1], 0x44),
                       _mm512_shuffle_ps (two[0], two[1], 0xee));
  half = _mm256_add_ps (_mm512_castps512_ps256 (all), _mm512_extractf32x8_ps (all, 1));
  quarter = _mm_add_ps (_mm256_castps256_ps128 (half), _mm256_extractf128_ps (half, 1));
  _mm_mask_storeu_ps (to, (__mmask8) ((1u << n) - 1), quarter);
}
#else
/* Limit on the number of bytes of a pixel that are added up in integers. The weighted sum of these
 * bytes fits into 32 bits, even if one lane adds all products. */
#define SQUARES 256

typedef guint8 Bytes __attribute__ ((vector_size (CLEAVE_WORDS)));

/* Returns a vector whose lanes add up to the weighted sum over bytes [begin, end) of a pixel. */
static inline __attribute__ ((always_inline)) CleaveVector
add_some_squares (const CleaveQdq *s, const char *from, guint8 flip, gint64 begin, gint64 end)
{
  const gint16 stands = (gint16) s->stands;
  CleaveIntVector sum = cleave_ints_all (0);

  for (gint64 i = begin; i < end; i += CLEAVE_WORDS)
    {
      Bytes bytes = { 0 }; /* bytes beyond the end of the pixel have coefficient 0 */
      CleaveSignedWords v, by;

      if (end - i >= CLEAVE_WORDS)
        memcpy (&bytes, from + i, sizeof bytes);
      else
        memcpy (&bytes, from + i, (gsize) (end - i));
      memcpy (&by, s->coefficient + i, sizeof by);
      v = __builtin_convertvector(bytes ^ flip, CleaveSignedWords) - stands;
      sum = cleave_ints_add_dot2 (sum, (CleaveIntVector) v, (CleaveIntVector) (v * by));
    }
  return cleave_ints_to_floats (sum);
}

/* Computes the weighted sums over the bytes of `n` pixels. `from` contains the addresses of the
 * pixels. */
static void
add_all_squares (const CleaveQdq *s, const char *const *from, guint8 flip, gint64 n, float *to)
{
  for (gint64 p = 0; p < n; p++)
    {
      CleaveVector sum = { 0 };

      for (gint64 i = 0; i < s->pixel_length; i += SQUARES)
        sum += add_some_squares (s, from[p], flip, i, MIN (i + SQUARES, s->pixel_length));
      to[p] = 0;
      for (gint64 i = 0; i < CLEAVE_LANES; i++)
        to[p] += sum[i];
    }
}
#endif

/* Computes the weighted sum over each of `n` pixels of x. Pixel i is at offset at[i]. `at` NULL:
 * the pixels are adjacent. */
static void
read_pixels (const CleaveByteProduct *product, const char *x, const gint64 *at, gint64 n, float *to)
{
  const CleaveQdq *s = product->qdq;

  for (gint64 i = 0; i < n; i += PIXELS)
    {
      const char *from[PIXELS];

      for (gint64 p = 0; p < PIXELS; p++)
        {
          gint64 pixel = MIN (i + p, n - 1);

          from[p] = x + (at == NULL ? pixel * s->pixel : at[pixel]);
        }
      add_all_squares (s, from, (guint8) product->flip, MIN (PIXELS, n - i), to + i);
    }
}

/* Computes a weighted sum for each pixel of the image of x: the sum over the pixel and over the
 * next n_beside - 1 pixels of the row. One tap reads these n_beside pixels together. */
static void
read_squares (const CleaveByteProduct *product,
              const CleaveByteImage *image,
              gint64 n_rows,
              float *to)
{
  const CleaveQdq *s = product->qdq;
  gint64 n = image->n_columns, reach = cleave_byte_axis_reach (&image->axis[1], n_rows);

  for (gint64 t = 0; t < image->axis[0].n_taps; t++)
    for (gint64 i = 0; i < reach; i++)
      {
        gint64 at = (t * image->n_rows + i) * n;
        float *row = to + at;

        read_pixels (product, product->x + at * s->pixel, NULL, n, row);
        for (gint64 j = 0; j + s->n_beside <= n; j++)
          for (gint64 k = 1; k < s->n_beside; k++)
            row[j] += row[j + k];
      }
}

/* Computes, for each pixel of the result, the sum of `squares` at all pixels of x that the pixel's
 * taps read. */
static void
add_taps (const CleaveQdq *s,
          const CleaveByteImage *image,
          gint64 n_rows,
          const float *squares,
          float *to)
{
  const CleaveAxis *rows = &image->axis[1], *columns = &image->axis[2];

  for (gint64 i = 0; i < n_rows; i++, to += columns->n_y)
    {
      memset (to, 0, (gsize) columns->n_y * sizeof *to);
      for (gint64 t = 0; t < s->n_taps; t++)
        {
          const float *from = squares + i * rows->stride * image->n_columns + s->tap_pixel[t];

          if (columns->stride == 1)
            for (gint64 j = 0; j < columns->n_y; j++)
              to[j] += from[j];
          else
            for (gint64 j = 0; j < columns->n_y; j++)
              to[j] += from[j * columns->stride];
        }
    }
}

void
cleave_qdq_read_norms (const CleaveByteProduct *product,
                       const CleaveByteImage *image,
                       gint64 n_rows)
{
  const CleaveQdq *s = product->qdq;
  CleaveQdqScratch scratch = cleave_qdq_find_scratch (product);
  float *squares = (float *) (void *) scratch.lanes; /* this memory holds the weighted sums first,
                                                        and later the masks of ambiguous lanes */

  if (!s->has_norms)
    {
      memset (scratch.norm, 0, (gsize) product->n_pixels * sizeof *scratch.norm);
      return;
    }
  if (image == NULL)
    read_pixels (product, product->x, product->x_at, product->n_pixels, squares);
  else
    {
      read_squares (product, image, n_rows, scratch.squares);
      add_taps (s, image, n_rows, scratch.squares, squares);
    }
  for (gint64 p = 0; p < product->n_pixels; p++)
    scratch.norm[p] = (guint32) (gint32) ceilf (sqrtf (2 * squares[p]) * s->norm_unit) * 0x10001;
}
