/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes integer sums for QDQ-exact results, and finds the ambiguous sums (qdq.h). Long sums are
 * cut into chunks of dot-4 groups. The partial sum after a chunk is a checkpoint. The growth of a
 * sum is the total of the magnitudes that the sum has at all its checkpoints; it is a term of the
 * error bound. */

#include "qdq.h"

/* Number of pixels that a block computes at once. Each pixel has two vectors of sums in registers.
 * If sums have checkpoints, each pixel also has two vectors that hold the growth of its sums: the
 * total of the magnitudes at the checkpoints. AVX-512 keeps the growth in memory, which takes no
 * extra time. */
#if defined(CLEAVE_AVX512)
#define PIXELS 8
#define GROWTH_PIXELS 8
#elif CLEAVE_REGISTERS == 32
#define PIXELS 8
#define GROWTH_PIXELS 5
#else
#define PIXELS 6
#define GROWTH_PIXELS 3
#endif

#if defined(CLEAVE_AVX512)
#define NAME(name) name##_512
#define V(name) _mm512_##name
#define VECTOR __m512i
#define FLOATS __m512
#define COLUMNS CLEAVE_LANES
#define WORDS(from) _mm512_loadu_si512 (from)
#include "qdq-finish.h"

typedef __m512 Growth; /* the growth of each sum of a vector: the total of the magnitudes that the
                          sum has at its checkpoints */
#else
#include "byte-vectors.h"
#include "qdq-words.h"

typedef CleaveIntVector Growth;
#endif

/* Multiplies the dot-4 groups at offsets [at, end) of x by their weights, and adds the products to
 * the sums. Returns the address of the weights of the next group. */
static inline __attribute__ ((always_inline)) const gint8 *
add_units (const CleaveQdqPanel *panel,
           const char *const *from,
           gint64 at,
           gint64 end,
           const gint8 *w,
           CleaveIntVector flip,
           int pixels,
           int vectors,
           CleaveIntVector *sum)
{
  gint64 w_step = panel->w_step;

#if !defined(CLEAVE_AVX512)
  at = cleave_byte_add_vectors (from, at, end, w_step, flip, pixels, vectors, &w, sum);
#endif
  for (; at < end; at += CLEAVE_DOT4, w += w_step)
    {
      CleaveIntVector by[2];

      __asm__("" : "+r"(at)); /* makes the compiler keep one index into x for all pixels */
      CLEAVE_EACH (v, vectors)
        by[v] =
            cleave_ints_load ((const gint32 *) (const void *) (w + v * CLEAVE_DOT4 * CLEAVE_LANES));
      CLEAVE_EACH (p, pixels)
        {
          CleaveIntVector unit = cleave_ints_xor (cleave_ints_unit (from[p] + at), flip);

          CLEAVE_EACH (v, vectors)
            CLEAVE_ADD_DOT4 (sum[p * 2 + v], unit, by[v]);
        }
    }
  return w;
}

static inline __attribute__ ((always_inline)) void
add_bias (const gint32 *bias, int pixels, int vectors, CleaveIntVector *sum)
{
  CLEAVE_EACH (v, vectors)
    {
      CleaveIntVector by = cleave_ints_load (bias + v * CLEAVE_LANES);

      CLEAVE_EACH (p, pixels)
        sum[p * 2 + v] = cleave_ints_add (sum[p * 2 + v], by);
    }
}

#if defined(CLEAVE_AVX512)
#define MAGNITUDE 0xb /* operand of vrangeps: the greater of two magnitudes, without sign */

/* Adds the current magnitude of each sum to `growth`, the total of the magnitudes that the sum had
 * at its checkpoints. add_chunks() calls this function after each chunk of products. The float
 * conversion, magnitude and addition use other execution ports than products of bytes, so they take
 * no extra time. Integer magnitudes, masks and shifts would compete with the products: with 16-bit
 * sums, these integer operations took 4 % of the time. */
