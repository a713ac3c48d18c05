/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What products have in scratch, and the norms of what their pixels read: see written.h. */

#include "written.h"

#include <math.h>
#include <string.h>

/* Scratch. */

gsize
cleave_written_n_scratch (gint64 n_pixels, gint64 n_x)
{
  return (gsize) (4 * (n_pixels + CLEAVE_LANES) + n_x) * 4;
}

CleaveWrittenScratch
cleave_written_find_scratch (const CleaveByteProduct *product)
{
  gint64 n = product->n_pixels_most + CLEAVE_LANES;
  guint32 *norm = product->written_scratch;

  return (CleaveWrittenScratch){ .norm = norm,
                                 .lanes = norm + n,
                                 .doubtful = (gint32 *) (void *) (norm + 2 * n),
                                 .doubtful_lanes = norm + 3 * n,
                                 .squares = (float *) (void *) (norm + 4 * n) };
}

/* Norms. */

/* Weighed squares of a pixel's bytes. */
static float
add_squares (const CleaveWritten *s, const char *from, guint8 flip)
{
  const __m512i less = _mm512_set1_epi16 ((gint16) s->stands);
  const __m256i flips = _mm256_set1_epi8 ((char) flip);
  __m512i sum = _mm512_setzero_si512 ();

  for (gint64 i = 0; i < s->pixel_length; i += 32)
    {
      gint64 left = s->pixel_length - i;
      guint32 rest = left >= 32 ? ~0u : (1u << left) - 1;
      __m256i bytes = _mm256_maskz_loadu_epi8 (rest, from + i) ^ flips;
      __m512i v =
          _mm512_sub_epi16 (_mm512_cvtepu8_epi16 (bytes), less); /* beyond: weighs nothing */

      sum =
          _mm512_dpwssd_epi32 (sum, v, _mm512_mullo_epi16 (v, _mm512_loadu_si512 (s->weight + i)));
    }
  return _mm512_reduce_add_ps (_mm512_cvtepi32_ps (sum));
}

/* Of each pixel of x, with those that lie beside it in a tap. */
static void
read_squares (const CleaveByteProduct *product,
              const CleaveByteImage *image,
              gint64 n_rows,
              float *to)
{
  const CleaveWritten *s = product->written;
  gint64 n = image->n_columns, reach = cleave_byte_axis_reach (&image->axis[1], n_rows);

  for (gint64 t = 0; t < image->axis[0].n_taps; t++)
    for (gint64 i = 0; i < reach; i++)
      {
        float *row = to + (t * image->n_rows + i) * n;
        const char *x = product->x + (t * image->n_rows + i) * n * s->pixel;

        for (gint64 j = 0; j < n; j++)
          row[j] = add_squares (s, x + j * s->pixel, (guint8) product->flip);
        for (gint64 j = 0; j + s->n_beside <= n; j++)
          for (gint64 k = 1; k < s->n_beside; k++)
            row[j] += row[j + k];
      }
}

void
cleave_written_read_norms (const CleaveByteProduct *product,
                           const CleaveByteImage *image,
                           gint64 n_rows)
{
  const CleaveWritten *s = product->written;
  CleaveWrittenScratch scratch = cleave_written_find_scratch (product);

  if (!s->has_norms)
    {
      memset (scratch.norm, 0, (gsize) product->n_pixels * sizeof *scratch.norm);
      return;
    }
  if (image != NULL)
    read_squares (product, image, n_rows, scratch.squares);
  for (gint64 p = 0; p < product->n_pixels; p++)
    {
      const float *squares = scratch.squares + (image == NULL ? 0 : product->x_at[p] / s->pixel);
      float sum = 0;

      if (image == NULL)
        sum = add_squares (s, product->x + product->x_at[p], (guint8) product->flip);
      else
        for (gint64 t = 0; t < s->n_taps; t++)
          sum += squares[s->tap_pixel[t]];
      scratch.norm[p] = (guint32) ceilf (sqrtf (2 * sum) * s->norm_unit) * 0x10001;
    }
}
