/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "level.h"

#define cleave_sides_of_gemm CLEAVE_LEVELLED (cleave_sides_of_gemm)
#define cleave_sides_of_matmul CLEAVE_LEVELLED (cleave_sides_of_matmul)
#define cleave_sides_column_stride CLEAVE_LEVELLED (cleave_sides_column_stride)
#define cleave_sides_offset CLEAVE_LEVELLED (cleave_sides_offset)

/* Describes how a matrix product (MatMul, Gemm and their quantized forms) reads its operands at
 * each index of y. gemm/upcast-matmul.c and integers/integer-matmul.c loop over batches and rows by
 * this description. The rows are the dimensions of y along which B does not change. The batches are
 * all other dimensions: each index of the batches has its own matrix B. */

typedef struct
{
  guint operand; /* index of the operand; G_MAXUINT: absent */
  gint64 stride[CLEAVE_MAX_RANK], k_stride;
} CleaveSide;

/* A subset of the dimensions of y, outermost first. `n_indices` is the product of their extents. */
typedef struct
{
  guint n;
  guint dim[CLEAVE_MAX_RANK];
  gint64 extent[CLEAVE_MAX_RANK], n_indices;
} CleaveSideDims;

typedef struct
{
  CleaveSide a, b, a_zero, b_zero, a_scale, b_scale, y_scale, y_zero, c;
  CleaveSide y; /* layout of the result */
  double alpha, beta;
  gint64 n_columns, length; /* number of columns (N of the product); number of terms of a sum (K) */
  guint columns_dim;   /* dimension of y whose indices are the columns; equal to the rank of y if y
                          has no columns */
  guint b_columns_dim; /* dimension of B whose indices are the columns; equal to the rank of B if B
                          has no columns */
  CleaveSideDims batches, rows;
} CleaveSides;

CleaveSides cleave_sides_of_matmul (const CleaveKernelInstance *instance);
CleaveSides cleave_sides_of_gemm (const CleaveKernelInstance *instance);

/* Returns the distance in an operand, in elements, from the element for one column of y to the
 * element for the next column. */
gint64 cleave_sides_column_stride (const CleaveSides *sides, const CleaveSide *side);
/* Returns the offset in an operand, in elements, of the element for the first column of row `row`
 * of batch `batch`. */
gint64
cleave_sides_offset (const CleaveSides *sides, const CleaveSide *side, gint64 batch, gint64 row);