static inline __attribute__ ((always_inline)) void
add_growth (int pixels, int vectors, const CleaveIntVector *sum, Growth *growth)
{
  CLEAVE_EACH (p, pixels)
    CLEAVE_EACH (v, vectors)
      {
        __m512 f = _mm512_cvtepi32_ps (sum[p * 2 + v]);

        growth[p * 2 + v] = _mm512_add_ps (growth[p * 2 + v], _mm512_range_ps (f, f, MAGNITUDE));
      }
}

/* Returns the term of the error bound that depends on the growth of the sums, for two vectors of
 * columns: `growth` times `by`, the error for each unit of growth. The terms are 16-bit integers in
 * the order of the columns. */
static inline __attribute__ ((always_inline)) __m512i
weigh_growth (const float *by, const Growth *growth, int vectors)
{
  /* packus alternates between its operands in each 128-bit lane; this permutation restores the
   * order of the columns */
  const __m512i order = _mm512_setr_epi64 (0, 2, 4, 6, 1, 3, 5, 7);
  __m512i error[2] = { 0 };

  CLEAVE_EACH (v, vectors)
    error[v] =
        _mm512_cvtps_epi32 (_mm512_mul_ps (growth[v], _mm512_loadu_ps (by + v * CLEAVE_LANES)));
  return _mm512_permutexvar_epi64 (order, _mm512_packus_epi32 (error[0], error[1]));
}
#else
/* Adds the current magnitude of each sum to `growth`, the total of the magnitudes that the sum had
 * at its checkpoints. add_chunks() calls this function after each chunk of products. */
static inline __attribute__ ((always_inline)) void
add_growth (int pixels, int vectors, const CleaveIntVector *sum, Growth *growth)
{
  CLEAVE_EACH (p, pixels)
    CLEAVE_EACH (v, vectors)
      growth[p * 2 + v] = cleave_ints_add_magnitude (growth[p * 2 + v], sum[p * 2 + v]);
}
#endif

/* Adds the products of all dot-4 groups to the sums, chunk by chunk. Calls add_growth() after each
 * chunk. */
static inline __attribute__ ((always_inline)) void
add_chunks (const CleaveQdqPanel *panel,
            const char *const *from,
            CleaveIntVector flip,
            int pixels,
            int vectors,
            CleaveIntVector *sum,
            Growth *growth)
{
  const CleaveByteProduct *product = panel->product;
  const CleaveQdq *s = panel->s;
  const gint32 *bias = s->chunk_bias == NULL ? NULL : s->chunk_bias + panel->column;
  const gint8 *w = panel->w;
  gint64 t = 0, chunk = CLEAVE_DOT4 * s->chunk;

  for (gint64 last = s->taps_at_once; t < s->n_taps; last = MIN (last + s->taps_at_once, s->n_taps))
    {
      gint64 at = product->tap_at[t], end = at + CLEAVE_DOT4 * s->n_units;

      if (bias != NULL)
        add_bias (bias, pixels, vectors, sum);
      for (; t + 1 < last; at = product->tap_at[++t], end = at + CLEAVE_DOT4 * s->n_units)
        w = add_units (panel, from, at, end, w, flip, pixels, vectors, sum);
      for (gint64 next = MIN (at + chunk, end); at < end; at = next, next = MIN (at + chunk, end))
        {
          if (bias != NULL && at != product->tap_at[t])
            add_bias (bias, pixels, vectors, sum);
          w = add_units (panel, from, at, next, w, flip, pixels, vectors, sum);
          add_growth (pixels, vectors, sum, growth);
          if (bias != NULL)
            bias += s->n_columns;
        }
      t++;
    }
}

static inline __attribute__ ((always_inline)) void
add_flipped (const CleaveQdqPanel *panel,
             const char *const *from,
             CleaveIntVector flip,
             int pixels,
             int vectors,
             gboolean has_growth,
             CleaveIntVector *sum,
             Growth *growth)
{
  const gint64 *tap_at = panel->product->tap_at, *end = tap_at + panel->s->n_taps;
  const gint8 *w = panel->w;
  gint64 tap_bytes = CLEAVE_DOT4 * panel->s->n_units;

  if (has_growth)
    add_chunks (panel, from, flip, pixels, vectors, sum, growth);
  else
    for (; tap_at < end; tap_at++)
      w = add_units (panel, from, *tap_at, *tap_at + tap_bytes, w, flip, pixels, vectors, sum);
}

