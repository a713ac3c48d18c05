/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"
#include "loops.h"

/* The interface between arg.c, which loops over the rows of an ArgMax or ArgMin, and the searches
 * in arg-floats.h and arg-integers.h. A row consists of the elements that are searched for one
 * index of the result.
 *
 * Parameters that all rows of a search share. `last` TRUE: of equal values, the last one wins;
 * FALSE: the first one. */
typedef struct
{
  /* number of elements of a row; distance of adjacent elements in memory, in elements */
  gint64 n, step;
  gboolean is_min, last;
} CleaveArgRow;

/* Finds the index of the best element of each of n_rows rows, and stores the index of row i at y[i
 * * y_step]. Adjacent rows are `apart` elements apart. Indices must fit into 32 bits. */
typedef void (*CleaveArgSearch) (const CleaveArgRow *row,
                                 gconstpointer x,
                                 gint64 apart,
                                 gint64 n_rows,
                                 gint64 *y,
                                 gint64 y_step);

/* Number of elements of a block of a contiguous row. A search of floats finds the best value of a
 * block at once. */
#define CLEAVE_ARG_BLOCK 256
