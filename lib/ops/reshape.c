/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reshape, Flatten, Squeeze and Unsqueeze: the same elements in the same row-major order, with
 * other dimensions.
 *
 * A group consists of consecutive dimensions of the operand and consecutive dimensions of the
 * result, with the same product of extents. Groups are as short as possible, and dimensions of
 * extent 1 do not count. [N, C, H, W] → [N, C·H·W] has two groups: N to N, and C, H, W to C·H·W.
 * A row of a group consists of the operand's elements with one index of the group's outermost
 * dimension: H·W elements in the second group. The outermost dimension of the result can be cut
 * between rows of the operand: in the second group, at multiples of H·W. A piece reads all other
 * dimensions of the group whole.
 *
 * Over 400 lines: this file has four ops that share the groups. */

#include "../ir/copy.h"
#include "move.h"

/* One side of a group (see the begin of the file): its dimensions in the operand, or its dimensions
 * in the result. `product` is the product of their extents, and `inner` is the product without the
 * extent of the outermost dimension. */
typedef struct
{
  guint next;      /* index of the next dimension to add to a group */
  guint outermost; /* index of the outermost dimension; the rank if the group is empty */
  gint64 inner, product;
} Side;

static void
begin_group (Side *side, const CleaveShape *shape)
{
  side->outermost = shape->rank;
  side->inner = side->product = 1;
}

/* Extends one side of the current group: adds the next dimension of `shape`, and skips dimensions
 * of extent 1. Returns FALSE if only dimensions of extent 1 are left. */
static gboolean
take (Side *side, const CleaveShape *shape)
{
  while (side->next < shape->rank && shape->dim[side->next] == 1)
    side->next++;
  if (side->next == shape->rank)
    return FALSE;
  if (side->outermost == shape->rank)
    side->outermost = side->next;
  else
    side->inner *= shape->dim[side->next];
  side->product *= shape->dim[side->next++];
  return TRUE;
}

/* Returns the map of the outermost dimension that a group has in the operand. `x` and `y`: the
 * sides of the group in the operand and in the result. `extent`: extent of that dimension.
 *
 * A row consists of the elements with one index of the outermost dimension: x->inner elements of x,
 * or y->inner elements of y. If one of these numbers is a multiple of the other, a row of y reads
 * only a few rows of x. If not, the map gives all rows of x. */
static CleaveDimMap
map_outermost (const Side *x, const Side *y, gint64 extent)
{
  if (y->inner % x->inner == 0)
    return cleave_dim_map_groups (y->outermost, 1, y->inner / x->inner);
  if (x->inner % y->inner == 0)
    return cleave_dim_map_groups (y->outermost, x->inner / y->inner, 1);
  return cleave_dim_map_whole (extent);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *from = &call->operands[operand].shape, *to = &call->results[0].shape;
  Side x = { 0 }, y = { 0 };

  for (guint d = 0; d < from->rank; d++)
    map[d] = cleave_dim_map_whole (from->dim[d]);
  if (cleave_shape_n_elements (from) == 0) /* a value without elements cannot be cut */
    return;
  for (;;)
    {
      begin_group (&x, from);
      begin_group (&y, to);
      if (!take (&x, from) || !take (&y, to))
        return;
      while (x.product != y.product)
        if (x.product < y.product)
          take (&x, from);
        else
          take (&y, to);
      map[x.outermost] = map_outermost (&x, &y, from->dim[x.outermost]);
    }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  cleave_view_copy_reshaped (&results[0], &operands[0]);
}

/* Returns TRUE if a chunk consists of whole rows of the operand. `slice` is the range of the
 * operand that the piece reads; the chunk consists of whole rows if and only if `slice` has as many
 * elements. If not, refuses the chunk: appends the reason to `why` and returns FALSE. */
