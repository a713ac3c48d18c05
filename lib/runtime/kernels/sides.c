/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the operands of a matrix product by name, and their strides along each dimension of y.
 * Divides the dimensions of y into rows and batches (sides.h). */

#include "sides.h"

#include "../../ops/matmul-parts.h"
#include "../../ops/quantized.h"
#include "../../ops/reference.h"

enum { A };

static CleaveSide
find_quantized (const CleaveKernelInstance *instance, const char *name)
{
  CleaveSide side = { .operand = cleave_quantized_find (&instance->call, name) };

  if (!cleave_call_has (&instance->call, side.operand))
    return (CleaveSide){ .operand = G_MAXUINT };
  side.k_stride = cleave_quantized_matmul_strides (&instance->call, side.operand,
                                                   &instance->operands[side.operand], side.stride);
  return side;
}

/* Finds the operands of the product by their names. Products of floats have no scales and zero
 * points. */
static void
find_operands (const CleaveKernelInstance *instance, CleaveSides *s)
{
  guint b = cleave_quantized_find (&instance->call, "b");

  s->a.operand = A;
  s->b.operand = b == G_MAXUINT ? cleave_quantized_find (&instance->call, "B") : b;
  s->c.operand = G_MAXUINT;
  s->a_zero = find_quantized (instance, "a_zero_point");
  s->b_zero = find_quantized (instance, "b_zero_point");
  s->a_scale = find_quantized (instance, "a_scale");
  s->b_scale = find_quantized (instance, "b_scale");
  s->y_scale = find_quantized (instance, "y_scale");
  s->y_zero = find_quantized (instance, "y_zero_point");
  s->alpha = s->beta = 1;
}

static void
add_dim (CleaveSideDims *dims, guint d, gint64 extent)
{
  dims->dim[dims->n] = d;
  dims->extent[dims->n++] = extent;
  dims->n_indices *= extent;
}

/* Divides the dimensions of y into rows and batches (sides.h). */
static void
sort_dims (const CleaveShape *y, CleaveSides *s)
{
  s->batches.n_indices = s->rows.n_indices = 1;
  for (guint d = 0; d < y->rank; d++)
    if (d == s->columns_dim)
      continue;
    else if (s->b.stride[d] != 0 || s->b_zero.stride[d] != 0 || s->b_scale.stride[d] != 0)
      add_dim (&s->batches, d, y->dim[d]);
    else
      add_dim (&s->rows, d, y->dim[d]);
}

static void
find_dims (const CleaveKernelInstance *instance, gboolean has_columns, CleaveSides *s)
{
  const CleaveView *y = &instance->results[0];

  for (guint d = 0; d < y->type.shape.rank; d++)
    s->y.stride[d] = y->stride[d];
  s->columns_dim = y->type.shape.rank - (has_columns ? 1 : 0);
  s->n_columns = has_columns ? y->type.shape.dim[s->columns_dim] : 1;
  sort_dims (&y->type.shape, s);
}

CleaveSides
cleave_sides_of_matmul (const CleaveKernelInstance *instance)
{
  CleaveSides s = { 0 };
  const CleaveView *a = &instance->operands[A], *b;

  find_operands (instance, &s);
  b = &instance->operands[s.b.operand];
  if (cleave_is_byte (a->type.element))
    {
      s.a.k_stride = cleave_quantized_matmul_strides (&instance->call, A, a, s.a.stride);
      s.b.k_stride = cleave_quantized_matmul_strides (&instance->call, s.b.operand, b, s.b.stride);
    }
  else
    {
      CleaveMatmulDims dims = cleave_matmul_dims (&a->type.shape, &b->type.shape);

      s.a.k_stride = cleave_matmul_strides (&dims, CLEAVE_MATMUL_A, a, s.a.stride);
      s.b.k_stride = cleave_matmul_strides (&dims, CLEAVE_MATMUL_B, b, s.b.stride);
    }
  s.length = cleave_matmul_length (&a->type.shape);
  s.b_columns_dim = b->type.shape.rank - 1;
  find_dims (instance, b->type.shape.rank > 1, &s);
  return s;
}

CleaveSides
cleave_sides_of_gemm (const CleaveKernelInstance *instance)
{
  const CleaveGemmAttrs *attrs = instance->call.attrs;
  CleaveSides s = { 0 };
  const CleaveView *a = &instance->operands[A], *b;
  guint a_row = attrs->transA ? 1 : 0, b_row = attrs->transB ? 1 : 0, c;

  find_operands (instance, &s);
  b = &instance->operands[s.b.operand];
  s.a.stride[0] = a->stride[a_row];
  s.a.k_stride = a->stride[1 - a_row];
  s.b.stride[1] = b->stride[1 - b_row];
  s.b.k_stride = b->stride[b_row];
  s.length = a->type.shape.dim[1 - a_row];
  s.b_columns_dim = 1 - b_row;
  s.alpha = attrs->alpha;
  s.beta = attrs->beta;
  c = cleave_quantized_find (&instance->call, "C");
  if (cleave_call_has (&instance->call, c))
    {
      s.c.operand = c;
      cleave_view_broadcast_strides (&instance->operands[c], 2, s.c.stride);
    }
  find_dims (instance, TRUE, &s);
  return s;
}

gint64
cleave_sides_column_stride (const CleaveSides *sides, const CleaveSide *side)
{
  return sides->n_columns == 1 ? 0 : side->stride[sides->columns_dim];
}

static gint64
offset_in (const CleaveSideDims *dims, gint64 index, const gint64 *stride)
{
  gint64 offset = 0;

  for (guint i = dims->n; i-- > 0; index /= dims->extent[i])
    offset += index % dims->extent[i] * stride[dims->dim[i]];
  return offset;
}

gint64
cleave_sides_offset (const CleaveSides *sides, const CleaveSide *side, gint64 batch, gint64 row)
{
  return offset_in (&sides->rows, row, side->stride) +
         offset_in (&sides->batches, batch, side->stride);
}
