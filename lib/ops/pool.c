/* SPDX-License-Identifier: GPL-2.0-or-later */

/* MaxPool, AveragePool and LpPool, in 1 to 6 spatial dimensions.
 *
 * Order of operations: all three ops read the taps of a window in row-major order, without taps in
 * the padding.
 *
 * MaxPool: the first tap is the maximum; a later tap replaces it if it is greater, or NaN. So of
 * equal elements (also +0 and -0) the first stays, and of several NaNs the last. If there is no
 * tap, the result is the lowest value of the type, and the index -1.
 *
 * AveragePool: adds the taps of each row of the window (along the last dimension), beginning with
 * the first tap; adds the sums of the rows to +0; divides by the count. It computes in float64 for
 * float64, else in float32, and rounds once at the end. If there is no tap, the result is +0. The
 * sums of rows keep the error of large windows small. With one sum of all taps, means of 128 x 128
 * activations were 11 times further from float64.
 *
 * LpPool: see pool-lp.h.
 *
 * The indices of a MaxPool count the elements of its whole operand. A piece has attributes with the
 * position of its operand in the whole, so that its indices equal the indices of the whole node.
 *
 * Over 400 lines: three ops that differ in the function of a window. */

#include "build.h"
#include "pool-lp.h"
#include "reference.h"
#include "window.h"

#include <math.h>

enum { X };

#define CLEAVE_ELEMENTS_MAX_POOL                                                                   \
  (CLEAVE_ELEMENTS_FLOAT | CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT8))

static guint
init_windows (const CleaveCall *call, CleaveWindow *windows)
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
  init_windows (call, windows);
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

/* Returns the shape of the whole value, whose elements the indices count. */
static CleaveShape
whole_of (const CleaveCall *call)
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
  whole.shape = whole_of (call);
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

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  init_windows (call, windows);
  cleave_window_maps (&dims, windows, map);
}

/* Sets the pads of a piece to the clips of its slice (CleaveSlice). If an end pad then exceeds the
 * node's pad, ceil_mode is the cause: the last window reaches beyond the padding. AveragePool does
 * not count these elements, so the piece gets the node's pad and ceil_mode. */
static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
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

/* Sets the attributes of a piece of a MaxPool. With `whole` and `begin`, the indices of the piece
 * count the elements of the node's operand. */
