/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Adds or multiplies two lines of dequantized bytes, or one line of bytes and one of floats, and
 * quantizes the result. The family of QDQ sums and products calls this code for each line of the
 * result. The code performs the float operations of the separate ops, but in registers. */

#include "../../qdq-conv.h"
#include "../quantize-line.h"

#include <string.h>

typedef struct
{
  gconstpointer x[2];
  guint8 *y;
  gint64 x_step[2], y_step, n;
} CleaveAddLine;

static inline float
cleave_add_load (const CleaveAddLine *l, const CleaveQdqAdd *add, int term, gint64 i)
{
  const CleaveQdqX *x = &add->x[term];

  i *= l->x_step[term];
  if (x->element == CLEAVE_FLOAT32)
    return ((const float *) l->x[term])[i];
  return (float) ((x->element == CLEAVE_INT8 ? ((const gint8 *) l->x[term])[i]
                                             : ((const guint8 *) l->x[term])[i]) -
                  x->zero) *
         x->scale;
}

#if defined(CLEAVE_HAS_FMA)
static inline __attribute__ ((always_inline)) CleaveVector
cleave_add_load_bytes (const guint8 *from, const CleaveQdqX *x)
{
  CleaveIntVector v = cleave_ints_load_bytes (from, x->element == CLEAVE_INT8);
  CleaveVector f = cleave_ints_to_floats (cleave_ints_subtract (v, cleave_ints_all (x->zero)));

  return f * cleave_vector_all (x->scale);
}

/* Loads a vector of operand `term` (0 or 1), from element i on. If the operand is a scalar, returns
 * `one`. */
static inline __attribute__ ((always_inline)) CleaveVector
cleave_add_load_vector (
    const CleaveAddLine *l, const CleaveQdqAdd *add, int term, CleaveVector one, gint64 i)
{
  if (l->x_step[term] == 0)
    return one;
  if (add->x[term].element == CLEAVE_FLOAT32)
    return cleave_vector_load ((const float *) l->x[term] + i);
  return cleave_add_load_bytes ((const guint8 *) l->x[term] + i, &add->x[term]);
}

static inline __attribute__ ((always_inline)) CleaveIntVector
cleave_add_vectors (const CleaveAddLine *l,
                    const CleaveQdqAdd *add,
                    const CleaveVector *one,
                    const CleaveDivisor *by,
                    gboolean is_tame,
                    gint64 i)
{
  CleaveVector a = cleave_add_load_vector (l, add, 0, one[0], i);
  CleaveVector b = cleave_add_load_vector (l, add, 1, one[1], i);
  CleaveVector x = add->is_product ? a * b : a + b;
  CleaveIntVector whole =
      is_tame ? cleave_divide_tame_to_ints (x, by) : cleave_divide_to_ints (x, by);

  return cleave_ints_clamp (whole, add->end.least, add->end.most);
}

/* Computes two vectors of the result, from element i on. */
static inline __attribute__ ((always_inline)) void
cleave_add_pair (const CleaveAddLine *l,
                 const CleaveQdqAdd *add,
                 const CleaveVector *one,
                 const CleaveDivisor *by,
                 gboolean is_tame,
                 gint64 i)
{
  CleaveIntVector low = cleave_add_vectors (l, add, one, by, is_tame, i);
  CleaveIntVector high = cleave_add_vectors (l, add, one, by, is_tame, i + CLEAVE_LANES);

  cleave_ints_narrow (low, high, add->end.zero, add->end.element == CLEAVE_INT8, l->y + i);
}

static inline __attribute__ ((always_inline)) void
cleave_add_pairs (const CleaveAddLine *l,
                  const CleaveQdqAdd *add,
                  const CleaveDivisor *by,
                  gint64 begin)
{
  const CleaveVector one[2] = { cleave_vector_all (cleave_add_load (l, add, 0, 0)),
                                cleave_vector_all (cleave_add_load (l, add, 1, 0)) };

  if (add->tolerance > 0)
    for (gint64 i = begin; i + 2 * CLEAVE_LANES <= l->n; i += 2 * CLEAVE_LANES)
      cleave_add_pair (l, add, one, by, TRUE, i);
  else
    for (gint64 i = begin; i + 2 * CLEAVE_LANES <= l->n; i += 2 * CLEAVE_LANES)
      cleave_add_pair (l, add, one, by, FALSE, i);
}

/* The fast path below has fewer operations than the reference kernel, but its sums round
 * differently. If the rounding error cannot change the byte of an element (`tolerance` of
 * CleaveQdqAdd), the element gets the byte of the fast path. */

/* The kinds of the operand `second`: a line of bytes, a line of floats, or a scalar of either
 * type. */
typedef enum { CLEAVE_ADD_BYTES, CLEAVE_ADD_FLOATS, CLEAVE_ADD_ONE } CleaveAddSecond;

