/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions of dequantised bytes, quantised, with the bits of the sum in floats; most of it in
 * whole numbers.
 *
 * The sum in floats begins with the bias b and adds one product p = x' * w' after the other, x' and
 * w' the dequantised bytes; let u be 2^-24, s the sums without rounding of the products of bytes,
 * and units those of x_scale * w_scale.  Each step rounds once, by at most u times what it makes:
 *
 *   |error| <= u * sum of |s_i + b| * (1 + K u ...) + 2 u * sum of |x||w|,
 *
 * the last since x' and w' were rounded.  Sums s are whole numbers, and known at checkpoints P, one
 * after each chunk of at most L products; a sum in between differs from that at the nearer end of
 * its chunk by at most |x||w|, of the vectors of half a chunk (Cauchy and Schwarz).  There are at
 * most h = (L + 1) / 2 sums in each half, and the norms of the parts, times each other, add up to
 * no more than N = |x||w| of all:
 *
 *   sum of |s_i| <= 2 h * sum of |P| + h N.
 *
 * What follows (bounds, division, rounding) never makes less of more, so that where both ends of
 * the error lead to one byte, so does the sum.  Where they do not, that sum is made in floats: of
 * vectors of 16 sums of 64 to 2304 products 2 to 11 %.
 *
 * Over 400 lines: what is proved here is what the code below relies on, number by number. */

#include "written.h"

#include <math.h>
#include <string.h>

#define CHUNK 16 /* units.  With 8 the checks take more than what is made again saves. */
#define PIXELS 4 /* at once: each has two vectors of sums and two of checkpoints */
#define GROWTH 8 /* bits that sums of checkpoints do without, so that none overflows */
#define AGAIN 8  /* pixels at once in floats */
#define MAX_LENGTH 32000
/* Shorter sums are as fast in floats: with 16 to 32 products they take 0.6 to 1.0 of this, with 64
 * and more 1.2 to 1.7 times as long. */
#define MIN_LENGTH 48

struct _CleaveWritten
{
  gint64 n_taps, n_units, n_chunks;
  gint32 stands;                           /* for the zero point of x */
  gint32 *chunk_bias;                      /* of each chunk, of each column; NULL: all are 0 */
  gint64 n_columns;                        /* with room for a panel more */
  float *factor, *addend;                  /* from sums to the result, before it is rounded */
  float *by_growth, *by_norm, *by_nothing; /* the error */
  float *w_scale, *bias;
  float x[256]; /* dequantised */
  float y_scale;
  gint32 y_zero, least, most;
};

/* What a product has in scratch: of each pixel the norm of what it reads, and those with columns in
 * doubt. */
typedef struct
{
  float *norm;
  gint32 *pixel;
  guint32 *lanes;
} Scratch;

static Scratch
find_scratch (const CleaveByteProduct *product)
{
  gint64 n = product->n_pixels_most;
  float *norm = product->written_scratch;

  return (Scratch){ norm, (gint32 *) (void *) (norm + n), (guint32 *) (void *) (norm + 2 * n) };
}

gsize
cleave_written_n_scratch (gint64 n_pixels)
{
  return (gsize) n_pixels * 12;
}

/* Preparing. */

static gint8
find_weight (const CleaveBytePanels *p, const gint8 *packed, gint64 column, gint64 unit, gint64 e)
{
  gint64 n = cleave_byte_panels_n_taps (p) * cleave_byte_panels_n_units (p);
  gint64 panel = column / CLEAVE_BYTE_PANEL * CLEAVE_BYTE_PANEL;
  gint64 width = MIN (CLEAVE_BYTE_PANEL, p->n_columns - panel);

  return packed[(panel * n + unit * width + column - panel) * CLEAVE_QUAD + e];
}

static gint64
chunks_of_tap (gint64 n_units)
{
  return (n_units + CHUNK - 1) / CHUNK;
}

/* What the zero point of x takes away from each chunk of a column; returns the norm. */
static double
read_column (
    CleaveWritten *s, const CleaveBytePanels *p, const gint8 *packed, gint64 column, gint64 c)
{
  double norm = 0;

  for (gint64 u = 0; u < s->n_taps * s->n_units; u++)
    for (gint64 e = 0; e < CLEAVE_QUAD; e++)
      {
        gint64 chunk = u / s->n_units * chunks_of_tap (s->n_units) + u % s->n_units / CHUNK;
        gint32 w = find_weight (p, packed, column, u, e);

        norm += w * w;
        if (s->chunk_bias != NULL)
          s->chunk_bias[chunk * s->n_columns + c] -= s->stands * w;
      }
  return sqrt (norm);
}

