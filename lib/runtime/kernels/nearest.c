/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of Resize with nearest-neighbor interpolation, for any element type. Contiguous
 * channels that are not resized are copied together as a pixel. The pixels of an operand line are
 * repeated, or are read at computed offsets. If a line of the result equals the line before, its
 * bytes are copied from that line. */

#include "level.h"
#include "loops.h"

#include "../../ops/resize-taps.h"

#include <string.h>

enum { X };

typedef struct
{
  /* size of a pixel in bytes; distance of adjacent pixels of the result in bytes */
  gint64 size, y_step;
  gint64 n, *from; /* number of pixels of a line; indexed by pixel: byte offset in the operand */
  gint64 repeats;  /* number of times that each operand pixel is repeated; 0: the numbers differ, so
                      `from` is used */
  guint n_dims;    /* number of dimensions that are not part of a line. The arrays below have these
                      dimensions in the order of descending strides of the result */
  gint64 extent[CLEAVE_MAX_RANK];
  gint64 to[CLEAVE_MAX_RANK]; /* indexed by dimension: distance of adjacent positions of the result,
                                 in bytes */
  /* indexed by dimension and position: byte offset in the operand */
  gint64 *place[CLEAVE_MAX_RANK];
  /* byte offset in the operand at which each read begins: the sum of the operand's offsets along
   * the dimensions that have extent 1 in the result */
  gint64 begin;
} Nearest;

static void
nearest_free (gpointer state)
{
  Nearest *r = state;

  for (guint d = 0; d <= r->n_dims; d++)
    g_free (r->place[d]);
  g_free (r->from);
  g_free (r);
}

/* Returns an array with the byte offset in the operand for each position of the result along
 * dimension d. */
static gint64 *
new_places (const CleaveKernelInstance *instance, guint d)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  CleaveResizeAxis axis =
      cleave_resize_axis (instance->call.attrs, d, x->type.shape.dim[d], y->type.shape.dim[d]);
  gint64 *places = g_new (gint64, (gsize) axis.to);

  for (gint64 i = 0; i < axis.to; i++)
    places[i] = cleave_resize_taps (&axis, i).at[0] * x->stride[d] *
                (gint64) cleave_element_size (x->type.element);
  return places;
}

/* Returns the number of times that a line repeats each operand pixel. Returns 0 if this number
 * varies, or if pixels are not contiguous. */
static gint64
count_repeats (const Nearest *r)
{
  gint64 repeats = 1;

  while (repeats < r->n && r->from[repeats] == r->from[0])
    repeats++;
  for (gint64 i = 0; i < r->n; i++)
    if (r->from[i] != i / repeats * r->size)
      return 0;
  return r->n % repeats == 0 && r->y_step == r->size ? repeats : 0;
}

/* Lists all dimensions of the result with several positions, except the dimension `c` of the
 * channels. Adds the offsets along the dimensions of extent 1 to `begin`. */
static void
add_dims (Nearest *r, const CleaveKernelInstance *instance, guint c)
{
  const CleaveView *y = &instance->results[0];
  gint64 size = (gint64) cleave_element_size (y->type.element);
  guint order[CLEAVE_MAX_RANK], n_dims = cleave_loops_sort (y, order);

  r->size = size * (c < y->type.shape.rank ? y->type.shape.dim[c] : 1);
  for (guint d = 0; d < y->type.shape.rank; d++)
    if (d != c && y->type.shape.dim[d] == 1)
      {
        g_autofree gint64 *places = new_places (instance, d);

        r->begin += places[0];
      }
  for (guint i = 0; i < n_dims; i++)
    if (order[i] != c)
      {
        r->extent[r->n_dims] = y->type.shape.dim[order[i]];
        r->to[r->n_dims] = y->stride[order[i]] * size;
        r->place[r->n_dims++] = new_places (instance, order[i]);
      }
}

/* Turns the innermost dimension into the pixels of a line, and the next dimension into the lines.
 * If there is no such dimension, uses a dimension of extent 1. */
