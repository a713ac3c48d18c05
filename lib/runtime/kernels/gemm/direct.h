/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../epilogue.h"

#define cleave_direct_run CLEAVE_LEVELLED (cleave_direct_run)
#define cleave_direct_do_epilogue CLEAVE_LEVELLED (cleave_direct_do_epilogue)

/* Pixels of a line times columns of a panel, as LIBXSMM would do them, in the same order, but with
 * the bias in registers from the start, any distance of pixels, and any number of columns: what is
 * faster where the sums are short or the columns few. */
typedef struct
{
  const float *x, *a, *bias; /* bias NULL: begins with 0, or with y */
  float *y;
  gboolean adds; /* to what is in y */
  gint64 n, x_step, y_step;
  gint64 m, lda, k;
  guint n_taps;
  const unsigned long long *a_offset, *x_offset; /* bytes; those of x may go back */
  const CleaveEpilogue *epilogue;                /* of sums that are all there; or NULL */
} CleaveDirect;

/* Pixels that one pointer reaches: by 0, 1 and 2 times their distance. */
#define CLEAVE_REACH 3

/* Where a tap reads: of `a`, returned, and of x, a pointer for each third pixel. */
static inline __attribute__ ((always_inline)) const float *
cleave_direct_tap (
    const CleaveDirect *d, guint tap, const float *x, int n_pointers, const float **from)
{
  const float *at = (const float *) (const void *) ((const char *) x + (gint64) d->x_offset[tap]);

  CLEAVE_EACH (p, n_pointers)
    from[p] = at + p * CLEAVE_REACH * d->x_step;
  return (const float *) (const void *) ((const char *) d->a + d->a_offset[tap]);
}

/* Columns must be at least as many as a vector holds, or whole vectors be readable in `a`. */
void cleave_direct_run (const CleaveDirect *direct);
/* Epilogues of n pixels of y, m columns each, that are there. */
void cleave_direct_do_epilogue (
    const CleaveEpilogue *epilogue, float *y, gint64 y_step, gint64 n, gint64 m);
