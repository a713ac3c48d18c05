/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"
#include "int-vector.h"

#define cleave_byte_panels_n_bytes CLEAVE_LEVELLED (cleave_byte_panels_n_bytes)
#define cleave_byte_panels_pack CLEAVE_LEVELLED (cleave_byte_panels_pack)
#define cleave_byte_panels_find_unit CLEAVE_LEVELLED (cleave_byte_panels_find_unit)
#define cleave_byte_panels_of_constant CLEAVE_LEVELLED (cleave_byte_panels_of_constant)
#define cleave_byte_panels_sums CLEAVE_LEVELLED (cleave_byte_panels_sums)

/* Columns that are worked on together. */
#define CLEAVE_BYTE_PANEL (2 * CLEAVE_LANES)

/* A matrix of bytes with a sign: panels of columns, the last of which may be narrower.  Its rows
 * are taps, and the elements of each tap in units; in a unit, columns lie side by side, each with
 * its two or four elements.  Bytes without sign are less by 128. */
typedef struct
{
  CleaveElement element; /* of what is packed */
  gint64 n_columns, column_stride;
  gint64 extent[4], stride[4]; /* of the index of a row, outermost first */
  guint n_tap_dims;            /* of them: the others are within a tap */
  gint64 unit;                 /* CLEAVE_PAIR or CLEAVE_QUAD */
} CleaveBytePanels;

static inline gint64
cleave_byte_panels_n_taps (const CleaveBytePanels *p)
{
  gint64 n = 1;

  for (guint d = 0; d < p->n_tap_dims; d++)
    n *= p->extent[d];
  return n;
}

/* Elements of one tap. */
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

/* Bytes, with room to read whole vectors at the end. */
gsize cleave_byte_panels_n_bytes (const CleaveBytePanels *panels);
void cleave_byte_panels_pack (const CleaveBytePanels *panels, gconstpointer from, gint8 *to);
/* Of quads: the sum of each column of what was packed. */
const gint32 *cleave_byte_panels_sums (const CleaveBytePanels *panels, const gint8 *packed);
/* The fastest unit for a constant, of which the unit of `panels` says nothing yet; NULL: for what
 * is packed by each run. */
gint64 cleave_byte_panels_find_unit (CleaveWeights *weights,
                                     CleaveTensor *constant,
                                     guint columns,
                                     const CleaveBytePanels *panels);
/* The packed form of a constant of which `columns` is the dimension that pieces are cut along; the
 * others index the rows.  `first` gets the column of the packed form at which the constant begins.
 */
const gint8 *cleave_byte_panels_of_constant (CleaveWeights *weights,
                                             CleaveTensor *constant,
                                             guint columns,
                                             CleaveBytePanels *panels,
                                             gint64 *first);
