/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Conv, in 1 to 6 spatial dimensions.
 *
 * The order of one result element, which every kernel keeps: the bias, or +0; then the taps of the
 * kernel in row-major order, those in the padding skipped; in each tap the input channels of the
 * group in order; one fused multiply-add each (products.h). */

#include "build.h"
#include "reference.h"
#include "products.h"
#include "window.h"

enum { X, W, B };

static CleaveDims
layout_dims (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;

  return cleave_layout_dims (a->layout, call->operands[X].shape.rank);
}

static guint
init_windows (const CleaveCall *call, CleaveWindow *windows)
{
  const CleaveConvAttrs *a = call->attrs;
  CleaveDims dims = layout_dims (call);

  cleave_windows_init (windows, dims.n_spatial, call->operands[X].shape.dim + dims.h,
                       call->operands[W].shape.dim + 2, &a->strides, &a->dilations, &a->pads);
  return dims.n_spatial;
}

static gboolean
check_attrs (const CleaveConvAttrs *a, guint n, GError **error)
{
  return cleave_window_check_list (&a->strides, n, "strides", error) &&
         cleave_window_check_list (&a->dilations, n, "dilations", error) &&
         cleave_window_check_list (&a->pads, 2 * n, "pads", error);
}

/* Channels, groups and bias. */
static gboolean
check_channels (const CleaveCall *call, GError **error)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *w = &call->operands[W].shape;
  gint64 channels = call->operands[X].shape.dim[layout_dims (call).c];

  if (w->dim[0] < 1 || w->dim[1] < 1)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "W has no channels");
  if (w->dim[0] % a->group != 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "W makes %" G_GINT64_FORMAT
                        " channels, not a multiple of group %" G_GINT64_FORMAT,
                        w->dim[0], a->group);
  if (channels % a->group != 0 || channels / a->group != w->dim[1])
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "W wants %" G_GINT64_FORMAT " channels in each of %" G_GINT64_FORMAT
                        " groups, X has %" G_GINT64_FORMAT,
                        w->dim[1], a->group, channels);
  if (cleave_call_has (call, B) && call->operands[B].shape.dim[0] != w->dim[0])
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "B has %" G_GINT64_FORMAT " elements, W makes %" G_GINT64_FORMAT
                        " channels",
                        call->operands[B].shape.dim[0], w->dim[0]);
  return TRUE;
}

static gboolean
check_operands (const CleaveCall *call, GError **error)
{
  guint rank = call->operands[X].shape.rank;

  return cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) &&
         cleave_call_check_same_element (call, X, W, error) &&
         cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) &&
         cleave_call_check_rank (call, W, rank, rank, error) &&
         (!cleave_call_has (call, B) || (cleave_call_check_same_element (call, X, B, error) &&
                                         cleave_call_check_rank (call, B, 1, 1, error)));
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  CleaveDims dims = layout_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];
  CleaveTensorType y = call->operands[X];

  if (!check_operands (call, error) || !check_attrs (call->attrs, dims.n_spatial, error) ||
      !check_channels (call, error))
    return FALSE;
  init_windows (call, windows);
  y.shape.dim[dims.c] = call->operands[W].shape.dim[0];
  for (guint i = 0; i < dims.n_spatial; i++)
    if (!cleave_window_count (&windows[i], i, FALSE, &y.shape.dim[dims.h + i], error))
      return FALSE;
  results[0] = y;
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *w = &call->operands[W].shape; /* [O, I / group, KH, KW] */
  CleaveDims dims = layout_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  if (operand != X) /* W and B */
    {
      map[0] = cleave_dim_map_same (dims.c);
      for (guint d = 1; d < call->operands[operand].shape.rank; d++)
        map[d] = cleave_dim_map_whole (w->dim[d]);
      return;
    }

  map[dims.n] = cleave_dim_map_same (dims.n);
  map[dims.c] = cleave_dim_map_groups (dims.c, w->dim[0] / a->group, w->dim[1]);
  init_windows (call, windows);
  for (guint i = 0; i < dims.n_spatial; i++)
    map[dims.h + i] = cleave_window_map (&windows[i], dims.h + i);
}

static gboolean
narrow (const CleaveCall *call,
        const CleaveRange *chunk,
        const CleaveSlice *slices,
        gpointer attrs,
        GString *why)
{
  CleaveConvAttrs *a = attrs;
  CleaveDims dims = layout_dims (call);
  CleaveSpan c = chunk->dim[dims.c];
  gint64 block = call->operands[W].shape.dim[0] / a->group;
  gint64 n_groups = (c.end - 1) / block - c.begin / block + 1;

  if (n_groups > 1 && (c.begin % block != 0 || c.end % block != 0))
    return cleave_refuse (why,
                          "chunk [%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                          ") straddles groups of %" G_GINT64_FORMAT
                          " channels: it must lie inside one, or be made of whole ones",
                          c.begin, c.end, block);
  a->group = n_groups;
  cleave_pads_from_slice (&a->pads, dims.n_spatial, &slices[X], dims.h);
  return TRUE;
}

static const char *
layout (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;

  return cleave_layout_letters (a->layout, call->operands[X].shape.rank);
}

/* Multiplications by padding included, as is usual. */
static gint64
macs (const CleaveCall *call)
{
  const CleaveShape *w = &call->operands[W].shape;
  gint64 n = cleave_shape_n_elements (&call->results[0].shape);

  for (guint d = 1; d < w->rank; d++)
    n *= w->dim[d];
  return n;
}

