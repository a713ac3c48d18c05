/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts lines of elements from one type to another. A line is a run of elements along one
 * dimension, which may be strided. The macros define one loop for each pair of types. */

#include "cast-lines.h"
#include "half-block.h"
#include "loops.h"

/* Number of elements of the buffers that hold intermediate floats or strided elements. */
#define LINE 512

/* VALUE and TRUTH read an element of a cast: VALUE reads a number; TRUTH reads a bool, which is
 * true if its byte is not 0. */
#define VALUE(x) (x)
#define TRUTH(x) ((x) != 0)

/* clang-format off */
#define EACH(name, From, To, formula)                                                              \
  static void name (gconstpointer from, gpointer to, gint64 n)                                     \
  {                                                                                                \
    const From *x = from;                                                                          \
    To *y = to;                                                                                    \
                                                                                                   \
    CLEAVE_INDEPENDENT                                                                             \
    for (gint64 i = 0; i < n; i++)                                                                 \
      y[i] = (To) (formula);                                                                       \
  }

/* Number of elements that TO_HALF converts at once. */
#define MADE (4 * CLEAVE_HALF_BLOCK)

/* Converts integers to float16 through floats in registers. Rounding twice is harmless: integers
 * too large to be exact in float32 are infinite in float16. */
#define TO_HALF(name, From, VALUE)                                                                 \
  static void name (gconstpointer from, gpointer to, gint64 n)                                     \
  {                                                                                                \
    const From *x = from;                                                                          \
    guint16 *y = to;                                                                               \
    gint64 i = 0;                                                                                  \
                                                                                                   \
    for (; i + MADE <= n; i += MADE)                                                               \
      {                                                                                            \
        float made[MADE];                                                                          \
                                                                                                   \
        CLEAVE_INDEPENDENT_FEW                                                                     \
        for (gint64 k = 0; k < MADE; k++)                                                          \
          made[k] = (float) VALUE (x[i + k]);                                                      \
        for (gint64 k = 0; k < MADE; k += CLEAVE_HALF_BLOCK)                                       \
          cleave_half_block_store (made + k, y + i + k);                                           \
      }                                                                                            \
    for (; i < n; i++)                                                                             \
      y[i] = cleave_half_from_float ((float) VALUE (x[i]));                                        \
  }

/* Lists the integer types and bool, from which casts convert. */
#define INTEGERS                                                                                   \
  X (i8, INT8, gint8, VALUE) X (u8, UINT8, guint8, VALUE) X (i16, INT16, gint16, VALUE)            \
  X (u16, UINT16, guint16, VALUE) X (i32, INT32, gint32, VALUE) X (u32, UINT32, guint32, VALUE)    \
  X (i64, INT64, gint64, VALUE) X (u64, UINT64, guint64, VALUE) X (bool, BOOL, guint8, TRUTH)
