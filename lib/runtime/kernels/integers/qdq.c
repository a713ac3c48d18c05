/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the constants of the error bounds of a convolution (qdq.h). Long sums are cut into
 * chunks of dot-4 groups. The partial sum after a chunk is a checkpoint: its magnitude is a term of
 * the error bound. */

#include "qdq.h"

#include <math.h>
#include <string.h>

/* Largest number of dot-4 groups between two checkpoints of a sum. With a limit of 16, more sums
 * are recomputed, which takes 1 % of the time of a residual network. With a limit of 4, the
 * additional checkpoints take 3 % of the time.
 *
 * Levels other than AVX-512 add the magnitudes at checkpoints as integers. If these integers could
 * overflow, chunks are doubled, up to MAX_LONG_CHUNK groups, so that there are fewer checkpoints.
 * MAX_LONG_CHUNK is 64 because qdq-norms.c multiplies bytes by half of a coefficient c (qdq.h) in
 * 16 bits. A chunk of 64 groups has 256 products, so c is at most 256 / 2 + 2 = 130, and 130 / 2 *
 * 255 is 16,575. */
#define MAX_CHUNK 8
#define MAX_LONG_CHUNK 64
/* The number of products of a sum decides the terms of its error bound (qdq.h). Up to MAX_COARSE
 * products, the bound is a constant: norms of pixels would take more time to compute than they
 * save. A network of inverted bottlenecks takes 7 % longer with a limit of 32, and 4 % longer with
 * a limit of 128. Up to MAX_SINGLE products, the bound has a term for the norm of the pixel; limits
 * of 64 and 200 are equally fast. Sums of more products have checkpoints.
 *
 * In two other cases, runs also compute no norms. In the first case, a pixel has fewer than
 * MIN_PIXEL channels. In the second case, the convolution has fewer than MIN_COLUMNS columns, and
 * each norm of a pixel of x serves only one tap. Example of the second case: a 1x1 convolution of
 * 128 to 24 channels takes 0.32 ms with norms, 0.25 ms without. */
#define MAX_COARSE 64
#define MAX_SINGLE 128
#define MIN_PIXEL 16
#define MIN_COLUMNS 64
/* Largest size of a pixel in bytes; the sum of squares of more bytes may overflow. */
#define MAX_PIXEL 8192
#define MAX_LENGTH 32000

/* Returns the address of a column's first dot-4 group, which is four weights. Sets `step` to the
 * distance of adjacent groups of the column, in bytes. */
static const gint8 *
find_column (const CleaveQdqLayout *l, gint64 column, gint64 *step)
{
  const CleaveBytePanels *p = l->panels;
  gint64 n = l->n_taps * cleave_byte_panels_n_units (p);
  gint64 panel = column / CLEAVE_BYTE_PANEL * CLEAVE_BYTE_PANEL;

  *step = MIN (CLEAVE_BYTE_PANEL, p->n_columns - panel) * CLEAVE_DOT4;
  return l->packed + (panel * n + column - panel) * CLEAVE_DOT4;
}

/* Returns the number of dot-4 groups between two checkpoints (a chunk), at most `most`. Prefers
 * chunks that divide the pixel_length elements of a pixel evenly. The coefficient c of an element
 * (qdq.h) then depends only on the position of the element in the pixel. */
static gint64
find_chunk (gint64 n_units, gint64 pixel_length, gint64 most)
{
  for (gint64 chunk = MIN (most, n_units); chunk >= most / 2; chunk--)
    if (pixel_length % (CLEAVE_DOT4 * chunk) == 0)
      return chunk;
  return MIN (most, n_units);
}

static gint64
chunks_of_tap (const CleaveQdq *s)
{
  return (s->n_units + s->chunk - 1) / s->chunk;
}

/* Returns the coefficient c (qdq.h) of product i of a chunk of `length` products. If the sum is not
 * cut into chunks, the chunk is the whole sum. */
static gint64
find_coefficient (const CleaveQdq *s, gint64 i, gint64 length)
{
  gint64 half = (length + 1) / 2;

  if (s->n_chunks == 0)
    return length - i + 2;
  return 2 + (i < half ? half - i : i - half);
}

/* Returns the largest coefficient c (qdq.h) of any product. `longest`: number of products of the
 * longest chunk, or of the whole sum if the sum is not cut into chunks. */
static gint64
largest_coefficient (const CleaveQdq *s, gint64 longest)
{
  return s->n_chunks == 0 ? longest + 2 : (longest + 1) / 2 + 2;
}

/* Sets the coefficient c (qdq.h) of each element of a pixel. `are_aligned`: each pixel begins with
 * a new chunk, so that the coefficient depends on the element's position in the chunk. Otherwise
 * all elements get the largest coefficient. */
static void
set_coefficients (CleaveQdq *s, gint64 longest, gboolean are_aligned)
{
  gint64 n = s->pixel_length, chunk = s->chunk * CLEAVE_DOT4;

  s->coefficient = g_new0 (gint16, n + 32);
  for (gint64 i = 0; i < n; i++)
    {
      gint64 length = s->n_chunks == 0 ? longest : MIN (chunk, n - i / chunk * chunk);
      gint64 c =
          are_aligned ? find_coefficient (s, i % chunk, length) : largest_coefficient (s, longest);

      s->coefficient[i] = (gint16) ((c + 1) / 2);
    }
}