static inline __attribute__ ((always_inline)) void
add_all (const CleaveQdqPanel *panel,
         gint64 pixel,
         int pixels,
         int vectors,
         gboolean has_growth,
         CleaveIntVector *sum,
         Growth *growth)
{
  const CleaveByteProduct *product = panel->product;
  const char *from[PIXELS];
  gint32 flips = product->flip ^ (CLEAVE_DOT4_OFFSET != 0 ? (gint32) 0x80808080 : 0);
  CleaveIntVector flip = cleave_ints_all (flips);

  CLEAVE_EACH (p, pixels)
    from[p] = product->x + product->x_at[pixel + p];
  if (flips == 0)
    add_flipped (panel, from, cleave_ints_all (0), pixels, vectors, has_growth, sum, growth);
  else
    {
      flip = (CleaveIntVector) cleave_vector_keep ((CleaveVector) flip);
      add_flipped (panel, from, flip, pixels, vectors, has_growth, sum, growth);
    }
  __asm__ volatile("" ::
                       : "memory"); /* makes the compiler load the constants below after the sums
                                       are computed, since the sums need all registers */
}

#if defined(CLEAVE_AVX512)
/* Stores one byte for each of the first n lanes: the lower byte of the lane's upper 16 bits. */
static inline __attribute__ ((always_inline)) void
store (const __m512i *whole, gint64 n, char *to)
{
  __m256i bytes =
      _mm512_cvtepi16_epi8 (_mm512_permutex2var_epi16 (whole[0], word_order_512 (1), whole[1]));

  if (n == CLEAVE_BYTE_PANEL)
    _mm256_storeu_si256 ((void *) to, bytes);
  else
    _mm256_mask_storeu_epi8 (to, (__mmask32) ((1ull << n) - 1), bytes);
}

/* Converts the sums of all pixels of a block to bytes, stores the bytes, and marks ambiguous
 * sums. */
static inline __attribute__ ((always_inline)) void
finish_block (const CleaveQdqPanel *panel,
              gint64 pixel,
              int pixels,
              int vectors,
              CleaveQdqKind kind,
              CleaveIntVector *sum,
              const Growth *growth)
{
  CleaveQdqColumns columns = panel->s->columns;
  gint64 column = panel->column, n = panel->n;
  const gint64 *y_at = panel->product->y_at + pixel;
  char *y = panel->product->y + column;
  const guint32 *norm = panel->scratch.norm + pixel;
  guint32 *lanes = panel->scratch.lanes + pixel;

  CLEAVE_EACH (p, pixels)
    {
      __m512i by_growth = weigh_growth (columns.by_growth + column, &growth[p * 2], vectors);

      lanes[p] = finish_qdq_512 (&columns, column, kind, by_growth, norm[p], vectors, &sum[p * 2]);
      store (&sum[p * 2], n, y + y_at[p]);
    }
}
#else
static inline __attribute__ ((always_inline)) void
store (CleaveWords words, gint64 n, char *to)
{
  guint8 bytes[CLEAVE_BYTE_PANEL];

  if (n == CLEAVE_BYTE_PANEL)
    cleave_words_store_bytes ((guint8 *) to, words);
  else
    {
      cleave_words_store_bytes (bytes, words);
      cleave_bytes_store (to, bytes, n);
    }
}

/* Converts the sums of all pixels of a block to bytes, stores the bytes, and marks ambiguous
 * sums. */
