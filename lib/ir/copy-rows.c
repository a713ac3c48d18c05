/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the two innermost loops of a copy (copy.h) that does not transpose. A row is an innermost
 * loop that is contiguous in `to` and in `from`. A line is an innermost loop over single elements
 * at equal distances. */

#include "copy.h"
#include "row-copy.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The functions below copy rows. */

/* Copies a row one cache line (64 bytes) at a time. Prefetches the bytes that lie `ahead` bytes
 * after the cache line. */
void
cleave_stream_row (char *to, const char *from, gint64 n, gint64 ahead)
{
#ifdef __SSE2__
  gint64 i = 0;

  for (; i + 64 <= n; i += 64)
    {
      __builtin_prefetch (from + i + ahead);
      for (gint64 k = 0; k < 64; k += 16)
        _mm_stream_si128 ((__m128i *) (gpointer) (to + i + k),
                          _mm_loadu_si128 ((const __m128i *) (gconstpointer) (from + i + k)));
    }
  for (; i < n; i += 16)
    _mm_stream_si128 ((__m128i *) (gpointer) (to + i),
                      _mm_loadu_si128 ((const __m128i *) (gconstpointer) (from + i)));
#else
  memcpy (to, from, (gsize) n);
#endif
}

void
cleave_stream_end (void)
{
#ifdef __SSE2__
  _mm_sfence ();
#endif
}

/* Copies a row of 33 to 512 bytes without a call of memcpy(): 16 bytes at a time. The last 16 bytes
 * may overlap the bytes before them. */
static inline void
copy_short (char *to, const char *from, gint64 n)
{
  for (gint64 i = 0; i + 16 < n; i += 16)
    memcpy (to + i, from + i, 16);
  memcpy (to + n - 16, from + n - 16, 16);
}

/* Copies rows that have at least `part` and at most 2 * `part` bytes each. Copies the first `part`
 * bytes of a row, then the last `part` bytes. The two ranges may overlap. */
static inline __attribute__ ((always_inline)) void
copy_pairs (char *to,
            gint64 to_step,
            const char *from,
            gint64 from_step,
            gint64 n_bytes,
            gint64 n_rows,
            const gint64 part)
{
  for (gint64 i = 0; i < n_rows; i++, to += to_step, from += from_step)
    {
      memcpy (to, from, (gsize) part);
      memcpy (to + n_bytes - part, from + n_bytes - part, (gsize) part);
    }
}

void
cleave_row_copy_run (const CleaveRowCopy *rows)
{
  gint64 n_bytes = rows->n_bytes, n_rows = rows->n_rows;
  gint64 to_step = rows->to_step, from_step = rows->from_step;
  const char *from = rows->from;
  char *to = rows->to;

  if (n_bytes >= 16 && n_bytes <= 32)
    copy_pairs (to, to_step, from, from_step, n_bytes, n_rows, 16);
  else if (n_bytes > 8 && n_bytes < 16)
    copy_pairs (to, to_step, from, from_step, n_bytes, n_rows, 8);
  else if (n_bytes > 32 && n_bytes <= 512)
    for (gint64 i = 0; i < n_rows; i++)
      copy_short (to + i * to_step, from + i * from_step, n_bytes);
  else
    for (gint64 i = 0; i < n_rows; i++)
      memcpy (to + i * to_step, from + i * from_step, (gsize) n_bytes);
}

void
cleave_copy_rows (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_rows)
{
  gint64 n_bytes = loops->n[loops->rank - 1] * loops->size;
  gint64 to_step = n_rows > 1 ? loops->to[loops->rank - 2] : 0;
  gint64 from_step = n_rows > 1 ? loops->from[loops->rank - 2] : 0;
  gint64 ahead = n_bytes < CLEAVE_STREAM_AHEAD ? CLEAVE_STREAM_AHEAD / MAX (n_bytes, 1) * from_step
                                               : CLEAVE_STREAM_AHEAD;

  if (loops->streams && cleave_can_stream (to, to_step, n_bytes))
    for (gint64 i = 0; i < n_rows; i++)
      cleave_stream_row (to + i * to_step, from + i * from_step, n_bytes, ahead);
  else
    cleave_row_copy_run (&(CleaveRowCopy){ to, from, to_step, from_step, n_bytes, n_rows });
}

/* The functions below copy lines. There are fast paths for a line that repeats one element, and for
 * a line that takes every second element. */

/* A line of at least FILLED_BYTES that repeats one element is filled by copies of its first
 * FILLED_FIRST bytes. This raises OneHot of 1,000 floats from 52 to 77 GB/s. */
#define FILLED_BYTES 1024
#define FILLED_FIRST 256