/* FALSE: beyond what floats do without losing more than they round. */
static gboolean
is_tame (double value)
{
  return fabs (value) >= 0x1p-60 && fabs (value) <= 0x1p60;
}

/* What is added for the products of second order, and for rounding these numbers. */
#define MORE 1.02
#define UNIT 0x1p-24

static gboolean
read_errors (CleaveWritten *s, const CleaveWrittenConv *conv, double norm, gint64 length, gint64 c)
{
  double by = (double) conv->x_scale * conv->w_scale[c] / conv->y_scale;
  double bias = fabs ((double) conv->bias[c] / conv->y_scale);
  double half = (double) ((MIN (CHUNK, s->n_units) * CLEAVE_QUAD + 1) / 2);

  if (!is_tame (conv->w_scale[c]) || !is_tame ((double) conv->x_scale * conv->w_scale[c]) ||
      !is_tame (by) || !(bias <= 0x1p30))
    return FALSE;
  s->factor[c] = (float) by;
  s->addend[c] = (float) ((double) conv->bias[c] / conv->y_scale);
  s->by_growth[c] = (float) (MORE * UNIT * fabs (by) * 2 * half * (1 << GROWTH));
  s->by_norm[c] = (float) (MORE * UNIT * fabs (by) * (half + 2) * norm);
  s->by_nothing[c] = (float) (MORE * UNIT * bias * ((double) length + 8) + 0x1p-40) +
                     s->by_growth[c] * (float) s->n_chunks;
  s->w_scale[c] = conv->w_scale[c];
  s->bias[c] = conv->bias[c];
  return TRUE;
}

static void
init_arrays (CleaveWritten *s)
{
  float **arrays[] = { &s->factor,     &s->addend,  &s->by_growth, &s->by_norm,
                       &s->by_nothing, &s->w_scale, &s->bias };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    *arrays[i] = g_new0 (float, s->n_columns);
  if (s->stands != 0)
    s->chunk_bias = g_new0 (gint32, s->n_columns * s->n_chunks);
}

CleaveWritten *
cleave_written_new (const CleaveWrittenConv *conv,
                    CleaveElement x,
                    const CleaveBytePanels *panels,
                    const gint8 *packed,
                    gint64 first,
                    gint64 n,
                    gint64 n_taps)
{
  CleaveWritten *s = g_new0 (CleaveWritten, 1);
  gint64 length = n_taps * cleave_byte_panels_n_units (panels) * CLEAVE_QUAD;
  gboolean fits = length >= MIN_LENGTH && length <= MAX_LENGTH && is_tame (conv->x_scale) &&
                  is_tame (conv->y_scale);

  s->n_taps = n_taps;
  s->n_units = cleave_byte_panels_n_units (panels);
  s->n_chunks = n_taps * chunks_of_tap (s->n_units);
  s->stands = conv->x_zero + (x == CLEAVE_INT8 ? 128 : 0);
  s->n_columns = n + CLEAVE_BYTE_PANEL;
  s->y_scale = conv->y_scale;
  s->y_zero = conv->y_zero;
  s->least = conv->least;
  s->most = conv->most;
  init_arrays (s);
  for (gint32 i = 0; i < 256; i++)
    s->x[i] = (float) (i - s->stands) * conv->x_scale;
  for (gint64 c = 0; fits && c < n; c++)
    fits = read_errors (s, conv, read_column (s, panels, packed, first + c, c), length, c);
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
  g_free (s->chunk_bias);
  g_free (s->factor);
  g_free (s->addend);
  g_free (s->by_growth);
  g_free (s->by_norm);
  g_free (s->by_nothing);
  g_free (s->w_scale);
  g_free (s->bias);
  g_free (s);
}

/* Running. */

