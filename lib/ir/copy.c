/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies of views at the speed of memory.  A copy is nested loops; what its two innermost ones do
 * decides how it is done: rows that are runs on both sides, runs that are turned (a transposition,
 * tile by tile), a few long lines (three channels), or single elements. */

#include "view.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Strides in bytes, innermost last; `size` is that of an element or of a short run that serves as
 * one. */
typedef struct
{
  guint rank;
  gint64 size;
  gint64 n[CLEAVE_MAX_RANK], to[CLEAVE_MAX_RANK], from[CLEAVE_MAX_RANK];
  gboolean streams;
} Loops;

/* Dimensions by how far they step in `to`, the farthest first: whatever the order of the shape,
 * memory is written from its begin to its end. */
static void
sort_dims (const CleaveView *to, guint *dims)
{
  for (guint d = 0; d < to->type.shape.rank; d++)
    {
      guint at = d;

      for (; at > 0 && to->stride[dims[at - 1]] < to->stride[d]; at--)
        dims[at] = dims[at - 1];
      dims[at] = d;
    }
}

/* Leaves out extents of 1 and joins neighbours that follow each other on both sides. */
static Loops
make_loops (const CleaveView *to, const CleaveView *from)
{
  Loops loops = { .size = (gint64) cleave_element_size (to->type.element) };
  guint dims[CLEAVE_MAX_RANK];

  sort_dims (to, dims);
  for (guint i = 0; i < to->type.shape.rank; i++)
    {
      guint d = dims[i], last = loops.rank - 1;
      gint64 n = to->type.shape.dim[d];
      gint64 to_stride = to->stride[d] * loops.size, from_stride = from->stride[d] * loops.size;

      if (n == 1)
        continue;
      if (loops.rank > 0 && loops.to[last] == n * to_stride && loops.from[last] == n * from_stride)
        n *= loops.n[last];
      else
        last = loops.rank++;
      loops.n[last] = n;
      loops.to[last] = to_stride;
      loops.from[last] = from_stride;
    }
  return loops;
}

/* Pairs and the like move as one element. */
static void
widen (Loops *loops)
{
  for (; loops->rank > 0; loops->rank--)
    {
      guint inner = loops->rank - 1;
      gint64 n_bytes = loops->n[inner] * loops->size;

      if (loops->to[inner] != loops->size || loops->from[inner] != loops->size ||
          (n_bytes != 2 && n_bytes != 4 && n_bytes != 8))
        return;
      loops->size = n_bytes;
    }
}

/* Brings a loop to another place in the nest; those between move up. */
static void
move_loop (Loops *loops, guint from, guint to)
{
  gint64 *fields[] = { loops->n, loops->to, loops->from };

  for (guint f = 0; f < G_N_ELEMENTS (fields); f++)
    {
      gint64 kept = fields[f][from];

      for (guint d = from; d < to; d++)
        fields[f][d] = fields[f][d + 1];
      for (guint d = from; d > to; d--)
        fields[f][d] = fields[f][d - 1];
      fields[f][to] = kept;
    }
}

/* Rows. */

/* How many bytes are on their way from memory. */
#define AHEAD 1024

/* Whole lines of the cache at a time, and asks for what is `ahead` bytes further on. */
static inline void
stream_row (char *to, const char *from, gint64 n, gint64 ahead)
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

/* Nobody else sees what was streamed before this. */
static inline void
end_streams (void)
{
#ifdef __SSE2__
  _mm_sfence ();
#endif
}

static inline gboolean
can_stream (gconstpointer to, gint64 stride, gint64 n)
{
  return ((gsize) to | (gsize) stride | (gsize) n) % 16 == 0;
}

/* A short row without a call, in pieces of `part` bytes; the last overlaps the one before it. */
static inline __attribute__ ((always_inline)) void
copy_short (char *to, const char *from, gint64 n, const gint64 part)
{
  for (gint64 i = 0; i + part <= n; i += part)
    memcpy (to + i, from + i, (gsize) part);
  memcpy (to + n - part, from + n - part, (gsize) part);
}

