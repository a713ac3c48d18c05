/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Matrix products except for their arithmetic: shapes, maps and strides. MatMul, MatMulInteger,
 * QLinearMatMul and TfliteMatMul share it.
 *
 * A and B are stacks of matrices: batch dimensions, then rows, then columns. A vector is a matrix
 * without rows (A) or without columns (B). The result has the batch dimensions of both, broadcast,
 * then A's rows, then B's columns. K is the length of the sums. */

#include "../ir/op.h"

typedef enum { CLEAVE_MATMUL_A, CLEAVE_MATMUL_B } CleaveMatmulSide;

/* The dimensions of the result. */
typedef struct
{
  guint rank, n_batch;
  gboolean has[2]; /* whether the result has A's rows, and B's columns */
} CleaveMatmulDims;

CleaveMatmulDims cleave_matmul_dims (const CleaveShape *a, const CleaveShape *b);
/* Returns the dimension of the result that comes from one operand alone: A's rows or B's
 * columns, as `side` says. The result must have this dimension. */
guint cleave_matmul_own_dim (const CleaveMatmulDims *dims, CleaveMatmulSide side);
/* Returns K. */
gint64 cleave_matmul_length (const CleaveShape *a);
gboolean
cleave_matmul_infer (const CleaveShape *a, const CleaveShape *b, CleaveShape *y, GError **error);
/* Sets the maps of a stack of matrices: A or B, as `side` says, or a value that is broadcast to
 * it, such as its zero points. */
void cleave_matmul_maps (const CleaveMatmulDims *dims,
                         CleaveMatmulSide side,
                         const CleaveShape *stack,
                         const CleaveShape *y,
                         CleaveDimMap *map);
/* Sets the maps of a product whose operands 0 and 1 are A and B. */
void cleave_matmul_maps_pair (const CleaveCall *call, guint operand, CleaveDimMap *map);
/* Returns the multiply-adds of a product whose operand 0 is A. */
gint64 cleave_matmul_macs (const CleaveCall *call);
/* Sets stride[d] to the step in a stack of matrices, in elements, for one step along dimension d of
 * the result. Returns the step along K. */
gint64 cleave_matmul_strides (const CleaveMatmulDims *dims,
                              CleaveMatmulSide side,
                              const CleaveView *stack,
                              gint64 *stride);