/* Of `n` bytes, each less `stands`. */
static gint32
add_squares (const guint8 *from, gint64 n, guint8 flip, gint16 stands)
{
  const __m512i less = _mm512_set1_epi16 (stands);
  const __m256i flips = _mm256_set1_epi8 ((char) flip);
  __m512i sum = _mm512_setzero_si512 ();

  for (gint64 i = 0; i < n; i += 32)
    {
      guint32 rest = n - i >= 32 ? ~0u : (1u << (n - i)) - 1;
      __m256i bytes = _mm256_maskz_loadu_epi8 (rest, from + i) ^ flips;
      __m512i v = _mm512_maskz_sub_epi16 (rest, _mm512_cvtepu8_epi16 (bytes), less);

      sum = _mm512_dpwssd_epi32 (sum, v, v);
    }
  return _mm512_reduce_add_epi32 (sum);
}

void
cleave_written_read_norms (const CleaveByteProduct *product)
{
  const CleaveWritten *s = product->written;
  Scratch scratch = find_scratch (product);
  gint64 length = cleave_byte_panels_length (product->panels);

  for (gint64 p = 0; p < product->n_pixels; p++)
    {
      gint32 sum = 0;

      for (gint64 t = 0; t < s->n_taps; t++)
        sum += add_squares ((const guint8 *) product->x + product->x_at[p] + product->tap_at[t],
                            length, (guint8) product->flip, (gint16) s->stands);
      scratch.norm[p] = sqrtf ((float) sum);
    }
}

enum { FACTOR, ADDEND, BY_GROWTH, BY_NORM, BY_NOTHING, N_NUMBERS };

typedef struct
{
  const CleaveWritten *s;
  const CleaveByteProduct *product;
  Scratch scratch;
  gint64 n_doubtful;
  const gint8 *w;
  gint64 w_step, column, n; /* columns */
  guint32 mask;             /* of the lanes that are columns */
  gboolean is_signed;
  float numbers[2][N_NUMBERS][CLEAVE_LANES]; /* of the columns of each vector */
} Panel;

/* From sums and what they grew by to bytes, less the zero point; returns the lanes in doubt. */
static inline __attribute__ ((always_inline)) guint32
finish (const Panel *panel, __m512i *sum, __m512i growth, float norm, int v)
{
  const CleaveWritten *s = panel->s;
  const float (*numbers)[CLEAVE_LANES] = panel->numbers[v];
  const __m512i least = _mm512_set1_epi32 (s->least), most = _mm512_set1_epi32 (s->most);
  __m512 f = _mm512_fmadd_ps (_mm512_cvtepi32_ps (*sum), _mm512_loadu_ps (numbers[FACTOR]),
                              _mm512_loadu_ps (numbers[ADDEND]));
  __m512 error = _mm512_fmadd_ps (_mm512_cvtepi32_ps (growth), _mm512_loadu_ps (numbers[BY_GROWTH]),
                                  _mm512_loadu_ps (numbers[BY_NOTHING]));
  __m512i low, high;

  error = _mm512_fmadd_ps (_mm512_set1_ps (norm), _mm512_loadu_ps (numbers[BY_NORM]), error);
  error = _mm512_fmadd_ps (_mm512_abs_ps (f), _mm512_set1_ps (8 * (float) UNIT), error);
  f = _mm512_min_ps (f, _mm512_set1_ps (CLEAVE_BYTE_BOUND));
  low = _mm512_cvtps_epi32 (_mm512_sub_ps (f, error));
  high = _mm512_cvtps_epi32 (
      _mm512_min_ps (_mm512_add_ps (f, error), _mm512_set1_ps (2 * CLEAVE_BYTE_BOUND)));
  low = _mm512_min_epi32 (_mm512_max_epi32 (low, least), most);
  high = _mm512_min_epi32 (_mm512_max_epi32 (high, least), most);
  *sum = low;
  return _mm512_cmpneq_epi32_mask (low, high);
}

