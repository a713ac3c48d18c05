/* SPDX-License-Identifier: GPL-2.0-or-later */

/* QLinearMatMul and MatMulInteger: matrix products of bytes.
 *
 * Both ops add (a - a_zero_point) * (b - b_zero_point) in 32-bit integers that wrap around, so the
 * order does not matter. QLinearMatMul then multiplies the sum by a_scale * b_scale / y_scale, from
 * left to right in float32. Last, QLinearMatMul rounds to the nearest integer, ties to even, adds
 * y_zero_point, and clamps to the range of the type.
 *
 * A scale or zero point is
 *
 * - a scalar;
 * - a vector with an element for each row of A or y, or for each column of B;
 * - or a stack that is broadcast to the result, such as [D, M, 1] or [D, 1, N]. */

#include "matmul-parts.h"
#include "quantized.h"
#include "reference.h"

/* The operand indices that differ between QLinearMatMul and MatMulInteger. A is operand 0 of both
 * ops. */
typedef struct
{
  guint b, a_zero, b_zero;
} Places;

enum { A }; /* A is operand 0 of both ops */
enum { A_SCALE = 1, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO };
enum { INTEGER_B = 1, INTEGER_A_ZERO, INTEGER_B_ZERO };

static const Places linear_places = { .b = B, .a_zero = A_ZERO, .b_zero = B_ZERO };
static const Places integer_places = { .b = INTEGER_B,
                                       .a_zero = INTEGER_A_ZERO,
                                       .b_zero = INTEGER_B_ZERO };

extern const CleaveOp cleave_op_qlinear_matmul;

static CleaveMatmulDims
dims_of (const CleaveCall *call, const Places *p)
{
  return cleave_matmul_dims (&call->operands[A].shape, &call->operands[p->b].shape);
}

/* Returns the side of a scale or zero point. An operand of side A may have an element for each row
 * of A; an operand of side B, an element for each column of B. The scale and the zero point of y
 * are of side A, since y has the rows of A. */
static CleaveMatmulSide
side_of (const Places *p, guint operand)
{
  gboolean is_of_b =
      operand == p->b || operand == p->b_zero || (p == &linear_places && operand == B_SCALE);

  return is_of_b ? CLEAVE_MATMUL_B : CLEAVE_MATMUL_A;
}

/* Returns the extent of the dimension of y that comes from A alone (A's rows) or from B alone (B's
 * columns), as `side` says. Returns 1 if y has no such dimension. */
static gint64
own_extent (const CleaveMatmulDims *dims, CleaveMatmulSide side, const CleaveShape *y)
{
  return dims->has[side] ? y->dim[cleave_matmul_own_dim (dims, side)] : 1;
}

/* Checks a stack of scales or zero points. The stack must be [..., M, 1] or [..., 1, N], and its
 * batch dimensions must broadcast to the batch dimensions of the result. */
static gboolean
check_stack (const CleaveCall *call,
             const CleaveMatmulDims *dims,
             CleaveMatmulSide side,
             guint operand,
             const CleaveShape *y,
             GError **error)
{
  const CleaveShape *own = &call->operands[operand].shape;
  CleaveShape wanted = *y, both;
  g_autofree char *text = NULL, *limit = NULL;

  wanted.rank = dims->n_batch + 2;
  wanted.dim[dims->n_batch + side] = own_extent (dims, side, y);
  wanted.dim[dims->n_batch + 1 - side] = 1;
  if (own->rank <= wanted.rank && cleave_shape_broadcast (own, &wanted, &both) &&
      cleave_shape_equal (&both, &wanted))
    return TRUE;
  text = cleave_shape_to_string (own);
  limit = cleave_shape_to_string (&wanted);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "%s is %s, which cannot be broadcast to %s",
                      cleave_op_operand_name (call->op, operand), text, limit);
}

