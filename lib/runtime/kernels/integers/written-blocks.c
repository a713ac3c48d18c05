/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums in whole numbers, and which of them are in doubt: see written.h. */

#include "written.h"

#define NAME(name) name##_512
#define V(name) _mm512_##name
#define VECTOR __m512i
#define FLOATS __m512
#define MASK __mmask16
#include "written-finish.h"

/* At once: each has two vectors of sums in registers. */
#define PIXELS 8

/* Sums between checkpoints. */
static inline __attribute__ ((always_inline)) const gint8 *
add_units (const CleaveWrittenPanel *panel,
           const char *const *from,
           gint64 at,
           gint64 end,
           const gint8 *w,
           __m512i flip,
           int pixels,
           int vectors,
           __m512i *sum)
{
  gint64 w_step = panel->w_step;

  for (; at < end; at += CLEAVE_QUAD, w += w_step)
    {
      __m512i by[2];

      __asm__("" : "+r"(at)); /* one index for all pixels */
      CLEAVE_EACH (v, vectors)
        by[v] = _mm512_loadu_si512 (w + v * CLEAVE_QUAD * CLEAVE_LANES);
      CLEAVE_EACH (p, pixels)
        {
          __m512i unit = cleave_ints_unit (from[p] + at) ^ flip;

          CLEAVE_EACH (v, vectors)
            CLEAVE_ADD_QUADS (sum[p * 2 + v], unit, by[v]);
        }
    }
  return w;
}

static inline __attribute__ ((always_inline)) void
add_bias (const gint32 *bias, int pixels, int vectors, __m512i *sum)
{
  CLEAVE_EACH (v, vectors)
    {
      __m512i by = _mm512_loadu_si512 (bias + v * CLEAVE_LANES);

      CLEAVE_EACH (p, pixels)
        sum[p * 2 + v] = _mm512_add_epi32 (sum[p * 2 + v], by);
    }
}

/* A checkpoint. */
static inline __attribute__ ((always_inline)) void
add_growth (int pixels, int vectors, const __m512i *sum, __m512i *growth)
{
  CLEAVE_EACH (i, pixels * 2)
    if (i % 2 < vectors)
      growth[i] = _mm512_add_epi32 (
          growth[i], _mm512_srli_epi32 (_mm512_abs_epi32 (sum[i]), CLEAVE_WRITTEN_BITS));
  __asm__ volatile("" ::: "memory"); /* registers are for sums */
}

static inline __attribute__ ((always_inline)) void
add_taps (const CleaveWrittenPanel *panel,
          gint64 pixel,
          int pixels,
          int vectors,
          gboolean has_growth,
          __m512i *sum,
          __m512i *growth)
{
  const CleaveByteProduct *product = panel->product;
  const CleaveWritten *s = panel->s;
  const gint32 *bias = s->chunk_bias == NULL ? NULL : s->chunk_bias + panel->column;
  const gint8 *w = panel->w;
  const char *from[PIXELS];
  gint64 t = 0, chunk = CLEAVE_QUAD * s->chunk;
  __m512i flip = _mm512_set1_epi32 (product->flip);

  __asm__("" : "+v"(flip)); /* in a register from here on */

  CLEAVE_EACH (p, pixels)
    from[p] = product->x + product->x_at[pixel + p];
  for (gint64 last = has_growth ? s->taps_at_once : s->n_taps; t < s->n_taps;
       last = MIN (last + s->taps_at_once, s->n_taps))
    {
      gint64 at = product->tap_at[t], end = at + CLEAVE_QUAD * s->n_units;

      if (bias != NULL)
        add_bias (bias, pixels, vectors, sum);
      for (; t + 1 < last; at = product->tap_at[++t], end = at + CLEAVE_QUAD * s->n_units)
        w = add_units (panel, from, at, end, w, flip, pixels, vectors, sum);
      for (gint64 next = has_growth ? MIN (at + chunk, end) : end; at < end;
           at = next, next = MIN (at + chunk, end))
        {
          if (bias != NULL && at != product->tap_at[t])
            add_bias (bias, pixels, vectors, sum);
          w = add_units (panel, from, at, next, w, flip, pixels, vectors, sum);
          if (has_growth)
            add_growth (pixels, vectors, sum, growth);
          if (bias != NULL)
            bias += s->n_columns;
        }
      t++;
    }
}

/* Those of a block that are in doubt. */
static __attribute__ ((noinline)) void
list_doubtful (CleaveWrittenPanel *panel, gint64 pixel, int pixels, const guint16 *lanes)
{
  for (int p = 0; p < pixels; p++, lanes += 2)
    {
      guint32 both = (lanes[0] | (guint32) lanes[1] << CLEAVE_LANES) & panel->mask;

      panel->scratch.pixel[panel->n_doubtful] = (gint32) pixel + p;
      panel->scratch.lanes[panel->n_doubtful] = both;
      panel->n_doubtful += both != 0;
    }
}

