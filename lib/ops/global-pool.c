/* SPDX-License-Identifier: GPL-2.0-or-later */

/* GlobalAveragePool, GlobalMaxPool and GlobalLpPool.
 *
 * Order of operations: all three ops read the spatial elements of a channel in row-major order,
 * in NCHW and in NHWC.
 *
 * GlobalAveragePool sums in eight lanes (lanes.h) and divides by the number of elements. The op
 * computes elements of float64 in float64 and all other elements in float32, and rounds once at the
 * end. GlobalMaxPool works as a MaxPool with a window of all elements. GlobalLpPool computes the
 * norm as norms.h describes, and rounds once at the end. */

#include "build.h"
#include "lanes.h"
#include "norms.h"
#include "reference.h"

#include <math.h>

enum { X };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  CleaveTensorType y = call->operands[X];
  CleaveDims dims = cleave_call_dims (call);

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error))
    return FALSE;
  for (guint i = 0; i < dims.n_spatial; i++)
    {
      if (y.shape.dim[dims.h + i] < 1)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE, "X is empty in spatial dimension %u", i);
      y.shape.dim[dims.h + i] = 1;
    }
  results[0] = y;
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  CleaveDims dims = cleave_call_dims (call);

  map[dims.n] = cleave_dim_map_same (dims.n);
  map[dims.c] = cleave_dim_map_same (dims.c);
  for (guint i = 0; i < dims.n_spatial; i++)
    map[dims.h + i] = cleave_dim_map_whole (call->operands[X].shape.dim[dims.h + i]);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return call->operands[X].element != CLEAVE_FLOAT64 ? CLEAVE_KERNEL_POOL : CLEAVE_KERNEL_REFERENCE;
}

/* Calls `make` for each channel, with a view of its spatial dimensions. */
static void
each_channel (const CleaveCall *call,
              const CleaveView *x,
              const CleaveView *y,
              void (*make) (const CleaveCall *call, const CleaveView *plane, gpointer y))
{
  CleaveDims dims = cleave_call_dims (call);
  CleaveView plane = cleave_lanes_plane (x, dims);
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      plane.data = cleave_view_at (x, at);
      make (call, &plane, cleave_view_at (y, at));
    }
}

static void
make_average (const CleaveCall *call, const CleaveView *plane, gpointer y)
{
  CleaveElement element = plane->type.element;
  double sum = cleave_lanes_sum (plane, 0, FALSE);

  cleave_real_store (
      element, y,
      cleave_real_round (element, sum / (double) cleave_shape_n_elements (&plane->type.shape)));
}

static void
compute_average (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  each_channel (call, &operands[X], &results[0], make_average);
}

/* Finds the maximum of a channel: begins with the first element, and replaces the maximum by each
 * element that is greater or NaN. */
static void
make_max (const CleaveCall *call, const CleaveView *plane, gpointer y)
{
  CleaveElement element = plane->type.element;
  gconstpointer greatest = plane->data;
  gint64 at[CLEAVE_MAX_RANK];
  double max = cleave_real_load (element, greatest);

  cleave_index_first (&plane->type.shape, at);
  while (cleave_index_next (&plane->type.shape, at))
    {
      gconstpointer candidate = cleave_view_at (plane, at);
      double value = cleave_real_load (element, candidate);

      if (!(value > max || isnan (value)))
        continue;
      max = value;
      greatest = candidate;
    }
  memcpy (y, greatest, cleave_element_size (element));
}

static void
compute_max (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  each_channel (call, &operands[X], &results[0], make_max);
}

/* Computes a GlobalLpPool. Computes a line of channels at once, so that channels that are
 * contiguous in memory are read in order. */