static inline __attribute__ ((always_inline)) void
add_units (const Panel *panel, gint64 pixel, int pixels, int vectors, __m512i *sum, __m512i *growth)
{
  const CleaveByteProduct *product = panel->product;
  const CleaveWritten *s = panel->s;
  const __m512i flip = _mm512_set1_epi32 (product->flip);
  const gint32 *chunk_bias = s->chunk_bias == NULL ? NULL : s->chunk_bias + panel->column;
  const gint64 *tap_at = product->tap_at;
  const gint8 *w = panel->w;
  gint64 w_step = panel->w_step, n_taps = s->n_taps, tap_bytes = 4 * s->n_units;
  const char *from[PIXELS];

  CLEAVE_EACH (p, pixels)
    from[p] = product->x + product->x_at[pixel + p];
  for (gint64 t = 0; t < n_taps; t++)
    for (gint64 at = tap_at[t], end = at + tap_bytes; at < end;)
      {
        gint64 chunk_end = MIN (at + 4 * CHUNK, end);

        if (chunk_bias != NULL)
          {
            CLEAVE_EACH (i, pixels * 2)
              if (i % 2 < vectors)
                sum[i] = _mm512_add_epi32 (sum[i],
                                           _mm512_loadu_si512 (chunk_bias + i % 2 * CLEAVE_LANES));
            chunk_bias += s->n_columns;
          }
        for (; at < chunk_end; at += 4, w += w_step)
          {
            __m512i by[2];

            CLEAVE_EACH (v, vectors)
              by[v] = _mm512_loadu_si512 (w + v * CLEAVE_QUAD * CLEAVE_LANES);
            CLEAVE_EACH (p, pixels)
              {
                __m512i unit = cleave_ints_unit (from[p] + at) ^ flip;

                CLEAVE_EACH (v, vectors)
                  sum[p * 2 + v] = _mm512_dpbusd_epi32 (sum[p * 2 + v], unit, by[v]);
              }
          }
        CLEAVE_EACH (i, pixels * 2)
          if (i % 2 < vectors)
            growth[i] =
                _mm512_add_epi32 (growth[i], _mm512_srli_epi32 (_mm512_abs_epi32 (sum[i]), GROWTH));
      }
}

static inline __attribute__ ((always_inline)) void
run_block (Panel *panel, gint64 pixel, int pixels, int vectors)
{
  const CleaveByteProduct *product = panel->product;
  const gint64 *y_at = product->y_at + pixel;
  const float *norm = panel->scratch.norm + pixel;
  char *y = product->y + panel->column;
  gint32 zero = panel->s->y_zero;
  __m512i sum[PIXELS * 2] = { 0 }, growth[PIXELS * 2] = { 0 };

  add_units (panel, pixel, pixels, vectors, sum, growth);
  CLEAVE_EACH (p, pixels)
    {
      guint8 bytes[CLEAVE_BYTE_PANEL];
      guint32 lanes = finish (panel, &sum[p * 2], growth[p * 2], norm[p], 0);

      if (vectors == 2)
        lanes |= finish (panel, &sum[p * 2 + 1], growth[p * 2 + 1], norm[p], 1) << CLEAVE_LANES;
      cleave_ints_narrow (sum[p * 2], sum[p * 2 + 1], zero, panel->is_signed, bytes);
      cleave_bytes_store (y + y_at[p], bytes, panel->n);
      lanes &= panel->mask;
      if (lanes != 0)
        {
          panel->scratch.pixel[panel->n_doubtful] = (gint32) pixel + p;
          panel->scratch.lanes[panel->n_doubtful++] = lanes;
        }
    }
}

static void
run_blocks (Panel *panel, int vectors)
{
  gint64 n = panel->product->n_pixels, pixel = 0;

  for (; pixel + PIXELS <= n; pixel += PIXELS)
    if (vectors == 2)
      run_block (panel, pixel, PIXELS, 2);
    else
      run_block (panel, pixel, PIXELS, 1);
  for (gint64 at_once; pixel < n; pixel += at_once)
    {
      at_once = n - pixel > 2 ? 3 : 1;
      if (at_once == 3 && vectors == 2)
        run_block (panel, pixel, 3, 2);
      else if (at_once == 3)
        run_block (panel, pixel, 3, 1);
      else if (vectors == 2)
        run_block (panel, pixel, 1, 2);
      else
        run_block (panel, pixel, 1, 1);
    }
}

/* In floats. */

/* Sums of one vector of columns, in their order. */
static inline __attribute__ ((always_inline)) void
add_again (const Panel *panel, int v, const guint8 *const *from, int n, __m512 *sum)
{
  const CleaveByteProduct *product = panel->product;
  const CleaveWritten *s = panel->s;
  const gint8 *w = panel->w + v * CLEAVE_QUAD * CLEAVE_LANES;
  const __m512 scale = _mm512_loadu_ps (s->w_scale + panel->column + v * CLEAVE_LANES);
  const guint8 flip = (guint8) product->flip;

  CLEAVE_EACH (i, n)
    sum[i] = _mm512_loadu_ps (s->bias + panel->column + v * CLEAVE_LANES);
  for (gint64 t = 0; t < s->n_taps; t++)
    for (gint64 at = product->tap_at[t], end = at + 4 * s->n_units; at < end;
         at += 4, w += panel->w_step)
      {
        __m512i quads = _mm512_loadu_si512 (w);

        CLEAVE_EACH (e, 4)
          {
            __m512i bytes = _mm512_srai_epi32 (_mm512_slli_epi32 (quads, (guint) (24 - 8 * e)), 24);
            __m512 by = _mm512_mul_ps (_mm512_cvtepi32_ps (bytes), scale);

            CLEAVE_EACH (i, n)
              sum[i] = _mm512_fmadd_ps (_mm512_set1_ps (s->x[from[i][at + e] ^ flip]), by, sum[i]);
          }
      }
}

