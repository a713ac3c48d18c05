/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes functions of elementwise-math.h on several vectors at once, with the same operations and
 * the same bits. elementwise.c and the kernels of recurrent layers use this code. A function is a
 * chain of about 20 dependent operations; the chains of several vectors overlap in time. Each clamp
 * is written as a minimum and a maximum instruction; compilers emit slower comparisons. A function
 * takes 0.6 to 0.8 of the time of a plain loop. */

#include "level.h"
#include "vector.h"

/* Number of vectors that are processed at once; more vectors would spill registers. */
#define CLEAVE_FUNCTION_VECTORS 2

typedef unsigned CleaveBits __attribute__ ((vector_size (CLEAVE_VECTOR * sizeof (float))));

typedef struct
{
  CleaveVector fraction[CLEAVE_FUNCTION_VECTORS], scale[CLEAVE_FUNCTION_VECTORS];
  CleaveBits exponent[CLEAVE_FUNCTION_VECTORS];
} CleaveExpVectors;

static CLEAVE_SPECIALISED CleaveVector
cleave_vector_fma_all (CleaveVector a, float b, float c)
{
  return cleave_vector_fma (a, cleave_vector_all (b), cleave_vector_all (c));
}

static CLEAVE_SPECIALISED CleaveVector
cleave_vector_abs (CleaveVector v)
{
  return (CleaveVector) ((CleaveBits) v & 0x7fffffffu);
}

static CLEAVE_SPECIALISED CleaveVector
cleave_vector_copysign (CleaveVector v, CleaveVector sign)
{
  return (CleaveVector) (((CleaveBits) v & 0x7fffffffu) | ((CleaveBits) sign & 0x80000000u));
}

/* Sets vector i of each field of `e` for the exponentials of a[i], for all i < n. Each lane has the
 * bits that cleave_f32_exp_parts() returns. */
static CLEAVE_SPECIALISED void
cleave_vectors_exp_parts (const CleaveVector *a, int n, CleaveExpVectors *e)
{
  const CleaveVector magic = cleave_vector_all (12582912.0f + 127.0f);
  CleaveVector shifted[CLEAVE_FUNCTION_VECTORS], r[CLEAVE_FUNCTION_VECTORS],
      u[CLEAVE_FUNCTION_VECTORS], p[CLEAVE_FUNCTION_VECTORS], q[CLEAVE_FUNCTION_VECTORS];

  CLEAVE_EACH (i, n)
    shifted[i] = cleave_vector_fma (a[i], cleave_vector_all (1.44269504f), magic);
  CLEAVE_EACH (i, n)
    q[i] = shifted[i] - magic;
  CLEAVE_EACH (i, n)
    r[i] = cleave_vector_fma (q[i], cleave_vector_all (-0.693359375f), a[i]);
  CLEAVE_EACH (i, n)
    r[i] = cleave_vector_fma (q[i], cleave_vector_all (2.12194440e-4f), r[i]);
  CLEAVE_EACH (i, n)
    u[i] = r[i] * r[i];
  CLEAVE_EACH (i, n)
    q[i] = cleave_vector_fma_all (r[i], 0.00836895779f, 0.041666206f);
  CLEAVE_EACH (i, n)
    p[i] = cleave_vector_fma_all (r[i], 0.166665182f, 0.5f);
  CLEAVE_EACH (i, n)
    q[i] = cleave_vector_fma (u[i], cleave_vector_all (0.00139505533f), q[i]);
  CLEAVE_EACH (i, n)
    p[i] = cleave_vector_fma (u[i], q[i], p[i]);
  CLEAVE_EACH (i, n)
    e->fraction[i] = cleave_vector_fma (u[i], p[i], r[i]);
  CLEAVE_EACH (i, n)
    e->scale[i] = (CleaveVector) ((CleaveBits) shifted[i] << 23);
  CLEAVE_EACH (i, n)
    e->exponent[i] = (CleaveBits) shifted[i] - (CleaveBits) magic;
}

/* Replaces n vectors by their exponentials, with the bits of cleave_f32_exp(). */
static CLEAVE_SPECIALISED void
cleave_vectors_exp (CleaveVector *v, int n)
{
  CleaveVector a[CLEAVE_FUNCTION_VECTORS] = { { 0 } };
  CleaveBits half[CLEAVE_FUNCTION_VECTORS];
  CleaveExpVectors e;

  CLEAVE_EACH (i, n)
    a[i] = cleave_vector_at_least (v[i], cleave_vector_all (-104.0f));
  CLEAVE_EACH (i, n)
    a[i] = cleave_vector_at_most (a[i], cleave_vector_all (89.0f));
  cleave_vectors_exp_parts (a, n, &e);
  CLEAVE_EACH (i, n)
    half[i] = ((e.exponent[i] + 512u) >> 1) - 256u;
  CLEAVE_EACH (i, n)
    v[i] = (1.0f + e.fraction[i]) * (CleaveVector) ((half[i] + 127u) << 23);
  CLEAVE_EACH (i, n)
    v[i] = v[i] * (CleaveVector) ((e.exponent[i] - half[i] + 127u) << 23);
}

