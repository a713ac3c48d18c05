/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "panels.h"

#define cleave_block_find CLEAVE_LEVELLED (cleave_block_find)
#define cleave_block_read_columns CLEAVE_LEVELLED (cleave_block_read_columns)
#define cleave_block_find_form CLEAVE_LEVELLED (cleave_block_find_form)

/* Recognizes weights that were dequantized in blocks, so that blockwise.c can store them as
 * integers. Example: the floats 0.5, -1.0 and 0.25 are the integers 2, -4 and 1 times the scale
 * 0.25.
 *
 * A block of floats that all are integers times `scale`. The integers range from `least` to
 * `most`. */
typedef struct
{
  float scale;
  gint32 least, most;
} CleaveBlock;

/* A matrix in which every column consists of blocks (CleaveBlock) of `block` rows. The integers of
 * each block, minus its smallest integer, fit into `n_bits` = 4 or 8 bits. `block` 0: at least one
 * column does not consist of blocks. */
typedef struct
{
  gint64 block, n_bits;
} CleaveBlockForm;

/* Finds the scale of n floats. Returns FALSE if the floats are not integers times one scale. */
gboolean cleave_block_find (const float *w, gint64 n, CleaveBlock *block);
/* Copies up to CLEAVE_BLOCK_TOGETHER columns, from `column` on. Each column becomes contiguous in
 * `to`. Returns the number of columns. */
#define CLEAVE_BLOCK_TOGETHER 16 /* number of floats of a row in one cache line */
gint64
cleave_block_read_columns (const CleavePanels *panels, const float *from, gint64 column, float *to);
/* Returns the block form of a matrix of floats, with blocks as long as possible; `block` 0 if there
 * are no blocks. */
CleaveBlockForm cleave_block_find_form (const CleavePanels *panels, const float *from);
