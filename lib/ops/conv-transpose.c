/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ConvTranspose, in 1 to 6 spatial dimensions.
 *
 * Operand element i times tap k of the kernel is added to result element i * stride + k * dilation
 * - pad.
 *
 * Order of the sum of one result element: the bias, or +0; then the taps in row-major order,
 * without taps for which there is no operand element. For each tap, the input channels of the group
 * follow in order, with one fused multiply-add each (products.h). */

#include "conv-transpose.h"

enum { X, W, B };

/* Returns the shape of the weights, [I, O / group, KH, KW]. */
static const CleaveShape *
shape_of_weights (const CleaveCall *call)
{
  return &call->operands[cleave_conv_weights (call)].shape;
}

static guint
init_windows (const CleaveCall *call, CleaveWindow *windows)
{
  const CleaveConvTransposeAttrs *a = call->attrs;
  CleaveDims dims = cleave_call_dims (call);

  cleave_windows_init (windows, dims.n_spatial, call->operands[X].shape.dim + dims.h,
                       shape_of_weights (call)->dim + 2, &a->strides, &a->dilations, &a->pads);
  return dims.n_spatial;
}

static gboolean
check_attrs (const CleaveConvTransposeAttrs *a, guint n, GError **error)
{
  if (!cleave_window_check_lists (&a->strides, &a->dilations, &a->pads, n, error) ||
      !cleave_window_check_list (&a->output_padding, n, "output_padding", error))
    return FALSE;
  for (guint i = 0; i < a->output_padding.n; i++)
    {
      gint64 limit = MAX (cleave_ints_at (&a->strides, i, 1), cleave_ints_at (&a->dilations, i, 1));

      if (a->output_padding.v[i] >= limit)
        return cleave_fail (
            error, CLEAVE_ERROR_ATTRIBUTE,
            "output_padding must be less than the stride or the dilation, %" G_GINT64_FORMAT
            ", not %" G_GINT64_FORMAT,
            limit, a->output_padding.v[i]);
    }
  return TRUE;
}

/* Checks channels and groups, and sets `n_out` to the number of channels of the result. */
static gboolean
check_channels (const CleaveCall *call, gint64 *n_out, GError **error)
{
  const CleaveConvTransposeAttrs *a = call->attrs;
  const CleaveShape *w = shape_of_weights (call);
  gint64 channels = call->operands[X].shape.dim[cleave_call_dims (call).c];

  if (w->dim[0] < 1 || w->dim[1] < 1 || __builtin_mul_overflow (w->dim[1], a->group, n_out))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "W has no channels, or too many");
  if (w->dim[0] != channels || channels % a->group != 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "W expects %" G_GINT64_FORMAT " channels in %" G_GINT64_FORMAT
                        " groups, X has %" G_GINT64_FORMAT,
                        w->dim[0], a->group, channels);
  return TRUE;
}

/* Sets `extent` to the extent of the result for n elements of X, not counting pads and
 * output_padding. Returns FALSE if the extent overflows. */
static gboolean
full_extent (const CleaveWindow *w, gint64 n, gint64 *extent)
{
  return !__builtin_mul_overflow (n - 1, w->stride, extent) &&
         !__builtin_add_overflow (*extent, cleave_window_reach (w), extent);
}

static gboolean
infer_extent (
    const CleaveCall *call, const CleaveWindow *w, guint i, gint64 *extent, GError **error)
{
  const CleaveConvTransposeAttrs *a = call->attrs;

  if (w->kernel < 1 || w->kernel > CLEAVE_WINDOW_MAX)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the kernel has extent %" G_GINT64_FORMAT " in spatial dimension %u",
                        w->kernel, i);
  if (w->extent < 1)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "X is empty in spatial dimension %u", i);
  if (!full_extent (w, w->extent, extent) ||
      __builtin_add_overflow (*extent, cleave_ints_at (&a->output_padding, i, 0), extent))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the extent of spatial dimension %u does not fit 64 bits", i);
  if (*extent <= w->pad_begin + w->pad_end)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "pads remove all %" G_GINT64_FORMAT " elements of spatial dimension %u",
                        *extent, i);
  *extent -= w->pad_begin + w->pad_end;
  return TRUE;
}

