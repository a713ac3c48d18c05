/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Depthwise sums of bytes for adjacent pixels of a row whose windows overlap. integer-depthwise.c
 * uses these functions if cleave_byte_slide_find() returns one. Each vector of x and of weights is
 * loaded once for each row of taps. Only NEON multiplies one tap at a time as fast as two taps
 * (byte-depthwise.h), so the other levels lack these functions. */

#include "byte-depthwise.h"
#include "byte-panels.h"

/* Largest number of pixels that a function computes at once: the sums of all its pixels are in
 * registers. */
#define CLEAVE_SLIDE_PIXELS 6

/* The number of rows of taps, and distances in elements. `x_column`: distance of adjacent columns
 * of x. `x_row`: distance of the rows of x that adjacent rows of taps read. `w`: distance of the
 * weights of adjacent taps. */
typedef struct
{
  gint64 n_rows, x_column, x_row, w;
} CleaveByteSlideSteps;

/* Computes the sums of n_pixels pixels for the channels whose weights begin at `w`. x is the first
 * element that the first pixel reads. */
typedef void (*CleaveByteSlide) (const CleaveByteSlideSteps *steps,
                                 const gint16 *x,
                                 const gint16 *w,
                                 gint64 n_pixels,
                                 gint32 *sums);

#if defined(CLEAVE_NEON)
#define CLEAVE_SLIDE_COLUMNS 7

static inline __attribute__ ((always_inline)) void
cleave_byte_slide (const CleaveByteSlideSteps *steps,
                   const gint16 *x,
                   const gint16 *w,
                   int pixels,
                   int stride,
                   int n_columns,
                   gint32 *sums)
{
  gint64 x_column = steps->x_column, x_row = steps->x_row, w_step = steps->w;
  CleaveChannelSums sum[CLEAVE_SLIDE_PIXELS];

  CLEAVE_EACH (p, pixels)
    sum[p] = (CleaveChannelSums){ 0 };
  for (gint64 i = 0; i < steps->n_rows; i++, x += x_row)
    {
      const gint16 *from = x;
      CleaveChannels by[CLEAVE_SLIDE_COLUMNS];

      CLEAVE_EACH (j, n_columns)
        {
          by[j] = cleave_channels_load (w);
          w += w_step;
        }
      CLEAVE_EACH (c, (pixels - 1) * stride + n_columns)
        {
          CleaveChannels a = cleave_channels_load (from);

          CLEAVE_EACH (p, pixels)
            if (c >= p * stride && c < p * stride + n_columns)
              sum[p] = cleave_channels_add_tap (sum[p], a, by[c - p * stride]);
          from += x_column;
        }
    }
  CLEAVE_EACH (p, pixels)
    cleave_channels_store (sums + p * CLEAVE_BYTE_PANEL, sum[p]);
}

/* clang-format off */
#define SLIDE(columns, stride)                                                                     \
  static void cleave_byte_slide_##columns##_##stride (const CleaveByteSlideSteps *steps,           \
                                                      const gint16 *x, const gint16 *w,            \
                                                      gint64 n_pixels, gint32 *sums)               \
  {                                                                                                \
    CLEAVE_EACH (i, CLEAVE_SLIDE_PIXELS)                                                           \
      if (n_pixels == i + 1)                                                                       \
        cleave_byte_slide (steps, x, w, i + 1, stride, columns, sums);                             \
  }
SLIDE (3, 1) SLIDE (3, 2) SLIDE (5, 1) SLIDE (5, 2) SLIDE (7, 1) SLIDE (7, 2)
#undef SLIDE
/* clang-format on */
#endif

    /* Returns the function for rows of n_columns taps; NULL: no function serves them. */
    static inline CleaveByteSlide
    cleave_byte_slide_find (gint64 n_columns, gint64 stride, gint64 dilation)
{
#if defined(CLEAVE_NEON)
  static const CleaveByteSlide slides[3][2] = {
    { cleave_byte_slide_3_1, cleave_byte_slide_3_2 },
    { cleave_byte_slide_5_1, cleave_byte_slide_5_2 },
    { cleave_byte_slide_7_1, cleave_byte_slide_7_2 },
  };

  if (dilation == 1 && stride <= 2 && n_columns % 2 == 1 && n_columns >= 3 &&
      n_columns <= CLEAVE_SLIDE_COLUMNS)
    return slides[n_columns / 2 - 1][stride - 1];
#endif
  return NULL;
}