typedef struct
{
  const CleaveAddLine *l;
  const CleaveQdqAdd *add;
  const guint8 *first;
  gconstpointer second;
  gint32 zero[2]; /* indexed by operand: zero point of its bytes after the XOR with `flip` */
  guint8 flip[2]; /* indexed by operand: XOR mask that makes its bytes unsigned */
  CleaveVector factor[2], addend, one;
} CleaveAddSteps;

/* Loads bytes of operand `term` as floats. For a product, subtracts the operand's zero point from
 * each byte. */
static inline __attribute__ ((always_inline)) CleaveVector
cleave_add_count (const CleaveAddSteps *s, int term, const guint8 *from, gboolean is_product)
{
  CleaveIntVector v = cleave_ints_load_flipped_bytes (from, s->flip[term]);

  if (is_product)
    v = cleave_ints_subtract (v, cleave_ints_all (s->zero[term]));
  return cleave_ints_to_floats (v);
}

static inline __attribute__ ((always_inline)) CleaveVector
cleave_add_in_few (const CleaveAddSteps *s, CleaveAddSecond second, gboolean is_product, gint64 i)
{
  CleaveVector a = cleave_add_count (s, 0, s->first + i, is_product), b = s->one;

  if (second == CLEAVE_ADD_BYTES)
    b = cleave_add_count (s, 1, (const guint8 *) s->second + i, is_product);
  else if (second == CLEAVE_ADD_FLOATS)
    b = cleave_vector_load ((const float *) s->second + i);
  if (is_product)
    return a * (b * s->factor[0]);
  if (second == CLEAVE_ADD_ONE)
    return cleave_vector_fma (a, s->factor[0], b);
  return cleave_vector_fma (a, s->factor[0], cleave_vector_fma (b, s->factor[1], s->addend));
}

static inline __attribute__ ((always_inline)) CleaveIntVector
cleave_add_bound (const CleaveQdqAdd *add, CleaveVector v)
{
  return cleave_ints_clamp (cleave_ints_of_floats (v), add->end.least, add->end.most);
}

/* The fast path computes a line in pairs of vectors. A pair is unsure if a rounding error could
 * change one of its bytes; cleave_add_pair() then computes the pair exactly. After N pairs, at most
 * CLEAVE_ADD_UNSURE + N / CLEAVE_ADD_SURE pairs may be unsure. Beyond this limit, the fast path
 * ends, since it would only add work. Example: if scales are powers of two, many results may lie
 * exactly between two bytes. */
#define CLEAVE_ADD_UNSURE 8
#define CLEAVE_ADD_SURE 4

/* Computes a line on the fast path, two vectors at a time. Stops at an unsure pair of vectors if
 * more pairs are unsure than the limit (CLEAVE_ADD_UNSURE) allows. Returns the index of the first
 * element that was not computed. */
static inline __attribute__ ((always_inline)) gint64
cleave_add_few (const CleaveAddSteps *steps,
                const CleaveDivisor *by,
                CleaveAddSecond second,
                gboolean is_product,
                gboolean is_signed)
{
  const CleaveAddSteps copy = *steps, *s = &copy;
  const CleaveAddLine *l = s->l;
  const CleaveQdqAdd *add = s->add;
  const CleaveVector one[2] = { cleave_vector_all (cleave_add_load (l, add, 0, 0)),
                                cleave_vector_all (cleave_add_load (l, add, 1, 0)) };
  gint64 i = 0, unsure = 0;

  for (; i + 2 * CLEAVE_LANES <= l->n; i += 2 * CLEAVE_LANES)
    {
      CleaveVector low = cleave_add_in_few (s, second, is_product, i);
      CleaveVector high = cleave_add_in_few (s, second, is_product, i + CLEAVE_LANES);

      if (G_LIKELY (cleave_vectors_are_whole (low, high, add->tolerance)))
        cleave_ints_narrow (cleave_add_bound (add, low), cleave_add_bound (add, high),
                            add->end.zero, is_signed, l->y + i);
      else if (++unsure <= CLEAVE_ADD_UNSURE + i / (2 * CLEAVE_LANES * CLEAVE_ADD_SURE))
        cleave_add_pair (l, add, one, by, TRUE, i);
      else
        break;
    }
  return i;
}

/* clang-format off */
#define FEW(word, second, is_product)                                                              \
  static inline gint64 cleave_add_few_##word (const CleaveAddSteps *s, const CleaveDivisor *by)    \
  {                                                                                                \
    return s->add->end.element == CLEAVE_INT8 ? cleave_add_few (s, by, second, is_product, TRUE)   \
                                              : cleave_add_few (s, by, second, is_product, FALSE); \
  }
FEW (bytes, CLEAVE_ADD_BYTES, FALSE)
FEW (floats, CLEAVE_ADD_FLOATS, FALSE)
FEW (one, CLEAVE_ADD_ONE, FALSE)
FEW (by_bytes, CLEAVE_ADD_BYTES, TRUE)
FEW (by_floats, CLEAVE_ADD_FLOATS, TRUE)
FEW (by_one, CLEAVE_ADD_ONE, TRUE)
#undef FEW
/* clang-format on */

