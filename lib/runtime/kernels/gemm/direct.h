/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../epilogue.h"

#define cleave_direct_run CLEAVE_LEVELLED (cleave_direct_run)
#define cleave_direct_do_epilogue CLEAVE_LEVELLED (cleave_direct_do_epilogue)

/* Multiplies the pixels of a line by the columns of a panel, in the same order as LIBXSMM. The
 * bias is in registers from the start, and any pixel distance and number of columns is allowed.
 * Faster than LIBXSMM if sums are short or columns are few. */
typedef struct
{
  const float *x, *a, *bias; /* bias NULL: sums begin with 0, or with y if `adds` */
  float *y;
  gboolean adds; /* adds to the values in y */
  gint64 n, x_step, y_step;
  gint64 m, lda, k;
  guint n_taps;
  const unsigned long long *a_offset, *x_offset; /* bytes; offsets of x may be negative */
  const CleaveEpilogue *epilogue;                /* applied to complete sums; NULL: none */
} CleaveDirect;

/* Pixels addressed from one pointer, at 0, 1 and 2 times the pixel distance. */
#define CLEAVE_REACH 3

/* Returns the address in `a` that a tap reads. Sets `from` to the addresses in x, one for every
 * CLEAVE_REACH-th pixel. */
static inline __attribute__ ((always_inline)) const float *
cleave_direct_tap (
    const CleaveDirect *d, guint tap, const float *x, int n_pointers, const float **from)
{
  const float *at = (const float *) (const void *) ((const char *) x + (gint64) d->x_offset[tap]);

  CLEAVE_EACH (p, n_pointers)
    from[p] = at + p * CLEAVE_REACH * d->x_step;
  return (const float *) (const void *) ((const char *) d->a + d->a_offset[tap]);
}

/* Computes the product. There must be at least CLEAVE_VECTOR columns, or whole vectors must be
 * readable in `a`. */
void cleave_direct_run (const CleaveDirect *direct);
/* Applies the epilogue ops to n pixels of y, m columns each, that are already stored. */
void cleave_direct_do_epilogue (
    const CleaveEpilogue *epilogue, float *y, gint64 y_step, gint64 n, gint64 m);
