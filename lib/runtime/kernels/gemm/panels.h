/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"
#include "../vector.h"

#define cleave_panels_width CLEAVE_LEVELLED (cleave_panels_width)
#define cleave_panels_n_rows CLEAVE_LEVELLED (cleave_panels_n_rows)
#define cleave_panels_n_bytes CLEAVE_LEVELLED (cleave_panels_n_bytes)
#define cleave_panels_pack CLEAVE_LEVELLED (cleave_panels_pack)
#define cleave_panels_of_constant CLEAVE_LEVELLED (cleave_panels_of_constant)

/* Packed panels of a matrix, as products read them (gemm.h). The columns are cut into panels of
 * `width` columns. In a panel, the columns of a row are contiguous, and rows follow each other.
 * Example: 40 columns in panels of width 32 make two panels, and the second has 24 unused columns.
 * A row has an index of up to four dimensions, outermost first; for a convolution, the dimensions
 * are taps and operand channels. */
typedef struct
{
  CleaveElement element; /* element type of the unpacked matrix */
  gint64 n_columns, column_stride;
  gint64 extent[4], stride[4];
  gint64 width;
} CleavePanels;

#define CLEAVE_PANEL_MAX_WIDTH (4 * CLEAVE_VECTOR)

/* Returns the panel width, in columns, with which a product of n_columns columns is fastest. If
 * widths are equally fast, returns the smallest, since lanes beyond the columns are computed,
 * too. */
gint64 cleave_panels_width (gint64 n_columns);
gint64 cleave_panels_n_rows (const CleavePanels *panels);
/* Returns the bytes of the packed matrix. The unused bytes at its end are included, so that a whole
 * vector can be read from any column on. */
gsize cleave_panels_n_bytes (const CleavePanels *panels);
void cleave_panels_pack (const CleavePanels *panels, gconstpointer from, float *to);
/* Returns the packed matrix of the base constant of which `constant` is a slice; all pieces share
 * this matrix. Dimension `columns` indexes the columns of the matrix, and the other dimensions
 * index the rows. If `constant` is a slice along dimension `columns`, sets `first` to the packed
 * column at which the slice begins. */
gconstpointer cleave_panels_of_constant (CleaveWeights *weights,
                                         CleaveTensor *constant,
                                         guint columns,
                                         CleavePanels *panels,
                                         gint64 *first);
