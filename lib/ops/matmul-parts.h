/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Everything about a matrix product but its arithmetic: what MatMul and its quantised kin share.
 *
 * A and B are stacks of matrices; a vector is a matrix without rows (A) or columns (B).  The result
 * has the batch of both, broadcast, then A's rows, then B's columns. */

#include "../ir/op.h"

typedef enum { CLEAVE_MATMUL_A, CLEAVE_MATMUL_B } CleaveMatmulSide;

/* Where the result has what. */
typedef struct
{
  guint rank, n_batch;
  gboolean has[2]; /* A's rows, B's columns */
} CleaveMatmulDims;

CleaveMatmulDims cleave_matmul_dims (const CleaveShape *a, const CleaveShape *b);
/* The dimension of the result that is this side's own; only where it has one. */
guint cleave_matmul_own_dim (const CleaveMatmulDims *dims, CleaveMatmulSide side);
/* K. */
gint64 cleave_matmul_length (const CleaveShape *a);
gboolean
cleave_matmul_infer (const CleaveShape *a, const CleaveShape *b, CleaveShape *y, GError **error);
/* What a stack on one side, which may be broadcast to A or B, must supply for a part of y. */
void cleave_matmul_maps (const CleaveMatmulDims *dims,
                         CleaveMatmulSide side,
                         const CleaveShape *stack,
                         const CleaveShape *y,
                         CleaveDimMap *map);
/* How far one step along each dimension of the result goes in such a stack; returns the step along
 * K. */
gint64 cleave_matmul_strides (const CleaveMatmulDims *dims,
                              CleaveMatmulSide side,
                              const CleaveView *stack,
                              gint64 *stride);