static gboolean
check_rows (const CleaveRange *chunk, const CleaveSlice *slice, GString *why)
{
  g_autofree char *read = NULL;

  if (cleave_range_n_elements (chunk) == cleave_range_n_elements (&slice->range))
    return TRUE;
  read = cleave_range_to_string (&slice->range);
  return cleave_refuse (
      why, "it does not begin and end where rows of the operand do: it needs the range %s", read);
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  return check_rows (&chunk->range, &chunk->slices[0], why);
}

/* The code below defines the op Reshape. */

static const CleaveAttr reshape_attrs[] = {
  { "shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveReshapeAttrs, shape), CLEAVE_AT_LEAST (-1),
    .onnx_operand = 1, .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "allowzero", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveReshapeAttrs, allowzero) },
  { 0 },
};

/* Replaces each 0 of the shape by the extent of the operand, unless `allowzero` is set. */
static gboolean
resolve_zeros (CleaveReshapeAttrs *a, const CleaveShape *x, GError **error)
{
  for (guint d = 0; d < a->shape.n && !a->allowzero; d++)
    {
      if (a->shape.v[d] == 0 && d >= x->rank)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "entry %u of shape is 0, but data has rank %u", d, x->rank);
      if (a->shape.v[d] == 0)
        a->shape.v[d] = x->dim[d];
    }
  return TRUE;
}

/* Replaces -1 in the shape by an extent, so that the shape and the operand have the same number of
 * elements. */
static gboolean
resolve_rest (CleaveReshapeAttrs *a, const CleaveShape *x, GError **error)
{
  gint64 n = cleave_shape_n_elements (x), product = 1, *rest = NULL;
  g_autofree char *text = cleave_shape_to_string (x);

  for (guint d = 0; d < a->shape.n; d++)
    {
      if (a->shape.v[d] == -1 && rest != NULL)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "more than one entry of shape is -1");
      if (a->shape.v[d] == -1)
        rest = &a->shape.v[d];
      else if (__builtin_mul_overflow (product, a->shape.v[d], &product))
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "the number of elements does not fit 64 bits at entry %u of shape", d);
    }
  if (rest != NULL && product != 0 && n % product == 0)
    {
      *rest = n / product;
      product = n;
    }
  else if (rest != NULL)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "data is %s: its %" G_GINT64_FORMAT
                        " elements do not divide by the %" G_GINT64_FORMAT
                        " that shape leaves for its -1",
                        text, n, product);
  if (product != n)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "data is %s with %" G_GINT64_FORMAT
                        " elements, shape has %" G_GINT64_FORMAT,
                        text, n, product);
  return TRUE;
}

static gboolean
normalize_reshape (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveReshapeAttrs *a = attrs;
  const CleaveShape *x = &call->operands[0].shape;

  if (a->shape.n > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "shape has rank %u, more than %d",
                        a->shape.n, CLEAVE_MAX_RANK);
  if (!resolve_zeros (a, x, error) || !resolve_rest (a, x, error))
    return FALSE;
  a->allowzero = cleave_ints_contain (&a->shape, 0);
  return TRUE;
}

static gboolean
narrow_reshape (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveReshapeAttrs *a = attrs;

  for (guint d = 0; d < chunk->range.rank; d++)
    a->shape.v[d] = chunk->range.dim[d].end - chunk->range.dim[d].begin;
  return check_rows (&chunk->range, &chunk->slices[0], why);
}

/* Fields that the records of Reshape, Flatten, Squeeze and Unsqueeze share. */
#define SAME_ELEMENTS                                                                              \
  .min_operands = 1, .flags = CLEAVE_OP_ROW_MAJOR, .maps = maps, .work = cleave_work_once,         \
  .kernel = cleave_move_kernel, .compute = compute

const CleaveOp cleave_op_reshape = {
  .name = "Reshape",
  SAME_ELEMENTS,
  .operands = (const char *const[]){ "data", NULL },
  .results = (const char *const[]){ "reshaped", NULL },
  .attrs_size = sizeof (CleaveReshapeAttrs),
  .attrs = reshape_attrs,
  .normalize = normalize_reshape,
  .infer = cleave_infer_shape_attr,
  .narrow = narrow_reshape,
};

