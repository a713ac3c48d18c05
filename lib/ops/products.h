/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sums of products in the order that all kernels of an op use: one fused multiply-add after the
 * other. The reference kernels of convolutions, matrix products, Einsum and recurrent ops add this
 * way; their fast kernels give the same bits.
 *
 * A sum of float32 elements is a float32, and a sum of float64 elements is a float64. A sum of
 * float16 or bfloat16 elements is a float32, which is rounded once at the end. Sums of integers
 * wrap around. */

#include "../ir/op.h"

typedef union
{
  float f;
  double d;
  guint64 u;
} CleaveSum;

typedef struct
{
  void (*begin) (CleaveSum *sum, gconstpointer bias); /* begins a sum with the bias; NULL: with +0
                                                       */
  /* computes sum = fma (x[i], w[i], sum) for i = 0 … n - 1; strides are in elements */
  void (*add) (
      CleaveSum *sum, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n);
  void (*scale) (CleaveSum *sum, double by);
  void (*add_scaled) (CleaveSum *sum,
                      gconstpointer c,
                      double by); /* computes sum += c * by; rounds the product and the sum */
  void (*end) (const CleaveSum *sum, gpointer y);
} CleaveSumOps;

#define CLEAVE_ELEMENTS_SUM                                                                        \
  (CLEAVE_ELEMENTS_FLOAT | CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64) | \
   CLEAVE_ELEMENT_BIT (CLEAVE_UINT32) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT64))

/* Returns the functions for an element type. The type must be in the set CLEAVE_ELEMENTS_SUM. */
const CleaveSumOps *cleave_sum_ops (CleaveElement element);
