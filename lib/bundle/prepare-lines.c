/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rewrites nodes that work along dimensions that are not the rows, columns or channels of an image:
 *
 *   Softmax, Reduce…, ArgMax, LayerNormalization, along any dimensions
 *     =>  Transpose these dimensions to the end; Reshape to a matrix; the node; Reshape; Transpose
 *   MatMul, QLinearMatMul of stacks of matrices
 *     =>  Reshape both operands to [..., matrices, rows, columns]; MatMul; Reshape
 *   an element-wise node that broadcasts an operand
 *     =>  Expand the operand
 *
 * The last dimension of these matrices must become the channels of a value of the bundle. But if a
 * node of the graph reads a value of rank r as images, the channels of all values of rank r are
 * dimension 1. So a Reshape to more than two dimensions chooses a rank r whose values no node reads
 * as images. */

#include "op-help.h"
#include "prepare.h"

static CleaveResult *
add (CleaveGraph *graph,
     const char *op,
     const CleaveNode *like,
     CleaveResult *x,
     gconstpointer attrs,
     GError **error)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), like->name, &x, 1, 1, attrs, error);

  return node == NULL ? NULL : &node->results[0];
}

/* Returns `x` with shape `shape`. If a Reshape computes `x`, reads the operand of that Reshape.
 * Adds a Reshape if the shape differs. */
static CleaveResult *
reshape (CleaveGraph *graph,
         const CleaveNode *like,
         CleaveResult *x,
         const CleaveShape *shape,
         GError **error)
{
  CleaveInts ints = { .n = shape->rank };

  while (g_str_equal (x->node->op->name, "Reshape"))
    x = x->node->operands[0].result;
  if (cleave_shape_equal (&x->type.shape, shape))
    return x;
  for (guint d = 0; d < shape->rank; d++)
    ints.v[d] = shape->dim[d];
  return cleave_graph_add_reshape (graph, like->name, x, &ints, error);
}

/* Two permutations of dimensions. The first makes the dimensions in a bit mask the last dimensions
 * of a value; the second is its inverse. */
typedef struct
{
  CleaveTransposeAttrs to, from; /* the permutation, and its inverse */
  gboolean is_permuted;
  CleaveShape shape; /* shape after the permutation */
  /* shape of a matrix with all elements. Columns: product of the dimensions in the bit mask; rows:
   * product of the other dimensions */
  CleaveShape matrix;
} Lines;

static Lines
find_lines (const CleaveShape *x, guint axes)
{
  Lines lines = { .shape.rank = x->rank, .matrix = CLEAVE_SHAPE (1, 1) };
  guint n = 0;

  for (guint is_axis = 0; is_axis < 2; is_axis++)
    for (guint d = 0; d < x->rank; d++)
      if ((axes >> d & 1) == is_axis)
        {
          lines.is_permuted |= d != n;
          lines.to.perm.v[n] = d;
          lines.from.perm.v[d] = n;
          lines.shape.dim[n++] = x->dim[d];
          lines.matrix.dim[is_axis] *= x->dim[d];
        }
  lines.to.perm.n = lines.from.perm.n = n;
  return lines;
}

/* Returns operand 0 of a node as a matrix. Each row of the matrix has the elements along the
 * dimensions that find_lines() moved to the end. */
static CleaveResult *
to_matrix (CleaveGraph *graph, const CleaveNode *node, const Lines *lines, GError **error)
{
  CleaveResult *x = node->operands[0].result;

  if (lines->is_permuted)
    x = add (graph, "Transpose", node, x, &lines->to, error);
  return x == NULL ? NULL : reshape (graph, node, x, &lines->matrix, error);
}

/* Reshapes and transposes the matrix `y` to the shape of the node's result. All readers of the
 * result then read the new value. */
static gboolean
from_matrix (
    CleaveGraph *graph, CleaveNode *node, const Lines *lines, CleaveResult *y, GError **error)
{
  y = reshape (graph, node, y, &lines->shape, error);
  if (y != NULL && lines->is_permuted)
    y = add (graph, "Transpose", node, y, &lines->from, error);
  if (y != NULL)
    cleave_result_replace_uses (&node->results[0], y);
  return y != NULL;
}

