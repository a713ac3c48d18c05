/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* When floats add up products of bytes exactly: as long as no sum, whatever the order, can leave
 * [-2^24, 2^24]. */

#include "../kernels.h"

#define CLEAVE_EXACT (1 << 24)

/* The largest distance of a byte from its zero point: of one that is not there, of one that is
 * known, of any. */
static inline gint64
cleave_largest_byte (CleaveElement element, gboolean has_zero, const CleaveTensor *constant)
{
  gint64 least = element == CLEAVE_INT8 ? G_MININT8 : 0, most = least + G_MAXUINT8;
  gint64 zero = 0;

  if (has_zero && constant == NULL)
    return most - least;
  if (constant != NULL)
    {
      gconstpointer data = cleave_tensor_get_data (constant);

      if (cleave_shape_n_elements (&cleave_tensor_get_type (constant)->shape) != 1)
        return most - least;
      zero = element == CLEAVE_INT8 ? *(const gint8 *) data : *(const guint8 *) data;
    }
  return MAX (most - zero, zero - least);
}

/* Weights as sums over taps of their distances from the zero point: for each of `n_columns` columns
 * those of the `n_in` input channels one after the other.  Returns into how many equal ranges the
 * channels must be cut so that the sums over each are exact; 0: there are none. */
static inline gint64
cleave_count_exact_parts (const gint64 *sums, gint64 n_columns, gint64 n_in, gint64 largest_x)
{
  for (gint64 n_parts = 1; n_parts <= n_in; n_parts++)
    {
      gboolean fits = TRUE;

      for (gint64 j = 0; j < n_columns && fits; j++)
        for (gint64 p = 0; p < n_parts && fits; p++)
          {
            gint64 sum = 0;

            for (gint64 i = p * n_in / n_parts; i < (p + 1) * n_in / n_parts; i++)
              sum += sums[j * n_in + i];
            fits = sum * largest_x <= CLEAVE_EXACT;
          }
      if (fits)
        return n_parts;
    }
  return 0;
}
