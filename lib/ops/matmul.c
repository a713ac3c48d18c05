/* SPDX-License-Identifier: GPL-2.0-or-later */

/* MatMul. Batch dimensions are broadcast, as in numpy.matmul.
 *
 * Order of the sum of one result element, in every kernel: +0, then one fused multiply-add for each
 * index of dimension K, in ascending order (products.h). */

#include "build.h"
#include "matmul-parts.h"
#include "products.h"
#include "reference.h"

enum { A, B };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTensorType *a = &call->operands[A], *b = &call->operands[B];

  results[0].element = a->element;
  return cleave_call_check_element (call, A, CLEAVE_ELEMENTS_SUM, error) &&
         cleave_call_check_same_element (call, A, B, error) &&
         cleave_call_check_rank (call, A, 1, CLEAVE_MAX_RANK, error) &&
         cleave_call_check_rank (call, B, 1, CLEAVE_MAX_RANK, error) &&
         cleave_matmul_infer (&a->shape, &b->shape, &results[0].shape, error);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  CleaveElement element = call->operands[A].element;

  if (element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16)
    return CLEAVE_KERNEL_UPCAST_MATMUL;
  return element == CLEAVE_FLOAT32 ? CLEAVE_KERNEL_MATMUL : CLEAVE_KERNEL_PRODUCTS_MATMUL;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *a = &operands[A], *b = &operands[B], *y = &results[0];
  const CleaveSumOps *ops = cleave_sum_ops (y->type.element);
  CleaveMatmulDims dims = cleave_matmul_dims (&a->type.shape, &b->type.shape);
  gint64 stride_a[CLEAVE_MAX_RANK], stride_b[CLEAVE_MAX_RANK], at[CLEAVE_MAX_RANK];
  gint64 k_a = cleave_matmul_strides (&dims, CLEAVE_MATMUL_A, a, stride_a);
  gint64 k_b = cleave_matmul_strides (&dims, CLEAVE_MATMUL_B, b, stride_b);
  gint64 length = cleave_matmul_length (&a->type.shape);

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      CleaveSum sum;

      ops->begin (&sum, NULL);
      ops->add (&sum, cleave_view_element (a, cleave_index_offset (dims.rank, at, stride_a)), k_a,
                cleave_view_element (b, cleave_index_offset (dims.rank, at, stride_b)), k_b,
                length);
      ops->end (&sum, cleave_view_at (y, at));
    }
}

const CleaveOp cleave_op_matmul = {
  .name = "MatMul",
  .operands = (const char *const[]){ "A", "B", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .infer = infer,
  .maps = cleave_matmul_maps_pair,
  .macs = cleave_matmul_macs,
  .kernel = kernel,
  .compute = compute,
};

/**
 * cleave_graph_add_matmul:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `matmul`
 * @a: (transfer none): `[…, M, K]`, or `[K]`
 * @b: (transfer none): `[…, K, N]`, or `[K]`
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a matrix product: [ONNX MatMul](https://onnx.ai/onnx/operators/onnx__MatMul.html), which is
 * [numpy.matmul](https://numpy.org/doc/stable/reference/generated/numpy.matmul.html).
 *
 * The result is `[…, M, N]`, where the dimensions before M and N are broadcast. The result has no M
 * if @a is a vector, and no N if @b is a vector. The node can be split along each dimension; K is
 * never cut.
 *
 * Operands are of one of the four float types, or 32- or 64-bit integers, which wrap around. Sums
 * of float16 and bfloat16 are float32.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if the shapes of the operands do not match, and with
 * %CLEAVE_ERROR_ELEMENT_TYPE if their element types do not match. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_matmul (
    CleaveGraph *graph, const char *name, CleaveResult *a, CleaveResult *b, GError **error)
{
  return cleave_build (graph, &cleave_op_matmul, name, (CleaveResult *[]){ a, b }, 2, NULL, error);
}