static void
fill_on (char *to, gint64 n, gint64 n_bytes)
{
  for (gint64 i = n; i < n_bytes; i += n)
    {
      n = i < 2 * FILLED_BYTES ? i : n;
      memcpy (to + i, to, (gsize) MIN (n, n_bytes - i));
    }
}

/* clang-format off */
#define EVENS_16 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define EVENS_8 0, 2, 4, 6, 8, 10, 12, 14
#define EVENS_4 0, 2, 4, 6
#define EVENS_2 0, 2
/* Copies every second element, a vector at a time, and returns the number of elements copied. The
 * loads also read the elements between the copied elements, and the function drops them. Another
 * thread may be writing the dropped elements, which changes no result. So the thread sanitizer is
 * off for this function. */
#define DEFINE_EACH_SECOND(type, N)                                                                \
  __attribute__ ((no_sanitize ("thread"))) static gint64                                           \
  each_second_##type (char *to, const char *from, gint64 n)                                        \
  {                                                                                                \
    typedef type Vector __attribute__ ((vector_size (16)));                                        \
    gint64 i = 0;                                                                                  \
    Vector low, high;                                                                              \
                                                                                                   \
    for (; i + N < n; i += N) /* the loads must not pass the end of the line */                    \
      {                                                                                            \
        memcpy (&low, from + 2 * i * (gint64) sizeof (type), 16);                                  \
        memcpy (&high, from + 2 * i * (gint64) sizeof (type) + 16, 16);                            \
        low = __builtin_shufflevector (low, high, EVENS_##N);                                      \
        memcpy (to + i * (gint64) sizeof (type), &low, 16);                                        \
      }                                                                                            \
    return i;                                                                                      \
  }
DEFINE_EACH_SECOND (guint8, 16)
DEFINE_EACH_SECOND (guint16, 8)
DEFINE_EACH_SECOND (guint32, 4)
DEFINE_EACH_SECOND (guint64, 2)

#define COPY_LINE(type)                                                                         \
  {                                                                                                \
    gint64 i = 0, n_first = n * size >= FILLED_BYTES ? FILLED_FIRST / size : n;                    \
    type first;                                                                                    \
                                                                                                   \
    memcpy (&first, from, sizeof first);                                                           \
    if (from_step == 0 && to_step == size)                                                         \
      {                                                                                            \
        for (; i < n_first; i++)                                                                   \
          memcpy (to + i * (gint64) sizeof first, &first, sizeof first);                           \
        fill_on (to, n_first * size, n * size);                                                    \
        return;                                                                                    \
      }                                                                                            \
    if (from_step == 2 * size && to_step == size)                                                  \
      i = each_second_##type (to, from, n);                                                        \
    for (; i < n; i++)                                                                             \
      memcpy (to + i * to_step, from + i * from_step, sizeof (type));                              \
  }
/* clang-format on */

static void
copy_line (char *to, gint64 to_step, const char *from, gint64 from_step, gint64 n, gint64 size)
{
  if (size == 4)
    COPY_LINE (guint32)
  else if (size == 8)
    COPY_LINE (guint64)
  else if (size == 2)
    COPY_LINE (guint16)
  else
    COPY_LINE (guint8)
}

/* copy_across() divides the iterations of the outer loop into parts of at most LINE_PART. It runs a
 * whole part for each iteration of the innermost loop before it goes on to the next part. So the
 * cache lines of a part are still in the cache at the next iteration of the innermost loop.
 * cleave_copy_lines() calls copy_across() if the innermost loop has less than 8 iterations, and
 * fewer iterations than the loop around the innermost loop. */
#define LINE_PART 512

static void
copy_across (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer)
{
  guint inner = loops->rank - 1, outer = n_outer > 1 ? inner - 1 : inner;
  gint64 to_step = loops->to[outer], from_step = loops->from[outer];

  for (gint64 begin = 0; begin < n_outer; begin += LINE_PART)
    for (gint64 i = 0; i < loops->n[inner]; i++)
      copy_line (to + begin * to_step + i * loops->to[inner], to_step,
                 from + begin * from_step + i * loops->from[inner], from_step,
                 MIN (n_outer - begin, LINE_PART), loops->size);
}

void
cleave_copy_lines (const CleaveCopyLoops *loops, char *to, const char *from, gint64 n_outer)
{
  guint inner = loops->rank - 1, outer = n_outer > 1 ? inner - 1 : inner;

  if (loops->n[inner] < 8 && n_outer > loops->n[inner])
    copy_across (loops, to, from, n_outer);
  else
    for (gint64 i = 0; i < n_outer; i++)
      copy_line (to + i * loops->to[outer], loops->to[inner], from + i * loops->from[outer],
                 loops->from[inner], loops->n[inner], loops->size);
}
