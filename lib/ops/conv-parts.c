/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "conv-parts.h"
#include "reference.h"

enum { X };

static CleaveDims
layout_dims (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;

  return cleave_layout_dims (a->layout, call->operands[X].shape.rank);
}

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
  CleaveDims dims = layout_dims (call);

  cleave_windows_init (windows, dims.n_spatial, call->operands[X].shape.dim + dims.h, w->dim + 2,
                       &a->strides, &a->dilations, &a->pads);
}

static gboolean
check_attrs (const CleaveConvAttrs *a, guint n, GError **error)
{
  return cleave_window_check_list (&a->strides, n, "strides", error) &&
         cleave_window_check_list (&a->dilations, n, "dilations", error) &&
         cleave_window_check_list (&a->pads, 2 * n, "pads", error);
}

gboolean
cleave_conv_check_channels (const CleaveShape *w, gint64 group, gint64 channels, GError **error)
{
  if (w->dim[0] < 1 || w->dim[1] < 1)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "W has no channels");
  if (w->dim[0] % group != 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "W makes %" G_GINT64_FORMAT
                        " channels, not a multiple of group %" G_GINT64_FORMAT,
                        w->dim[0], group);
  if (channels % group != 0 || channels / group != w->dim[1])
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "W wants %" G_GINT64_FORMAT " channels in each of %" G_GINT64_FORMAT
                        " groups, X has %" G_GINT64_FORMAT,
                        w->dim[1], group, channels);
  return TRUE;
}

gboolean
cleave_conv_infer (const CleaveCall *call, CleaveTensorType *y, GError **error)
{
  CleaveDims dims = layout_dims (call);
  guint rank = call->operands[X].shape.rank;
  const CleaveShape *weights = shape_of_weights (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  if (!cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) ||
      !cleave_call_check_rank (call, cleave_conv_weights (call), rank, rank, error) ||
      !check_attrs (call->attrs, dims.n_spatial, error) ||
      !cleave_conv_check_channels (weights, ((const CleaveConvAttrs *) call->attrs)->group,
                                   call->operands[X].shape.dim[dims.c], error))
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
cleave_conv_check_bias (const CleaveCall *call, guint bias, CleaveElement element, GError **error)
{
  gint64 channels = shape_of_weights (call)->dim[0];

  if (!cleave_call_has (call, bias))
    return TRUE;
  if (!cleave_call_check_element (call, bias, CLEAVE_ELEMENT_BIT (element), error) ||
      !cleave_call_check_rank (call, bias, 1, 1, error))
    return FALSE;
  if (call->operands[bias].shape.dim[0] != channels)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "B has %" G_GINT64_FORMAT " elements, W makes %" G_GINT64_FORMAT
                        " channels",
                        call->operands[bias].shape.dim[0], channels);
  return TRUE;
}

static void
maps_x (const CleaveCall *call, CleaveDimMap *map)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *weights = shape_of_weights (call);
  CleaveDims dims = layout_dims (call);
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
  map[0] = cleave_dim_map_same (layout_dims (call).c);
  for (guint d = 1; d < own->rank; d++)
    map[d] = cleave_dim_map_whole (own->dim[d]);
}

gboolean
cleave_conv_narrow (const CleaveCall *call,
                    const CleaveRange *chunk,
                    const CleaveSlice *slices,
                    gpointer attrs,
                    GString *why)
{
  CleaveConvAttrs *a = attrs;
  CleaveDims dims = layout_dims (call);
  CleaveSpan c = chunk->dim[dims.c];
  gint64 block = shape_of_weights (call)->dim[0] / a->group;
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

const char *
cleave_conv_layout (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;

  return cleave_layout_letters (a->layout, call->operands[X].shape.rank);
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

/* A convolution at work. */
typedef struct
{
  CleaveDims dims;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  const CleaveConvSteps *steps;
  gpointer self;
} Walk;

/* The taps of the result element at `out`, a place in the spatial dimensions; `x` and `w` begin
 * with the first channel that it reads. */
static void
add_taps (const Walk *walk, const gint64 *out, const CleaveView *x, const CleaveView *w)
{
  CleaveDims dims = walk->dims;
  CleaveShape taps = { .rank = dims.n_spatial };
  gint64 tap[CLEAVE_MAX_RANK], offset;

  for (guint i = 0; i < dims.n_spatial; i++)
    taps.dim[i] = walk->windows[i].kernel;
  for (gboolean more = cleave_index_first (&taps, tap); more; more = cleave_index_next (&taps, tap))
    if (cleave_window_tap (walk->windows, dims.n_spatial, out, tap, x->stride + dims.h, &offset))
      walk->steps->add (
          walk->self, cleave_view_element (x, offset), x->stride[dims.c],
          cleave_view_element (w, cleave_index_offset (taps.rank, tap, w->stride + 2)),
          w->stride[1], w->type.shape.dim[1]);
}

void
cleave_conv_walk (const CleaveCall *call,
                  const CleaveView *operands,
                  const CleaveView *y,
                  const CleaveConvSteps *steps,
                  gpointer self)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveView *x = &operands[X], *w = &operands[cleave_conv_weights (call)];
  Walk walk = { .dims = layout_dims (call), .steps = steps, .self = self };
  guint c = walk.dims.c, n = walk.dims.n;
  gint64 block = w->type.shape.dim[0] / a->group, n_in = w->type.shape.dim[1];
  gint64 at[CLEAVE_MAX_RANK];

  init_windows (call, &w->type.shape, walk.windows);
  for (gboolean more = cleave_index_first (&y->type.shape, at); more;
       more = cleave_index_next (&y->type.shape, at))
    {
      CleaveView from = *x, weights = *w;

      from.data =
          cleave_view_element (x, at[n] * x->stride[n] + at[c] / block * n_in * x->stride[c]);
      weights.data = cleave_view_element (w, at[c] * w->stride[0]);
      steps->begin (self, at[c]);
      add_taps (&walk, at + walk.dims.h, &from, &weights);
      steps->end (self, cleave_view_at (y, at));
    }
}

/* clang-format off */
#define FIELD(field) #field, .offset = G_STRUCT_OFFSET (CleaveConvAttrs, field)
#define COMMON \
  { FIELD (layout), .kind = CLEAVE_ATTR_ENUM, .names = cleave_layout_names, .flags = CLEAVE_ATTR_NOT_ONNX }, \
  { FIELD (group), .kind = CLEAVE_ATTR_INT, .fallback = 1, .minimum = 1, .has_minimum = TRUE }, \
  { FIELD (strides), .kind = CLEAVE_ATTR_INTS, .fallback = 1, .minimum = 1, .has_minimum = TRUE }, \
  { FIELD (dilations), .kind = CLEAVE_ATTR_INTS, .fallback = 1, .minimum = 1, .has_minimum = TRUE }, \
  { FIELD (pads), .kind = CLEAVE_ATTR_INTS, .has_minimum = TRUE }
const CleaveAttr cleave_conv_attrs[] = {
  COMMON,
  { FIELD (winograd), .kind = CLEAVE_ATTR_INTS, .fallback = -1, .minimum = -1, .has_minimum = TRUE, .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};
const CleaveAttr cleave_quantized_conv_attrs[] = { COMMON, { 0 } };
#undef COMMON
#undef FIELD
/* clang-format on */