gboolean
cleave_bundle_prepare_softmax (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  const CleaveAxisAttrs *a = node->attrs;
  const CleaveAxisAttrs last = { 1 };
  Lines lines = find_lines (&node->operands[0].result->type.shape, 1u << a->axis);
  CleaveResult *x = to_matrix (graph, node, &lines, error), *y;

  y = x == NULL ? NULL : add (graph, node->op->name, node, x, &last, error);
  return y != NULL && from_matrix (graph, node, &lines, y, error);
}

/* Replaces a node that reduces the dimensions in the mask `axes` by a node of the same op that
 * reduces dimension 1 of a matrix. `a`: attributes of the new node. */
static gboolean
reduce (CleaveGraph *graph, CleaveNode *node, guint axes, gconstpointer a, GError **error)
{
  Lines lines = find_lines (&node->operands[0].result->type.shape, axes);
  CleaveResult *x = to_matrix (graph, node, &lines, error), *y;

  y = x == NULL ? NULL : add (graph, node->op->name, node, x, a, error);
  y = y == NULL ? NULL : reshape (graph, node, y, &node->results[0].type.shape, error);
  if (y != NULL)
    cleave_result_replace_uses (&node->results[0], y);
  return y != NULL;
}

gboolean
cleave_bundle_prepare_reduce (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  const CleaveReduceAttrs *a = node->attrs;
  const CleaveReduceAttrs last = { .axes = { .n = 1, .v = { 1 } }, .keepdims = TRUE };
  guint rank = node->operands[0].result->type.shape.rank, axes = 0;

  for (guint i = 0; i < a->axes.n; i++)
    axes |= 1u << a->axes.v[i];
  if (a->axes.n == 0)
    axes = a->noop_with_empty_axes ? 0 : (1u << rank) - 1;
  return axes == 0 || rank == 0 || reduce (graph, node, axes, &last, error);
}

gboolean
cleave_bundle_prepare_arg (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  CleaveArgAttrs a = *(const CleaveArgAttrs *) node->attrs;
  guint axes = 1u << a.axis;

  a.axis = 1;
  a.keepdims = TRUE;
  return reduce (graph, node, axes, &a, error);
}

gboolean
cleave_bundle_prepare_layer_norm (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  CleaveLayerNormAttrs a = *(const CleaveLayerNormAttrs *) node->attrs;
  const CleaveShape *shape = &node->operands[0].result->type.shape;
  Lines lines = find_lines (shape, ((1u << shape->rank) - 1) & ~((1u << a.axis) - 1));
  CleaveShape line = CLEAVE_SHAPE (lines.matrix.dim[1]);
  CleaveResult *operands[3] = { NULL };
  CleaveNode *y;

  a.axis = 1;
  for (guint i = 1; i < node->n_operands; i++)
    {
      CleaveResult *x = node->operands[i].result;

      if (x != NULL && cleave_shape_n_elements (&x->type.shape) == line.dim[0])
        x = reshape (graph, node, x, &line, error);
      else if (x != NULL && cleave_shape_n_elements (&x->type.shape) != 1)
        return TRUE;
      if (x == NULL && node->operands[i].result != NULL)
        return FALSE;
      operands[i] = x;
    }
  for (guint r = 1; r < node->n_results; r++)
    if (node->results[r].n_uses > 0)
      return TRUE;
  operands[0] = to_matrix (graph, node, &lines, error);
  if (operands[0] == NULL)
    return FALSE;
  y = cleave_graph_add (graph, node->op, node->name, operands, node->n_operands, 1, &a, error);
  return y != NULL && from_matrix (graph, node, &lines, &y->results[0], error);
}

/* The functions below rewrite products of stacks of matrices. */

/* Returns `x` as a stack of matrices: [1, …, matrices, rows, columns]. Adds leading extents of 1
 * until the bundle stores values of this rank with the channels last
 * (cleave_bundle_has_channels_first()). */
static CleaveResult *
stack (CleaveGraph *graph,
       const CleaveNode *node,
       CleaveResult *x,
       const CleaveShape *batch,
       GError **error)
{
  const CleaveShape *shape = &x->type.shape;
  gint64 n_matrices = 1, n_elements;
  CleaveShape full = *batch, to = { .rank = 3 };

  for (guint d = 0; d < batch->rank; d++)
    n_matrices *= batch->dim[d];
  full.dim[full.rank++] = shape->dim[shape->rank - 2];
  full.dim[full.rank++] = shape->dim[shape->rank - 1];
  n_elements = cleave_shape_n_elements (&full);
  if (cleave_shape_n_elements (shape) != n_elements)
    {
      CleaveReshapeAttrs a = { .shape = { .n = full.rank } };

      for (guint d = 0; d < full.rank; d++)
        a.shape.v[d] = full.dim[d];
      x = add (graph, "Expand", node, x, &a, error);
      if (x == NULL)
        return NULL;
    }
  while (to.rank + 1 < CLEAVE_MAX_RANK && cleave_bundle_has_channels_first (graph, to.rank))
    to.rank++;
  for (guint d = 0; d + 3 < to.rank; d++)
    to.dim[d] = 1;
  to.dim[to.rank - 3] = n_matrices;
  to.dim[to.rank - 2] = full.dim[full.rank - 2];
  to.dim[to.rank - 1] = full.dim[full.rank - 1];
  return reshape (graph, node, x, &to, error);
}