/* Up to AGAIN of those in doubt. */
static void
run_again (const Panel *panel, int v, const gint64 *which, gint64 n)
{
  const CleaveByteProduct *product = panel->product;
  const CleaveWritten *s = panel->s;
  const guint8 *from[AGAIN];
  __m512 sum[AGAIN];

  for (int i = 0; i < AGAIN; i++)
    from[i] =
        (const guint8 *) product->x + product->x_at[panel->scratch.pixel[which[MIN (i, n - 1)]]];
  if (n > AGAIN / 2)
    add_again (panel, v, from, AGAIN, sum);
  else if (n > 2)
    add_again (panel, v, from, AGAIN / 2, sum);
  else
    add_again (panel, v, from, 2, sum);
  for (gint64 i = 0; i < n; i++)
    {
      __m512 f = _mm512_min_ps (_mm512_div_ps (sum[i], _mm512_set1_ps (s->y_scale)),
                                _mm512_set1_ps (CLEAVE_BYTE_BOUND));
      __m512i y = _mm512_max_epi32 (_mm512_cvtps_epi32 (f), _mm512_set1_epi32 (s->least));

      y = _mm512_add_epi32 (_mm512_min_epi32 (y, _mm512_set1_epi32 (s->most)),
                            _mm512_set1_epi32 (s->y_zero));
      _mm512_mask_cvtepi32_storeu_epi8 (
          product->y + product->y_at[panel->scratch.pixel[which[i]]] + panel->column +
              v * CLEAVE_LANES,
          (__mmask16) (panel->scratch.lanes[which[i]] >> v * CLEAVE_LANES), y);
    }
}

static void
run_doubtful (const Panel *panel, int v)
{
  const guint32 *lanes = panel->scratch.lanes;
  gint64 which[AGAIN], n = 0;

  for (gint64 i = 0; i < panel->n_doubtful; i++)
    {
      if ((guint16) (lanes[i] >> v * CLEAVE_LANES) != 0)
        which[n++] = i;
      if (n == AGAIN)
        {
          run_again (panel, v, which, n);
          n = 0;
        }
    }
  if (n > 0)
    run_again (panel, v, which, n);
}

static void
read_panel_numbers (Panel *panel)
{
  const CleaveWritten *s = panel->s;
  const float *from[] = { s->factor, s->addend, s->by_growth, s->by_norm, s->by_nothing };

  for (int v = 0; v < 2; v++)
    for (int i = 0; i < N_NUMBERS; i++)
      memcpy (panel->numbers[v][i], from[i] + panel->column + v * CLEAVE_LANES,
              sizeof panel->numbers[v][i]);
}

void
cleave_written_run (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  const CleaveBytePanels *panels = product->panels;
  const CleaveWritten *s = product->written;
  gint64 start = begin / CLEAVE_BYTE_PANEL * CLEAVE_BYTE_PANEL;
  gint64 width = MIN (CLEAVE_BYTE_PANEL, panels->n_columns - start);
  Panel panel;

  panel.s = s;
  panel.product = product;
  panel.scratch = find_scratch (product);
  panel.n_doubtful = 0;
  panel.w = product->w + (start * s->n_taps * s->n_units + begin - start) * CLEAVE_QUAD;
  panel.w_step = width * CLEAVE_QUAD;
  panel.column = product->column + begin - product->first;
  panel.n = end - begin;
  panel.mask = (guint32) ((G_GUINT64_CONSTANT (1) << panel.n) - 1);
  panel.is_signed = product->finish.element == CLEAVE_INT8;
  read_panel_numbers (&panel);
  run_blocks (&panel, panel.n > CLEAVE_LANES ? 2 : 1);
  run_doubtful (&panel, 0);
  run_doubtful (&panel, 1);
}
