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

/* The same of an operand that has a zero point, or may have. */
static inline gint64
cleave_largest_byte_of (const CleaveKernelInstance *instance, guint operand, guint zero)
{
  gboolean has_zero = cleave_call_has (&instance->call, zero);

  return cleave_largest_byte (instance->call.operands[operand].element, has_zero,
                              has_zero ? instance->constants[zero] : NULL);
}

/* How far the weights of one column are from their zero point: for each of the input channels, the
 * sum over the taps. */
typedef void (*CleaveDistances) (const CleaveKernelInstance *instance,
                                 gconstpointer self,
                                 gint64 column,
                                 gint64 *sums);

typedef struct
{
  gint64 n_columns, n_channels;
  gint64 largest_x, largest_w; /* distances: of an element, and of all taps of a channel */
  CleaveDistances distances;   /* NULL: the weights are not known */
  gconstpointer self;
} CleaveSums;

static inline gboolean
cleave_parts_are_exact (const gint64 *sums, gint64 n, gint64 n_parts, gint64 largest_x)
{
  for (gint64 p = 0; p < n_parts; p++)
    {
      gint64 sum = 0;

      for (gint64 i = p * n / n_parts; i < (p + 1) * n / n_parts; i++)
        sum += sums[i];
      if (sum * largest_x > CLEAVE_EXACT)
        return FALSE;
    }
  return TRUE;
}

/* Into how many equal ranges the input channels must be cut so that the sums over each are exact
 * for all columns; 0: there are none. */
static inline gint64
cleave_count_exact_parts (const CleaveKernelInstance *instance, const CleaveSums *s)
{
  gint64 n = s->n_channels, n_columns = s->distances == NULL ? 1 : s->n_columns;
  g_autofree gint64 *sums = g_new (gint64, (gsize) n);
  gint64 n_parts = 1, before;

  for (gint64 i = 0; i < n; i++)
    sums[i] = s->largest_w;
  do
    {
      before = n_parts;
      for (gint64 j = 0; j < n_columns; j++)
        {
          if (s->distances != NULL)
            s->distances (instance, s->self, j, sums);
          while (n_parts <= n && !cleave_parts_are_exact (sums, n, n_parts, s->largest_x))
            n_parts++;
        }
    }
  while (n_parts != before && n_parts <= n);
  return n_parts <= n ? n_parts : 0;
}