/* Returns, for a scalar operand `second`, the vector that the fast path combines with operand
 * `first`. For a product, each lane is a factor: the scalar, minus its zero point if the scalar is
 * a byte. For a sum, each lane is a term: scalar * factor[1] + addend. If `second` is a line, the
 * caller does not use the vector. */
static inline CleaveVector
cleave_add_find_one (const CleaveAddSteps *s, gboolean is_float)
{
  float value = is_float ? *(const float *) s->second
                         : (float) (*(const guint8 *) s->second ^ s->flip[1]) -
                               (s->add->is_product ? (float) s->zero[1] : 0);
  CleaveVector b = cleave_vector_all (value);

  return s->add->is_product ? b : cleave_vector_fma (b, s->factor[1], s->addend);
}

/* Computes the elements of a line on the fast path, from index 0 on. Returns the index of the first
 * element that was not computed. */
static inline gint64
cleave_add_start (const CleaveAddLine *l, const CleaveQdqAdd *add, const CleaveDivisor *by)
{
  static gint64 (*const run[2][3]) (const CleaveAddSteps *s, const CleaveDivisor *by) = {
    { cleave_add_few_bytes, cleave_add_few_floats, cleave_add_few_one },
    { cleave_add_few_by_bytes, cleave_add_few_by_floats, cleave_add_few_by_one }
  };
  int first = add->x[0].element == CLEAVE_FLOAT32 || l->x_step[0] == 0;
  gboolean is_float = add->x[1 - first].element == CLEAVE_FLOAT32;
  CleaveAddSteps s = { .l = l, .add = add, .first = l->x[first], .second = l->x[1 - first] };

  if (add->tolerance == 0 || add->x[first].element == CLEAVE_FLOAT32 || l->x_step[first] == 0)
    return 0;
  for (int i = 0; i < 2; i++)
    {
      const CleaveQdqX *x = &add->x[i == 0 ? first : 1 - first];

      s.flip[i] = x->element == CLEAVE_INT8 ? 0x80 : 0;
      s.zero[i] = x->zero + s.flip[i];
      s.factor[i] = cleave_vector_all (add->factor[add->is_product ? 0
                                                   : i == 0        ? first
                                                                   : 1 - first]);
    }
  s.addend = cleave_vector_all (add->addend);
  s.one = cleave_add_find_one (&s, is_float);
  return run[add->is_product][l->x_step[1 - first] == 0 ? CLEAVE_ADD_ONE
                              : is_float                ? CLEAVE_ADD_FLOATS
                                                        : CLEAVE_ADD_BYTES](&s, by);
}

/* Computes the last elements of a line, which do not fill two vectors. Copies the operands to two
 * whole vectors, and copies the bytes of the result to y. */
static inline void
cleave_add_rest (const CleaveAddLine *l, const CleaveQdqAdd *add, const CleaveDivisor *by)
{
  enum { LENGTH = 2 * CLEAVE_LANES };
  gint64 n = l->n % LENGTH, at = l->n - n;
  guint8 y[LENGTH];
  float x[2][LENGTH] = { { 0 } };
  CleaveAddLine rest = { .y = y, .y_step = 1, .n = LENGTH };

  for (int t = 0; t < 2; t++)
    {
      gint64 size = add->x[t].element == CLEAVE_FLOAT32 ? (gint64) sizeof (float) : 1;
      gint64 step = l->x_step[t];

      memcpy (x[t], (const char *) l->x[t] + at * step * size,
              (gsize) ((step == 0 ? 1 : n) * size));
      rest.x[t] = x[t];
      rest.x_step[t] = step;
    }
  cleave_add_pairs (&rest, add, by, 0);
  memcpy (l->y + at, y, (gsize) n);
}
#endif

static inline void
cleave_add_line (const CleaveAddLine *line, const CleaveQdqAdd *numbers)
{
  const CleaveAddLine
      copy = *line,
      *l = &copy; /* a local copy, so that the compiler knows that stores do not change it */
  const CleaveQdqAdd add = *numbers;
  const CleaveQdqEnd *end = &add.end;

#if defined(CLEAVE_HAS_FMA)
  if (l->n > 0 && l->y_step == 1 && l->x_step[0] <= 1 && l->x_step[1] <= 1 &&
      cleave_quantize_line_serves (end->scale))
    {
      const CleaveDivisor by = cleave_divisor (end->scale);

      cleave_add_pairs (l, &add, &by, cleave_add_start (l, &add, &by));
      if (l->n % (2 * CLEAVE_LANES) > 0)
        cleave_add_rest (l, &add, &by);
      return;
    }
#endif
  for (gint64 i = 0; i < l->n; i++)
    {
      float a = cleave_add_load (l, &add, 0, i), b = cleave_add_load (l, &add, 1, i);
      float x = add.is_product ? a * b : a + b;

      l->y[i * l->y_step] = (guint8) cleave_quantize_byte (
          x / end->scale, end->zero, end->least + end->zero, end->most + end->zero);
    }
}
