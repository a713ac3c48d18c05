/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "panels.h"

#define cleave_block_find CLEAVE_LEVELLED (cleave_block_find)
#define cleave_block_read_columns CLEAVE_LEVELLED (cleave_block_read_columns)
#define cleave_block_find_form CLEAVE_LEVELLED (cleave_block_find_form)

/* Floats of which each is a whole number between least and most, times the scale. */
typedef struct
{
  float scale;
  gint32 least, most;
} CleaveBlock;

/* A matrix whose columns are such blocks of so many rows, of numbers that differ by what 4 bits
 * hold, or 8; block 0: it is no such. */
typedef struct
{
  gint64 block, n_bits;
} CleaveBlockForm;

/* FALSE: there is no scale. */
gboolean cleave_block_find (const float *w, gint64 n, CleaveBlock *block);
/* Columns from one on, CLEAVE_BLOCK_TOGETHER of them or those that there are, which is returned:
 * each gets its floats side by side. */
#define CLEAVE_BLOCK_TOGETHER 16 /* share a cache line */
gint64
cleave_block_read_columns (const CleavePanels *panels, const float *from, gint64 column, float *to);
/* The form of a matrix of floats, by the longest blocks that it has. */
CleaveBlockForm cleave_block_find_form (const CleavePanels *panels, const float *from);
