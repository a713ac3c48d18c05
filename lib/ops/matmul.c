/* SPDX-License-Identifier: GPL-2.0-or-later */

/* MatMul, batched and broadcast, as numpy.matmul.
 *
 * The order of one result element, which every kernel keeps: +0, then k in order, one fused
 * multiply-add each (products.h). */

#include "build.h"
#include "products.h"
#include "reference.h"

enum { A, B };

/* An operand as a stack of matrices: which of its dimensions is which.  A vector is a matrix
 * without rows (A) or columns (B). */
typedef struct
{
  guint k, other, n_batch;
  gboolean is_vector;
} Matrix;

static Matrix
matrix_of (const CleaveCall *call, guint operand)
{
  guint rank = call->operands[operand].shape.rank;

  if (rank == 1)
    return (Matrix){ .is_vector = TRUE };
  return (Matrix){ .k = operand == A ? rank - 1 : rank - 2,
                   .other = operand == A ? rank - 2 : rank - 1,
                   .n_batch = rank - 2 };
}

static gint64
reduction_length (const CleaveCall *call)
{
  return call->operands[A].shape.dim[matrix_of (call, A).k];
}

static CleaveShape
batch_shape (const CleaveCall *call, guint operand)
{
  CleaveShape batch = call->operands[operand].shape;

  batch.rank = matrix_of (call, operand).n_batch;
  return batch;
}

static gboolean
infer_shape (const CleaveCall *call, CleaveShape *y, GError **error)
{
  const CleaveShape *a = &call->operands[A].shape, *b = &call->operands[B].shape;
  Matrix ma = matrix_of (call, A), mb = matrix_of (call, B);
  CleaveShape batch_a = batch_shape (call, A), batch_b = batch_shape (call, B);

  if (a->dim[ma.k] != b->dim[mb.k])
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "A has %" G_GINT64_FORMAT " columns, B has %" G_GINT64_FORMAT " rows",
                        a->dim[ma.k], b->dim[mb.k]);
  if (!cleave_shape_broadcast (&batch_a, &batch_b, y))
    {
      g_autofree char *text_a = cleave_shape_to_string (a), *text_b = cleave_shape_to_string (b);

      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "A is %s and B is %s: they cannot be broadcast", text_a, text_b);
    }
  if (!ma.is_vector)
    y->dim[y->rank++] = a->dim[ma.other];
  if (!mb.is_vector)
    y->dim[y->rank++] = b->dim[mb.other];
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  CleaveTensorType y = { .element = call->operands[A].element };

  if (!cleave_call_check_element (call, A, CLEAVE_ELEMENTS_SUM, error) ||
      !cleave_call_check_same_element (call, A, B, error) ||
      !cleave_call_check_rank (call, A, 1, CLEAVE_MAX_RANK, error) ||
      !cleave_call_check_rank (call, B, 1, CLEAVE_MAX_RANK, error) ||
      !infer_shape (call, &y.shape, error))
    return FALSE;
  results[0] = y;
  return TRUE;
}

/* The result has the batch of both first, then A's rows, then B's columns. */
static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  CleaveShape mine = batch_shape (call, operand);
  CleaveShape batch = call->results[0].shape;
  Matrix m = matrix_of (call, operand);

  batch.rank = MAX (batch_shape (call, A).rank, batch_shape (call, B).rank);
  cleave_maps_broadcast (&mine, &batch, map);
  map[m.k] = cleave_dim_map_whole (reduction_length (call));
  if (!m.is_vector)
    map[m.other] =
        cleave_dim_map_same (operand == A ? batch.rank : call->results[0].shape.rank - 1);
}

static gint64
macs (const CleaveCall *call)
{
  return cleave_shape_n_elements (&call->results[0].shape) * reduction_length (call);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return call->operands[A].element == CLEAVE_FLOAT32 ? CLEAVE_KERNEL_MATMUL
                                                     : CLEAVE_KERNEL_REFERENCE;
}

/* How far one step along each dimension of the result goes in an operand. */
static void
result_strides (const CleaveCall *call, guint operand, const CleaveView *view, gint64 *stride)
{
  Matrix m = matrix_of (call, operand);
  guint rank = call->results[0].shape.rank;
  guint n_batch = MAX (batch_shape (call, A).rank, batch_shape (call, B).rank);
  CleaveView batch = *view;

  batch.type.shape.rank = m.n_batch;
  for (guint d = 0; d < rank; d++)
    stride[d] = 0;
  cleave_view_broadcast_strides (&batch, n_batch, stride);
  if (!m.is_vector)
    stride[operand == A ? n_batch : rank - 1] = view->stride[m.other];
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *a = &operands[A], *b = &operands[B], *y = &results[0];
  const CleaveSumOps *ops = cleave_sum_ops (y->type.element);
  gint64 stride_a[CLEAVE_MAX_RANK], stride_b[CLEAVE_MAX_RANK], at[CLEAVE_MAX_RANK];
  gint64 k_a = a->stride[matrix_of (call, A).k], k_b = b->stride[matrix_of (call, B).k];
  guint rank = y->type.shape.rank;

  result_strides (call, A, a, stride_a);
  result_strides (call, B, b, stride_b);
  for (gboolean more = cleave_index_first (&y->type.shape, at); more;
       more = cleave_index_next (&y->type.shape, at))
    {
      CleaveSum sum;

      ops->begin (&sum, NULL);
      ops->add (&sum, cleave_view_element (a, cleave_index_offset (rank, at, stride_a)), k_a,
                cleave_view_element (b, cleave_index_offset (rank, at, stride_b)), k_b,
                reduction_length (call));
      ops->end (&sum, cleave_view_at (y, at));
    }
}

static const char *const operand_names[] = { "A", "B", NULL };
static const char *const result_names[] = { "Y", NULL };

const CleaveOp cleave_op_matmul = {
  .name = "MatMul",
  .operands = operand_names,
  .results = result_names,
  .min_operands = 2,
  .infer = infer,
  .maps = maps,
  .macs = macs,
  .kernel = kernel,
  .compute = compute,
};

/**
 * cleave_graph_add_matmul:
 * @graph: the graph to add to
 * @name: (nullable): name of the node, made unique
 * @a: (transfer none): `[…, M, K]`, or `[K]`
 * @b: (transfer none): `[…, K, N]`, or `[K]`
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a matrix product: [ONNX MatMul](https://onnx.ai/onnx/operators/onnx__MatMul.html), which is
 * [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html).
 *
 * The result is `[…, M, N]`, the dimensions before M and N broadcast; M is missing if @a is a
 * vector, N if @b is.  It can be split along every dimension; K is never cut.
 *
 * Serves the float types and 32- and 64-bit integers, which wrap around; float16 and bfloat16 add
 * up in float32.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if the operands do not fit and with %CLEAVE_ERROR_ELEMENT_TYPE if
 * their element types do not; the graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 */
CleaveResult *
cleave_graph_add_matmul (
    CleaveGraph *graph, const char *name, CleaveResult *a, CleaveResult *b, GError **error)
{
  return cleave_build (graph, &cleave_op_matmul, name, (CleaveResult *[]){ a, b }, 2, NULL, error);
}