static void
take_lines (Nearest *r)
{
  r->n = 1;
  r->y_step = r->size;
  if (r->n_dims > 0)
    {
      r->n = r->extent[--r->n_dims];
      r->y_step = r->to[r->n_dims];
      r->from = g_steal_pointer (&r->place[r->n_dims]);
    }
  else
    r->from = g_new0 (gint64, 1);
  if (r->n_dims > 0)
    r->n_dims--;
  else
    {
      r->extent[0] = 1;
      r->place[0] = g_new0 (gint64, 1);
    }
  r->repeats = count_repeats (r);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveResizeAttrs *attrs = instance->call.attrs;
  const CleaveView *y = &instance->results[0];
  Nearest *r;

  if (attrs->coordinate_transformation_mode == CLEAVE_RESIZE_TF_CROP_AND_RESIZE ||
      cleave_shape_n_elements (&y->type.shape) == 0)
    return FALSE;
  r = g_new0 (Nearest, 1);
  add_dims (r, instance, cleave_resize_find_channels (attrs, &instance->operands[X], y));
  take_lines (r);
  *state = r;
  return TRUE;
}

/* clang-format off */
#define REPEAT(T, times)                                                                           \
  for (gint64 i = 0; i < n; i++)                                                                   \
    for (gint64 k = 0; k < (times); k++)                                                           \
      y[i * (times) + k] = x[i];
/* Defines functions that write lines of elements of type T: one function repeats elements, the
 * other function reads elements at computed offsets. */
#define LINES_OF(T)                                                                                \
  static void repeat_##T (const T *restrict x, T *restrict y, gint64 n, gint64 times)              \
  {                                                                                                \
    if (times == 2)                                                                                \
      { REPEAT (T, 2) }                                                                            \
    else if (times == 3)                                                                           \
      { REPEAT (T, 3) }                                                                            \
    else if (times == 4)                                                                           \
      { REPEAT (T, 4) }                                                                            \
    else                                                                                           \
      { REPEAT (T, times) }                                                                        \
  }                                                                                                \
  static void pick_##T (const Nearest *r, const char *x, char *y)                                  \
  {                                                                                                \
    if (r->y_step == (gint64) sizeof (T))                                                          \
      for (gint64 i = 0; i < r->n; i++)                                                            \
        memcpy (y + i * (gint64) sizeof (T), x + r->from[i], sizeof (T));                          \
    else                                                                                           \
      for (gint64 i = 0; i < r->n; i++)                                                            \
        memcpy (y + i * r->y_step, x + r->from[i], sizeof (T));                                    \
  }                                                                                                \
  static void move_##T (const Nearest *r, gconstpointer x, gpointer y)                             \
  {                                                                                                \
    if (r->repeats > 1 && ((gsize) x | (gsize) y) % sizeof (T) == 0)                               \
      repeat_##T (x, y, r->n / r->repeats, r->repeats);                                            \
    else                                                                                           \
      pick_##T (r, x, y);                                                                          \
  }
/* clang-format on */
LINES_OF (guint8)
LINES_OF (guint16)
LINES_OF (guint32)
LINES_OF (guint64)

/* Copies the pixels of a line in units of `part` bytes. The last unit of a pixel may overlap the
 * unit before it. */
static inline __attribute__ ((always_inline)) void
move_parts (const Nearest *r, const char *x, char *y, const gint64 part)
{
  for (gint64 i = 0; i < r->n; i++, y += r->y_step)
    {
      const char *from = x + r->from[i];

      for (gint64 k = 0; k + part < r->size; k += part)
        memcpy (y + k, from + k, (gsize) part);
      memcpy (y + r->size - part, from + r->size - part, (gsize) part);
    }
}

static void
move_line (const Nearest *r, const char *x, char *y)
{
  if (r->repeats == 1)
    memcpy (y, x, (gsize) (r->n * r->size));
  else if (r->size == 1)
    move_guint8 (r, x, y);
  else if (r->size == 2)
    move_guint16 (r, x, y);
  else if (r->size == 4)
    move_guint32 (r, x, y);
  else if (r->size == 8)
    move_guint64 (r, x, y);
  else if (r->size < 4)
    move_parts (r, x, y, 2);
  else if (r->size < 8)
    move_parts (r, x, y, 4);
  else if (r->size < 16)
    move_parts (r, x, y, 8);
  else if (r->size < 64)
    move_parts (r, x, y, 16);
  else
    move_parts (r, x, y, 64);
}

/* Defines a function that doubles an operand line: the result line contains each operand element
 * two times. The function stores the result line `n_lines` times, `step` bytes apart. The operand
 * line must have at least 16 bytes. */
