/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Fills tensors with elements: ordinary numbers, and numbers that are hard for arithmetic, such as
 * NaN. */

#include "trial.h"

#include <string.h>

gsize
element_size (guint element)
{
  static const guint8 sizes[] = {
    [F32] = 4,  [U8] = 1,  [I8] = 1,  [U16] = 2, [I16] = 2, [I32] = 4, [I64] = 8,
    [BOOL] = 1, [F16] = 2, [F64] = 8, [U32] = 4, [U64] = 8, [BF16] = 2
  };

  return sizes[element];
}

const char *
element_name (guint element)
{
  static const char *const names[] = {
    [F32] = "float32", [U8] = "uint8",   [I8] = "int8",      [U16] = "uint16",  [I16] = "int16",
    [I32] = "int32",   [I64] = "int64",  [BOOL] = "bool",    [F16] = "float16", [F64] = "float64",
    [U32] = "uint32",  [U64] = "uint64", [BF16] = "bfloat16"
  };

  return names[element];
}

/* Converts to float16. Truncates instead of rounding, since any random float16 is good enough. */
static guint16
to_half (float f)
{
  guint32 bits;
  gint32 exponent;

  memcpy (&bits, &f, sizeof bits);
  exponent = (gint32) (bits >> 23 & 0xff) - 112;
  if (exponent <= 0)
    return (guint16) (bits >> 16 & 0x8000);
  if (exponent >= 31)
    return (guint16) ((bits >> 16 & 0x8000) | 0x7c00);
  return (guint16) ((bits >> 16 & 0x8000) | (guint32) exponent << 10 | (bits >> 13 & 0x3ff));
}

static double
make_real (guint64 random, int mode)
{
  double unit = (double) (random >> 11) / 9007199254740992.0;

  if (mode == MODE_SMALL)
    return (double) ((gint64) (random >> 33) % 17 - 8) / 4;
  if (mode == MODE_POSITIVE)
    return 0.05 + 2 * unit;
  if (mode == MODE_WIDE)
    return (unit - 0.5) * (double) (1 << (random & 15));
  return 4 * unit - 2;
}

/* Stores a NaN of either sign, an infinity, a zero, the smallest or the largest value. */
static void
put_special (gpointer to, guint element, guint64 random)
{
  static const guint32 f32[] = { 0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000, 0x80000000,
                                 1,          0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
                                 0xff7fffff, 0,          0x3f800000, 0x7fa00000 };
  static const guint64 f64[] = { 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000000,
                                 0xfff0000000000000, 0x8000000000000000, 1,
                                 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
                                 0xffefffffffffffff, 0x47efffffe0000000 };
  static const guint16 f16[] = { 0x7e00, 0xfe01, 0x7c00, 0xfc00, 0x8000, 1,
                                 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x3c00 };
  static const guint16 bf16[] = { 0x7fc0, 0xffc1, 0x7f80, 0xff80, 0x8000, 1,
                                  0x007f, 0x0080, 0x7f7f, 0xff7f, 0x3f80 };

  if (element == F32)
    *(guint32 *) to = f32[random % G_N_ELEMENTS (f32)];
  else if (element == F64)
    *(guint64 *) to = f64[random % G_N_ELEMENTS (f64)];
  else if (element == F16)
    *(guint16 *) to = f16[random % G_N_ELEMENTS (f16)];
  else
    *(guint16 *) to = bf16[random % G_N_ELEMENTS (bf16)];
}

static void
put_float (gpointer to, guint element, double value)
{
  float f = (float) value;

  if (element == F64)
    *(double *) to = value;
  else if (element == F32)
    *(float *) to = f;
  else if (element == F16)
    *(guint16 *) to = to_half (f);
  else
    memcpy (to, (const char *) &f + 2, 2);
}

static void
put_whole (gpointer to, guint element, guint64 random, int mode)
{
  gsize size = element_size (element);
  gint64 value = (gint64) (random >> 40) % 7;
  guint64 top = (guint64) 1 << (8 * size - 1);

  if (element == BOOL)
    value = (gint64) (random & 1);
  else if (mode == MODE_POSITIVE)
    value = 1 + (gint64) (random >> 40) % 5;
  else if (mode == MODE_WIDE)
    value = (gint64) random;
  else if (mode >= MODE_SPECIALS)
    value = (gint64[]){ 0, 1, -1, (gint64) top, (gint64) (top - 1), 2, -2 }[random % 7];
  else if (SET (element) & SIGNED)
    value -= 3;
  memcpy (to, &value, size);
}

/* Stores one element of a value. In a value with special numbers, such as NaN, either every eighth
 * element or every element is special. */
static void
put (const TrialValue *value, gpointer to, guint64 random)
{
  guint element = value->type.element;
  int mode = value->mode;

  if (mode == MODE_BETWEEN)
    {
      gint64 v = value->min + (gint64) (random % (guint64) (value->max - value->min + 1));

      memcpy (to, &v, element_size (element));
    }
  else if (!(SET (element) & FLOATS))
    put_whole (to, element, random, mode);
  else if (mode == MODE_ONLY_SPECIALS || (mode == MODE_SPECIALS && random % 8 == 0))
    put_special (to, element, random >> 3);
  else
    put_float (to, element, make_real (random, mode));
}

gpointer
make_elements (const TrialValue *value)
{
  gint64 n = type_n_elements (&value->type);
  gsize size = element_size (value->type.element);
  guint64 state = value->seed;
  char *data = g_malloc0 ((gsize) n * size + 1);

  for (gint64 i = 0; i < n; i++)
    put (value, data + (gsize) i * size, tape_next_random (&state));
  return data;
}
