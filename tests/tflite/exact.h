/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Exact integer arithmetic for scalar models of operators of TensorFlow Lite. A scalar model is a C
 * function that computes one element by the operator's definition. The suites in tests/tflite run a
 * file with one operator, and compare each element of the result with the scalar model. */

#include "run-help.h"
#include "tflite-file.h"

#include <math.h>

#define N(array) ((guint) G_N_ELEMENTS (array))

__extension__ typedef __int128 Wide;

/* Scales and zero points of two operands and the result. */
typedef struct
{
  float a, b, y;
  gint a_zero, b_zero, y_zero;
} Scales;

/* Returns floor (a / b) for a positive b. */
static inline Wide
floor_div (Wide a, Wide b)
{
  return a / b - (a % b < 0);
}

/* Returns a / 2^shift, rounded to the nearest integer, ties away from zero. */
static inline Wide
shift_right (Wide a, gint shift)
{
  Wide size = a < 0 ? -a : a, half = shift == 0 ? 0 : (Wide) 1 << (shift - 1);

  size = (size + half) >> shift;
  return a < 0 ? -size : size;
}

/* Returns round (a * b / 2^31), ties toward plus infinity. */
static inline gint64
high_product (gint64 a, gint64 b)
{
  return (gint64) floor_div ((Wide) a * b + ((Wide) 1 << 30), (Wide) 1 << 31);
}

/* A ratio as M * 2^(shift - 31). */
typedef struct
{
  gint64 m;
  gint shift;
} Ratio;

static inline Ratio
ratio_of (double real)
{
  Ratio r;
  double q = frexp (real, &r.shift);

  r.m = (gint64) round (q * 0x1p31);
  if (r.m == (gint64) 1 << 31)
    {
      r.m /= 2;
      r.shift++;
    }
  return r;
}

/* Multiplies by a ratio. Computes the rounded high half of the product, shifts this half to the
 * right, and rounds again. */
static inline gint64
times (gint64 x, Ratio r)
{
  gint64 high = high_product (x * ((gint64) 1 << MAX (r.shift, 0)), r.m);

  return (gint64) shift_right (high, MAX (-r.shift, 0));
}

/* Multiplies a sum of 64 bits by a ratio, as operators on int16 do: the multiplier has 16 bits, and
 * the product is rounded once. */
static inline gint64
times_wide (gint64 x, Ratio r)
{
  gint64 m = r.m >= 0x7FFF0000 ? 0x7FFF : (r.m + 0x8000) >> 16;

  return (gint64) floor_div ((Wide) x * m + ((Wide) 1 << (14 - r.shift)),
                             (Wide) 1 << (15 - r.shift));
}

/* Runs a file with one operator. Returns the bytes of the result. */
static inline GBytes *
run_file (const TfliteGraph *file, const GPtrArray *inputs)
{
  g_autoptr (GBytes) bytes = tflite_file_new (file);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, &error);
  g_autoptr (GPtrArray) outputs = NULL;

  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  outputs = run_graph (graph, inputs, 2);
  return cleave_tensor_dup_bytes (outputs->pdata[0]);
}

static inline GPtrArray *
tensors_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
}
