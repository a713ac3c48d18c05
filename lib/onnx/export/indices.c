/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts the indices of pieces of MaxPool and MaxUnpool. In ONNX, an index is a position in the
 * operand that the node reads. In the Cleave graph, an index is a position in the whole operand,
 * before the split. The piece reads a range of the whole operand.
 *
 * MaxPool: dimension 0 is the slowest in the order of the indices, and the last dimension is the
 * fastest. In dimension k, the piece has extent e_k and stride s_k (in elements), the whole operand
 * has E_k and S_k, and the piece begins at b_k. For k > 0, an index f of the piece has the
 * coordinate floor (f / s_k) - floor (f / s_(k-1)) * e_k. The index in the whole operand is
 *
 *    f + sum of b_k * S_k + sum of floor (f / s_(k-1)) * (E_k - e_k) * S_k
 *
 * The second sum has one term for each dimension that is cut, except dimension 0. */

#include "export.h"

#include <string.h>

#include "../../ir/graph-private.h"
#include "../../ops/max-unpool.h"

typedef struct
{
  CleaveOnnxExport *export;
  const CleaveNode *node;
} Work;

/* Adds a node with `n` operands. Returns the name of its result: `to`, or a new name if `to` is
 * NULL. */
static const char *
add_op (const Work *work, const char *op, const char *const *operands, guint n, const char *to)
{
  g_autofree char *name = g_strconcat (work->node->name, ".", op, NULL);

  if (to == NULL)
    to = cleave_onnx_name_value (work->export, name);
  cleave_onnx_add_node (work->export, op, name, operands, n, &to, 1);
  return to;
}

static const char *
add_with (const Work *work, const char *op, const char *x, gint64 number, const char *to)
{
  CleaveTensorType scalar = CLEAVE_SCALAR (CLEAVE_INT64);
  const char *operands[] = { x, cleave_onnx_add_small (
                                    work->export, "index",
                                    cleave_tensor_new_copy (&scalar, &number, NULL)) };

  return add_op (work, op, operands, 2, to);
}

/* Returns whether some window of the pool, along dimension `i`, reads only padding. */
static gboolean
has_empty_window (const CleaveNode *node, guint i)
{
  const CleavePoolAttrs *a = node->attrs;
  gint64 extent = node->operands[0].result->type.shape.dim[2 + i];
  gint64 step = cleave_ints_at (&a->dilations, i, 1);

  for (gint64 o = 0; o < node->results[0].type.shape.dim[2 + i]; o++)
    {
      gint64 at = o * cleave_ints_at (&a->strides, i, 1) - cleave_ints_at (&a->pads, i, 0);
      gint64 tap = at >= 0 ? 0 : (step - 1 - at) / step; /* number of the window's elements in the
                                                          * padding before the operand */

      if (tap >= a->kernel_shape.v[i] || at + tap * step >= extent)
        return TRUE;
    }
  return FALSE;
}

/* Returns whether a window of the pool may read only padding. The index of such a window is -1,
 * both in ONNX and in the Cleave graph. */
static gboolean
may_find_none (const CleaveNode *node)
{
  for (guint i = 0; i < node->results[0].type.shape.rank - 2; i++)
    if (has_empty_window (node, i))
      return TRUE;
  return FALSE;
}