/* Returns the number of dot-4 groups in the chunk that contains group `unit`. Sets `at` to the
 * index of the group within its chunk, and `chunk` to the index of the chunk. */
static gint64
find_chunk_of (const CleaveQdq *s, gint64 unit, gint64 *at, gint64 *chunk)
{
  gint64 tap = unit / s->n_units, first = tap / s->taps_at_once * s->taps_at_once;
  gint64 in_tap = unit % s->n_units;

  *chunk = tap / s->taps_at_once * chunks_of_tap (s) + in_tap / s->chunk;
  *at = s->taps_at_once > 1 ? unit - first * s->n_units : in_tap % s->chunk;
  return s->taps_at_once > 1 ? MIN (s->taps_at_once, s->n_taps - first) * s->n_units
                             : MIN (s->chunk, s->n_units - in_tap + *at);
}

static void
read_unit (CleaveQdq *s, const gint8 *w, gint64 unit, gint64 c, gint64 n, CleaveQdqColumn *column)
{
  gint64 at, chunk, length = find_chunk_of (s, unit, &at, &chunk), sum = 0;
  gint64 stands = s->stands - CLEAVE_DOT4_OFFSET;

  for (gint64 e = 0; e < CLEAVE_DOT4; e++)
    {
      gint64 place = unit % s->n_units * CLEAVE_DOT4 + e;

      if (s->coefficient == NULL)
        column->norm += (double) (find_coefficient (s, at * CLEAVE_DOT4 + e, length * CLEAVE_DOT4) *
                                  abs (w[e]));
      else if (place < n)
        column->norm += (double) (2 * s->coefficient[place % s->pixel_length] * w[e] * w[e]);
      column->most += abs (w[e]);
      sum += w[e];
    }
  column->zero -= (double) (stands * sum);
  if (s->chunk_bias != NULL)
    s->chunk_bias[chunk * s->n_columns + c] -= (gint32) (stands * sum);
}

static gint64
find_x_most (const CleaveQdq *s)
{
  return MAX (abs (s->stands), abs (255 - s->stands));
}

static CleaveQdqColumn
read_column (CleaveQdq *s, const CleaveQdqLayout *l, gint64 c)
{
  CleaveQdqColumn column = { 0 };
  gint64 step, n = cleave_byte_panels_length (l->panels);
  const gint8 *w = find_column (l, l->first + c, &step);

  for (gint64 u = 0; u < s->n_taps * s->n_units; u++, w += step)
    read_unit (s, w, u, c, n, &column);
  if (s->coefficient != NULL)
    column.norm = sqrt (column.norm);
  column.most *= (double) find_x_most (s);
  if (s->n_chunks > 0)
    column.zero = 0; /* with chunks, no number is added to a whole sum: a kernel adds `chunk_bias`
                        at the begin of each chunk. `chunk_bias` is minus the zero point, times
                        the sum of the chunk's weights */
  return column;
}

static void
init_places (CleaveQdq *s, const CleaveQdqLayout *l)
{
  s->pixel = l->in_place ? 0 : cleave_byte_image_pixel (l->image);
  s->pixel_length = l->group_in;
  s->n_beside = l->panels->n_tap_dims == 3 ? 1 : l->image->axis[2].n_taps;
  s->tap_pixel = g_new (gint64, s->n_taps);
  for (gint64 t = 0; t < s->n_taps; t++)
    s->tap_pixel[t] = l->in_place ? 0 : l->tap_at[t] / s->pixel;
}

static void
init_norms (CleaveQdq *s, CleaveQdqSums *sums, gint64 longest)
{
  gboolean is_one_pixel = s->n_taps * s->n_beside == 1;
  double most = (double) find_x_most (s), total = 0;

  if (!s->has_norms)
    {
      sums->x_norm = most;
      return;
    }
  set_coefficients (s, longest,
                    is_one_pixel || (s->n_chunks > 0 && s->pixel_length % longest == 0));
  for (gint64 i = 0; i < s->pixel_length; i++)
    total += 2 * s->coefficient[i];
  sums->x_norm_most = most * sqrt (total * (double) (s->n_taps * s->n_beside)) * CLEAVE_QDQ_MORE;
  s->norm_unit = (float) (G_MAXUINT16 / sums->x_norm_most);
}

static gboolean
needs_norms (const CleaveQdq *s, gint64 length)
{
  return length > MAX_COARSE && s->pixel_length >= MIN_PIXEL && s->pixel_length <= MAX_PIXEL &&
         (s->n_taps * s->n_beside > 1 || s->n_columns - CLEAVE_BYTE_PANEL >= MIN_COLUMNS);
}

