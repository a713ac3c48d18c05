/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What sums in whole numbers need to know: see written.h. */

#include "written.h"

#include <math.h>
#include <string.h>

/* Units of a chunk, at most: with 8 the checks take more than what is made again saves. */
#define MAX_CHUNK 16
#define MIN_CHUNK 8
/* Products that are one chunk: with 64 two nets of inverted bottlenecks take 2 to 5 per cent
 * longer. 255 * (MAX_SINGLE / 2 + 2) has 15 bits. */
#define MAX_SINGLE 200
/* Norms of pixels take more than they save of so few products, so few channels, or, where each is
 * for one tap alone, so few columns: 128 of 1x1 to 24 take 0.32 ms with them, and without 0.25. */
#define MAX_COARSE 32
#define MIN_PIXEL 16
#define MIN_COLUMNS 64
#define MAX_PIXEL 8192 /* squares of more may overflow */
#define MAX_LENGTH 32000

/* Columns. */

/* FALSE: beyond what floats do without losing more than they round. */
static gboolean
is_tame (double value)
{
  return fabs (value) >= 0x1p-60 && fabs (value) <= 0x1p60;
}

/* What is added for the products of second order, and for rounding these numbers. */
#define MORE 1.02
#define UNIT 0x1p-24
/* What clamping leaves to bounds, so that they are in doubt if the error is more. */
#define QUARTER 0.25f
#define CLEAVE_BYTE_MOST 256 /* what a result is at most, less its zero point */

void
cleave_written_columns_init (CleaveWrittenColumns *columns, const CleaveWrittenSums *sums, gint64 n)
{
  float **arrays[] = { &columns->factor, &columns->addend, &columns->by_growth, &columns->by_norm,
                       &columns->margin };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    *arrays[i] = g_new0 (float, n);
  columns->by_value =
      (float) (MORE * UNIT * (8 + (sums->n_chunks == 0 ? 2 * (double) sums->half : 0)));
  columns->least = (float) sums->conv->least - QUARTER;
  columns->most = (float) sums->conv->most + QUARTER;
}

gboolean
cleave_written_columns_set (CleaveWrittenColumns *columns,
                            const CleaveWrittenSums *sums,
                            double w_norm,
                            double zero,
                            gint64 channel,
                            gint64 column)
{
  const CleaveWrittenConv *conv = sums->conv;
  double scale = (double) conv->x_scale * conv->w_scale[channel], by = scale / conv->y_scale;
  double bias = fabs ((double) conv->bias[channel] / conv->y_scale);
  double addend = (double) conv->bias[channel] / conv->y_scale + zero * by, rest;
  double length = (double) sums->length + 2 * (double) sums->half + 16;

  if (!is_tame (conv->x_scale) || !is_tame (conv->y_scale) || !is_tame (conv->w_scale[channel]) ||
      !is_tame (scale) || !is_tame (by) || !(bias <= 0x1p30) || !(fabs (addend) <= 0x1p30))
    return FALSE;
  columns->factor[column] = (float) by;
  columns->addend[column] = (float) addend;
  by = MORE * UNIT * fabs (by);
  rest = MORE * UNIT * (bias * length + 8 * fabs (addend)) + 0x1p-22 + by * w_norm * sums->x_norm;
  if (sums->n_chunks > 0)
    {
      double by_growth = by * 2 * (double) sums->half * (1 << CLEAVE_WRITTEN_BITS);

      columns->by_growth[column] = (float) by_growth;
      rest += by_growth * (double) sums->n_chunks + columns->by_value * CLEAVE_BYTE_MOST;
    }
  if (sums->x_norm == 0)
    columns->by_norm[column] = (float) (by * w_norm);
  columns->margin[column] = (float) MAX (0.5 - rest, -1);
  return TRUE;
}

void
cleave_written_columns_clear (CleaveWrittenColumns *columns)
{
  g_free (columns->factor);
  g_free (columns->addend);
  g_free (columns->by_growth);
  g_free (columns->by_norm);
  g_free (columns->margin);
}

/* Preparing. */