/* Replaces n vectors by their sigmoids, with the bits of cleave_f32_sigmoid(). */
static CLEAVE_SPECIALISED void
cleave_vectors_sigmoid (CleaveVector *v, int n)
{
  CleaveVector a[CLEAVE_FUNCTION_VECTORS] = { { 0 } };
  CleaveExpVectors e;

  CLEAVE_EACH (i, n)
    a[i] = cleave_vector_at_least (-v[i], cleave_vector_all (-88.0f));
  CLEAVE_EACH (i, n)
    a[i] = cleave_vector_at_most (a[i], cleave_vector_all (89.0f));
  cleave_vectors_exp_parts (a, n, &e);
  CLEAVE_EACH (i, n)
    a[i] = cleave_vector_fma (1.0f + e.fraction[i], e.scale[i], cleave_vector_all (1.0f));
  CLEAVE_EACH (i, n)
    v[i] = 1.0f / a[i];
}

/* Replaces n vectors by their hyperbolic tangents, with the bits of cleave_f32_tanh(). */
static CLEAVE_SPECIALISED void
cleave_vectors_tanh (CleaveVector *v, int n)
{
  CleaveVector a[CLEAVE_FUNCTION_VECTORS] = { { 0 } };
  CleaveExpVectors e;

  CLEAVE_EACH (i, n)
    a[i] = cleave_vector_at_most (2.0f * cleave_vector_abs (v[i]), cleave_vector_all (20.0f));
  cleave_vectors_exp_parts (a, n, &e);
  CLEAVE_EACH (i, n)
    a[i] = cleave_vector_fma (e.fraction[i], e.scale[i], e.scale[i] - 1.0f);
  CLEAVE_EACH (i, n)
    v[i] = cleave_vector_copysign (a[i] / (a[i] + 2.0f), v[i]);
}

/* Computes 2^q for n vectors q, a step of cleave_f32_erf(). Sets the fields of `e`, so that 2^q is
 * (fraction + 1) * scale. */
static CLEAVE_SPECIALISED void
cleave_vectors_erf_power (const CleaveVector *q, int n, CleaveExpVectors *e)
{
  const CleaveVector magic = cleave_vector_all (12582912.0f + 127.0f);
  CleaveVector shifted[CLEAVE_FUNCTION_VECTORS], r[CLEAVE_FUNCTION_VECTORS],
      u[CLEAVE_FUNCTION_VECTORS], q0[CLEAVE_FUNCTION_VECTORS], q1[CLEAVE_FUNCTION_VECTORS];

  CLEAVE_EACH (i, n)
    shifted[i] = q[i] + magic;
  CLEAVE_EACH (i, n)
    r[i] = q[i] - (shifted[i] - magic);
  CLEAVE_EACH (i, n)
    u[i] = r[i] * r[i];
  CLEAVE_EACH (i, n)
    q0[i] = cleave_vector_fma_all (r[i], 0.0555035733f, 0.240226498f);
  CLEAVE_EACH (i, n)
    q1[i] = cleave_vector_fma_all (r[i], 0.00133907355f, 0.00961823749f);
  CLEAVE_EACH (i, n)
    q1[i] = cleave_vector_fma (u[i], cleave_vector_all (0.000154035125f), q1[i]);
  CLEAVE_EACH (i, n)
    q0[i] = cleave_vector_fma (u[i], q1[i], q0[i]);
  CLEAVE_EACH (i, n)
    e->fraction[i] = cleave_vector_fma (u[i], q0[i], r[i] * 0.693147188f);
  CLEAVE_EACH (i, n)
    e->scale[i] = (CleaveVector) ((CleaveBits) shifted[i] << 23);
}

