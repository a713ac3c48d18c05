/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts lines of elements between types, and iterates over the lines of views. */

#include "lines.h"

CleaveWide
cleave_wide_of (CleaveElement element)
{
  static const CleaveWide wides[CLEAVE_N_ELEMENTS] = {
    [CLEAVE_FLOAT32] = CLEAVE_WIDE_F32, [CLEAVE_FLOAT64] = CLEAVE_WIDE_F64,
    [CLEAVE_FLOAT16] = CLEAVE_WIDE_F32, [CLEAVE_BFLOAT16] = CLEAVE_WIDE_F32,
    [CLEAVE_INT8] = CLEAVE_WIDE_I64,    [CLEAVE_INT16] = CLEAVE_WIDE_I64,
    [CLEAVE_INT32] = CLEAVE_WIDE_I64,   [CLEAVE_INT64] = CLEAVE_WIDE_I64,
    [CLEAVE_UINT8] = CLEAVE_WIDE_U64,   [CLEAVE_UINT16] = CLEAVE_WIDE_U64,
    [CLEAVE_UINT32] = CLEAVE_WIDE_U64,  [CLEAVE_UINT64] = CLEAVE_WIDE_U64,
    [CLEAVE_BOOL] = CLEAVE_WIDE_U64,
  };

  return wides[element];
}

static int
compare_reals (double a, double b)
{
  return a != a || b != b ? (a != a) - (b != b) : (a > b) - (a < b);
}

#define COMPARE(T) ((*(const T *) a > *(const T *) b) - (*(const T *) a < *(const T *) b))

int
cleave_wide_compare (CleaveWide wide, gconstpointer a, gconstpointer b)
{
  if (wide == CLEAVE_WIDE_F32)
    return compare_reals ((double) *(const float *) a, (double) *(const float *) b);
  if (wide == CLEAVE_WIDE_F64)
    return compare_reals (*(const double *) a, *(const double *) b);
  return wide == CLEAVE_WIDE_I64 ? COMPARE (gint64) : COMPARE (guint64);
}

/* The functions below convert elements between types. */

static inline gint64
fit_signed (double a, gint64 min, gint64 max)
{
  return a != a ? 0 : a <= (double) min ? min : a >= (double) max ? max : (gint64) a;
}

static inline guint64
fit_unsigned (double a, guint64 max)
{
  return !(a > 0) ? 0 : a >= (double) max ? max : (guint64) a;
}

/* Converts an integer to a double, rounding to odd: truncates to 53 bits, and sets the last bit if
 * bits were lost. If the double is then rounded to a shorter float, the result is the same as if
 * the integer were rounded directly. */
static inline double
unsigned_to_odd (guint64 a)
{
  return (double) (a >> 53 == 0 ? a : (a & ~0x7ffull) | ((a & 0x7ff) != 0 ? 0x800 : 0));
}

static inline double
signed_to_odd (gint64 a)
{
  return a < 0 ? -unsigned_to_odd (-(guint64) a) : unsigned_to_odd ((guint64) a);
}

/* clang-format off */
#define AS_IS(a) (a)
#define IS_TRUE(a) ((a) != 0)

/* Lists the element types: X (element type, type in memory, wide type (CleaveWide), conversion to
 * the wide type). */
#define STORAGES(X)                                            \
  X (FLOAT32, float, float, AS_IS)                             \
  X (FLOAT64, double, double, AS_IS)                           \
  X (FLOAT16, guint16, float, cleave_half_to_float)            \
  X (BFLOAT16, guint16, float, cleave_bfloat16_to_float)       \
  X (INT8, gint8, gint64, AS_IS)                               \
  X (INT16, gint16, gint64, AS_IS)                             \
  X (INT32, gint32, gint64, AS_IS)                             \
  X (INT64, gint64, gint64, AS_IS)                             \
  X (UINT8, guint8, guint64, AS_IS)                            \
  X (UINT16, guint16, guint64, AS_IS)                          \
  X (UINT32, guint32, guint64, AS_IS)                          \
  X (UINT64, guint64, guint64, AS_IS)                          \
  X (BOOL, guint8, guint64, IS_TRUE)

typedef void (*Copy) (gpointer to, gconstpointer from, gint64 step, gint64 n);

#define READ(name, Storage, Wide, read)                                        \
  static void name (gpointer to, gconstpointer from, gint64 step, gint64 n)    \
  {                                                                            \
    const Storage *x = from;                                                   \
    Wide *y = to;                                                              \
                                                                               \
    for (gint64 i = 0; i < n; i++)                                             \
      y[i] = (Wide) read (x[i * step]);                                        \
  }