static gint8
find_weight (const CleaveWrittenLayout *l, gint64 column, gint64 unit, gint64 e)
{
  const CleaveBytePanels *p = l->panels;
  gint64 n = l->n_taps * cleave_byte_panels_n_units (p);
  gint64 panel = column / CLEAVE_BYTE_PANEL * CLEAVE_BYTE_PANEL;
  gint64 width = MIN (CLEAVE_BYTE_PANEL, p->n_columns - panel);

  return l->packed[(panel * n + unit * width + column - panel) * CLEAVE_QUAD + e];
}

/* Chunks end where pixels do, if they can: then norms of pixels add up to those of what is read. */
static gint64
find_chunk (gint64 n_units, gint64 pixel_length)
{
  for (gint64 chunk = MIN (MAX_CHUNK, n_units); chunk >= MIN_CHUNK; chunk--)
    if (pixel_length % (CLEAVE_QUAD * chunk) == 0)
      return chunk;
  return MIN (MAX_CHUNK, n_units);
}

static gint64
chunks_of_tap (const CleaveWritten *s)
{
  return (s->n_units + s->chunk - 1) / s->chunk;
}

/* Of how many sums between the ends of its chunk an element is, and two. */
static gint64
count_sums (gint64 i, gint64 length)
{
  gint64 half = (length + 1) / 2;

  return 2 + (i < half ? half - i : i - half);
}

/* Elements of pixels weigh what the place in their chunk says, or all as much as the heaviest. */
static void
weigh (CleaveWritten *s, gint64 half, gboolean are_aligned)
{
  gint64 n = s->pixel_length, chunk = s->chunk * CLEAVE_QUAD;

  s->weight = g_new0 (gint16, n + 32);
  for (gint64 i = 0; i < n; i++)
    s->weight[i] =
        (gint16) (are_aligned ? count_sums (i % chunk, MIN (chunk, n - i / chunk * chunk))
                              : half + 2);
}

/* What the zero point of x takes away from a column, and from each chunk of it; returns the norm.
 */
static double
read_column (
    CleaveWritten *s, const CleaveWrittenLayout *l, gint64 heaviest, gint64 c, double *zero)
{
  gint64 length = cleave_byte_panels_length (l->panels);
  double norm = 0;

  for (gint64 u = 0; u < s->n_taps * s->n_units; u++)
    for (gint64 e = 0; e < CLEAVE_QUAD; e++)
      {
        gint64 at = u % s->n_units * CLEAVE_QUAD + e;
        gint64 chunk =
            u / (s->n_units * s->taps_at_once) * chunks_of_tap (s) + u % s->n_units / s->chunk;
        gint32 w = find_weight (l, l->first + c, u, e);
        gint64 weight =
            s->weight != NULL && at < length ? s->weight[at % s->pixel_length] : heaviest;

        norm += (double) (weight * w * w);
        *zero -= s->stands * w;
        if (s->chunk_bias != NULL)
          s->chunk_bias[chunk * s->n_columns + c] -= s->stands * w;
      }
  return sqrt (norm);
}

static void
init_places (CleaveWritten *s, const CleaveWrittenLayout *l)
{
  s->pixel = l->in_place ? 0 : cleave_byte_image_pixel (l->image);
  s->pixel_length = l->group_in;
  s->n_beside = l->panels->n_tap_dims == 3 ? 1 : l->image->axis[2].n_taps;
  s->tap_pixel = g_new (gint64, s->n_taps);
  for (gint64 t = 0; t < s->n_taps; t++)
    s->tap_pixel[t] = l->in_place ? 0 : l->tap_at[t] / s->pixel;
}

