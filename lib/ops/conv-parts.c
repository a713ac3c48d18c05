/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The parts of a convolution without its arithmetic: checks, maps, pieces and the walk over
 * windows. */

#include "conv-parts.h"
#include "products.h"
#include "reference.h"

enum { X };

guint
cleave_conv_weights (const CleaveCall *call)
{
  const char *const *names = call->op->operands;
  guint w = 1;

  while (g_ascii_strcasecmp (names[w], "w") != 0)
    w++;
  return w;
}

static const CleaveShape *
shape_of_weights (const CleaveCall *call)
{
  return &call->operands[cleave_conv_weights (call)].shape;
}

static void
init_windows (const CleaveCall *call, const CleaveShape *w, CleaveWindow *windows)
{
  const CleaveConvAttrs *a = call->attrs;
  CleaveDims dims = cleave_call_dims (call);

  cleave_windows_init (windows, dims.n_spatial, call->operands[X].shape.dim + dims.h, w->dim + 2,
                       &a->strides, &a->dilations, &a->pads);
}

gboolean
cleave_conv_check_channels (const CleaveShape *w, gint64 group, gint64 channels, GError **error)
{
  if (w->dim[0] < 1 || w->dim[1] < 1)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "W has no channels");
  if (w->dim[0] % group != 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "W has %" G_GINT64_FORMAT
                        " output channels, not a multiple of group %" G_GINT64_FORMAT,
                        w->dim[0], group);
  if (channels % group != 0 || channels / group != w->dim[1])
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "W expects %" G_GINT64_FORMAT " channels in each of %" G_GINT64_FORMAT
                        " groups, X has %" G_GINT64_FORMAT,
                        w->dim[1], group, channels);
  return TRUE;
}

gboolean
cleave_conv_infer (const CleaveCall *call, CleaveTensorType *y, GError **error)
{
  CleaveDims dims = cleave_call_dims (call);
  guint rank = call->operands[X].shape.rank;
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *weights = shape_of_weights (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  if (!cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) ||
      !cleave_call_check_rank (call, cleave_conv_weights (call), rank, rank, error) ||
      !cleave_window_check_lists (&a->strides, &a->dilations, &a->pads, dims.n_spatial, error) ||
      !cleave_conv_check_channels (weights, a->group, call->operands[X].shape.dim[dims.c], error))
    return FALSE;
  init_windows (call, weights, windows);
  *y = call->operands[X];
  y->shape.dim[dims.c] = weights->dim[0];
  for (guint i = 0; i < dims.n_spatial; i++)
    if (!cleave_window_count (&windows[i], i, FALSE, &y->shape.dim[dims.h + i], error))
      return FALSE;
  return TRUE;
}

gboolean
cleave_conv_check_bias (
    const CleaveCall *call, guint bias, CleaveElement element, gint64 channels, GError **error)
{
  if (!cleave_call_has (call, bias))
    return TRUE;
  if (!cleave_call_check_element (call, bias, CLEAVE_ELEMENT_BIT (element), error) ||
      !cleave_call_check_rank (call, bias, 1, 1, error))
    return FALSE;
  if (call->operands[bias].shape.dim[0] != channels)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "B has %" G_GINT64_FORMAT " elements, but W has %" G_GINT64_FORMAT
                        " output channels",
                        call->operands[bias].shape.dim[0], channels);
  return TRUE;
}

static void
maps_x (const CleaveCall *call, CleaveDimMap *map)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *weights = shape_of_weights (call);
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  map[dims.n] = cleave_dim_map_same (dims.n);
  map[dims.c] = cleave_dim_map_groups (dims.c, weights->dim[0] / a->group, weights->dim[1]);
  init_windows (call, weights, windows);
  for (guint i = 0; i < dims.n_spatial; i++)
    map[dims.h + i] = cleave_window_map (&windows[i], dims.h + i);
}

void
cleave_conv_maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *own = &call->operands[operand].shape;

  if (operand == X)
    {
      maps_x (call, map);
      return;
    }
  map[0] = cleave_dim_map_same (cleave_call_dims (call).c);
  for (guint d = 1; d < own->rank; d++)
    map[d] = cleave_dim_map_whole (own->dim[d]);
}

gboolean
cleave_conv_narrow_groups (CleaveSpan c, gint64 block, gint64 *group, GString *why)
{
  gint64 n_groups = (c.end - 1) / block - c.begin / block + 1;

  if (n_groups > 1 && (c.begin % block != 0 || c.end % block != 0))
    return cleave_refuse (why,
                          "chunk [%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                          ") straddles groups of %" G_GINT64_FORMAT
                          " channels: it must lie inside one, or be made of whole ones",
                          c.begin, c.end, block);
  *group = n_groups;
  return TRUE;
}

gboolean
cleave_conv_narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveConvAttrs *a = attrs;
  CleaveDims dims = cleave_call_dims (call);

  if (!cleave_conv_narrow_groups (chunk->range.dim[dims.c],
                                  shape_of_weights (call)->dim[0] / a->group, &a->group, why))
    return FALSE;
  cleave_pads_from_slice (&a->pads, dims.n_spatial, &chunk->slices[X], dims.h);
  return TRUE;
}

gboolean
cleave_conv_is_depthwise (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *weights = shape_of_weights (call);
  const gint64 many = 8;

  return weights->dim[1] == 1 && (a->group > 1 || weights->dim[0] < many) && weights->rank <= 4;
}

