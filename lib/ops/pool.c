/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The records of MaxPool, AveragePool and LpPool, in 1 to 6 spatial dimensions. pool-reference.c
 * and pool-lp.c have their reference kernels, with the order of operations.
 *
 * The indices of a MaxPool count the elements of its whole operand. The attributes `whole` and
 * `begin` of a piece give the position of the piece's operand in the whole operand. So the indices
 * of a piece equal the indices of the whole node. */

#include "pool.h"
#include "build.h"

enum { X };

#define CLEAVE_ELEMENTS_MAX_POOL                                                                   \
  (CLEAVE_ELEMENTS_FLOAT | CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT8))

guint
cleave_pool_init_windows (const CleaveCall *call, CleaveWindow *windows)
{
  const CleavePoolAttrs *a = call->attrs;
  CleaveDims dims = cleave_call_dims (call);

  cleave_windows_init (windows, dims.n_spatial, call->operands[X].shape.dim + dims.h,
                       a->kernel_shape.v, &a->strides, &a->dilations, &a->pads);
  return dims.n_spatial;
}

static gboolean
check_attrs (const CleavePoolAttrs *a, guint n, GError **error)
{
  if (a->kernel_shape.n != n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "kernel_shape has %u entries, but must have %u", a->kernel_shape.n, n);
  if (a->storage_order > 1)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "storage_order must be 0 or 1, not %" G_GINT64_FORMAT, a->storage_order);
  return cleave_window_check_list (&a->kernel_shape, n, "kernel_shape", error) &&
         cleave_window_check_lists (&a->strides, &a->dilations, &a->pads, n, error);
}

static gboolean
infer_elements (const CleaveCall *call, guint elements, CleaveTensorType *results, GError **error)
{
  const CleavePoolAttrs *a = call->attrs;
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];
  CleaveTensorType y = call->operands[X];

  if (!cleave_call_check_element (call, X, elements, error) ||
      !cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) ||
      !check_attrs (a, dims.n_spatial, error))
    return FALSE;
  cleave_pool_init_windows (call, windows);
  for (guint i = 0; i < dims.n_spatial; i++)
    if (!cleave_window_count (&windows[i], i, a->ceil_mode, &y.shape.dim[dims.h + i], error))
      return FALSE;
  results[0] = y;
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  return infer_elements (call, CLEAVE_ELEMENTS_FLOAT, results, error);
}

CleaveShape
cleave_pool_get_whole (const CleaveCall *call)
{
  const CleavePoolAttrs *a = call->attrs;
  CleaveShape whole = call->operands[X].shape;

  for (guint d = 0; d < a->whole.n; d++)
    whole.dim[d] = a->whole.v[d];
  return whole;
}

static gboolean
check_place (const CleaveCall *call, GError **error)
{
  const CleavePoolAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[X].shape;
  CleaveTensorType whole = { .element = CLEAVE_INT64 };

  if ((a->whole.n != 0 && a->whole.n != x->rank) || (a->begin.n != 0 && a->begin.n != x->rank))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "whole and begin must have %u entries",
                        x->rank);
  whole.shape = cleave_pool_get_whole (call);
  for (guint d = 0; d < x->rank; d++)
    if (cleave_ints_at (&a->begin, d, 0) > whole.shape.dim[d] - x->dim[d])
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                          "dimension %u of X, %" G_GINT64_FORMAT " from %" G_GINT64_FORMAT
                          " on, is not a part of a whole of %" G_GINT64_FORMAT,
                          d, x->dim[d], cleave_ints_at (&a->begin, d, 0), whole.shape.dim[d]);
  return cleave_tensor_type_check (&whole, error);
}

static gboolean
infer_max (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  if (!infer_elements (call, CLEAVE_ELEMENTS_MAX_POOL, results, error) ||
      !check_place (call, error))
    return FALSE;
  if (call->n_results > 1)
    results[1] = (CleaveTensorType){ CLEAVE_INT64, results[0].shape };
  return TRUE;
}

void
cleave_pool_maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  cleave_pool_init_windows (call, windows);
  cleave_window_maps (&dims, windows, map);
}