static void
compute_lp (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveGlobalPoolAttrs *a = call->attrs;
  const CleaveView *x = &operands[X], *y = &results[0];
  CleaveDims dims = cleave_call_dims (call);
  guint outer = 1u << dims.n | 1u << dims.c;
  const CleaveView *views[] = { y, x };
  CleaveLines channels, elements;

  cleave_lines_init_dims (&elements, &x, 1, ~outer);
  for (gboolean more = cleave_lines_init_dims (&channels, views, 2, outer); more;
       more = cleave_lines_next (&channels))
    for (gint64 i = 0; i < channels.length; i += CLEAVE_LINE)
      {
        gint64 n = MIN (channels.length - i, CLEAVE_LINE);
        double norms[CLEAVE_LINE];

        cleave_norms (x, channels.offset[1] + i * channels.step[1], channels.step[1], n, &elements,
                      a->p, norms);
        cleave_line_write (y, channels.offset[0] + i * channels.step[0], channels.step[0], n,
                           CLEAVE_WIDE_F64, norms);
      }
}

static const CleaveAttr attrs_table[] = { CLEAVE_LAYOUT_ATTR (CleaveGlobalPoolAttrs), { 0 } };

static const CleaveAttr lp_attrs[] = {
  CLEAVE_LAYOUT_ATTR (CleaveGlobalPoolAttrs),
  { "p", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveGlobalPoolAttrs, p), .fallback = 2,
    CLEAVE_AT_LEAST (1) },
  { 0 },
};

/* Fields that the records of the three global pools share. */
#define WHOLE_CHANNELS                                                                             \
  .operands = (const char *const[]){ "X", NULL }, .results = (const char *const[]){ "Y", NULL },   \
  .min_operands = 1, .attrs_size = sizeof (CleaveGlobalPoolAttrs), .infer = infer, .maps = maps,   \
  .layout = cleave_call_letters

const CleaveOp cleave_op_global_average_pool = {
  .name = "GlobalAveragePool",
  WHOLE_CHANNELS,
  .attrs = attrs_table,
  .kernel = kernel,
  .compute = compute_average,
};

const CleaveOp cleave_op_global_max_pool = {
  .name = "GlobalMaxPool",
  WHOLE_CHANNELS,
  .attrs = attrs_table,
  .kernel = kernel,
  .compute = compute_max,
};

const CleaveOp cleave_op_global_lp_pool = {
  .name = "GlobalLpPool",
  WHOLE_CHANNELS,
  .attrs = lp_attrs,
  .compute = compute_lp,
};

/**
 * cleave_graph_add_global_pool:
 * @graph: the graph to add to
 * @op: `GlobalAveragePool`, `GlobalMaxPool` or `GlobalLpPool`
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for the op's name
 * @x: (transfer none): `[N, C, H, W]`, or `[N, H, W, C]` with layout NHWC; 1 to 6 spatial
 * dimensions
 * @attrs: (nullable): the layout, and the `p` of GlobalLpPool; %NULL for NCHW and 2
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a pooling of whole channels: ONNX
 * [GlobalAveragePool](https://onnx.ai/onnx/operators/onnx__GlobalAveragePool.html),
 * [GlobalMaxPool](https://onnx.ai/onnx/operators/onnx__GlobalMaxPool.html) or
 * [GlobalLpPool](https://onnx.ai/onnx/operators/onnx__GlobalLpPool.html), with a layout.
 *
 * The result is `[N, C, 1, 1]`, or `[N, 1, 1, C]`. The node can be split along N and C.
 *
 * @x is of one of the four float types. Sums of float16 and bfloat16 are float32.
 *
 * Fails, and leaves the graph unchanged, with
 *
 * - %CLEAVE_ERROR_SHAPE if a spatial dimension of @x has extent 0;
 * - %CLEAVE_ERROR_ELEMENT_TYPE if @x is no float type;
 * - %CLEAVE_ERROR_ATTRIBUTE if an attribute is out of range.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_global_pool (CleaveGraph *graph,
                              const char *op,
                              const char *name,
                              CleaveResult *x,
                              const CleaveGlobalPoolAttrs *attrs,
                              GError **error)
{
  g_return_val_if_fail (op != NULL, NULL);

  const CleaveOp *record = cleave_op_lookup (op);

  g_return_val_if_fail (record == &cleave_op_global_average_pool ||
                            record == &cleave_op_global_max_pool ||
                            record == &cleave_op_global_lp_pool,
                        NULL);
  return cleave_build (graph, record, name, &x, 1, attrs, error);
}