#define X(element, Storage, Wide, read)                                        \
  READ (read_##element, Storage, Wide, read)                                   \
  READ (read_real_##element, Storage, double, read)
STORAGES (X)
#undef X

/* Conversions from the four wide types (float, double, gint64 and guint64, in this order) to each
 * type in memory. */
#define FLOATING(Storage)                                                      \
  (Storage) x[i], (Storage) x[i], (Storage) x[i], (Storage) x[i]
#define HALF(storage)                                                          \
  cleave_##storage##_from_float (x[i]), cleave_##storage##_from_double (x[i]), \
  cleave_##storage##_from_double (signed_to_odd (x[i])),                       \
  cleave_##storage##_from_double (unsigned_to_odd (x[i]))
#define SIGNED(Storage, MIN, MAX)                                              \
  (Storage) fit_signed (x[i], MIN, MAX), (Storage) fit_signed (x[i], MIN, MAX), (Storage) x[i], (Storage) x[i]
#define UNSIGNED(Storage, MAX)                                                 \
  (Storage) fit_unsigned (x[i], MAX), (Storage) fit_unsigned (x[i], MAX), (Storage) x[i], (Storage) x[i]
#define BOOLEAN x[i] != 0, x[i] != 0, x[i] != 0, x[i] != 0

#define WRITE(name, Storage, Wide, value)                                      \
  static void name (gpointer to, gconstpointer from, gint64 step, gint64 n)    \
  {                                                                            \
    const Wide *x = from;                                                      \
    Storage *y = to;                                                           \
                                                                               \
    for (gint64 i = 0; i < n; i++)                                             \
      y[i * step] = (Storage) (value);                                         \
  }
#define WRITES(...) WRITES_ (__VA_ARGS__)
#define WRITES_(element, Storage, f32, f64, i64, u64)                          \
  WRITE (write_##element##_f32, Storage, float, f32)                           \
  WRITE (write_##element##_f64, Storage, double, f64)                          \
  WRITE (write_##element##_i64, Storage, gint64, i64)                          \
  WRITE (write_##element##_u64, Storage, guint64, u64)
WRITES (FLOAT32, float, FLOATING (float))
WRITES (FLOAT64, double, FLOATING (double))
WRITES (FLOAT16, guint16, HALF (half))
WRITES (BFLOAT16, guint16, HALF (bfloat16))
WRITES (INT8, gint8, SIGNED (gint8, G_MININT8, G_MAXINT8))
WRITES (INT16, gint16, SIGNED (gint16, G_MININT16, G_MAXINT16))
WRITES (INT32, gint32, SIGNED (gint32, G_MININT32, G_MAXINT32))
WRITES (INT64, gint64, SIGNED (gint64, G_MININT64, G_MAXINT64))
WRITES (UINT8, guint8, UNSIGNED (guint8, G_MAXUINT8))
WRITES (UINT16, guint16, UNSIGNED (guint16, G_MAXUINT16))
WRITES (UINT32, guint32, UNSIGNED (guint32, G_MAXUINT32))
WRITES (UINT64, guint64, UNSIGNED (guint64, G_MAXUINT64))
WRITES (BOOL, guint8, BOOLEAN)

static const struct
{
  Copy read, read_real, write[CLEAVE_N_WIDES];
} copies[CLEAVE_N_ELEMENTS] = {
#define X(element, Storage, Wide, read)                                        \
  [CLEAVE_##element] = { read_##element, read_real_##element,                  \
                         { write_##element##_f32, write_##element##_f64,       \
                           write_##element##_i64, write_##element##_u64 } },
  STORAGES (X)
#undef X
};
/* clang-format on */

/* Returns whether a line is contiguous in the view and its elements have the type `wide`, so that
 * the line needs no conversion. */
static gboolean
is_plain (CleaveElement element, gint64 step, CleaveWide wide)
{
  static const CleaveElement plain[CLEAVE_N_WIDES] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_INT64,
                                                       CLEAVE_UINT64 };

  return step == 1 && element == plain[wide];
}

gconstpointer
cleave_line_read (const CleaveView *view,
                  gint64 offset,
                  gint64 step,
                  gint64 n,
                  CleaveWide wide,
                  CleaveLineBuffer *buffer)
{
  CleaveElement element = view->type.element;
  gconstpointer from = cleave_view_element (view, offset);
  Copy copy = wide == cleave_wide_of (element) ? copies[element].read : copies[element].read_real;

  if (is_plain (element, step, wide))
    return from;
  copy (buffer, from, step, n);
  return buffer;
}

gpointer
cleave_line_begin (
    const CleaveView *view, gint64 offset, gint64 step, CleaveWide wide, CleaveLineBuffer *buffer)
{
  return is_plain (view->type.element, step, wide) ? cleave_view_element (view, offset) : buffer;
}

void
cleave_line_write (const CleaveView *view,
                   gint64 offset,
                   gint64 step,
                   gint64 n,
                   CleaveWide wide,
                   gconstpointer from)
{
  gpointer to = cleave_view_element (view, offset);

  if (to != from || !is_plain (view->type.element, step, wide))
    copies[view->type.element].write[wide](to, from, step, n);
}

/* The functions below iterate over lines. */

/* Returns whether dimensions d and d + 1 can be merged: in all views, the stride of dimension d
 * equals the stride of dimension d + 1 times its extent. */
static gboolean
can_join (const CleaveLines *lines, guint d)
{
  for (guint k = 0; k < lines->n_views; k++)
    if (lines->stride[k][d] != lines->stride[k][d + 1] * lines->dim[d + 1])
      return FALSE;
  return TRUE;
}

/* Moves dimension d to index `to`, and shifts the dimensions between the two indices. */
static void
move_dim (CleaveLines *lines, guint d, guint to)
{
  lines->dim[to] = lines->dim[d];
  for (guint k = 0; k < lines->n_views; k++)
    lines->stride[k][to] = lines->stride[k][d];
}

/* Drops dimensions of extent 1, and merges neighboring dimensions for which can_join() is TRUE. */
static void
join_dims (CleaveLines *lines)
{
  guint rank = 0;

  for (guint d = 0; d < lines->rank; d++)
    if (lines->dim[d] != 1)
      move_dim (lines, d, rank++);
  lines->rank = rank;
  for (guint d = rank; d-- > 1;)
    if (can_join (lines, d - 1))
      {
        gint64 joined = lines->dim[d - 1] * lines->dim[d];

        for (guint i = d; i < lines->rank; i++)
          move_dim (lines, i, i - 1);
        lines->dim[d - 1] = joined;
        lines->rank--;
      }
}

gboolean
cleave_lines_init (CleaveLines *lines, guint n_views)
{
  lines->n_views = n_views;
  for (guint d = 0; d < lines->rank; d++)
    if (lines->dim[d] == 0)
      return FALSE;
  join_dims (lines);
  if (lines->rank == 0)
    {
      lines->rank = 1;
      lines->dim[0] = 1;
      for (guint k = 0; k < n_views; k++)
        lines->stride[k][0] = 1;
    }
  lines->rank--;
  lines->length = lines->dim[lines->rank];
  for (guint d = 0; d < lines->rank; d++)
    lines->index[d] = 0;
  for (guint k = 0; k < n_views; k++)
    {
      lines->offset[k] = 0;
      lines->step[k] = lines->stride[k][lines->rank];
    }
  return TRUE;
}

gboolean
cleave_lines_init_views (CleaveLines *lines, const CleaveView *const *views, guint n_views)
{
  const CleaveView *first = views[0];
  gint64 stride[CLEAVE_LINES_MAX_VIEWS][CLEAVE_MAX_RANK];
  guint order[CLEAVE_MAX_RANK];

  lines->rank = first->type.shape.rank;
  for (guint k = 0; k < n_views; k++)
    cleave_view_broadcast_strides (views[k], lines->rank, stride[k]);
  for (guint d = 0; d < lines->rank; d++)
    {
      guint at = d;

      for (; at > 0 && first->stride[order[at - 1]] < first->stride[d]; at--)
        order[at] = order[at - 1];
      order[at] = d;
    }
  for (guint d = 0; d < lines->rank; d++)
    {
      lines->dim[d] = first->type.shape.dim[order[d]];
      for (guint k = 0; k < n_views; k++)
        lines->stride[k][d] = stride[k][order[d]];
    }
  return cleave_lines_init (lines, n_views);
}

gboolean
cleave_lines_init_dims (CleaveLines *lines,
                        const CleaveView *const *views,
                        guint n_views,
                        guint dims)
{
  const CleaveShape *shape = &views[0]->type.shape;

  lines->rank = 0;
  for (guint d = 0; d < shape->rank; d++)
    if ((dims >> d & 1) != 0)
      {
        lines->dim[lines->rank] = shape->dim[d];
        for (guint k = 0; k < n_views; k++)
          lines->stride[k][lines->rank] = views[k]->stride[d];
        lines->rank++;
      }
  return cleave_lines_init (lines, n_views);
}

gboolean
cleave_lines_next (CleaveLines *lines)
{
  for (guint d = lines->rank; d-- > 0;)
    {
      lines->index[d]++;
      for (guint k = 0; k < lines->n_views; k++)
        lines->offset[k] += lines->stride[k][d];
      if (lines->index[d] < lines->dim[d])
        return TRUE;
      lines->index[d] = 0;
      for (guint k = 0; k < lines->n_views; k++)
        lines->offset[k] -= lines->stride[k][d] * lines->dim[d];
    }
  return FALSE;
}