gboolean
cleave_pool_narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  const CleavePoolAttrs *whole = call->attrs;
  CleavePoolAttrs *a = attrs;
  guint n = cleave_call_dims (call).n_spatial;

  a->ceil_mode = FALSE;
  cleave_pads_from_slice (&a->pads, n, &chunk->slices[X], cleave_call_dims (call).h);
  for (guint i = n; i < a->pads.n; i++)
    if (a->pads.v[i] > cleave_ints_at (&whole->pads, i, 0))
      {
        a->pads.v[i] = cleave_ints_at (&whole->pads, i, 0);
        a->ceil_mode = TRUE;
      }
  return TRUE;
}

/* Sets the attributes of a piece of a MaxPool. If the node has indices, sets `whole` and `begin`,
 * so that the indices of the piece count the elements of the whole operand. */
static gboolean
narrow_max (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  const CleavePoolAttrs *node = call->attrs;
  CleavePoolAttrs *a = attrs;
  CleaveShape whole = cleave_pool_get_whole (call),
              x = cleave_range_shape (&chunk->slices[X].range);

  if (call->n_results > 1 && !cleave_shape_equal (&x, &whole))
    {
      a->whole.n = a->begin.n = x.rank;
      for (guint d = 0; d < x.rank; d++)
        {
          a->whole.v[d] = whole.dim[d];
          a->begin.v[d] = cleave_ints_at (&node->begin, d, 0) + chunk->slices[X].range.dim[d].begin;
        }
    }
  return cleave_pool_narrow (call, chunk, attrs, why);
}

/* Returns the fast kernel for all types except float64, if no indices are computed; otherwise
 * returns the reference kernel. */
static CleaveKernel
kernel (const CleaveCall *call)
{
  return call->operands[X].element != CLEAVE_FLOAT64 && call->n_results == 1
             ? CLEAVE_KERNEL_POOL
             : CLEAVE_KERNEL_REFERENCE;
}

static void
compute_lp (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveWindow windows[CLEAVE_MAX_RANK];

  cleave_pool_init_windows (call, windows);
  cleave_pool_lp (call, windows, &operands[X], &results[0]);
}

#define FIELD(field) CLEAVE_FIELD (CleavePoolAttrs, field)
#define COMMON                                                                                     \
  CLEAVE_LAYOUT_ATTR (CleavePoolAttrs),                                                            \
      { "kernel_shape", CLEAVE_ATTR_INTS, FIELD (kernel_shape), CLEAVE_AT_LEAST (1),               \
        .flags = CLEAVE_ATTR_NO_DEFAULT },                                                         \
      CLEAVE_WINDOW_ATTRS (CleavePoolAttrs),                                                       \
  {                                                                                                \
    "ceil_mode", CLEAVE_ATTR_BOOL, FIELD (ceil_mode)                                               \
  }