/* Bytes, less their zero point, of two vectors. */
static inline __attribute__ ((always_inline)) void
store (__m512i low, __m512i high, __m512i zero, gint64 n, char *to)
{
  /* In each quarter the low columns, then the high ones. */
  const __m512i order = _mm512_setr_epi64 (0, 2, 4, 6, 1, 3, 5, 7);
  __m512i both = _mm512_add_epi16 (_mm512_packs_epi32 (low, high), zero);
  __m256i bytes = _mm512_cvtepi16_epi8 (_mm512_permutexvar_epi64 (order, both));

  if (n == CLEAVE_BYTE_PANEL)
    _mm256_storeu_si256 ((void *) to, bytes);
  else
    _mm256_mask_storeu_epi8 (to, (__mmask32) ((1ull << n) - 1), bytes);
}

static inline __attribute__ ((always_inline)) void
run_block (CleaveWrittenPanel *panel, gint64 pixel, int pixels, int vectors, CleaveWrittenKind kind)
{
  const CleaveWrittenColumns columns = panel->s->columns;
  const gint64 *y_at = panel->product->y_at + pixel, column = panel->column, n = panel->n;
  const float *norm = panel->scratch.norm + pixel;
  const __m512i zero = _mm512_set1_epi16 ((gint16) panel->s->y_zero);
  char *y = panel->product->y + column;
  guint16 lanes[PIXELS * 2];
  __mmask16 any = 0;
  __m512i sum[PIXELS * 2] = { 0 }, growth[PIXELS * 2];

  CLEAVE_EACH (i, pixels * 2)
    {
      growth[i] = _mm512_setzero_si512 ();
      lanes[i] = 0;
    }
  if (kind == CLEAVE_WRITTEN_GROWTH)
    __asm__ volatile("" : : "r"(growth) : "memory");
  add_taps (panel, pixel, pixels, vectors, kind == CLEAVE_WRITTEN_GROWTH, sum, growth);
  CLEAVE_EACH (p, pixels)
    {
      CLEAVE_EACH (v, vectors)
        {
          __mmask16 mask = finish_written_512 (&columns, column + v * CLEAVE_LANES, kind,
                                               growth[p * 2 + v], norm[p], &sum[p * 2 + v]);

          any = _kor_mask16 (any, mask);
          lanes[p * 2 + v] = mask;
        }
      store (sum[p * 2], sum[p * 2 + 1], zero, n, y + y_at[p]);
    }
  if (any != 0)
    list_doubtful (panel, pixel, pixels, lanes);
}

typedef void (*RunBlock) (CleaveWrittenPanel *panel, gint64 pixel);

/* clang-format off */
#define BLOCK(pixels, vectors, kind)                                                               \
  static void block_##pixels##_##vectors##_##kind (CleaveWrittenPanel *panel, gint64 pixel)        \
  {                                                                                                \
    run_block (panel, pixel, pixels, vectors, CLEAVE_WRITTEN_##kind);                              \
  }
#define KINDS(pixels, vectors)                                                                     \
  BLOCK (pixels, vectors, CONSTANT) BLOCK (pixels, vectors, NORMS) BLOCK (pixels, vectors, GROWTH)
#define BLOCKS(pixels) KINDS (pixels, 1) KINDS (pixels, 2)
BLOCKS (1)
BLOCKS (2)
BLOCKS (3)
BLOCKS (4)
BLOCKS (5)
BLOCKS (6)
BLOCKS (7)
BLOCKS (8)
#define LIST(vectors, kind)                                                                        \
  { NULL, block_1_##vectors##_##kind, block_2_##vectors##_##kind, block_3_##vectors##_##kind,      \
    block_4_##vectors##_##kind, block_5_##vectors##_##kind, block_6_##vectors##_##kind,            \
    block_7_##vectors##_##kind, block_8_##vectors##_##kind }
static const RunBlock run_blocks[2][3][PIXELS + 1] = {
  { LIST (1, CONSTANT), LIST (1, NORMS), LIST (1, GROWTH) },
  { LIST (2, CONSTANT), LIST (2, NORMS), LIST (2, GROWTH) }
};
/* clang-format on */

void
cleave_written_run (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  const CleaveBytePanels *panels = product->panels;
  const CleaveWritten *s = product->written;
  gint64 start = begin / CLEAVE_BYTE_PANEL * CLEAVE_BYTE_PANEL, n_at_once;
  gint64 width = MIN (CLEAVE_BYTE_PANEL, panels->n_columns - start);
  const RunBlock *run = run_blocks[end - begin > CLEAVE_LANES][s->kind];
  CleaveWrittenPanel panel = { .s = s,
                               .product = product,
                               .scratch = cleave_written_find_scratch (product),
                               .w = product->w +
                                    (start * s->n_taps * s->n_units + begin - start) * CLEAVE_QUAD,
                               .w_step = width * CLEAVE_QUAD,
                               .column = product->column + begin - product->first,
                               .n = end - begin,
                               .mask = (guint32) ((G_GUINT64_CONSTANT (1) << (end - begin)) - 1) };

  for (gint64 pixel = 0; pixel < product->n_pixels; pixel += n_at_once)
    {
      n_at_once = MIN (PIXELS, product->n_pixels - pixel);
      run[n_at_once](&panel, pixel);
    }
  if (panel.n_doubtful > 0)
    cleave_written_run_again (&panel);
}