static void
init_sums (CleaveQdq *s, const CleaveQdqConv *conv, gint64 max_chunk, CleaveQdqSums *sums)
{
  gint64 length = s->n_taps * s->n_units * CLEAVE_DOT4, longest;
  gboolean is_single;

  s->has_norms = needs_norms (s, length);
  is_single = length <= (s->has_norms ? MAX_SINGLE : MAX_COARSE);
  s->chunk = is_single ? MAX (s->n_units, 1) : find_chunk (s->n_units, s->pixel_length, max_chunk);
  s->taps_at_once = is_single ? s->n_taps : CLAMP (max_chunk / s->n_units, 1, s->n_taps);
  s->n_chunks =
      is_single ? 0 : (s->n_taps + s->taps_at_once - 1) / s->taps_at_once * chunks_of_tap (s);
  longest = is_single ? length : s->taps_at_once * s->chunk * CLEAVE_DOT4;
  *sums = (CleaveQdqSums){ .conv = conv,
                           .length = length,
                           .half = is_single ? 0 : (longest + 1) / 2,
                           .n_chunks = s->n_chunks };
  init_norms (s, sums, longest);
  s->kind = !is_single ? CLEAVE_QDQ_GROWTH : s->has_norms ? CLEAVE_QDQ_NORMS : CLEAVE_QDQ_CONSTANT;
}

/* Sets the constants of all columns. Returns FALSE if scales or sums are too large or too small for
 * the error bound (qdq.h). Sets `overflows` to TRUE if the growth of a sum (the total of its
 * magnitudes at the checkpoints) may exceed CLEAVE_QDQ_GROWTH_MOST. */
static gboolean
set_columns (CleaveQdq *s, const CleaveQdqLayout *l, const CleaveQdqSums *sums, gboolean *overflows)
{
  gboolean fits = sums->length > 0 && sums->length <= MAX_LENGTH;

  *overflows = FALSE;
  for (gint64 c = 0; fits && c < l->n; c++)
    {
      CleaveQdqColumn column = read_column (s, l, c);

      *overflows =
          *overflows || column.most * (double) s->n_chunks > (double) CLEAVE_QDQ_GROWTH_MOST;
      fits = cleave_qdq_columns_set (&s->columns, sums, column, c, c) && !*overflows;
    }
  return fits;
}

/* Computes all constants of a convolution, with chunks of at most `max_chunk` dot-4 groups. Returns
 * NULL if set_columns() returns FALSE. `overflows` gets its value from set_columns(). */
static CleaveQdq *
make (const CleaveQdqConv *conv, const CleaveQdqLayout *l, gint64 max_chunk, gboolean *overflows)
{
  CleaveQdq *s = g_new0 (CleaveQdq, 1);
  CleaveQdqSums sums;

  s->n_taps = l->n_taps;
  s->n_units = cleave_byte_panels_n_units (l->panels);
  s->stands = conv->x_zero + (l->image->element == CLEAVE_INT8 ? 128 : 0);
  s->n_columns = l->n + CLEAVE_BYTE_PANEL;
  s->bias_is_last = conv->is_product;
  s->x_scale = conv->x_scale;
  s->y_scale = conv->y_scale;
  s->y_zero = conv->y_zero;
  s->least = conv->least;
  s->most = conv->most;
  init_places (s, l);
  init_sums (s, conv, max_chunk, &sums);
  s->w_scale = g_new0 (float, s->n_columns);
  s->bias = g_new0 (float, s->n_columns);
  memcpy (s->w_scale, conv->w_scale, (gsize) l->n * sizeof (float));
  memcpy (s->bias, conv->bias, (gsize) l->n * sizeof (float));
  if (s->stands != CLEAVE_DOT4_OFFSET && s->n_chunks > 0)
    s->chunk_bias = g_new0 (gint32, s->n_columns * s->n_chunks);
  cleave_qdq_columns_init (&s->columns, &sums, s->n_columns);
  if (set_columns (s, l, &sums, overflows))
    return s;
  cleave_qdq_free (s);
  return NULL;
}

CleaveQdq *
cleave_qdq_new (const CleaveQdqConv *conv, const CleaveQdqLayout *l)
{
  CleaveQdq *s = NULL;
  gboolean overflows = TRUE;

  for (gint64 n = MAX_CHUNK; s == NULL && overflows && n <= MAX_LONG_CHUNK; n *= 2)
    s = make (conv, l, n, &overflows);
  return s;
}

void
cleave_qdq_free (CleaveQdq *s)
{
  if (s == NULL)
    return;
  cleave_qdq_columns_clear (&s->columns);
  g_free (s->chunk_bias);
  g_free (s->coefficient);
  g_free (s->tap_pixel);
  g_free (s->w_scale);
  g_free (s->bias);
  g_free (s);
}

void
cleave_qdq_add_memory (const CleaveQdq *s, GArray *lines)
{
  cleave_memory_lines_add (lines, s, sizeof *s);
  cleave_qdq_columns_add_memory (&s->columns, lines);
  cleave_memory_lines_add (lines, s->chunk_bias,
                           (gsize) (s->n_columns * s->n_chunks) * sizeof *s->chunk_bias);
  cleave_memory_lines_add (lines, s->tap_pixel, (gsize) s->n_taps * sizeof *s->tap_pixel);
}