/**
 * cleave_graph_add_reshape:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `reshape`
 * @x: (transfer none): any value
 * @shape: shape of the result; 0 stands for the extent of @x in that dimension. One extent may be
 * -1, for the extent that gives the right number of elements
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a change of shape: [ONNX Reshape](https://onnx.ai/onnx/operators/onnx__Reshape.html).
 *
 * The elements stay the same, in row-major order. The node stores the resulting shape. A group
 * consists of consecutive dimensions of @x and consecutive dimensions of the result with the same
 * product of extents. The node can be split along the outermost dimension of each group, between
 * rows: a row is the elements with one index of the outermost dimension that the group has in @x.
 * Example: `[N, C, H, W]` → `[N, C * H * W]` has the groups N → N and C, H, W → C * H * W. A row of
 * the second group has `H * W` elements. So the result can be cut along dimension 0, and along
 * dimension 1 at multiples of `H * W`.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if the numbers of elements differ, and with
 * %CLEAVE_ERROR_ATTRIBUTE if @shape is not legal. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_reshape (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *shape, GError **error)
{
  g_return_val_if_fail (shape != NULL, NULL);

  CleaveReshapeAttrs a = { .shape = *shape };

  return cleave_build (graph, &cleave_op_reshape, name, &x, 1, &a, error);
}

/* The code below defines the op Flatten. */

static const CleaveAttr flatten_attrs[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveAxisAttrs, axis), .fallback = 1 },
  { 0 },
};

/* Makes the axis positive. The axis may also be the rank; the result then has one column. */
static gboolean
normalize_flatten (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveAxisAttrs *a = attrs;
  gint64 rank = call->operands[0].shape.rank;

  if (a->axis < -rank || a->axis > rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "axis must be between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        " for rank %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
                        -rank, rank, rank, a->axis);
  a->axis += a->axis < 0 ? rank : 0;
  return TRUE;
}

static gboolean
infer_flatten (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveAxisAttrs *a = call->attrs;
  const CleaveTensorType *x = &call->operands[0];

  results[0] = CLEAVE_TYPE (x->element, 1, 1);
  for (guint d = 0; d < x->shape.rank; d++)
    if (__builtin_mul_overflow (results[0].shape.dim[d < a->axis ? 0 : 1], x->shape.dim[d],
                                &results[0].shape.dim[d < a->axis ? 0 : 1]))
      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "the product of the dimensions does not fit 64 bits at dimension %u", d);
  return TRUE;
}

const CleaveOp cleave_op_flatten = {
  .name = "Flatten",
  SAME_ELEMENTS,
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .attrs_size = sizeof (CleaveAxisAttrs),
  .attrs = flatten_attrs,
  .normalize = normalize_flatten,
  .infer = infer_flatten,
  .narrow = narrow,
};

/**
 * cleave_graph_add_flatten:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `flatten`
 * @x: (transfer none): any value
 * @axis: number of dimensions that become the first dimension of the result, often 1; negative
 * values count from the end
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a change of shape to two dimensions: [ONNX
 * Flatten](https://onnx.ai/onnx/operators/onnx__Flatten.html).
 *
 * [method@Cleave.Graph.add_reshape] describes the splits of this node.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE if @axis is out of range. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_flatten (
    CleaveGraph *graph, const char *name, CleaveResult *x, gint64 axis, GError **error)
{
  CleaveAxisAttrs a = { .axis = axis };

  return cleave_build (graph, &cleave_op_flatten, name, &x, 1, &a, error);
}

/* The code below defines the ops Squeeze and Unsqueeze. */

/* Makes axes positive, sorts them, and fails if an axis is given twice. `rank` is the rank of the
 * value that has these dimensions: the operand of a Squeeze, or the result of an Unsqueeze. */