/* Returns the index of B among the operands of a product. In a QLinearMatMul, the scale and the
 * zero point of A precede B. */
static guint
find_b (const CleaveNode *node)
{
  return g_str_equal (node->op->name, "QLinearMatMul") ? 3 : 1;
}

/* Replaces a product by the same product of `a` and `b`, whose result is reshaped to the shape of
 * the old result. */
static gboolean
replace_by_product (
    CleaveGraph *graph, CleaveNode *node, CleaveResult *a, CleaveResult *b, GError **error)
{
  g_autofree CleaveResult **operands = g_new (CleaveResult *, node->n_operands);
  CleaveNode *product;
  CleaveResult *y;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = i == 0 ? a : i == find_b (node) ? b : node->operands[i].result;
  product = cleave_graph_add (graph, node->op, node->name, operands, node->n_operands, 1,
                              node->attrs, error);
  y = product == NULL
          ? NULL
          : reshape (graph, node, &product->results[0], &node->results[0].type.shape, error);
  if (y != NULL)
    cleave_result_replace_uses (&node->results[0], y);
  return y != NULL;
}

/* Rewrites a product with a single matrix B: the rows of all matrices in A become the rows of one
 * matrix. */
static gboolean
join_rows (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  const CleaveShape *a = &node->operands[0].result->type.shape;
  Lines lines = find_lines (a, 1u << (a->rank - 1));
  CleaveResult *rows = reshape (graph, node, node->operands[0].result, &lines.matrix, error);

  return rows != NULL &&
         replace_by_product (graph, node, rows, node->operands[find_b (node)].result, error);
}

/* Returns whether a scale or zero point of a QLinearMatMul has more than one element, and is not
 * one for each column of B. */
static gboolean
has_scales_of_rows (const CleaveNode *node)
{
  for (guint i = 1; i < node->n_operands; i++)
    if (i != find_b (node))
      {
        const CleaveShape *shape = &node->operands[i].result->type.shape;

        if (cleave_shape_n_elements (shape) > 1 &&
            (i < find_b (node) || i > find_b (node) + 2 || shape->rank > 1))
          return TRUE;
      }
  return FALSE;
}

gboolean
cleave_bundle_prepare_matmul (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  CleaveResult *a = node->operands[0].result, *b = node->operands[find_b (node)].result;
  CleaveShape batch = node->results[0].type.shape;

  if (has_scales_of_rows (node))
    return TRUE; /* a reshape of A could separate the rows from their scales */
  if (a->type.shape.rank < 2 || b->type.shape.rank < 2 || cleave_node_is_fixed (a->node) ||
      (b->type.shape.rank > 2 && cleave_node_is_fixed (b->node)))
    return TRUE;
  if (b->type.shape.rank == 2)
    return join_rows (graph, node, error);
  batch.rank -= 2;
  a = stack (graph, node, a, &batch, error);
  b = a == NULL ? NULL : stack (graph, node, b, &batch, error);
  return b != NULL && replace_by_product (graph, node, a, b, error);
}

/* Rewrites an element-wise node that broadcasts an operand: adds an Expand. */

gboolean
cleave_bundle_prepare_repeat (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  CleaveReshapeAttrs a = { .shape = { .n = shape->rank } };

  for (guint d = 0; d < shape->rank; d++)
    a.shape.v[d] = shape->dim[d];
  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveResult *x = node->operands[i].result, *full;

      if (x == NULL || cleave_shape_equal (&x->type.shape, shape))
        continue;
      full = add (graph, "Expand", node, x, &a, error);
      if (full == NULL)
        return FALSE;
      cleave_operand_detach (&node->operands[i]);
      cleave_operand_attach (&node->operands[i], full);
    }
  return TRUE;
}
