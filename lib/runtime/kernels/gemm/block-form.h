/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "panels.h"

#define cleave_block_find CLEAVE_LEVELLED (cleave_block_find)
#define cleave_block_read_columns CLEAVE_LEVELLED (cleave_block_read_columns)
#define cleave_block_find_form CLEAVE_LEVELLED (cleave_block_find_form)

/* A block of floats, each of which is an integer from least to most, times the scale. */
typedef struct
{
  float scale;
  gint32 least, most;
} CleaveBlock;

/* The form of a matrix whose columns consist of such blocks, of `block` rows each. Integers of a
 * block, less the smallest, fit into n_bits = 4 or 8. block 0: the matrix has no such form. */
typedef struct
{
  gint64 block, n_bits;
} CleaveBlockForm;

/* Finds the scale of n floats; returns FALSE if there is none. */
gboolean cleave_block_find (const float *w, gint64 n, CleaveBlock *block);
/* Reads up to CLEAVE_BLOCK_TOGETHER columns from `column` on, each into contiguous floats.
 * Returns how many columns it read. */
#define CLEAVE_BLOCK_TOGETHER 16 /* floats of a row in one cache line */
gint64
cleave_block_read_columns (const CleavePanels *panels, const float *from, gint64 column, float *to);
/* Finds the form of a matrix of floats, with the longest blocks possible. */
CleaveBlockForm cleave_block_find_form (const CleavePanels *panels, const float *from);