gboolean
cleave_conv_transpose_infer (const CleaveCall *call, CleaveTensorType *y, GError **error)
{
  guint rank = call->operands[X].shape.rank;
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  if (!cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) ||
      !cleave_call_check_rank (call, cleave_conv_weights (call), rank, rank, error) ||
      !check_attrs (call->attrs, dims.n_spatial, error))
    return FALSE;
  *y = call->operands[X];
  if (!check_channels (call, &y->shape.dim[dims.c], error))
    return FALSE;
  init_windows (call, windows);
  for (guint i = 0; i < dims.n_spatial; i++)
    if (!infer_extent (call, &windows[i], i, &y->shape.dim[dims.h + i], error))
      return FALSE;
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  CleaveElement element = call->operands[X].element;

  return cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) &&
         cleave_call_check_same_element (call, X, W, error) &&
         (!cleave_call_has (call, B) || cleave_call_check_same_element (call, X, B, error)) &&
         cleave_conv_transpose_infer (call, &results[0], error) &&
         cleave_conv_check_bias (call, B, element, results[0].shape.dim[cleave_call_dims (call).c],
                                 error);
}

/* Sets the maps of an operand. Element o of the result reads elements (o + pad - dilation * (kernel
 * - 1)) / stride to (o + pad) / stride of X. */
void
cleave_conv_transpose_maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveConvTransposeAttrs *a = call->attrs;
  const CleaveShape *w = shape_of_weights (call);
  CleaveDims dims = cleave_call_dims (call);
  CleaveDimMap channels = cleave_dim_map_groups (dims.c, w->dim[1], w->dim[0] / a->group);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  if (operand != X)
    {
      map[0] = channels;
      map[1] = a->group == 1 ? cleave_dim_map_same (dims.c) : cleave_dim_map_whole (w->dim[1]);
      for (guint d = 2; d < w->rank; d++)
        map[d] = cleave_dim_map_whole (w->dim[d]);
      return;
    }

  map[dims.n] = cleave_dim_map_same (dims.n);
  map[dims.c] = channels;
  init_windows (call, windows);
  for (guint i = 0; i < dims.n_spatial; i++)
    {
      gint64 back = (cleave_window_reach (&windows[i]) - 1) / windows[i].stride;

      map[dims.h + i] = (CleaveDimMap){ .from = dims.h + i,
                                        .shift = windows[i].pad_begin,
                                        .block = windows[i].stride,
                                        .stride = 1,
                                        .offset = -back,
                                        .window = back + 1,
                                        .times = 1 };
    }
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  if (operand == B)
    map[0] = cleave_dim_map_same (cleave_call_dims (call).c);
  else
    cleave_conv_transpose_maps (call, operand, map);
}

static gboolean
narrow_groups (const CleaveCall *call, CleaveSpan c, gint64 *group, GString *why)
{
  gint64 block = shape_of_weights (call)->dim[1];

  if (*group == 1)
    return TRUE;
  if (c.begin % block != 0 || c.end % block != 0)
    return cleave_refuse (why,
                          "chunk [%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                          ") straddles groups of %" G_GINT64_FORMAT
                          " channels: it must be made of whole ones",
                          c.begin, c.end, block);
  *group = (c.end - c.begin) / block;
  return TRUE;
}

gboolean
cleave_conv_transpose_narrow (const CleaveCall *call,
                              const CleaveChunk *chunk,
                              gpointer attrs,
                              GString *why)
{
  CleaveConvTransposeAttrs *a = attrs;
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];

  if (!narrow_groups (call, chunk->range.dim[dims.c], &a->group, why))
    return FALSE;
  init_windows (call, windows);
  a->pads = (CleaveInts){ .n = 2 * dims.n_spatial };
  a->output_padding = (CleaveInts){ .n = dims.n_spatial };
  for (guint i = 0; i < dims.n_spatial; i++)
    {
      CleaveSpan out = chunk->range.dim[dims.h + i], in = chunk->slices[X].range.dim[dims.h + i];
      gint64 pad = windows[i].pad_begin + out.begin - windows[i].stride * in.begin;
      gint64 full =
          windows[i].stride * (in.end - in.begin - 1) + cleave_window_reach (&windows[i]) - pad;

      a->pads.v[i] = pad;
      a->pads.v[dims.n_spatial + i] = MAX (full - (out.end - out.begin), 0);
      a->output_padding.v[i] = MAX (out.end - out.begin - full, 0);
    }
  return TRUE;
}

/* Products are counted exactly for at most this many taps in a dimension. A hostile file could have
 * more taps, and the count would take long. */
#define MAX_TAPS (1 << 16)

