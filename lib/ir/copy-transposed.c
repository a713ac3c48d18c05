/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Transposes: `to` is contiguous along the inner loop, `from` along the loop around it. Blocks of
 * 16 bytes by 16 bytes are transposed in registers. Let n be the number of bytes of the inner loop,
 * and m the number of bytes of the outer loop. There are four cases:
 *
 *   case      condition                    method
 *   square    n >= 16 and m >= 16          block by block; large values through a buffer, with
 *                                          stores that bypass the cache
 *   weave     n < 16, `to` has no gaps     interleaves a few long runs (planar RGB to RGB)
 *   narrow    n < 16, `to` has gaps        transposes blocks and stores their first n bytes
 *   unweave   m < 16, `from` has no gaps   deinterleaves (RGB to planar RGB)
 *
 * Over 400 lines: each case in this file is a macro, which defines one function for each element
 * size. */

#include "copy.h"

#include <string.h>

#define VECTOR 16

/* clang-format off */
#ifdef __clang__
#define UNROLLED(i, n) _Pragma ("clang loop unroll(full)") for (guint i = 0; i < (n); i++)
#else
#define UNROLLED(i, n) _Pragma ("GCC unroll 16") for (guint i = 0; i < (n); i++)
#endif

#define LOW_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define EVEN_16 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD_16 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define EVEN_8 0, 2, 4, 6, 8, 10, 12, 14
#define ODD_8 1, 3, 5, 7, 9, 11, 13, 15
#define LOW_4 0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7
#define EVEN_4 0, 2, 4, 6
#define ODD_4 1, 3, 5, 7
#define LOW_2 0, 2
#define HIGH_2 1, 3
#define EVEN_2 0, 2
#define ODD_2 1, 3

#define INLINED inline __attribute__ ((always_inline)) void

/* Returns whether the cache lines of three squares (`side` by `side` elements) fit into an L1 cache
 * of 32 KiB with 8 ways. If the step between rows is a multiple of a large power of two, the rows
 * of a square share few sets of the cache. */
static inline gboolean
can_prefetch (gint64 from_step, gint64 side)
{
  gint64 alike = MAX (from_step & -from_step, 64);

  return 4096 / alike * 8 >= 3 * side;
}

/* Prefetches the next square. The hardware prefetcher does not find the rows of a square, since
 * these rows are far apart. A copy of 96 x 56 x 56 from NCHW to NHWC runs at 56 GB/s with the
 * prefetch, and at 37 GB/s without the prefetch. */
static inline void
prefetch_next (const char *from,
               gint64 from_step,
               gint64 n,
               gint64 m,
               gint64 i0,
               gint64 j0,
               gint64 side,
               gint64 size)
{
  gint64 i = i0 + side < n ? i0 + side : 0, j = i == 0 ? j0 + side : j0, end = MIN (i + side, n);

  if (j < m)
    for (; i < end; i++)
      __builtin_prefetch (from + i * from_step + j * size);
}

/* Copies n bytes, fewer than a vector holds. */
static inline void
copy_partial (char *to, const char *from, gint64 n)
{
  if (n >= 8)
    {
      memcpy (to, from, 8);
      memcpy (to + n - 8, from + n - 8, 8);
    }
  else if (n >= 4)
    {
      memcpy (to, from, 4);
      memcpy (to + n - 4, from + n - 4, 4);
    }
  else
    for (gint64 i = 0; i < n; i++)
      to[i] = from[i];
}

