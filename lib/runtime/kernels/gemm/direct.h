/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../epilogue.h"

#define cleave_direct_run CLEAVE_LEVELLED (cleave_direct_run)
#define cleave_direct_do_epilogue CLEAVE_LEVELLED (cleave_direct_do_epilogue)

/* A product of the pixels of a line and the columns of a panel (panels.h). product-run.c calls this
 * code for short sums and for few columns, since LIBXSMM is slower there. The recurrent kernels use
 * this code for all products. The product adds in the order of LIBXSMM, so the bits are the same.
 * The sums begin with the bias, in registers. The distance of pixels and the number of columns may
 * have any value. */
typedef struct
{
  /* address of the first pixel; address of the panel; bias of each column, or NULL. If `bias` is
   * NULL, the sums begin with 0, or with y if `adds` */
  const float *x, *a, *bias;
  float *y;
  gboolean adds; /* TRUE: the sums begin with the values in y */
  gint64 n, x_step, y_step;
  gint64 m, lda, k;
  guint n_taps;
  const unsigned long long *a_offset, *x_offset; /* indexed by tap: byte offsets in the panel and in
                                                    x; offsets in x may be negative */
  /* epilogue ops that the product applies to complete sums; NULL: none */
  const CleaveEpilogue *epilogue;
} CleaveDirect;

/* Number of pixels that are read through one pointer into x. They are adjacent: the pixel at the
 * pointer and the two pixels after it. */
#define CLEAVE_REACH 3

/* Returns the address of the rows of a tap in the panel `a`. Sets `from` to n_pointers addresses in
 * x, each CLEAVE_REACH pixels after the address before it. */
static inline __attribute__ ((always_inline)) const float *
cleave_direct_tap (
    const CleaveDirect *d, guint tap, const float *x, int n_pointers, const float **from)
{
  const float *at = (const float *) (const void *) ((const char *) x + (gint64) d->x_offset[tap]);

  CLEAVE_EACH (p, n_pointers)
    from[p] = at + p * CLEAVE_REACH * d->x_step;
  return (const float *) (const void *) ((const char *) d->a + d->a_offset[tap]);
}

/* Computes the product. The product must have at least CLEAVE_VECTOR columns, or `a` must have
 * enough memory after its last column to read whole vectors. */
void cleave_direct_run (const CleaveDirect *direct);
/* Applies the epilogue ops to n stored pixels of y with m columns each. */
void cleave_direct_do_epilogue (
    const CleaveEpilogue *epilogue, float *y, gint64 y_step, gint64 n, gint64 m);
