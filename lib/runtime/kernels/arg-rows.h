/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"
#include "loops.h"

/* Parameters that all rows of a search share. `last`: of equal values, the last one wins instead of
 * the first. */
typedef struct
{
  gint64 n, step; /* number of elements of a row, and their distance in memory, in elements */
  gboolean is_min, last;
} CleaveArgRow;

/* Finds the index of the best element of each of n_rows rows, and writes it to y[i * y_step] for
 * row i. Adjacent rows are `apart` elements apart. Indices must fit into 32 bits. */
typedef void (*CleaveArgSearch) (const CleaveArgRow *row,
                                 gconstpointer x,
                                 gint64 apart,
                                 gint64 n_rows,
                                 gint64 *y,
                                 gint64 y_step);

/* Number of elements of a row that are reduced at once to their best value. */
#define CLEAVE_ARG_BLOCK 256