/* A block is N rows of N elements. Rows are contiguous in `from`, columns in `to`. */
#define DEFINE_TURN(type, N)                                                                       \
  typedef type Row_##type __attribute__ ((vector_size (VECTOR)));                                  \
                                                                                                   \
  /* Interleaves n rows of N elements: afterwards, the rows hold element 0 of each row, then       \
   * element 1 of each row, and so on.  Each of log2 n steps interleaves row i with row i + n/2.   \
   * For n = N, this transposes the block: its rows become its columns. */                         \
  static INLINED                                                                                   \
  mix_##type (Row_##type *rows, const guint n)                                                     \
  {                                                                                                \
    for (guint step = 1; step < n; step *= 2)                                                      \
      {                                                                                            \
        Row_##type mixed[N] = { 0 };                                                               \
                                                                                                   \
        UNROLLED (i, n / 2)                                                                        \
          {                                                                                        \
            mixed[2 * i] = __builtin_shufflevector (rows[i], rows[i + n / 2], LOW_##N);            \
            mixed[2 * i + 1] = __builtin_shufflevector (rows[i], rows[i + n / 2], HIGH_##N);       \
          }                                                                                        \
        UNROLLED (i, n)                                                                            \
          rows[i] = mixed[i];                                                                      \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  /* Deinterleaves n rows of N elements, which count as one sequence: afterwards, row j holds the  \
   * elements j, j + n, j + 2n, … of the sequence.  No caller needs this function for elements of 8\
   * bytes. */                                                                                     \
  G_GNUC_UNUSED static INLINED                                                                     \
  part_##type (Row_##type *rows, const guint n)                                                    \
  {                                                                                                \
    for (guint step = 1; step < n; step *= 2)                                                      \
      {                                                                                            \
        Row_##type split[N] = { 0 };                                                              \
                                                                                                   \
        UNROLLED (i, n / 2)                                                                        \
          {                                                                                        \
            split[i] = __builtin_shufflevector (rows[2 * i], rows[2 * i + 1], EVEN_##N);          \
            split[i + n / 2] = __builtin_shufflevector (rows[2 * i], rows[2 * i + 1], ODD_##N);   \
          }                                                                                        \
        UNROLLED (i, n)                                                                            \
          rows[i] = split[i];                                                                     \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static INLINED                                                                                   \
  transpose_##type (char *to, gint64 to_step, guint n_columns, const char *from, gint64 from_step,      \
               guint n_rows)                                                                       \
  {                                                                                                \
    Row_##type rows[N] = { 0 };                                                                    \
                                                                                                   \
    UNROLLED (i, N)                                                                                \
      if (i < n_rows)                                                                              \
        memcpy (&rows[i], from + i * from_step, VECTOR);                                           \
    mix_##type (rows, N);                                                                          \
    UNROLLED (i, N)                                                                                \
      if (i < n_columns)                                                                           \
        memcpy (to + i * to_step, &rows[i], VECTOR);                                               \
  }                                                                                                \
                                                                                                   \
  /* Transposes n runs of m elements, in squares of one cache line by one cache line.  n and m are \
   * at least N.  The last blocks overlap earlier blocks. */                                       \
  static void                                                                                      \
  transpose_square_##type (char *to, gint64 to_step, const char *from, gint64 from_step, gint64 n,      \
                      gint64 m)                                                                    \
  {                                                                                                \
    const gint64 size = (gint64) sizeof (type), side = 64 / size;                                  \
    const gboolean prefetches = can_prefetch (from_step, side);                                    \
                                                                                                   \
    for (gint64 j0 = 0; j0 < m; j0 += side)                                                        \
      for (gint64 i0 = 0; i0 < n; i0 += side)                                                      \
       {                                                                                           \
        if (prefetches)                                                                            \
          prefetch_next (from, from_step, n, m, i0, j0, side, size);                               \
        for (gint64 j = j0; j < MIN (j0 + side, m); j += N)                                        \
          for (gint64 i = i0; i < MIN (i0 + side, n); i += N)                                      \
            {                                                                                      \
              gint64 row = MIN (i, n - N), column = MIN (j, m - N);                                \
                                                                                                   \
              transpose_##type (to + column * to_step + row * size, to_step, N,                         \
                           from + row * from_step + column * size, from_step, N);                  \
            }                                                                                      \
       }                                                                                           \
  }

#define DEFINE_WEAVE(type, N)                                                                      \
  static INLINED                                                                                   \
  weave_power_##type (char *to, const char *from, gint64 from_step, gint64 m, const guint n)       \
  {                                                                                                \
    for (gint64 j = 0; j < m; j += N)                                                              \
      {                                                                                            \
        gint64 at = MIN (j, m - N) * (gint64) sizeof (type);                                       \
        Row_##type rows[N];                                                                        \
                                                                                                   \
        UNROLLED (i, n)                                                                            \
          memcpy (&rows[i], from + at + i * from_step, VECTOR);                                    \
        mix_##type (rows, n);                                                                      \
        UNROLLED (i, n)                                                                            \
          memcpy (to + at * n + i * VECTOR, &rows[i], VECTOR);                                     \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  /* Each store is a whole vector; the next column overwrites the bytes beyond n elements. */      \
  static INLINED                                                                                   \
  weave_any_##type (char *to, const char *from, gint64 from_step, gint64 m, guint n)               \
  {                                                                                                \
    const gint64 size = (gint64) sizeof (type);                                                    \
    char last[N * VECTOR];                                                                         \
    gint64 j = 0;                                                                                  \
                                                                                                   \
    for (; (j + N - 1) * n * size + VECTOR <= m * n * size; j += N)                                \
      transpose_##type (to + j * n * size, n * size, N, from + j * size, from_step, n);                 \
    for (; j < m; j += N)                                                                          \
      {                                                                                            \
        gint64 at = MIN (j, m - N);                                                                \
                                                                                                   \
        transpose_##type (last, n * size, N, from + at * size, from_step, n);                           \
        memcpy (to + at * n * size, last, (gsize) (N * n * size));                                 \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void                                                                                      \
  weave_##type (char *to, const char *from, gint64 from_step, gint64 m, guint n)                   \
  {                                                                                                \
    if (n == 2)                                                                                    \
      weave_power_##type (to, from, from_step, m, 2);                                              \
    else if (n == 4 && N > 4)                                                                      \
      weave_power_##type (to, from, from_step, m, MIN (4, N));                                     \
    else if (n == 8 && N > 8)                                                                      \
      weave_power_##type (to, from, from_step, m, MIN (8, N));                                     \
    else if (n == 3)                                                                               \
      weave_any_##type (to, from, from_step, m, 3);                                                \
    else                                                                                           \
      weave_any_##type (to, from, from_step, m, n);                                                \
  }                                                                                                \
                                                                                                   \
  /* Deinterleaves n groups of m elements to m runs, each with an address of its own. */           \
  static INLINED                                                                                   \
  part_power_##type (char *const *to, const char *from, gint64 n, const guint m)                   \
  {                                                                                                \
    for (gint64 i = 0; i < n; i += N)                                                              \
      {                                                                                            \
        gint64 at = MIN (i, n - N) * (gint64) sizeof (type);                                       \
        Row_##type rows[N];                                                                        \
                                                                                                   \
        UNROLLED (j, m)                                                                            \
          memcpy (&rows[j], from + at * m + j * VECTOR, VECTOR);                                   \
        part_##type (rows, m);                                                                     \
        UNROLLED (j, m)                                                                            \
          memcpy (to[j] + at, &rows[j], VECTOR);                                                   \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static INLINED                                                                                   \
  unweave_power_##type (char *to, gint64 to_step, const char *from, gint64 n, const guint m)       \
  {                                                                                                \
    char *runs[N];                                                                                 \
                                                                                                   \
    UNROLLED (j, m)                                                                                \
      runs[j] = to + j * to_step;                                                                  \
    part_power_##type (runs, from, n, m);                                                          \
  }                                                                                                \
                                                                                                   \
  /* Loads whole vectors; the elements beyond m are not stored. */                                 \
  static INLINED                                                                                   \
  unweave_any_##type (char *to, gint64 to_step, const char *from, gint64 n, guint m)               \
  {                                                                                                \
    const gint64 size = (gint64) sizeof (type);                                                    \
    char last[N * VECTOR] = { 0 };                                                                 \
    gint64 i = 0;                                                                                  \
                                                                                                   \
    for (; (i + N - 1) * m * size + VECTOR <= n * m * size; i += N)                                \
      transpose_##type (to + i * size, to_step, m, from + i * m * size, m * size, N);                   \
    for (; i < n; i += N)                                                                          \
      {                                                                                            \
        gint64 at = MIN (i, n - N);                                                                \
                                                                                                   \
        memcpy (last, from + at * m * size, (gsize) (N * m * size));                               \
        transpose_##type (to + at * size, to_step, m, last, m * size, N);                               \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void                                                                                      \
  unweave_##type (char *to, gint64 to_step, const char *from, gint64 n, guint m)                   \
  {                                                                                                \
    if (m == 2)                                                                                    \
      unweave_power_##type (to, to_step, from, n, 2);                                              \
    else if (m == 4 && N > 4)                                                                      \
      unweave_power_##type (to, to_step, from, n, MIN (4, N));                                     \
    else if (m == 8 && N > 8)                                                                      \
      unweave_power_##type (to, to_step, from, n, MIN (8, N));                                     \
    else if (m == 3)                                                                               \
      unweave_any_##type (to, to_step, from, n, 3);                                                \
    else                                                                                           \
      unweave_any_##type (to, to_step, from, n, m);                                                \
  }

/* Copies columns shorter than a block into `to`. The bytes between the columns must not be
 * overwritten. */
#define DEFINE_NARROW(type, N)                                                                     \
  static void                                                                                      \
  transpose_narrow_##type (char *to, gint64 to_step, const char *from, gint64 from_step, gint64 n,      \
                      gint64 m)                                                                    \
  {                                                                                                \
    const gint64 size = (gint64) sizeof (type);                                                    \
    char block[N * VECTOR];                                                                        \
                                                                                                   \
    for (gint64 j = 0; j < m; j += N)                                                              \
      {                                                                                            \
        gint64 at = MIN (j, m - N);                                                                \
                                                                                                   \
        transpose_##type (block, VECTOR, N, from + at * size, from_step, (guint) n);                    \
        for (gint64 k = 0; k < N; k++)                                                             \
          copy_partial (to + (at + k) * to_step, block + k * VECTOR, n * size);                       \
      }                                                                                            \
  }

#define DEFINE_PART(type, N)                                                                       \
  static gboolean                                                                                  \
  part_to_##type (char *const *to, const char *from, gint64 n, guint m)                            \
  {                                                                                                \
    if (n < N || m != MIN (4, N))                                                                  \
      return FALSE;                                                                                \
    part_power_##type (to, from, n, MIN (4, N));                                                   \
    return TRUE;                                                                                   \
  }

DEFINE_TURN (guint8, 16)
DEFINE_TURN (guint16, 8)
DEFINE_TURN (guint32, 4)
DEFINE_TURN (guint64, 2)
DEFINE_WEAVE (guint8, 16)
DEFINE_WEAVE (guint16, 8)
DEFINE_WEAVE (guint32, 4)
DEFINE_PART (guint8, 16)
DEFINE_PART (guint16, 8)
DEFINE_PART (guint32, 4)
DEFINE_NARROW (guint8, 16)
DEFINE_NARROW (guint16, 8)
DEFINE_NARROW (guint32, 4)

/* Calls `function` for elements of `size` bytes. 8-byte elements are excluded: for these elements,
 * cleave_copy_can_transpose() rejects loops shorter than a block. */
#define BY_SMALL_SIZE(size, function, ...)                                                         \
  do                                                                                               \
    if ((size) == 4)                                                                               \
      function##_guint32 (__VA_ARGS__);                                                            \
    else if ((size) == 2)                                                                          \
      function##_guint16 (__VA_ARGS__);                                                            \
    else                                                                                           \
      function##_guint8 (__VA_ARGS__);                                                             \
  while (0)
#define BY_SIZE(size, function, ...)                                                               \
  do                                                                                               \
    if ((size) == 8)                                                                               \
      function##_guint64 (__VA_ARGS__);                                                            \
    else                                                                                           \
      BY_SMALL_SIZE (size, function, __VA_ARGS__);                                                 \
  while (0)
/* clang-format on */

/* Large transpositions bypass the cache. A tile is transposed into a buffer of TILE_BYTES, then
 * streamed to `to`. So `from` and `to` are accessed in long runs, and each cache line only once.
 * Without the buffer, strides that are powers of two would evict cache lines before they are
 * complete. */

#define TILE_BYTES (16 << 10)
/* A tile has at most this many elements in each dimension, or half as many if elements have 8
 * bytes.
 */
#define TILE 64

/* Prefetches the next tile. The hardware prefetcher does not find the runs of a tile, since these
 * runs are too short. */
static inline void
prefetch_tile (const char *from, gint64 from_step, gint64 n, gint64 n_bytes)
{
  for (gint64 i = 0; i < n; i++)
    for (gint64 at = 0; at < n_bytes; at += 64)
      __builtin_prefetch (from + i * from_step + at, 0, 2);
}

static void
transpose_tile (
    char *to, gint64 to_step, const char *from, gint64 from_step, gint64 n, gint64 m, gint64 size)
{
  if (n * size >= VECTOR && m * size >= VECTOR)
    BY_SIZE (size, transpose_square, to, to_step, from, from_step, n, m);
  else
    for (gint64 i = 0; i < n; i++)
      for (gint64 j = 0; j < m; j++)
        memcpy (to + j * to_step + i * size, from + i * from_step + j * size, (gsize) size);
}

static void
transpose_past_cache (const CleaveCopyLoops *loops, char *to, const char *from)
{
  _Alignas(64) char tile[TILE_BYTES];
  guint inner = loops->rank - 1, outer = inner - 1;
  gint64 size = loops->size, side = MIN (TILE, 256 / size), row = side * size;
  gint64 to_step = loops->to[outer], from_step = loops->from[inner];

  for (gint64 i = 0; i < loops->n[inner]; i += side)
    for (gint64 j = 0; j < loops->n[outer]; j += side)
      {
        gint64 n = MIN (side, loops->n[inner] - i), m = MIN (side, loops->n[outer] - j);
        gint64 next = MIN (side, loops->n[outer] - j - m);
        const char *source = from + i * from_step + j * size;
        char *target = to + j * to_step + i * size;
        gboolean streams = cleave_can_stream (target, to_step, n * size);

        prefetch_tile (source + m * size, from_step, n, next * size);
        transpose_tile (tile, row, source, from_step, n, m, size);
        for (gint64 k = 0; k < m; k++)
          if (streams)
            cleave_stream_row (target + k * to_step, tile + k * row, n * size, 0);
          else
            memcpy (target + k * to_step, tile + k * row, (gsize) (n * size));
      }
}

gboolean
cleave_copy_can_transpose (const CleaveCopyLoops *loops, guint outer)
{
  guint inner = loops->rank - 1;
  gint64 size = loops->size, n = loops->n[inner] * size, m = loops->n[outer] * size;

  if (loops->to[inner] != size || loops->from[outer] != size || loops->from[inner] == 0)
    return FALSE;
  if (n < VECTOR)
    return m >= VECTOR && size < 8;
  return m >= VECTOR || loops->from[inner] == m;
}

void
cleave_copy_transposed (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer)
{
  guint inner = loops->rank - 1;
  gint64 size = loops->size, n = loops->n[inner], m = n_outer;
  gint64 to_step = loops->to[inner - 1], from_step = loops->from[inner];

  if (n * size < VECTOR && to_step == n * size)
    BY_SMALL_SIZE (size, weave, to, from, from_step, m, (guint) n);
  else if (n * size < VECTOR)
    BY_SMALL_SIZE (size, transpose_narrow, to, to_step, from, from_step, n, m);
  else if (m * size < VECTOR)
    BY_SMALL_SIZE (size, unweave, to, to_step, from, n, (guint) m);
  else if (loops->streams)
    transpose_past_cache (loops, to, from);
  else
    BY_SIZE (size, transpose_square, to, to_step, from, from_step, n, m);
}

gboolean
cleave_copy_part (char *const *to, const char *from, gint64 n, guint m, gint64 size)
{
  if (size == 4)
    return part_to_guint32 (to, from, n, m);
  if (size == 2)
    return part_to_guint16 (to, from, n, m);
  return size == 1 && part_to_guint8 (to, from, n, m);
}