void
cleave_onnx_export_indices (CleaveOnnxExport *export,
                            const CleaveNode *node,
                            const char *from,
                            const char *to)
{
  const CleavePoolAttrs *a = node->attrs;
  const CleaveShape *x = &node->operands[0].result->type.shape;
  Work work = { export, node };
  const char *index = from;
  gboolean none = may_find_none (node);
  gint64 begin = 0, own = 1, stride = 1; /* `own`: stride of a dimension in the piece (s_k);
                                          * `stride`: in the whole operand (S_k) */

  for (guint i = x->rank; i-- > 0;)
    {
      guint d = a->storage_order == 1 && i >= 2 ? x->rank + 1 - i : i;
      gint64 missing = a->whole.v[d] - x->dim[d];

      begin += cleave_ints_at (&a->begin, d, 0) * stride;
      own *= x->dim[d];
      if (missing > 0 && i > 0)
        {
          const char *outer = add_with (&work, "Div", from, own, NULL);
          const char *terms[] = { index, add_with (&work, "Mul", outer, missing * stride, NULL) };

          index = add_op (&work, "Add", terms, 2, NULL);
        }
      stride *= a->whole.v[d];
    }
  index = add_with (&work, "Add", index, begin, none ? NULL : to);
  if (none)
    add_op (&work, "Where",
            (const char *const[]){ add_with (&work, "Less", from, 0, NULL), from, index }, 3, to);
}

/* The functions below are for MaxUnpool. A MaxPool finds each element within one channel. So an
 * index minus the first index of its channel is the same in the whole operand and in a piece. Only
 * the number of channels before the channel differs. */

/* Returns a constant with the index of the first element of each channel of `x`. A channel has
 * `length` elements. */
static CleaveTensor *
make_begins (const CleaveShape *x, gint64 length)
{
  CleaveTensorType type = { CLEAVE_INT64, { x->rank, { 1, 1, 1, 1, 1, 1, 1, 1 } } };
  CleaveTensor *tensor;
  gint64 *begins;

  type.shape.dim[0] = x->dim[0];
  type.shape.dim[1] = x->dim[1];
  tensor = cleave_tensor_new (&type, NULL);
  begins = cleave_tensor_get_mutable_data (tensor);
  for (gint64 i = 0; i < x->dim[0] * x->dim[1]; i++)
    begins[i] = i * length;
  return tensor;
}

/* Returns whether constant indices are positions in the result of the MaxUnpool that reads the
 * indices. FALSE: they are positions in a larger result, which the MaxUnpool had before the split.
 * `length`: number of elements in a channel of the result of the MaxUnpool. */
static gboolean
has_local_values (CleaveTensor *constant, gint64 length)
{
  const CleaveShape *shape = &cleave_tensor_get_type (constant)->shape;
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (constant);
  const gint64 *indices = cleave_tensor_get_data (dense);
  gint64 n = cleave_shape_n_elements (shape);

  for (gint64 i = 0; i < n; i++)
    if (cleave_floor_div (indices[i], length) != i * shape->dim[0] * shape->dim[1] / n)
      return FALSE;
  return TRUE;
}

/* Returns whether the indices that node `maker` computes are positions in the result of the
 * MaxUnpool that reads the indices. This is so for an input of the graph, for a result of a MaxPool
 * that is not split, and for constants that has_local_values() accepts. */
static gboolean
are_local (CleaveNode *maker, gint64 length)
{
  const CleavePoolAttrs *a = maker->attrs;
  CleaveTensor *constant = cleave_node_get_constant (maker);

  if (constant != NULL)
    return has_local_values (constant, length);
  return strcmp (maker->op->name, "Input") == 0 ||
         (strcmp (maker->op->name, "MaxPool") == 0 && a->whole.n == 0);
}

const char *
cleave_onnx_export_local_indices (CleaveOnnxExport *export, const CleaveNode *node)
{
  Work work = { export, node };
  gint64 length = 1;
  const char *operands[2];
  CleaveResult *from;
  CleaveShape pooled;

  if (strcmp (node->op->name, "MaxUnpool") != 0)
    return NULL;
  from = node->operands[1].result;
  cleave_max_unpool_shape (node->attrs, &from->type.shape, &pooled);
  for (guint d = 2; d < pooled.rank; d++)
    length *= pooled.dim[d];
  if (are_local (from->node, length))
    return NULL;
  operands[0] = add_with (&work, "Mod", cleave_onnx_result_name (export, from), length, NULL);
  operands[1] = cleave_onnx_add_small (export, "channels", make_begins (&from->type.shape, length));
  return add_op (&work, "Add", operands, 2, NULL);
}