static gboolean
sort_axes (CleaveInts *axes, guint rank, GError **error)
{
  gboolean has[2 * CLEAVE_MAX_RANK] = { FALSE };
  gint64 r = rank;

  for (guint i = 0; i < axes->n; i++)
    {
      gint64 axis = axes->v[i];

      if (axis < -r || axis >= r)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "axes must be between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                            " for rank %u, not %" G_GINT64_FORMAT,
                            -r, r - 1, rank, axis);
      axis += axis < 0 ? r : 0;
      if (has[axis])
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "axis %" G_GINT64_FORMAT " is given twice", axis);
      has[axis] = TRUE;
    }
  axes->n = 0;
  for (guint d = 0; d < rank; d++)
    if (has[d])
      axes->v[axes->n++] = d;
  return TRUE;
}

static const CleaveAttr axes_attrs[] = {
  { "axes", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveAxesAttrs, axes), .onnx_operand = 1,
    .flags = CLEAVE_ATTR_NO_DEFAULT },
  { 0 },
};

/* Replaces empty axes by the list of all dimensions of extent 1. The list must be explicit, since a
 * chunk can have more dimensions of extent 1 than the whole value. */
static gboolean
normalize_squeeze (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveAxesAttrs *a = attrs;
  const CleaveShape *x = &call->operands[0].shape;

  if (a->axes.n == 0)
    {
      for (guint d = 0; d < x->rank; d++)
        if (x->dim[d] == 1)
          a->axes.v[a->axes.n++] = d;
      return TRUE;
    }
  if (!sort_axes (&a->axes, x->rank, error))
    return FALSE;
  for (guint i = 0; i < a->axes.n; i++)
    if (x->dim[a->axes.v[i]] != 1)
      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "dimension %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT
                          ", only 1 can be squeezed",
                          a->axes.v[i], x->dim[a->axes.v[i]]);
  return TRUE;
}

static gboolean
infer_squeeze (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveAxesAttrs *a = call->attrs;
  const CleaveTensorType *x = &call->operands[0];

  results[0] = CLEAVE_SCALAR (x->element);
  for (guint d = 0; d < x->shape.rank; d++)
    if (!cleave_ints_contain (&a->axes, d))
      results[0].shape.dim[results[0].shape.rank++] = x->shape.dim[d];
  return TRUE;
}

const CleaveOp cleave_op_squeeze = {
  .name = "Squeeze",
  SAME_ELEMENTS,
  .operands = (const char *const[]){ "data", NULL },
  .results = (const char *const[]){ "squeezed", NULL },
  .attrs_size = sizeof (CleaveAxesAttrs),
  .attrs = axes_attrs,
  .normalize = normalize_squeeze,
  .infer = infer_squeeze,
  .narrow = narrow,
};

static gboolean
normalize_unsqueeze (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveAxesAttrs *a = attrs;
  guint rank = call->operands[0].shape.rank + a->axes.n;

  if (rank > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "the result would have rank %u, more than %d", rank, CLEAVE_MAX_RANK);
  return sort_axes (&a->axes, rank, error);
}

static gboolean
infer_unsqueeze (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveAxesAttrs *a = call->attrs;
  const CleaveTensorType *x = &call->operands[0];
  guint next = 0;

  results[0] = CLEAVE_SCALAR (x->element);
  results[0].shape.rank = x->shape.rank + a->axes.n;
  for (guint d = 0; d < results[0].shape.rank; d++)
    results[0].shape.dim[d] = cleave_ints_contain (&a->axes, d) ? 1 : x->shape.dim[next++];
  return TRUE;
}

const CleaveOp cleave_op_unsqueeze = {
  .name = "Unsqueeze",
  SAME_ELEMENTS,
  .operands = (const char *const[]){ "data", NULL },
  .results = (const char *const[]){ "expanded", NULL },
  .attrs_size = sizeof (CleaveAxesAttrs),
  .attrs = axes_attrs,
  .normalize = normalize_unsqueeze,
  .infer = infer_unsqueeze,
  .narrow = narrow,
};
