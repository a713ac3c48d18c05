/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"
#include "int-vector.h"

#define cleave_byte_panels_n_bytes CLEAVE_LEVELLED (cleave_byte_panels_n_bytes)
#define cleave_byte_panels_pack CLEAVE_LEVELLED (cleave_byte_panels_pack)
#define cleave_byte_panels_find_unit CLEAVE_LEVELLED (cleave_byte_panels_find_unit)
#define cleave_byte_panels_of_constant CLEAVE_LEVELLED (cleave_byte_panels_of_constant)
#define cleave_byte_panels_sums CLEAVE_LEVELLED (cleave_byte_panels_sums)

/* Packs weights of bytes for the products of byte-product.h; integer-conv.c and integer-matmul.c
 * call it in `prepare`. */

/* Number of columns of a panel. Kernels compute the columns of a panel together. */
#define CLEAVE_BYTE_PANEL (2 * CLEAVE_LANES)

/* A packed matrix of signed bytes, cut into panels of columns; the last panel may be narrower. A
 * row of the matrix is an element of a tap (one position of the convolution's kernel). The elements
 * of a tap form groups of two (CLEAVE_DOT2) or four (CLEAVE_DOT4). In a group, columns are
 * contiguous, and the elements of a column are adjacent. With dot-4 groups, the order is column 0
 * of rows 0 to 3, column 1 of rows 0 to 3, and so on. Unsigned bytes are stored minus 128. */
typedef struct
{
  CleaveElement element; /* element type of the unpacked matrix */
  gint64 n_columns, column_stride;
  /* a row of the matrix has four indices, one for each of four dimensions; these are the extents
   * and strides of the four dimensions, outermost first */
  gint64 extent[4], stride[4];
  guint n_tap_dims; /* number of leading dimensions that index taps; the other dimensions index
                       elements of a tap */
  gint64 unit;      /* number of elements of a group: CLEAVE_DOT2 or CLEAVE_DOT4 */
} CleaveBytePanels;

static inline gint64
cleave_byte_panels_n_taps (const CleaveBytePanels *p)
{
  gint64 n = 1;

  for (guint d = 0; d < p->n_tap_dims; d++)
    n *= p->extent[d];
  return n;
}

/* Returns the number of elements of one tap. */
static inline gint64
cleave_byte_panels_length (const CleaveBytePanels *p)
{
  gint64 n = 1;

  for (guint d = p->n_tap_dims; d < 4; d++)
    n *= p->extent[d];
  return n;
}

static inline gint64
cleave_byte_panels_n_units (const CleaveBytePanels *p)
{
  return (cleave_byte_panels_length (p) + p->unit - 1) / p->unit;
}

/* Returns the bytes of the packed matrix. The unused bytes at its end are included, so that whole
 * vectors can be read. */
gsize cleave_byte_panels_n_bytes (const CleaveBytePanels *panels);
void cleave_byte_panels_pack (const CleaveBytePanels *panels, gconstpointer from, gint8 *to);
/* Returns an array that contains, for each column of the packed matrix, the sum of the column's
 * weights. The packed matrix contains this array only with CLEAVE_DOT4. */
const gint32 *cleave_byte_panels_sums (const CleaveBytePanels *panels, const gint8 *packed);
/* Returns CLEAVE_DOT2 or CLEAVE_DOT4, whichever is faster for the weights in `constant`. If
 * `constant` is NULL, returns the faster one for matrices that each run packs. Ignores
 * `panels->unit`. */
gint64 cleave_byte_panels_find_unit (CleaveWeights *weights,
                                     CleaveTensor *constant,
                                     guint columns,
                                     const CleaveBytePanels *panels);
/* Returns the packed matrix of the base constant of which `constant` is a slice; all pieces share
 * this matrix. Dimension `columns` indexes the columns of the matrix, and the other dimensions
 * index the rows. If `constant` is a slice along dimension `columns`, sets `first` to the packed
 * column at which the slice begins. */
const gint8 *cleave_byte_panels_of_constant (CleaveWeights *weights,
                                             CleaveTensor *constant,
                                             guint columns,
                                             CleaveBytePanels *panels,
                                             gint64 *first);
