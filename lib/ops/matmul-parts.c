/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The parts of a matrix product without its arithmetic: shapes, maps and strides. */

#include "matmul-parts.h"

#include "reference.h"

CleaveMatmulDims
cleave_matmul_dims (const CleaveShape *a, const CleaveShape *b)
{
  CleaveMatmulDims dims = { .n_batch = MAX (MAX (a->rank, b->rank), 2) - 2,
                            .has = { a->rank > 1, b->rank > 1 } };

  dims.rank = dims.n_batch + (dims.has[CLEAVE_MATMUL_A] != 0) + (dims.has[CLEAVE_MATMUL_B] != 0);
  return dims;
}

guint
cleave_matmul_own_dim (const CleaveMatmulDims *dims, CleaveMatmulSide side)
{
  return side == CLEAVE_MATMUL_A ? dims->n_batch : dims->rank - 1;
}

/* k_dim() returns the index of dimension K in a stack of matrices: columns of A, rows of B.
 * other_dim() returns the index of the rows of A, or of the columns of B. */

static guint
k_dim (const CleaveShape *stack, CleaveMatmulSide side)
{
  if (stack->rank == 1)
    return 0;
  return side == CLEAVE_MATMUL_A ? stack->rank - 1 : stack->rank - 2;
}

static guint
other_dim (const CleaveShape *stack, CleaveMatmulSide side)
{
  return side == CLEAVE_MATMUL_A ? stack->rank - 2 : stack->rank - 1;
}

static CleaveShape
batch_shape (const CleaveShape *stack)
{
  CleaveShape batch = *stack;

  batch.rank = MAX (stack->rank, 2) - 2;
  return batch;
}

gint64
cleave_matmul_length (const CleaveShape *a)
{
  return a->dim[a->rank - 1];
}

gboolean
cleave_matmul_infer (const CleaveShape *a, const CleaveShape *b, CleaveShape *y, GError **error)
{
  CleaveShape batch_a = batch_shape (a), batch_b = batch_shape (b);
  gint64 rows_b = b->dim[k_dim (b, CLEAVE_MATMUL_B)];

  if (cleave_matmul_length (a) != rows_b)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "A has %" G_GINT64_FORMAT " columns, B has %" G_GINT64_FORMAT " rows",
                        cleave_matmul_length (a), rows_b);
  if (!cleave_shape_broadcast (&batch_a, &batch_b, y))
    {
      g_autofree char *text_a = cleave_shape_to_string (a), *text_b = cleave_shape_to_string (b);

      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "A is %s and B is %s: they cannot be broadcast", text_a, text_b);
    }
  if (a->rank > 1)
    y->dim[y->rank++] = a->dim[other_dim (a, CLEAVE_MATMUL_A)];
  if (b->rank > 1)
    y->dim[y->rank++] = b->dim[other_dim (b, CLEAVE_MATMUL_B)];
  return TRUE;
}

void
cleave_matmul_maps (const CleaveMatmulDims *dims,
                    CleaveMatmulSide side,
                    const CleaveShape *stack,
                    const CleaveShape *y,
                    CleaveDimMap *map)
{
  CleaveShape mine = batch_shape (stack), batch = *y;
  guint k = k_dim (stack, side), other = other_dim (stack, side);

  batch.rank = dims->n_batch;
  cleave_maps_broadcast (&mine, &batch, map);
  map[k] = cleave_dim_map_whole (stack->dim[k]);
  if (stack->rank > 1)
    map[other] = stack->dim[other] == 1 ? cleave_dim_map_whole (1)
                                        : cleave_dim_map_same (cleave_matmul_own_dim (dims, side));
}

void
cleave_matmul_maps_pair (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  CleaveMatmulDims dims = cleave_matmul_dims (&call->operands[0].shape, &call->operands[1].shape);

  cleave_matmul_maps (&dims, operand == 0 ? CLEAVE_MATMUL_A : CLEAVE_MATMUL_B,
                      &call->operands[operand].shape, &call->results[0].shape, map);
}

gint64
cleave_matmul_macs (const CleaveCall *call)
{
  return cleave_saturated_mul (cleave_shape_n_elements (&call->results[0].shape),
                               cleave_matmul_length (&call->operands[0].shape));
}

gint64
cleave_matmul_strides (const CleaveMatmulDims *dims,
                       CleaveMatmulSide side,
                       const CleaveView *stack,
                       gint64 *stride)
{
  const CleaveShape *shape = &stack->type.shape;
  CleaveView batch = *stack;

  batch.type.shape = batch_shape (shape);
  for (guint d = 0; d < dims->rank; d++)
    stride[d] = 0;
  cleave_view_broadcast_strides (&batch, dims->n_batch, stride);
  if (shape->rank > 1 && shape->dim[other_dim (shape, side)] > 1)
    stride[cleave_matmul_own_dim (dims, side)] = stack->stride[other_dim (shape, side)];
  return stack->stride[k_dim (shape, side)];
}