gint64
cleave_conv_macs (const CleaveCall *call)
{
  const CleaveShape *weights = shape_of_weights (call);
  gint64 n = cleave_shape_n_elements (&call->results[0].shape);

  for (guint d = 1; d < weights->rank; d++)
    n = cleave_saturated_mul (n, weights->dim[d]);
  return n;
}

/* Finds the element of X that a transposed convolution multiplies by tap `tap` for the result
 * element at `out`. Sets `offset` to the offset of this element, in elements, from spatial index 0
 * of X. Returns FALSE if X has no such element. */
static gboolean
find_source (const CleaveWindow *windows,
             guint n,
             const gint64 *out,
             const gint64 *tap,
             const gint64 *stride,
             gint64 *offset)
{
  *offset = 0;
  for (guint i = 0; i < n; i++)
    {
      const CleaveWindow *w = &windows[i];
      gint64 at = out[i] + w->pad_begin - tap[i] * w->dilation;

      if (at < 0 || at % w->stride != 0 || at / w->stride >= w->extent)
        return FALSE;
      *offset += at / w->stride * stride[i];
    }
  return TRUE;
}

/* Adds the products of all taps to the result element at `out`, an index in the spatial dimensions.
 * `x` and `w` are views that begin at the first channel that the result element reads. */
static void
add_taps (const CleaveConvWalk *walk,
          const gint64 *out,
          const CleaveView *x,
          const CleaveView *w,
          const CleaveConvSteps *steps,
          gpointer self)
{
  CleaveDims dims = walk->dims;
  CleaveShape taps = { .rank = dims.n_spatial };
  gint64 tap[CLEAVE_MAX_RANK], offset;

  for (guint i = 0; i < dims.n_spatial; i++)
    taps.dim[i] = walk->windows[i].kernel;
  CLEAVE_EACH_INDEX (tap, &taps)
    if ((walk->is_transposed ? find_source : cleave_window_tap) (walk->windows, dims.n_spatial, out,
                                                                 tap, x->stride + dims.h, &offset))
      steps->add (self, cleave_view_element (x, offset), x->stride[dims.c],
                  cleave_view_element (w, cleave_index_offset (taps.rank, tap, w->stride + 2)),
                  w->stride[walk->is_transposed ? 0 : 1], walk->n_in);
}

void
cleave_conv_walk (const CleaveConvWalk *walk,
                  const CleaveView *x,
                  const CleaveView *w,
                  const CleaveView *y,
                  const CleaveConvSteps *steps,
                  gpointer self)
{
  guint c = walk->dims.c, n = walk->dims.n;
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      gint64 o = at[c], first = o / walk->n_out * walk->n_in;
      CleaveView from = *x, weights = *w;

      from.data = cleave_view_element (x, at[n] * x->stride[n] + first * x->stride[c]);
      weights.data = cleave_view_element (
          w, walk->is_transposed ? first * w->stride[0] + o % walk->n_out * w->stride[1]
                                 : o * w->stride[0]);
      steps->begin (self, o);
      add_taps (walk, at + walk->dims.h, &from, &weights, steps, self);
      steps->end (self, cleave_view_at (y, at));
    }
}

CleaveConvWalk
cleave_conv_init_walk (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *w = shape_of_weights (call);
  CleaveConvWalk walk = { .dims = cleave_call_dims (call),
                          .n_in = w->dim[1],
                          .n_out = w->dim[0] / a->group };

  init_windows (call, w, walk.windows);
  return walk;
}

/* The state of a sum of floats (CleaveConvSteps). */
typedef struct
{
  const CleaveSumOps *ops;
  const CleaveView *bias; /* bias of each channel of the result; NULL: no bias */
  CleaveSum sum;
} State;

static void
begin (gpointer self, gint64 channel)
{
  State *s = self;

  s->ops->begin (&s->sum, s->bias == NULL ? NULL : cleave_view_at (s->bias, &channel));
}

static void
add (gpointer self, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n)
{
  State *s = self;

  s->ops->add (&s->sum, x, x_stride, w, w_stride, n);
}

static void
end (gpointer self, gpointer y)
{
  State *s = self;

  s->ops->end (&s->sum, y);
}

void
cleave_conv_compute (const CleaveCall *call,
                     const CleaveConvWalk *walk,
                     const CleaveView *operands,
                     const CleaveView *y)
{
  static const CleaveConvSteps steps = { begin, add, end };
  State state = { .ops = cleave_sum_ops (y->type.element),
                  .bias = cleave_call_has (call, 2) ? &operands[2] : NULL };

  cleave_conv_walk (walk, &operands[0], &operands[1], y, &steps, &state);
}

#define COMMON                                                                                     \
  CLEAVE_LAYOUT_ATTR (CleaveConvAttrs),                                                            \
      { "group", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveConvAttrs, group), .fallback = 1,            \
        CLEAVE_AT_LEAST (1) },                                                                     \
      CLEAVE_WINDOW_ATTRS (CleaveConvAttrs)
const CleaveAttr cleave_conv_attrs[] = {
  COMMON,
  { "winograd", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveConvAttrs, winograd), .fallback = -1,
    CLEAVE_AT_LEAST (-1), .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};
const CleaveAttr cleave_quantized_conv_attrs[] = { COMMON, { 0 } };
#undef COMMON