static gboolean
narrow_max (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  const CleavePoolAttrs *node = call->attrs;
  CleavePoolAttrs *a = attrs;
  CleaveShape whole = whole_of (call), x = cleave_range_shape (&chunk->slices[X].range);

  if (call->n_results > 1 && !cleave_shape_equal (&x, &whole))
    {
      a->whole.n = a->begin.n = x.rank;
      for (guint d = 0; d < x.rank; d++)
        {
          a->whole.v[d] = whole.dim[d];
          a->begin.v[d] = cleave_ints_at (&node->begin, d, 0) + chunk->slices[X].range.dim[d].begin;
        }
    }
  return narrow (call, chunk, attrs, why);
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

/* A window and its current tap. */
typedef struct
{
  const CleaveCall *call;
  CleaveView x; /* the operand, from the channel that the window reads */
  CleaveDims dims;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  CleaveShape taps;
  const gint64 *out;           /* index of the window in the spatial dimensions of the result */
  gint64 tap[CLEAVE_MAX_RANK]; /* index of the current tap */
  gint64 offset;               /* offset of the tap's element in x */
} Window;

/* While the current tap is padding, moves to the next tap of the window. `more` says whether there
 * is a current tap. Returns FALSE if all further taps are padding. */
static gboolean
skip_padding (Window *w, gboolean more)
{
  while (more && !cleave_window_tap (w->windows, w->dims.n_spatial, w->out, w->tap,
                                     w->x.stride + w->dims.h, &w->offset))
    more = cleave_index_next (&w->taps, w->tap);
  return more;
}

static gboolean
first_tap (Window *w)
{
  return skip_padding (w, cleave_index_first (&w->taps, w->tap));
}

static gboolean
next_tap (Window *w)
{
  return skip_padding (w, cleave_index_next (&w->taps, w->tap));
}

static double
tap_value (const Window *w)
{
  return cleave_real_load (w->x.type.element, cleave_view_element (&w->x, w->offset));
}

/* Calls `make` for the window of each element of the result. */
static void
each_window (const CleaveCall *call,
             const CleaveView *x,
             const CleaveView *results,
             void (*make) (Window *w, const CleaveView *results, const gint64 *at))
{
  Window w = { .call = call, .x = *x, .dims = cleave_call_dims (call) };
  const CleaveShape *y = &results[0].type.shape;
  gint64 at[CLEAVE_MAX_RANK];

  w.taps.rank = init_windows (call, w.windows);
  w.out = at + w.dims.h;
  for (guint i = 0; i < w.taps.rank; i++)
    w.taps.dim[i] = w.windows[i].kernel;
  CLEAVE_EACH_INDEX (at, y)
    {
      w.x.data = cleave_view_element (x, at[w.dims.n] * x->stride[w.dims.n] +
                                             at[w.dims.c] * x->stride[w.dims.c]);
      make (&w, results, at);
    }
}

/* The functions below compute a MaxPool. */

/* Returns the index of the tap's element in the whole value of which X is a part: in row-major
 * order or, if storage_order is 1, with the first spatial dimension changing fastest. */
static gint64
flat_index (const Window *w, const gint64 *at)
{
  const CleavePoolAttrs *a = w->call->attrs;
  CleaveShape whole = whole_of (w->call);
  guint h = w->dims.h, n = w->dims.n_spatial;
  gint64 stride[CLEAVE_MAX_RANK], index, size;

  cleave_shape_strides (&whole, stride);
  size = stride[h + n - 1];
  for (guint i = 0; i < n && a->storage_order == 1; i++)
    {
      stride[h + i] = size;
      size *= whole.dim[h + i];
    }
  index = at[w->dims.n] * stride[w->dims.n] + at[w->dims.c] * stride[w->dims.c];
  for (guint i = 0; i < n; i++)
    {
      const CleaveWindow *d = &w->windows[i];

      index += (w->out[i] * d->stride - d->pad_begin + w->tap[i] * d->dilation) * stride[h + i];
    }
  for (guint d = 0; d < a->begin.n; d++)
    index += a->begin.v[d] * stride[d];
  return index;
}

static void
store_lowest (CleaveElement element, gpointer at)
{
  if (element == CLEAVE_INT8 || element == CLEAVE_UINT8)
    *(guint8 *) at = element == CLEAVE_INT8 ? 0x80 : 0;
  else
    cleave_real_store (element, at, -INFINITY);
}

/* Finds the maximum of a window, and copies its bits to result 0. */
static void
make_max (Window *w, const CleaveView *results, const gint64 *at)
{
  gpointer y = cleave_view_at (&results[0], at);
  gconstpointer greatest = NULL;
  gint64 index = -1;
  double max = 0;

  for (gboolean more = first_tap (w); more; more = next_tap (w))
    {
      double value = tap_value (w);

      if (greatest != NULL && !(value > max || isnan (value)))
        continue;
      max = value;
      greatest = cleave_view_element (&w->x, w->offset);
      index = w->call->n_results > 1 ? flat_index (w, at) : 0;
    }
  if (greatest == NULL)
    store_lowest (w->x.type.element, y);
  else
    memcpy (y, greatest, cleave_element_size (w->x.type.element));
  if (w->call->n_results > 1)
    *(gint64 *) cleave_view_at (&results[1], at) = index;
}

static void
compute_max (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  each_window (call, &operands[X], results, make_max);
}

/* The functions below compute an AveragePool. */

/* Returns the number of taps of a window that are in the data or in the node's padding. Taps beyond
 * the padding, which ceil_mode adds, do not count. */
static gint64
n_padded_taps (const Window *w)
{
  gint64 n = 1;

  for (guint i = 0; i < w->dims.n_spatial; i++)
    {
      const CleaveWindow *d = &w->windows[i];
      gint64 room = d->extent + d->pad_end + d->pad_begin -
                    w->out[i] * d->stride; /* number of elements, of the data and its padding, from
                                            * the first tap of the window to the end */

      n *= MIN (d->kernel, (room + d->dilation - 1) / d->dilation);
    }
  return n;
}

/* Returns the number of the row of the window that has the current tap. */
static gint64
tap_row (const Window *w)
{
  gint64 row = 0;

  for (guint i = 0; i + 1 < w->taps.rank; i++)
    row = row * w->taps.dim[i] + w->tap[i];
  return row;
}

/* Adds the taps of one row of the window, from the current tap on, to `sum`, and their number to
 * `n`. Returns whether the window has a further row. */
static gboolean
add_row (Window *w, double *sum, gint64 *n)
{
  CleaveElement element = w->x.type.element;
  gint64 row = tap_row (w);
  double of_row = tap_value (w);
  gboolean more;

  for (more = next_tap (w), ++*n; more && tap_row (w) == row; more = next_tap (w), ++*n)
    of_row = cleave_real_round (element, of_row + tap_value (w));
  *sum = cleave_real_round (element, *sum + of_row);
  return more;
}

static void
make_average (Window *w, const CleaveView *results, const gint64 *at)
{
  const CleavePoolAttrs *a = w->call->attrs;
  CleaveElement element = w->x.type.element;
  gint64 n = 0;
  double sum = 0;

  for (gboolean more = first_tap (w); more;)
    more = add_row (w, &sum, &n);
  if (n > 0)
    sum =
        cleave_real_round (element, sum / (double) (a->count_include_pad ? n_padded_taps (w) : n));
  cleave_real_store (element, cleave_view_at (&results[0], at), sum);
}

static void
compute_average (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  each_window (call, &operands[X], results, make_average);
}

/* The functions below compute an LpPool. */

static void
compute_lp (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveWindow windows[CLEAVE_MAX_RANK];

  init_windows (call, windows);
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

/* Returns whether a dilation differs from 1. LpPool has dilations and ceil_mode from opset 18
 * on, AveragePool dilations from opset 19 on. */

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
  .attrs_size = sizeof (CleavePoolAttrs), .maps = maps, .layout = cleave_call_letters

const CleaveOp cleave_op_max_pool = {
  .name = "MaxPool",
  POOL,
  .results = (const char *const[]){ "Y", "Indices", NULL },
  .attrs = max_attrs,
  .infer = infer_max,
  .narrow = narrow_max,
  .kernel = kernel,
  .compute = compute_max,
};

const CleaveOp cleave_op_average_pool = {
  .name = "AveragePool",
  POOL,
  .results = result_names,
  .attrs = average_attrs,
  .infer = infer,
  .narrow = narrow,
  .kernel = kernel,
  .compute = compute_average,
  .since = since_average,
};

const CleaveOp cleave_op_lp_pool = {
  .name = "LpPool",
  POOL,
  .results = result_names,
  .attrs = lp_attrs,
  .infer = infer,
  .narrow = narrow,
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
 * @attrs: kernel shape, strides, dilations and pads in elements, H before W; for pads, all begins
 * before all ends
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a pooling: ONNX [MaxPool](https://onnx.ai/onnx/operators/onnx__MaxPool.html),
 * [AveragePool](https://onnx.ai/onnx/operators/onnx__AveragePool.html) or
 * [LpPool](https://onnx.ai/onnx/operators/onnx__LpPool.html), with a layout.
 *
 * The result is `[N, C, OH, OW]`, or `[N, OH, OW, C]`, with
 * `OH = (H + pad_begin + pad_end - (dilation * (KH - 1) + 1)) / stride + 1`, rounded down, or up
 * with `ceil_mode`. With `ceil_mode`, a last window that would begin behind the data is left out,
 * as [PyTorch](https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html) does. AveragePool
 * does not count the elements that `ceil_mode` adds, even with `count_include_pad`.
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