/* Replaces n vectors by their error functions, with the bits of cleave_f32_erf(). */
static CLEAVE_SPECIALISED void
cleave_vectors_erf (CleaveVector *v, int n)
{
  CleaveVector x[CLEAVE_FUNCTION_VECTORS], xx[CLEAVE_FUNCTION_VECTORS],
      p0[CLEAVE_FUNCTION_VECTORS] = { { 0 } }, p1[CLEAVE_FUNCTION_VECTORS],
      p2[CLEAVE_FUNCTION_VECTORS], p3[CLEAVE_FUNCTION_VECTORS];
  CleaveExpVectors e;

  CLEAVE_EACH (i, n)
    x[i] = cleave_vector_at_most (cleave_vector_abs (v[i]), cleave_vector_all (3.93f));
  CLEAVE_EACH (i, n)
    xx[i] = x[i] * x[i];
  CLEAVE_EACH (i, n)
    p3[i] = cleave_vector_fma_all (x[i], 1.32759169e-05f, -0.000169103922f);
  CLEAVE_EACH (i, n)
    p2[i] = cleave_vector_fma_all (x[i], 0.000911158917f, -0.00240248977f);
  CLEAVE_EACH (i, n)
    p1[i] = cleave_vector_fma_all (x[i], 0.00022984049f, 0.02763233f);
  CLEAVE_EACH (i, n)
    p0[i] = cleave_vector_fma_all (x[i], -0.148277029f, -0.918447614f);
  CLEAVE_EACH (i, n)
    p2[i] = cleave_vector_fma (xx[i], p3[i], p2[i]);
  CLEAVE_EACH (i, n)
    p0[i] = cleave_vector_fma (xx[i], p1[i], p0[i]);
  CLEAVE_EACH (i, n)
    p0[i] = cleave_vector_fma (xx[i] * xx[i], p2[i], p0[i]);
  CLEAVE_EACH (i, n)
    p0[i] = x[i] * cleave_vector_fma (x[i], p0[i], cleave_vector_all (-1.62790704f));
  cleave_vectors_erf_power (p0, n, &e);
  CLEAVE_EACH (i, n)
    v[i] = cleave_vector_copysign (cleave_vector_fma (e.fraction[i], e.scale[i], e.scale[i] - 1.0f),
                                   v[i]);
}

/* clang-format off */
/* Defines cleave_line_<word>, which applies a function to n contiguous elements of `a` and stores
 * the results in `y`; `y` may be `a`. Also defines cleave_gate_<word>, which multiplies each
 * element by the function of the element. */
#define CLEAVE_LINE(word)                                                                          \
  static G_GNUC_UNUSED void                                                                        \
  cleave_line_##word (const float *a, float *y, gint64 n)                                          \
  {                                                                                                \
    const gint64 block = CLEAVE_FUNCTION_VECTORS * CLEAVE_VECTOR;                                  \
    CleaveVector v[CLEAVE_FUNCTION_VECTORS];                                                       \
    gint64 i = 0;                                                                                  \
                                                                                                   \
    for (; i + block <= n; i += block)                                                             \
      {                                                                                            \
        CLEAVE_EACH (k, CLEAVE_FUNCTION_VECTORS)                                                   \
          v[k] = cleave_vector_load (a + i + k * CLEAVE_VECTOR);                                   \
        cleave_vectors_##word (v, CLEAVE_FUNCTION_VECTORS);                                        \
        CLEAVE_EACH (k, CLEAVE_FUNCTION_VECTORS)                                                   \
          cleave_vector_store (y + i + k * CLEAVE_VECTOR, v[k]);                                   \
      }                                                                                            \
    for (; i < n; i += CLEAVE_VECTOR)                                                              \
      {                                                                                            \
        const int m = (int) MIN (n - i, CLEAVE_VECTOR);                                            \
                                                                                                   \
        *v = cleave_vector_load_some (a + i, m);                                                   \
        cleave_vectors_##word (v, 1);                                                              \
        cleave_vector_store_some (y + i, *v, m);                                                   \
      }                                                                                            \
  }
#define CLEAVE_GATE(word)                                                                          \
  static G_GNUC_UNUSED void                                                                        \
  cleave_gate_##word (float *y, gint64 n)                                                          \
  {                                                                                                \
    const gint64 block = CLEAVE_FUNCTION_VECTORS * CLEAVE_VECTOR;                                  \
    CleaveVector x[CLEAVE_FUNCTION_VECTORS], v[CLEAVE_FUNCTION_VECTORS];                           \
    gint64 i = 0;                                                                                  \
                                                                                                   \
    for (; i + block <= n; i += block)                                                             \
      {                                                                                            \
        CLEAVE_EACH (k, CLEAVE_FUNCTION_VECTORS)                                                   \
          v[k] = x[k] = cleave_vector_load (y + i + k * CLEAVE_VECTOR);                            \
        cleave_vectors_##word (v, CLEAVE_FUNCTION_VECTORS);                                        \
        CLEAVE_EACH (k, CLEAVE_FUNCTION_VECTORS)                                                   \
          cleave_vector_store (y + i + k * CLEAVE_VECTOR, x[k] * v[k]);                            \
      }                                                                                            \
    for (; i < n; i += CLEAVE_VECTOR)                                                              \
      {                                                                                            \
        const int m = (int) MIN (n - i, CLEAVE_VECTOR);                                            \
                                                                                                   \
        *v = *x = cleave_vector_load_some (y + i, m);                                              \
        cleave_vectors_##word (v, 1);                                                              \
        cleave_vector_store_some (y + i, *x * *v, m);                                              \
      }                                                                                            \
  }
#define CLEAVE_LINES(word) CLEAVE_LINE (word) CLEAVE_GATE (word)
CLEAVE_LINES (exp)
CLEAVE_LINES (sigmoid)
CLEAVE_LINES (tanh)
CLEAVE_LINES (erf)
#undef CLEAVE_LINE
#undef CLEAVE_GATE
#undef CLEAVE_LINES
/* clang-format on */