static void
copy_rows (const Loops *loops, char *to, const char *from, gint64 n_rows)
{
  gint64 n_bytes = loops->n[loops->rank - 1] * loops->size;
  gint64 to_step = n_rows > 1 ? loops->to[loops->rank - 2] : 0;
  gint64 from_step = n_rows > 1 ? loops->from[loops->rank - 2] : 0;
  gint64 ahead = n_bytes < AHEAD ? AHEAD / MAX (n_bytes, 1) * from_step : AHEAD;

  if (loops->streams && can_stream (to, to_step, n_bytes))
    for (gint64 i = 0; i < n_rows; i++)
      stream_row (to + i * to_step, from + i * from_step, n_bytes, ahead);
  else if (n_bytes >= 16 && n_bytes <= 512)
    for (gint64 i = 0; i < n_rows; i++)
      copy_short (to + i * to_step, from + i * from_step, n_bytes, 16);
  else if (n_bytes > 8 && n_bytes < 16)
    for (gint64 i = 0; i < n_rows; i++)
      copy_short (to + i * to_step, from + i * from_step, n_bytes, 8);
  else
    for (gint64 i = 0; i < n_rows; i++)
      memcpy (to + i * to_step, from + i * from_step, (gsize) n_bytes);
}

/* Lines: elements one by one; a line may be filled with one. */