static void
init_sums (CleaveWritten *s,
           const CleaveWrittenConv *conv,
           const CleaveWrittenLayout *l,
           CleaveWrittenSums *sums)
{
  gboolean is_one_pixel = s->n_taps * s->n_beside == 1, is_single;
  gint64 heaviest, longest, most = MAX (abs (s->stands), abs (255 - s->stands));

  *sums = (CleaveWrittenSums){ .conv = conv, .length = s->n_taps * s->n_units * CLEAVE_QUAD };
  is_single = sums->length <= MAX_SINGLE;
  s->chunk = is_single ? MAX (s->n_units, 1) : find_chunk (s->n_units, s->pixel_length);
  s->taps_at_once = is_single ? s->n_taps : MAX (MAX_CHUNK / s->n_units, 1);
  s->n_chunks =
      is_single ? 0 : (s->n_taps + s->taps_at_once - 1) / s->taps_at_once * chunks_of_tap (s);
  longest = is_single ? sums->length : s->taps_at_once * s->chunk * CLEAVE_QUAD;
  sums->n_chunks = s->n_chunks;
  sums->half = (longest + 1) / 2;
  heaviest = sums->half + 2;
  s->has_norms =
      sums->length > MAX_COARSE && s->pixel_length >= MIN_PIXEL && s->pixel_length <= MAX_PIXEL;
  s->kind = !is_single     ? CLEAVE_WRITTEN_GROWTH
            : s->has_norms ? CLEAVE_WRITTEN_NORMS
                           : CLEAVE_WRITTEN_CONSTANT;
  if (s->has_norms)
    weigh (s, sums->half, is_one_pixel || s->pixel_length % longest == 0);
  else
    sums->x_norm = (double) most * sqrt ((double) (heaviest * sums->length));
}

CleaveWritten *
cleave_written_new (const CleaveWrittenConv *conv, const CleaveWrittenLayout *l)
{
  CleaveWritten *s = g_new0 (CleaveWritten, 1);
  CleaveWrittenSums sums;
  gboolean fits;

  s->n_taps = l->n_taps;
  s->n_units = cleave_byte_panels_n_units (l->panels);
  s->stands = conv->x_zero + (l->image->element == CLEAVE_INT8 ? 128 : 0);
  s->n_columns = l->n + CLEAVE_BYTE_PANEL;
  s->x_scale = conv->x_scale;
  s->y_scale = conv->y_scale;
  s->y_zero = conv->y_zero;
  s->least = conv->least;
  s->most = conv->most;
  init_places (s, l);
  init_sums (s, conv, l, &sums);
  s->w_scale = g_new0 (float, s->n_columns);
  s->bias = g_new0 (float, s->n_columns);
  memcpy (s->w_scale, conv->w_scale, (gsize) l->n * sizeof (float));
  memcpy (s->bias, conv->bias, (gsize) l->n * sizeof (float));
  if (s->stands != 0 && s->n_chunks > 0)
    s->chunk_bias = g_new0 (gint32, s->n_columns * s->n_chunks);
  cleave_written_columns_init (&s->columns, &sums, s->n_columns);
  fits = sums.length > 0 && sums.length <= MAX_LENGTH;
  for (gint64 c = 0; fits && c < l->n; c++)
    {
      double zero = 0, norm = read_column (s, l, sums.half + 2, c, &zero);

      fits =
          cleave_written_columns_set (&s->columns, &sums, norm, s->n_chunks > 0 ? 0 : zero, c, c);
    }
  if (fits)
    return s;
  cleave_written_free (s);
  return NULL;
}

void
cleave_written_free (CleaveWritten *s)
{
  if (s == NULL)
    return;
  cleave_written_columns_clear (&s->columns);
  g_free (s->chunk_bias);
  g_free (s->weight);
  g_free (s->tap_pixel);
  g_free (s->w_scale);
  g_free (s->bias);
  g_free (s);
}

/* Scratch. */

gsize
cleave_written_n_scratch (gint64 n_pixels, gint64 n_x)
{
  return (gsize) (3 * n_pixels + 2 + n_x) * 4;
}

CleaveWrittenScratch
cleave_written_find_scratch (const CleaveByteProduct *product)
{
  gint64 n = product->n_pixels_most;
  float *norm = product->written_scratch;

  return (CleaveWrittenScratch){ norm, (gint32 *) (void *) (norm + n),
                                 (guint32 *) (void *) (norm + 2 * n + 1), norm + 3 * n + 2 };
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
      memset (scratch.norm, 0, (gsize) product->n_pixels * sizeof (float));
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
      scratch.norm[p] = sqrtf (sum);
    }
}