static inline __attribute__ ((always_inline)) void
finish_block (const CleaveQdqPanel *panel,
              gint64 pixel,
              int pixels,
              int vectors,
              CleaveQdqKind kind,
              CleaveIntVector *sum,
              const Growth *growth)
{
  CleaveQdqColumns columns = panel->s->columns;
  gint64 column = panel->column, n = panel->n;
  const gint64 *y_at = panel->product->y_at + pixel;
  char *y = panel->product->y + column;
  const guint32 *norm = panel->scratch.norm + pixel;
  guint32 *lanes = panel->scratch.lanes + pixel;
  CleaveQdqFinish finish = cleave_qdq_finish_load (&columns, column, vectors, kind);

  CLEAVE_EACH (p, pixels)
    {
      CleaveWords words, margin = cleave_qdq_find_margin (&finish, kind, (guint16) norm[p],
                                                          &growth[p * 2], vectors);

      lanes[p] = cleave_qdq_finish (&finish, margin, &sum[p * 2], vectors, &words);
      store (words, n, y + y_at[p]);
    }
}
#endif

static inline __attribute__ ((always_inline)) void
run_block (const CleaveQdqPanel *panel, gint64 pixel, int pixels, int vectors, CleaveQdqKind kind)
{
  CleaveIntVector sum[PIXELS * 2] = { 0 };
  Growth growth[PIXELS * 2] = { 0 };

  add_all (panel, pixel, pixels, vectors, kind == CLEAVE_QDQ_GROWTH, sum, growth);
  finish_block (panel, pixel, pixels, vectors, kind, sum, growth);
}

typedef void (*RunBlock) (const CleaveQdqPanel *panel, gint64 pixel);

/* clang-format off */
#define BLOCK(pixels, vectors, kind)                                                               \
  static void block_##pixels##_##vectors##_##kind (const CleaveQdqPanel *panel, gint64 pixel)        \
  {                                                                                                \
    run_block (panel, pixel, pixels, vectors, CLEAVE_QDQ_##kind);                              \
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
#define LIST_6(vectors, kind)                                                                      \
  NULL, block_1_##vectors##_##kind, block_2_##vectors##_##kind, block_3_##vectors##_##kind,        \
      block_4_##vectors##_##kind, block_5_##vectors##_##kind, block_6_##vectors##_##kind
#if PIXELS > 6
BLOCKS (7)
BLOCKS (8)
#define LIST(vectors, kind)                                                                        \
  { LIST_6 (vectors, kind), block_7_##vectors##_##kind, block_8_##vectors##_##kind }
#else
#define LIST(vectors, kind) { LIST_6 (vectors, kind) }
#endif
static const RunBlock run_blocks[2][3][PIXELS + 1] = {
  { LIST (1, CONSTANT), LIST (1, NORMS), LIST (1, GROWTH) },
  { LIST (2, CONSTANT), LIST (2, NORMS), LIST (2, GROWTH) }
};
/* clang-format on */

void
cleave_qdq_run (const CleaveByteProduct *product, gint64 begin, gint64 end)
{
  const CleaveBytePanels *panels = product->panels;
  const CleaveQdq *s = product->qdq;
  gint64 start = begin / CLEAVE_BYTE_PANEL * CLEAVE_BYTE_PANEL, n_at_once;
  gint64 width = MIN (CLEAVE_BYTE_PANEL, panels->n_columns - start);
  gint64 most = s->kind == CLEAVE_QDQ_GROWTH ? GROWTH_PIXELS : PIXELS;
  const RunBlock *run = run_blocks[end - begin > CLEAVE_LANES][s->kind];
  CleaveQdqPanel panel = { .s = s,
                           .product = product,
                           .scratch = cleave_qdq_find_scratch (product),
                           .w = product->w +
                                (start * s->n_taps * s->n_units + begin - start) * CLEAVE_DOT4,
                           .w_step = width * CLEAVE_DOT4,
                           .column = product->column + begin - product->first,
                           .n = end - begin,
                           .mask = (guint32) ((G_GUINT64_CONSTANT (1) << (end - begin)) - 1) };

  for (gint64 pixel = 0; pixel < product->n_pixels; pixel += n_at_once)
    {
      n_at_once = MIN (most, product->n_pixels - pixel);
      run[n_at_once](&panel, pixel);
    }
  cleave_qdq_recompute (&panel);
}