#define X(word, NAME, From, VALUE)                                                                 \
  EACH (word##_to_f32, From, float, VALUE (x[i]))                                                  \
  TO_HALF (word##_to_f16, From, VALUE)                                                             \
  EACH (word##_to_1, From, guint8, VALUE (x[i]))                                                   \
  EACH (word##_to_2, From, guint16, VALUE (x[i]))                                                  \
  EACH (word##_to_4, From, guint32, VALUE (x[i]))                                                  \
  EACH (word##_to_8, From, guint64, VALUE (x[i]))                                                  \
  EACH (word##_to_bool, From, guint8, TRUTH (x[i]))
INTEGERS
#undef X

/* Lists the integer types to which casts convert floats. `below` is the greatest float that the
 * type can hold; `beyond` is the next greater float. Each bound is clamped in a separate
 * conditional expression, since compilers turn a combined clamp into branches. */
#define WHOLES                                                                                     \
  X (i8, INT8, gint8, gint32, G_MININT8, 127, 128, G_MAXINT8)                                      \
  X (u8, UINT8, guint8, gint32, 0, 255, 256, G_MAXUINT8)                                           \
  X (i16, INT16, gint16, gint32, G_MININT16, 32767, 32768, G_MAXINT16)                             \
  X (u16, UINT16, guint16, gint32, 0, 65535, 65536, G_MAXUINT16)                                   \
  X (i32, INT32, gint32, gint32, -0x1p31f, 0x1.fffffep30f, 0x1p31f, G_MAXINT32)                    \
  X (u32, UINT32, guint32, gint64, 0, 0x1.fffffep31f, 0x1p32f, G_MAXUINT32)                        \
  X (i64, INT64, gint64, gint64, -0x1p63f, 0x1.fffffep62f, 0x1p63f, G_MAXINT64)                    \
  X (u64, UINT64, guint64, guint64, 0, 0x1.fffffep63f, 0x1p64f, G_MAXUINT64)
#define X(word, NAME, To, Wide, least, below, beyond, most)                                        \
  static inline To float_as_##word (float a)                                                       \
  {                                                                                                \
    float v = a > (float) (least) ? a : (float) (least); /* `least` if a is a NaN */               \
    To y;                                                                                          \
                                                                                                   \
    v = v < (float) (below) ? v : (float) (below);                                                 \
    y = a >= (float) (beyond) ? (To) (most) : (To) (Wide) v;                                       \
    return a != a ? 0 : y;                                                                         \
  }                                                                                                \
  EACH (f32_to_##word, float, To, float_as_##word (x[i]))
WHOLES
#undef X
EACH (f32_to_bool, float, guint8, x[i] != 0)
EACH (f32_to_f32, guint32, guint32, x[i])
EACH (f16_to_f16, guint16, guint16, x[i])

static void
f32_to_f16 (gconstpointer from, gpointer to, gint64 n)
{
  cleave_narrow_halves (from, to, 1, n);
}

static void
f32_to_bf16 (gconstpointer from, gpointer to, gint64 n)
{
  cleave_narrow (CLEAVE_BFLOAT16, from, to, 1, n);
}

static void
f16_to_f32 (gconstpointer from, gpointer to, gint64 n)
{
  cleave_upcast_halves (from, 1, to, n);
}

static void
bf16_to_f32 (gconstpointer from, gpointer to, gint64 n)
{
  cleave_upcast_bfloat16 (from, 1, 0, to, n);
}

/* Casts through float32, which represents every value of the source type exactly. */
#define BY_FLOAT(from_word, to_word, from_size, to_size)                                           \
  static void from_word##_to_##to_word (gconstpointer from, gpointer to, gint64 n)                 \
  {                                                                                                \
    float floats[LINE];                                                                            \
                                                                                                   \
    for (gint64 i = 0; i < n; i += LINE)                                                           \
      {                                                                                            \
        from_word##_to_f32 ((const char *) from + i * from_size, floats, MIN (n - i, LINE));       \
        f32_to_##to_word (floats, (char *) to + i * to_size, MIN (n - i, LINE));                   \
      }                                                                                            \
  }
#define X(word, NAME, To, Wide, least, below, beyond, most)                                        \
  BY_FLOAT (f16, word, 2, (gint64) sizeof (To))                                                    \
  BY_FLOAT (bf16, word, 2, (gint64) sizeof (To))
WHOLES
#undef X
BY_FLOAT (f16, bool, 2, 1)
BY_FLOAT (bf16, bool, 2, 1)
BY_FLOAT (f16, bf16, 2, 2)
BY_FLOAT (bf16, f16, 2, 2)
BY_FLOAT (i8, bf16, 1, 2)
BY_FLOAT (u8, bf16, 1, 2)
BY_FLOAT (i16, bf16, 2, 2)
BY_FLOAT (u16, bf16, 2, 2)
BY_FLOAT (bool, bf16, 1, 2)

CleaveCastLine
CLEAVE_LEVELLED (cleave_cast_line_find) (CleaveElement from, CleaveElement to)
{
  /* A cast between integers keeps the low bits. So all result types of the same size share one
   * loop; BY_n is the loop for results of n bytes. */
  enum { BY_1 = 1, BY_2 = 2, BY_4 = 4, BY_8 = 8 };
  static const struct
  {
    CleaveElement from, to;
    CleaveCastLine line;
  } of_floats[] = {
#define X(word, NAME, To, Wide, least, below, beyond, most)                                        \
    { CLEAVE_FLOAT32, CLEAVE_##NAME, f32_to_##word },                                              \
    { CLEAVE_FLOAT16, CLEAVE_##NAME, f16_to_##word },                                              \
    { CLEAVE_BFLOAT16, CLEAVE_##NAME, bf16_to_##word },
    WHOLES
#undef X
#define X(word, NAME, From, VALUE)                                                                 \
    { CLEAVE_##NAME, CLEAVE_FLOAT32, word##_to_f32 },                                              \
    { CLEAVE_##NAME, CLEAVE_FLOAT16, word##_to_f16 },                                              \
    { CLEAVE_##NAME, CLEAVE_BOOL, word##_to_bool },
    INTEGERS
#undef X
    { CLEAVE_FLOAT32, CLEAVE_BOOL, f32_to_bool },       { CLEAVE_FLOAT16, CLEAVE_BOOL, f16_to_bool },
    { CLEAVE_BFLOAT16, CLEAVE_BOOL, bf16_to_bool },     { CLEAVE_FLOAT32, CLEAVE_FLOAT32, f32_to_f32 },
    { CLEAVE_FLOAT32, CLEAVE_FLOAT16, f32_to_f16 },     { CLEAVE_FLOAT32, CLEAVE_BFLOAT16, f32_to_bf16 },
    { CLEAVE_FLOAT16, CLEAVE_FLOAT32, f16_to_f32 },     { CLEAVE_FLOAT16, CLEAVE_FLOAT16, f16_to_f16 },
    { CLEAVE_FLOAT16, CLEAVE_BFLOAT16, f16_to_bf16 },   { CLEAVE_BFLOAT16, CLEAVE_FLOAT32, bf16_to_f32 },
    { CLEAVE_BFLOAT16, CLEAVE_FLOAT16, bf16_to_f16 },   { CLEAVE_BFLOAT16, CLEAVE_BFLOAT16, f16_to_f16 },
    { CLEAVE_INT8, CLEAVE_BFLOAT16, i8_to_bf16 },       { CLEAVE_UINT8, CLEAVE_BFLOAT16, u8_to_bf16 },
    { CLEAVE_INT16, CLEAVE_BFLOAT16, i16_to_bf16 },     { CLEAVE_UINT16, CLEAVE_BFLOAT16, u16_to_bf16 },
    { CLEAVE_BOOL, CLEAVE_BFLOAT16, bool_to_bf16 },
  };
  static const struct
  {
    CleaveElement from;
    CleaveCastLine line[BY_8 + 1];
  } of_integers[] = {
#define X(word, NAME, From, VALUE)                                                                 \
    { CLEAVE_##NAME, { [BY_1] = word##_to_1, [BY_2] = word##_to_2, [BY_4] = word##_to_4, [BY_8] = word##_to_8 } },
    INTEGERS
#undef X
  };

  for (guint i = 0; i < G_N_ELEMENTS (of_floats); i++)
    if (of_floats[i].from == from && of_floats[i].to == to)
      return of_floats[i].line;
  for (guint i = 0; i < G_N_ELEMENTS (of_integers); i++)
    if (of_integers[i].from == from && !cleave_element_is_float (to))
      return of_integers[i].line[cleave_element_size (to)];
  return NULL;
}

/* Copies elements of `size` bytes from one strided array to another. */
#define MOVE(type)                                                                                 \
  if (size == sizeof (type))                                                                       \
    for (gint64 i = 0; i < n; i++)                                                                 \
      ((type *) to)[i * to_step] = ((const type *) from)[i * from_step];
static void
move (gconstpointer from, gint64 from_step, gpointer to, gint64 to_step, gint64 size, gint64 n)
{
  MOVE (guint8)
  MOVE (guint16)
  MOVE (guint32)
  MOVE (guint64)
}
/* clang-format on */

void
CLEAVE_LEVELLED (cleave_cast_line_run) (CleaveCastLine line,
                                        gconstpointer x,
                                        gint64 x_step,
                                        gint64 x_size,
                                        gpointer y,
                                        gint64 y_step,
                                        gint64 y_size,
                                        gint64 n)
{
  guint64 dense_x[LINE], dense_y[LINE];

  if (x_step == 1 && y_step == 1)
    {
      line (x, y, n);
      return;
    }
  for (gint64 at = 0; at < n; at += LINE)
    {
      const char *from = (const char *) x + at * x_step * x_size;
      char *to = (char *) y + at * y_step * y_size;
      gint64 part = MIN (n - at, LINE);

      if (x_step != 1)
        move (from, x_step, dense_x, 1, x_size, part);
      line (x_step == 1 ? (gconstpointer) from : dense_x, y_step == 1 ? (gpointer) to : dense_y,
            part);
      if (y_step != 1)
        move (dense_y, 1, to, y_step, y_size, part);
    }
}