/* clang-format off */
#define DOUBLE_OF(T, low, high)                                                                    \
  static inline __attribute__ ((always_inline)) void                                               \
  double_some_##T (const Nearest *r, const char *x, char *y, gint64 step, const gint64 n_lines)    \
  {                                                                                                \
    typedef T Vector __attribute__ ((vector_size (16)));                                           \
    const gint64 n = r->n / 2 * (gint64) sizeof (T);                                               \
                                                                                                   \
    for (gint64 i = 0; i < n; i += 16)                                                             \
      {                                                                                            \
        const gint64 at = MIN (i, n - 16);                                                         \
        Vector v, a, b;                                                                            \
                                                                                                   \
        memcpy (&v, x + at, 16);                                                                   \
        a = __builtin_shufflevector (v, v, EXPAND low);                                            \
        b = __builtin_shufflevector (v, v, EXPAND high);                                           \
        for (gint64 k = 0; k < n_lines; k++)                                                       \
          {                                                                                        \
            memcpy (y + k * step + 2 * at, &a, 16);                                                \
            memcpy (y + k * step + 2 * at + 16, &b, 16);                                           \
          }                                                                                        \
      }                                                                                            \
  }                                                                                                \
  static inline void                                                                               \
  double_##T (const Nearest *r, const char *x, char *y, gint64 step, gint64 n_lines)               \
  {                                                                                                \
    if (n_lines == 2)                                                                              \
      double_some_##T (r, x, y, step, 2);                                                          \
    else                                                                                           \
      double_some_##T (r, x, y, step, n_lines);                                                    \
  }
#define EXPAND(...) __VA_ARGS__
DOUBLE_OF (guint8, (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7),
           (8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15))
DOUBLE_OF (guint16, (0, 0, 1, 1, 2, 2, 3, 3), (4, 4, 5, 5, 6, 6, 7, 7))
DOUBLE_OF (guint32, (0, 0, 1, 1), (2, 2, 3, 3))
DOUBLE_OF (guint64, (0, 0), (1, 1))
/* clang-format on */

static void
copy_line (char *to, const char *from, gint64 n)
{
  if (n < 16 || n > 512)
    {
      memcpy (to, from, (gsize) n);
      return;
    }
  for (gint64 i = 0; i + 16 < n; i += 16)
    memcpy (to + i, from + i, 16);
  memcpy (to + n - 16, from + n - 16, 16);
}

/* Stores the same line of the result in `n_lines` lines, `step` bytes apart. */
static inline void
move_lines (const Nearest *r, const char *x, char *y, gint64 step, gint64 n_lines)
{
  if (r->repeats == 2 && r->n / 2 * r->size >= 16 && r->size == 1)
    double_guint8 (r, x, y, step, n_lines);
  else if (r->repeats == 2 && r->n / 2 * r->size >= 16 && r->size == 2)
    double_guint16 (r, x, y, step, n_lines);
  else if (r->repeats == 2 && r->n / 2 * r->size >= 16 && r->size == 4)
    double_guint32 (r, x, y, step, n_lines);
  else if (r->repeats == 2 && r->size == 8 && r->n >= 4)
    double_guint64 (r, x, y, step, n_lines);
  else
    {
      move_line (r, x, y);
      for (gint64 k = 1; k < n_lines; k++)
        if (r->y_step == r->size)
          copy_line (y + k * step, y, r->n * r->size);
        else
          move_line (r, x, y + k * step);
    }
}

static void
move_plane (const Nearest *r, const char *x, char *y)
{
  gint64 n = r->extent[r->n_dims], step = r->to[r->n_dims], same;
  const gint64 *place = r->place[r->n_dims];

  for (gint64 i = 0; i < n; i += same)
    {
      same = 1;
      while (i + same < n && place[i + same] == place[i])
        same++;
      move_lines (r, x + place[i], y + i * step, step, same);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Nearest *r = state;
  gint64 index[CLEAVE_MAX_RANK] = { 0 };
  gboolean more;

  do
    {
      const char *from = (const char *) instance->operands[X].data + r->begin;
      char *to = instance->results[0].data;

      for (guint d = 0; d < r->n_dims; d++)
        {
          from += r->place[d][index[d]];
          to += index[d] * r->to[d];
        }
      move_plane (r, from, to);
      more = FALSE;
      for (guint d = r->n_dims; d-- > 0 && !more;)
        {
          more = ++index[d] < r->extent[d];
          index[d] = more ? index[d] : 0;
        }
    }
  while (more);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_nearest);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_nearest) = {
  .prepare = prepare,
  .run = run,
  .free = nearest_free,
};