/* Depthwise if each group has one input channel, which no cut changes. */
static CleaveKernel
kernel (const CleaveCall *call)
{
  if (call->operands[X].element != CLEAVE_FLOAT32)
    return CLEAVE_KERNEL_REFERENCE;
  return call->operands[W].shape.dim[1] == 1 ? CLEAVE_KERNEL_DEPTHWISE : CLEAVE_KERNEL_CONV;
}

/* Adds the taps of the result element at `out`, a place in the spatial dimensions; `x` and `w`
 * begin with the first channel that it reads. */
static void
add_taps (CleaveSum *sum,
          const CleaveWindow *windows,
          CleaveDims dims,
          const gint64 *out,
          const CleaveView *x,
          const CleaveView *w)
{
  const CleaveSumOps *ops = cleave_sum_ops (x->type.element);
  CleaveShape taps = { .rank = dims.n_spatial };
  gint64 tap[CLEAVE_MAX_RANK], offset;

  for (guint i = 0; i < dims.n_spatial; i++)
    taps.dim[i] = windows[i].kernel;
  for (gboolean more = cleave_index_first (&taps, tap); more; more = cleave_index_next (&taps, tap))
    if (cleave_window_tap (windows, dims.n_spatial, out, tap, x->stride + dims.h, &offset))
      ops->add (sum, cleave_view_element (x, offset), x->stride[dims.c],
                cleave_view_element (w, cleave_index_offset (taps.rank, tap, w->stride + 2)),
                w->stride[1], w->type.shape.dim[1]);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveView *y = &results[0];
  const CleaveSumOps *ops = cleave_sum_ops (y->type.element);
  CleaveDims dims = layout_dims (call);
  gint64 block = operands[W].type.shape.dim[0] / a->group, n_in = operands[W].type.shape.dim[1];
  CleaveWindow windows[CLEAVE_MAX_RANK];
  gint64 at[CLEAVE_MAX_RANK];

  init_windows (call, windows);
  for (gboolean more = cleave_index_first (&y->type.shape, at); more;
       more = cleave_index_next (&y->type.shape, at))
    {
      gint64 o = at[dims.c];
      CleaveView x = operands[X], w = operands[W];
      CleaveSum sum;

      x.data = cleave_view_element (&x, at[dims.n] * x.stride[dims.n] +
                                            o / block * n_in * x.stride[dims.c]);
      w.data = cleave_view_element (&w, o * w.stride[0]);
      ops->begin (&sum, cleave_call_has (call, B) ? cleave_view_at (&operands[B], &o) : NULL);
      add_taps (&sum, windows, dims, at + dims.h, &x, &w);
      ops->end (&sum, cleave_view_at (y, at));
    }
}

static const CleaveAttr attrs_table[] = {
  { "layout", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveConvAttrs, layout),
    .names = cleave_layout_names, .flags = CLEAVE_ATTR_NOT_ONNX },
  { "group", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveConvAttrs, group), .fallback = 1, .minimum = 1,
    .has_minimum = TRUE },
  { "strides", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveConvAttrs, strides), .fallback = 1,
    .minimum = 1, .has_minimum = TRUE },
  { "dilations", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveConvAttrs, dilations), .fallback = 1,
    .minimum = 1, .has_minimum = TRUE },
  { "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveConvAttrs, pads), .has_minimum = TRUE },
  { 0 },
};

static const char *const operand_names[] = { "X", "W", "B", NULL };
static const char *const result_names[] = { "Y", NULL };

const CleaveOp cleave_op_conv = {
  .name = "Conv",
  .operands = operand_names,
  .results = result_names,
  .min_operands = 2,
  .attrs_size = sizeof (CleaveConvAttrs),
  .attrs = attrs_table,
  .infer = infer,
  .maps = maps,
  .narrow = narrow,
  .layout = layout,
  .macs = macs,
  .kernel = kernel,
  .compute = compute,
};

/**
 * cleave_graph_add_conv:
 * @graph: the graph to add to
 * @name: (nullable): name of the node, made unique
 * @x: (transfer none): activations, `[N, I, H, W]`, or `[N, H, W, I]` with the layout NHWC; 1 to 6
 * spatial dimensions
 * @w: (transfer none): weights, `[O, I / group, KH, KW]` under both layouts; `O` is a multiple of
 * the group
 * @b: (transfer none) (nullable): bias, `[O]`
 * @attrs: (nullable): strides, dilations and pads in elements, H before W; all begins of pads
 * before all ends
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a convolution: [ONNX Conv](https://onnx.ai/onnx/operators/onnx__Conv.html), with a layout.
 *
 * The result is `[N, O, OH, OW]`, or `[N, OH, OW, O]`, with
 * `OH = (H + pad_begin + pad_end - (dilation * (KH - 1) + 1)) / stride + 1`, rounded down.
 * It can be split along N, H and W at will, and along O inside one group or between groups; a chunk
 * that would read nothing but padding is refused.
 *
 * Serves the float types; float16 and bfloat16 add up in float32.  Elements add up in one order,
 * tap by tap, channel by channel, so that a piece has the same bits as that part of the whole.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if the operands do not fit, with %CLEAVE_ERROR_ELEMENT_TYPE if
 * their element types do not, and with %CLEAVE_ERROR_ATTRIBUTE if an attribute is out of range; the
 * graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 */
CleaveResult *
cleave_graph_add_conv (CleaveGraph *graph,
                       const char *name,
                       CleaveResult *x,
                       CleaveResult *w,
                       CleaveResult *b,
                       const CleaveConvAttrs *attrs,
                       GError **error)
{
  return cleave_build (graph, &cleave_op_conv, name, (CleaveResult *[]){ x, w, b }, 3, attrs,
                       error);
}