static gboolean
check_parameter (const CleaveCall *call,
                 const Places *p,
                 guint operand,
                 guint elements,
                 const CleaveShape *y,
                 GError **error)
{
  CleaveMatmulDims dims = dims_of (call, p);
  CleaveMatmulSide side = side_of (p, operand);

  if (!cleave_call_has (call, operand) || call->operands[operand].shape.rank <= 1)
    return cleave_quantized_check (call, operand, elements, own_extent (&dims, side, y), error);
  return cleave_call_check_element (call, operand, elements, error) &&
         check_stack (call, &dims, side, operand, y, error);
}

static gboolean
infer_places (const CleaveCall *call, const Places *p, CleaveShape *y, GError **error)
{
  const CleaveTensorType *a = &call->operands[A], *b = &call->operands[p->b];

  return cleave_call_check_element (call, A, CLEAVE_ELEMENTS_BYTE, error) &&
         cleave_call_check_element (call, p->b, CLEAVE_ELEMENTS_BYTE, error) &&
         cleave_call_check_rank (call, A, 1, CLEAVE_MAX_RANK, error) &&
         cleave_call_check_rank (call, p->b, 1, CLEAVE_MAX_RANK, error) &&
         cleave_matmul_infer (&a->shape, &b->shape, y, error) &&
         check_parameter (call, p, p->a_zero, CLEAVE_ELEMENT_BIT (a->element), y, error) &&
         check_parameter (call, p, p->b_zero, CLEAVE_ELEMENT_BIT (b->element), y, error);
}

static gboolean
infer_integer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  results[0].element = CLEAVE_INT32;
  return infer_places (call, &integer_places, &results[0].shape, error);
}

static gboolean
infer_linear (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const Places *p = &linear_places;
  guint scale = CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32);
  CleaveShape *y = &results[0].shape;

  results[0].element = call->operands[Y_ZERO].element;
  return infer_places (call, p, y, error) && check_parameter (call, p, A_SCALE, scale, y, error) &&
         check_parameter (call, p, B_SCALE, scale, y, error) &&
         check_parameter (call, p, Y_SCALE, scale, y, error) &&
         check_parameter (call, p, Y_ZERO, CLEAVE_ELEMENTS_BYTE, y, error);
}

static void
maps_places (const CleaveCall *call, const Places *p, guint operand, CleaveDimMap *map)
{
  CleaveMatmulDims dims = dims_of (call, p);
  CleaveMatmulSide side = side_of (p, operand);
  const CleaveShape *own = &call->operands[operand].shape, *y = &call->results[0].shape;

  if (operand == A || operand == p->b || own->rank > 1)
    cleave_matmul_maps (&dims, side, own, y, map);
  else
    cleave_quantized_maps (call, operand, cleave_matmul_own_dim (&dims, side), map);
}

static void
maps_linear (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  maps_places (call, &linear_places, operand, map);
}

static void
maps_integer (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  maps_places (call, &integer_places, operand, map);
}

/* The functions below are the reference kernels of QLinearMatMul and MatMulInteger. */

/* An operand, and its strides along the dimensions of the result. */
typedef struct
{
  const CleaveView *view; /* the operand; NULL: the call has no such operand */
  gint64 stride[CLEAVE_MAX_RANK], k_stride;
} Side;

static gint64
strides_of (
    const CleaveCall *call, const Places *p, guint operand, const CleaveView *view, gint64 *stride)
{
  CleaveMatmulDims dims = dims_of (call, p);
  CleaveMatmulSide side = side_of (p, operand);

  if (operand == A || operand == p->b || view->type.shape.rank > 1)
    return cleave_matmul_strides (&dims, side, view, stride);
  for (guint d = 0; d < dims.rank; d++)
    stride[d] = 0;
  if (view->type.shape.rank == 1 && view->type.shape.dim[0] > 1)
    stride[cleave_matmul_own_dim (&dims, side)] = view->stride[0];
  return 0;
}