/* clang-format off */
#define COPY_LINE(type)                                                                            \
  {                                                                                                \
    type first;                                                                                    \
                                                                                                   \
    memcpy (&first, from, sizeof first);                                                           \
    if (from_step == 0 && to_step == (gint64) sizeof first)                                        \
      for (gint64 i = 0; i < n; i++)                                                               \
        memcpy (to + i * (gint64) sizeof first, &first, sizeof first);                             \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        memcpy (to + i * to_step, from + i * from_step, sizeof first);                             \
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

/* Lines of 32-bit elements that lie one behind the other become one, in turns. */
static inline __attribute__ ((always_inline)) void
weave (char *to, const char *from, gint64 from_step, gint64 n, const guint n_lines)
{
  for (gint64 i = 0; i < n; i++, to += n_lines * 4, from += 4)
    for (guint k = 0; k < n_lines; k++)
      memcpy (to + k * 4, from + k * from_step, 4);
}

/* FALSE: they are not such lines, or many. */
static gboolean
weave_lines (const Loops *loops, char *to, const char *from, gint64 n_outer)
{
  guint inner = loops->rank - 1, n_lines = (guint) loops->n[inner];
  gint64 step = loops->from[inner];

  if (n_outer < 2 || loops->size != 4 || loops->to[inner] != 4 || loops->from[inner - 1] != 4 ||
      loops->to[inner - 1] != n_lines * 4)
    return FALSE;
  switch (n_lines)
    {
    case 2:
      weave (to, from, step, n_outer, 2);
      return TRUE;
    case 3:
      weave (to, from, step, n_outer, 3);
      return TRUE;
    case 4:
      weave (to, from, step, n_outer, 4);
      return TRUE;
    default:
      return FALSE;
    }
}

/* The inner loop is short, the one around it is not: lines along that, as many at a time as stay in
 * the cache. */
#define LINE_PART 512

static void
copy_lines (const Loops *loops, char *to, const char *from, gint64 n_outer)
{
  guint inner = loops->rank - 1, outer = n_outer > 1 ? inner - 1 : inner;
  gint64 to_step = loops->to[outer], from_step = loops->from[outer];

  for (gint64 begin = 0; begin < n_outer; begin += LINE_PART)
    for (gint64 i = 0; i < loops->n[inner]; i++)
      copy_line (to + begin * to_step + i * loops->to[inner], to_step,
                 from + begin * from_step + i * loops->from[inner], from_step,
                 MIN (n_outer - begin, LINE_PART), loops->size);
}

static void
copy_elements (const Loops *loops, char *to, const char *from, gint64 n_outer)
{
  guint inner = loops->rank - 1, outer = n_outer > 1 ? inner - 1 : inner;

  if (weave_lines (loops, to, from, n_outer))
    return;
  if (loops->n[inner] < 8 && n_outer > loops->n[inner])
    copy_lines (loops, to, from, n_outer);
  else
    for (gint64 i = 0; i < n_outer; i++)
      copy_line (to + i * loops->to[outer], loops->to[inner], from + i * loops->from[outer],
                 loops->from[inner], loops->n[inner], loops->size);
}

/* Transpositions: `to` is made of runs along the inner loop, `from` along the one around it.  A
 * tile is turned block by block in registers, into a buffer, so that both sides are touched in long
 * runs and each cache line once: with strides that are powers of two, few lines fit the cache. */

#define TILE_BYTES (16 << 10)
#define TILE 64 /* elements on a side, at most; of 8 bytes, half of it */

/* Rows a and b as one, element by element. */
/* clang-format off */
#define MIX_16 \
  LOW (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23) \
  HIGH (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define MIX_8 LOW (0, 8, 1, 9, 2, 10, 3, 11) HIGH (4, 12, 5, 13, 6, 14, 7, 15)
#define MIX_4 LOW (0, 4, 1, 5) HIGH (2, 6, 3, 7)
#define MIX_2 LOW (0, 2) HIGH (1, 3)
#define LOW(...) mixed[2 * i] = __builtin_shufflevector (rows[i], rows[i + half], __VA_ARGS__);
#define HIGH(...) mixed[2 * i + 1] = __builtin_shufflevector (rows[i], rows[i + half], __VA_ARGS__);

/* N x N elements: mixing row i with row i + N/2, log2 N times, turns them. */
#define TURN_BLOCK(type, N)                                                                        \
  static inline void                                                                               \
  turn_block_##type (char *to, gint64 to_step, const char *from, gint64 from_step)                 \
  {                                                                                                \
    typedef type Row __attribute__ ((vector_size (16)));                                           \
    const guint half = N / 2;                                                                      \
    Row rows[N], mixed[N];                                                                         \
                                                                                                   \
    for (guint i = 0; i < N; i++)                                                                  \
      memcpy (&rows[i], from + i * from_step, sizeof (Row));                                       \
    for (guint step = 1; step < N; step *= 2)                                                      \
      {                                                                                            \
        for (guint i = 0; i < half; i++)                                                           \
          { MIX_##N }                                                                              \
        memcpy (rows, mixed, sizeof rows);                                                         \
      }                                                                                            \
    for (guint i = 0; i < N; i++)                                                                  \
      memcpy (to + i * to_step, &rows[i], sizeof (Row));                                           \
  }

/* n runs of `from` become m runs of `to`. */
#define TURN_TILE(type, N)                                                                         \
  TURN_BLOCK (type, N)                                                                             \
                                                                                                   \
  static void                                                                                      \
  turn_tile_##type (char *to, gint64 to_step, const char *from, gint64 from_step, gint64 n,        \
                    gint64 m)                                                                      \
  {                                                                                                \
    const gint64 size = (gint64) sizeof (type);                                                    \
    gint64 whole_n = n / N * N, whole_m = m / N * N;                                               \
                                                                                                   \
    for (gint64 i = 0; i < whole_n; i += N)                                                        \
      for (gint64 j = 0; j < whole_m; j += N)                                                      \
        turn_block_##type (to + j * to_step + i * size, to_step, from + i * from_step + j * size,  \
                           from_step);                                                             \
    for (gint64 i = 0; i < n; i++)                                                                 \
      for (gint64 j = i < whole_n ? whole_m : 0; j < m; j++)                                       \
        memcpy (to + j * to_step + i * size, from + i * from_step + j * size, sizeof (type));      \
  }

TURN_TILE (guint8, 16)
TURN_TILE (guint16, 8)
TURN_TILE (guint32, 4)
TURN_TILE (guint64, 2)
/* clang-format on */

static void
turn_tile (
    char *to, gint64 to_step, const char *from, gint64 from_step, gint64 n, gint64 m, gint64 size)
{
  if (size == 4)
    turn_tile_guint32 (to, to_step, from, from_step, n, m);
  else if (size == 8)
    turn_tile_guint64 (to, to_step, from, from_step, n, m);
  else if (size == 2)
    turn_tile_guint16 (to, to_step, from, from_step, n, m);
  else
    turn_tile_guint8 (to, to_step, from, from_step, n, m);
}

/* What the next tile reads is asked for in time: its runs are too short for the machine to guess.
 */
static inline void
prefetch_tile (const char *from, gint64 from_step, gint64 n, gint64 n_bytes)
{
  for (gint64 i = 0; i < n; i++)
    for (gint64 at = 0; at < n_bytes; at += 64)
      __builtin_prefetch (from + i * from_step + at);
}

static void
transpose (const Loops *loops, char *to, const char *from)
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
        gboolean streams = loops->streams && can_stream (target, to_step, n * size);

        if (loops->streams)
          prefetch_tile (source + m * size, from_step, n, next * size);
        turn_tile (tile, row, source, from_step, n, m, size);
        for (gint64 k = 0; k < m; k++)
          if (streams)
            stream_row (target + k * to_step, tile + k * row, n * size, 0);
          else
            memcpy (target + k * to_step, tile + k * row, (gsize) (n * size));
      }
}

/* The loop along which `from` is made of runs; the innermost if it is better done otherwise. */
static guint
find_turned (const Loops *loops)
{
  guint inner = loops->rank - 1;

  if (loops->to[inner] == loops->size && loops->from[inner] != 0 && loops->n[inner] >= 4)
    for (guint d = 0; d < inner; d++)
      if (loops->from[d] == loops->size && loops->n[d] >= 4)
        return d;
  return inner;
}