static const CleaveAttr max_attrs[] = {
  COMMON,
  { "storage_order", CLEAVE_ATTR_INT, FIELD (storage_order), CLEAVE_AT_LEAST (0) },
  { "whole", CLEAVE_ATTR_INTS, FIELD (whole), CLEAVE_AT_LEAST (1),
    .flags = CLEAVE_ATTR_NOT_ONNX | CLEAVE_ATTR_NO_DEFAULT },
  { "begin", CLEAVE_ATTR_INTS, FIELD (begin), CLEAVE_AT_LEAST (0), .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

static const CleaveAttr average_attrs[] = {
  COMMON,
  { "count_include_pad", CLEAVE_ATTR_BOOL, FIELD (count_include_pad) },
  { 0 },
};

static const CleaveAttr lp_attrs[] = {
  COMMON,
  { "p", CLEAVE_ATTR_INT, FIELD (p), .fallback = 2, CLEAVE_AT_LEAST (1) },
  { 0 },
};
#undef COMMON
#undef FIELD

/* Returns whether a dilation differs from 1. LpPool has the attributes dilations and ceil_mode from
 * opset 18 on. AveragePool has the attribute dilations from opset 19 on. */

static gboolean
dilates (const CleavePoolAttrs *a)
{
  for (guint i = 0; i < a->dilations.n; i++)
    if (a->dilations.v[i] != 1)
      return TRUE;
  return FALSE;
}

static guint
since_average (const CleaveCall *call)
{
  return dilates (call->attrs) ? 19 : 0;
}

static guint
since_lp (const CleaveCall *call)
{
  const CleavePoolAttrs *a = call->attrs;

  return a->ceil_mode || dilates (a) ? 18 : 0;
}

static const char *const result_names[] = { "Y", NULL };

/* Fields that the records of MaxPool, AveragePool and LpPool share. */
#define POOL                                                                                       \
  .operands = (const char *const[]){ "X", NULL }, .min_operands = 1,                               \
  .attrs_size = sizeof (CleavePoolAttrs), .maps = cleave_pool_maps, .layout = cleave_call_letters

const CleaveOp cleave_op_max_pool = {
  .name = "MaxPool",
  POOL,
  .results = (const char *const[]){ "Y", "Indices", NULL },
  .attrs = max_attrs,
  .infer = infer_max,
  .narrow = narrow_max,
  .kernel = kernel,
  .compute = cleave_pool_max,
};

const CleaveOp cleave_op_average_pool = {
  .name = "AveragePool",
  POOL,
  .results = result_names,
  .attrs = average_attrs,
  .infer = infer,
  .narrow = cleave_pool_narrow,
  .kernel = kernel,
  .compute = cleave_pool_average,
  .since = since_average,
};

const CleaveOp cleave_op_lp_pool = {
  .name = "LpPool",
  POOL,
  .results = result_names,
  .attrs = lp_attrs,
  .infer = infer,
  .narrow = cleave_pool_narrow,
  .compute = compute_lp,
  .since = since_lp,
};

/**
 * cleave_graph_add_pool:
 * @graph: the graph to add to
 * @op: `MaxPool`, `AveragePool` or `LpPool`
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for the op's name
 * @x: (transfer none): `[N, C, H, W]`, or `[N, H, W, C]` with layout NHWC; 1 to 6 spatial
 * dimensions
 * @attrs: kernel shape, strides, dilations and pads in elements, H before W. The list of pads has
 * the pads at the begin of all dimensions, then the pads at the end of all dimensions
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a pooling: ONNX [MaxPool](https://onnx.ai/onnx/operators/onnx__MaxPool.html),
 * [AveragePool](https://onnx.ai/onnx/operators/onnx__AveragePool.html) or
 * [LpPool](https://onnx.ai/onnx/operators/onnx__LpPool.html), with a layout.
 *
 * The result is `[N, C, OH, OW]`, or `[N, OH, OW, C]`, with
 * `OH = (H + pad_begin + pad_end - (dilation * (KH - 1) + 1)) / stride + 1`, rounded down, or up
 * with `ceil_mode`. With `ceil_mode`, a last window is left out if it would begin in the padding at
 * the end, as [PyTorch](https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html) does.
 * AveragePool does not count the elements that `ceil_mode` adds, even with `count_include_pad`.
 *
 * The node can be split along each dimension. A chunk that would read only padding is refused. To
 * get the second result of a MaxPool, the indices, use [method@Graph.add] with two results. The
 * indices of a piece count the elements of the whole operand; `whole` and `begin` give the position
 * of the piece.
 *
 * @x is of one of the four float types; MaxPool also accepts 8-bit integers.
 *
 * Fails, and leaves the graph unchanged, with
 *
 * - %CLEAVE_ERROR_SHAPE if a window is larger than the padded operand;
 * - %CLEAVE_ERROR_ELEMENT_TYPE if the op does not support the element type;
 * - %CLEAVE_ERROR_ATTRIBUTE if an attribute is out of range.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_pool (CleaveGraph *graph,
                       const char *op,
                       const char *name,
                       CleaveResult *x,
                       const CleavePoolAttrs *attrs,
                       GError **error)
{
  g_return_val_if_fail (op != NULL, NULL);

  const CleaveOp *record = cleave_op_lookup (op);

  g_return_val_if_fail (record == &cleave_op_max_pool || record == &cleave_op_average_pool ||
                            record == &cleave_op_lp_pool,
                        NULL);
  return cleave_build (graph, record, name, &x, 1, attrs, error);
}
