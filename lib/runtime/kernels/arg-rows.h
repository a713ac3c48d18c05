/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"
#include "loops.h"

/* Properties that all rows share. */
typedef struct
{
  gint64 n, step; /* elements of a row, and the distance between them in elements */
  gboolean is_min, last;
} CleaveArgRow;

/* Searches n_rows rows that are `apart` elements apart. Indices must fit into 32 bits. */
typedef void (*CleaveArgSearch) (const CleaveArgRow *row,
                                 gconstpointer x,
                                 gint64 apart,
                                 gint64 n_rows,
                                 gint64 *y,
                                 gint64 y_step);

/* Elements of a row reduced to their best value at once. */
#define CLEAVE_ARG_BLOCK 256