typedef void (*CopyInner) (const Loops *loops, char *to, const char *from, gint64 n_outer);

static void
copy_turned (const Loops *loops, char *to, const char *from, gint64 n_outer)
{
  transpose (loops, to, from);
}

static CopyInner
choose (Loops *loops)
{
  guint inner = loops->rank - 1, turned = find_turned (loops);

  if (loops->to[inner] == loops->size && loops->from[inner] == loops->size)
    return copy_rows;
  if (turned == inner)
    return copy_elements;
  move_loop (loops, turned, inner - 1);
  return copy_turned;
}

static void
copy_view (const CleaveView *to, const CleaveView *from, gboolean streams)
{
  Loops loops = make_loops (to, from);
  gint64 index[CLEAVE_MAX_RANK] = { 0 };
  char *t = to->data;
  const char *f = from->data;
  CopyInner copy;
  guint rest, d; /* the two innermost loops are done at once */

  loops.streams = streams;
  widen (&loops);
  if (loops.rank == 0)
    {
      memcpy (t, f, (gsize) loops.size);
      return;
    }
  copy = choose (&loops);
  rest = loops.rank < 2 ? 0 : loops.rank - 2;
  do
    {
      copy (&loops, t, f, loops.rank < 2 ? 1 : loops.n[rest]);
      for (d = rest; d > 0; d--)
        {
          t += loops.to[d - 1];
          f += loops.from[d - 1];
          if (++index[d - 1] < loops.n[d - 1])
            break;
          t -= loops.n[d - 1] * loops.to[d - 1];
          f -= loops.n[d - 1] * loops.from[d - 1];
          index[d - 1] = 0;
        }
    }
  while (d > 0);
  if (loops.streams)
    end_streams ();
}

void
cleave_view_copy (const CleaveView *to, const CleaveView *from)
{
  gint64 n_bytes = cleave_tensor_type_n_bytes (&to->type);

  if (n_bytes > 0)
    copy_view (to, from, n_bytes >= CLEAVE_STREAM_BYTES);
}

void
cleave_view_stream (const CleaveView *to, const CleaveView *from)
{
  if (cleave_tensor_type_n_bytes (&to->type) > 0)
    copy_view (to, from, TRUE);
}

/* The rows of a part, as many as of any other. */
typedef struct
{
  char *to;
  const char *from;
  gint64 n_bytes, to_step, from_step;
} Rows;

static gboolean
find_rows (const CleaveView *to, const CleaveView *from, Rows *rows, gint64 *n_rows)
{
  Loops loops = make_loops (to, from);

  if (loops.rank != 2 || loops.to[1] != loops.size || loops.from[1] != loops.size)
    return FALSE;
  *n_rows = loops.n[0];
  *rows = (Rows){ to->data, from->data, loops.n[1] * loops.size, loops.to[0], loops.from[0] };
  return can_stream (rows->to, rows->to_step, rows->n_bytes);
}

/* A row of each part in turn: their rows lie side by side. */
static void
stream_parts (const Rows *rows, guint n, gint64 n_rows)
{
  for (gint64 i = 0; i < n_rows; i++)
    for (guint k = 0; k < n; k++)
      stream_row (rows[k].to + i * rows[k].to_step, rows[k].from + i * rows[k].from_step,
                  rows[k].n_bytes, AHEAD);
  end_streams ();
}

/* Of so many parts at once. */
#define MAX_PARTS 64

static gboolean
stream_in_turn (const CleaveView *const *to, const CleaveView *const *from, guint n)
{
  Rows rows[MAX_PARTS];
  gint64 n_rows = 0, first = 0;

  for (guint k = 0; k < n; k++)
    {
      if (!find_rows (to[k], from[k], &rows[k], &n_rows) || (k > 0 && n_rows != first))
        return FALSE;
      first = n_rows;
    }
  stream_parts (rows, n, n_rows);
  return TRUE;
}

void
cleave_view_stream_parts (const CleaveView *const *to, const CleaveView *const *from, guint n)
{
  for (guint begin = 0; begin < n; begin += MAX_PARTS)
    {
      guint n_parts = MIN (n - begin, MAX_PARTS);

      if (n_parts == 1 || !stream_in_turn (to + begin, from + begin, n_parts))
        for (guint k = begin; k < begin + n_parts; k++)
          cleave_view_stream (to[k], from[k]);
    }
}
