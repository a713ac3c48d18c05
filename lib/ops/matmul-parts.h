/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of a matrix product without its arithmetic: shapes, maps and strides. The records,
 * reference kernels and fast kernels of MatMul, MatMulInteger, QLinearMatMul and TfliteMatMul use
 * these functions.
 *
 * A and B are stacks of matrices: batch dimensions, then rows, then columns. A vector is a matrix
 * without rows (A) or without columns (B). The result has the broadcast batch dimensions of A and
 * B, then A's rows, then B's columns. K is the length of the sums. Example: A [5, 1, 2, 3] and B
 * [4, 3, 7] give [5, 4, 2, 7], with K = 3. */

#include "../ir/op.h"

typedef enum { CLEAVE_MATMUL_A, CLEAVE_MATMUL_B } CleaveMatmulSide;

/* The dimensions of the result of a matrix product. */
typedef struct
{
  guint rank, n_batch;
  gboolean has[2]; /* has[CLEAVE_MATMUL_A]: whether the result has A's rows; has[CLEAVE_MATMUL_B]:
                    * whether it has B's columns */
} CleaveMatmulDims;

CleaveMatmulDims cleave_matmul_dims (const CleaveShape *a, const CleaveShape *b);
/* Returns the index of the dimension of the result that comes from one operand alone: A's rows or
 * B's columns, as `side` says. The result must have this dimension. */
guint cleave_matmul_own_dim (const CleaveMatmulDims *dims, CleaveMatmulSide side);
/* Returns K, the length of the sums of a product whose operand A has the shape `a`. */
gint64 cleave_matmul_length (const CleaveShape *a);
gboolean
cleave_matmul_infer (const CleaveShape *a, const CleaveShape *b, CleaveShape *y, GError **error);
/* Sets the maps of a stack of matrices. The stack is A or B, as `side` says, or a value that is
 * broadcast to this operand, such as the zero points of A. */
void cleave_matmul_maps (const CleaveMatmulDims *dims,
                         CleaveMatmulSide side,
                         const CleaveShape *stack,
                         const CleaveShape *y,
                         CleaveDimMap *map);
/* Sets the maps of a product whose operands 0 and 1 are A and B. */
void cleave_matmul_maps_pair (const CleaveCall *call, guint operand, CleaveDimMap *map);
/* Returns the multiply-adds of a product whose operand 0 is A. */
gint64 cleave_matmul_macs (const CleaveCall *call);
/* Sets stride[d] for each dimension d of the result: the stride of dimension d in a stack of
 * matrices, in elements of the stack. Returns the stride of the stack along K, in elements. */
gint64 cleave_matmul_strides (const CleaveMatmulDims *dims,
                              CleaveMatmulSide side,
                              const CleaveView *stack,
                              gint64 *stride);