gint64
cleave_quantized_matmul_strides (const CleaveCall *call,
                                 guint operand,
                                 const CleaveView *view,
                                 gint64 *stride)
{
  const Places *p = call->op == &cleave_op_qlinear_matmul ? &linear_places : &integer_places;

  return strides_of (call, p, operand, view, stride);
}

static Side
read_side (const CleaveCall *call, const Places *p, const CleaveView *operands, guint operand)
{
  Side read = { .view = cleave_call_has (call, operand) ? &operands[operand] : NULL };

  if (read.view != NULL)
    read.k_stride = strides_of (call, p, operand, read.view, read.stride);
  return read;
}

static gconstpointer
find (const Side *side, guint rank, const gint64 *at)
{
  return cleave_view_element (side->view, cleave_index_offset (rank, at, side->stride));
}

/* Returns the element of an operand for index `at` of the result, or 0 if the operand is absent. */
static double
load (const Side *side, guint rank, const gint64 *at)
{
  return side->view == NULL ? 0
                            : cleave_real_load (side->view->type.element, find (side, rank, at));
}

typedef struct
{
  guint rank;
  gint64 length;
  Side a, b, a_zero, b_zero;
} Product;

static Product
read_product (const CleaveCall *call, const Places *p, const CleaveView *operands)
{
  return (Product){ .rank = call->results[0].shape.rank,
                    .length = cleave_matmul_length (&call->operands[A].shape),
                    .a = read_side (call, p, operands, A),
                    .b = read_side (call, p, operands, p->b),
                    .a_zero = read_side (call, p, operands, p->a_zero),
                    .b_zero = read_side (call, p, operands, p->b_zero) };
}

static gint32
sum_at (const Product *p, const gint64 *at)
{
  CleaveByteDot dot = { .x = find (&p->a, p->rank, at),
                        .w = find (&p->b, p->rank, at),
                        .x_stride = p->a.k_stride,
                        .w_stride = p->b.k_stride,
                        .x_zero = (gint32) load (&p->a_zero, p->rank, at),
                        .w_zero = (gint32) load (&p->b_zero, p->rank, at) };

  return (gint32) cleave_byte_dot (p->a.view->type.element, p->b.view->type.element, &dot,
                                   p->length);
}

static void
compute_integer (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  Product product = read_product (call, &integer_places, operands);
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &results[0].type.shape)
    *(gint32 *) cleave_view_at (&results[0], at) = sum_at (&product, at);
}

static void
compute_linear (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const Places *p = &linear_places;
  const CleaveView *y = &results[0];
  Product product = read_product (call, p, operands);
  Side a_scale = read_side (call, p, operands, A_SCALE),
       b_scale = read_side (call, p, operands, B_SCALE),
       y_scale = read_side (call, p, operands, Y_SCALE),
       y_zero = read_side (call, p, operands, Y_ZERO);
  guint rank = product.rank;
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      float scale = (float) load (&a_scale, rank, at) * (float) load (&b_scale, rank, at) /
                    (float) load (&y_scale, rank, at);

      cleave_quantized_store (y->type.element, cleave_view_at (y, at),
                              (float) sum_at (&product, at) * scale, load (&y_zero, rank, at));
    }
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return CLEAVE_KERNEL_INTEGER_MATMUL;
}

const CleaveOp cleave_op_qlinear_matmul = {
  .name = "QLinearMatMul",
  .operands = (const char *const[]){ "a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point",
                                     "y_scale", "y_zero_point", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 8,
  .infer = infer_linear,
  .maps = maps_linear,
  .macs = cleave_matmul_macs,
  .kernel = kernel,
  .compute = compute_linear,
};

const CleaveOp cleave_op_matmul_integer = {
  .name = "MatMulInteger",
  .operands = (const char *const[]){ "A", "B", "a_zero_point", "b_zero_point", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .infer = infer_integer,
  .maps = maps_integer,
  .macs = cleave_matmul_macs,
  .kernel = kernel,
  .compute = compute_integer,
};