/* Returns the number of products in one spatial dimension: the number of pairs of an element of X
 * and a tap whose product is added to an element of the result. */
static gint64
count_pairs (const CleaveWindow *w, gint64 extent)
{
  gint64 n = 0;

  if (w->kernel > MAX_TAPS)
    return cleave_saturated_mul (w->extent, w->kernel);
  for (gint64 k = 0; k < w->kernel; k++)
    {
      gint64 shift = w->pad_begin - k * w->dilation;
      gint64 first = shift <= 0 ? 0 : (shift + w->stride - 1) / w->stride;
      gint64 last = shift + extent - 1;

      last = last < 0 ? -1 : MIN (last / w->stride, w->extent - 1);
      n += MAX (last - first + 1, 0);
    }
  return n;
}

/* Returns the number of multiply-accumulates, without the products that the pads crop. So the
 * numbers of all pieces add up to the number of the whole node. */
gint64
cleave_conv_transpose_macs (const CleaveCall *call)
{
  const CleaveShape *x = &call->operands[X].shape;
  CleaveDims dims = cleave_call_dims (call);
  CleaveWindow windows[CLEAVE_MAX_RANK];
  gint64 n =
      cleave_saturated_mul (x->dim[dims.n] * x->dim[dims.c], shape_of_weights (call)->dim[1]);

  init_windows (call, windows);
  for (guint i = 0; i < dims.n_spatial; i++)
    n = cleave_saturated_mul (n, count_pairs (&windows[i], call->results[0].shape.dim[dims.h + i]));
  return n;
}

/* The depthwise kernel computes at most this many phases. A phase is a set of result elements whose
 * indices are equal modulo the strides. A hostile file could have more phases. */
#define MAX_PHASES 256

/* Returns whether the depthwise kernel can compute the call. Each group must have one channel. In
 * each dimension, each phase must have a tap, so the stride must be at most the extent of the
 * kernel. */
static gboolean
is_depthwise (const CleaveCall *call)
{
  const CleaveConvTransposeAttrs *a = call->attrs;
  const CleaveShape *w = &call->operands[W].shape;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  gint64 n_phases = 1;

  init_windows (call, windows);
  for (guint i = 0; i < w->rank - 2; i++)
    {
      if (windows[i].dilation != 1 || windows[i].stride > windows[i].kernel ||
          windows[i].stride > MAX_PHASES || windows[i].pad_begin < 0)
        return FALSE;
      n_phases *= windows[i].stride;
    }
  return w->dim[0] == a->group && w->dim[1] == 1 && a->group > 1 && w->rank <= 5 &&
         n_phases <= MAX_PHASES;
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, is_depthwise (call) ? CLEAVE_KERNEL_GROUPED_CONV
                                                            : CLEAVE_KERNEL_CONV_TRANSPOSE);
}

CleaveConvWalk
cleave_conv_transpose_init_walk (const CleaveCall *call)
{
  const CleaveConvTransposeAttrs *a = call->attrs;
  const CleaveShape *w = shape_of_weights (call);
  CleaveConvWalk walk = { .dims = cleave_call_dims (call),
                          .n_in = w->dim[0] / a->group,
                          .n_out = w->dim[1],
                          .is_transposed = TRUE };

  init_windows (call, walk.windows);
  return walk;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveConvWalk walk = cleave_conv_transpose_init_walk (call);

  cleave_conv_compute (call, &walk, operands, &results[0]);
}

static const CleaveAttr attrs_table[] = {
  CLEAVE_LAYOUT_ATTR (CleaveConvTransposeAttrs),
  { "group", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveConvTransposeAttrs, group), .fallback = 1,
    CLEAVE_AT_LEAST (1) },
  CLEAVE_WINDOW_ATTRS (CleaveConvTransposeAttrs),
  { "output_padding", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveConvTransposeAttrs, output_padding),
    CLEAVE_AT_LEAST (0) },
  { 0 },
};

const CleaveOp cleave_op_conv_transpose = {
  .name = "ConvTranspose",
  .operands = (const char *const[]){ "X", "W", "B", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveConvTransposeAttrs),
  .attrs = attrs_table,
  .infer = infer,
  .maps = maps,
  .narrow = cleave_conv_transpose_narrow,
  .layout = cleave_call_letters,
  .macs = cleave_conv_transpose_macs,
  .kernel = kernel,
  .compute = compute,
};

gboolean
cleave_conv_is_transposed (const CleaveCall *call)
{
  return call->op == &cleave_op_conv_transpose;
}
