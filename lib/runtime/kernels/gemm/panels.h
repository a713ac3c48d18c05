/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"
#include "../vector.h"

#define cleave_panels_width CLEAVE_LEVELLED (cleave_panels_width)
#define cleave_panels_n_rows CLEAVE_LEVELLED (cleave_panels_n_rows)
#define cleave_panels_n_bytes CLEAVE_LEVELLED (cleave_panels_n_bytes)
#define cleave_panels_pack CLEAVE_LEVELLED (cleave_panels_pack)
#define cleave_panels_of_constant CLEAVE_LEVELLED (cleave_panels_of_constant)

/* A matrix as the batch-reduce GEMM wants it: of floats, cut into panels of `width` columns, in
 * each of which the columns of one row lie side by side and rows follow each other, the dimensions
 * of a row's index outermost first. */
typedef struct
{
  CleaveElement element; /* of what is packed */
  gint64 n_columns, column_stride;
  gint64 extent[4], stride[4];
  gint64 width;
} CleavePanels;

#define CLEAVE_PANEL_MAX_WIDTH (4 * CLEAVE_VECTOR)

/* The fastest panels, of those the narrowest: what fills them up is read too. */
gint64 cleave_panels_width (gint64 n_columns);
gint64 cleave_panels_n_rows (const CleavePanels *panels);
/* Bytes, with room to read a whole vector at the end. */
gsize cleave_panels_n_bytes (const CleavePanels *panels);
void cleave_panels_pack (const CleavePanels *panels, gconstpointer from, float *to);
/* The packed form of a constant of which `columns` is the dimension that pieces are cut along; the
 * other dimensions index the rows.  `first` gets the column of the packed form at which the
 * constant begins. */
gconstpointer cleave_panels_of_constant (CleaveWeights *weights,
                                         CleaveTensor *constant,
                                         guint columns,
                                         CleavePanels *panels,
                                         gint64 *first);
