/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"
#include "loops.h"

/* What all rows have in common. */
typedef struct
{
  gint64 n, step; /* elements, and from one to the next */
  gboolean is_min, last;
} CleaveArgRow;

/* Searches so many rows, `apart`; places are counted in 32 bits. */
typedef void (*CleaveArgSearch) (const CleaveArgRow *row,
                                 gconstpointer x,
                                 gint64 apart,
                                 gint64 n_rows,
                                 gint64 *y,
                                 gint64 y_step);

/* Elements of a row of which the best is found at once. */
#define CLEAVE_ARG_BLOCK 256
