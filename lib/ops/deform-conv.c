/* SPDX-License-Identifier: GPL-2.0-or-later */

/* DeformConv, in 1 to 6 spatial dimensions: a convolution whose taps are moved by offsets.
 *
 * The value of a tap is interpolated linearly between the elements around its position, and
 * multiplied by its mask, in double. Elements outside of X are 0, and the value at a position that
 * is NaN is 0. The value is rounded to the element type. The order of a sum is the order of Conv:
 * the bias, or +0; then the taps in row-major order. For each tap, the channels of the group follow
 * in order, with one fused multiply-add each (products.h).
 *
 * An offset can point anywhere, so each piece reads all spatial dimensions of X. The pads of a
 * piece give the position of its chunk in the whole result. A begin pad is the node's begin pad
 * minus the chunk's begin times the stride, so the pad may be negative. */

#include "conv-parts.h"
#include "deform-taps.h"
#include "products.h"

enum {
  X = CLEAVE_DEFORM_X,
  W = CLEAVE_DEFORM_W,
  OFFSET = CLEAVE_DEFORM_OFFSET,
  B = CLEAVE_DEFORM_B,
  MASK = CLEAVE_DEFORM_MASK
};

/* The kernel holds at most this many sums and this many interpolated values on the stack, so it
 * computes channels in blocks of this size. */
#define MANY 64

static gint64
count_taps (const CleaveShape *w)
{
  gint64 n = 1;

  for (guint d = 2; d < w->rank; d++)
    n = cleave_saturated_mul (n, w->dim[d]);
  return n;
}

static gboolean
check_attrs (const CleaveDeformConvAttrs *a, guint n, GError **error)
{
  for (guint i = 0; i < a->pads.n; i++)
    if (a->pads.v[i] < -(gint64) CLEAVE_WINDOW_MAX)
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                          "pads has %" G_GINT64_FORMAT ", less than -%d", a->pads.v[i],
                          CLEAVE_WINDOW_MAX);
  return cleave_window_check_lists (&a->strides, &a->dilations, &a->pads, n, error);
}

static gboolean
check_operands (const CleaveCall *call, GError **error)
{
  guint rank = call->operands[X].shape.rank;

  for (guint i = W; i <= MASK; i++)
    if (cleave_call_has (call, i) && !cleave_call_check_same_element (call, X, i, error))
      return FALSE;
  return cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) &&
         cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) &&
         cleave_call_check_rank (call, W, rank, rank, error) &&
         cleave_call_check_rank (call, OFFSET, rank, rank, error) &&
         (!cleave_call_has (call, MASK) || cleave_call_check_rank (call, MASK, rank, rank, error));
}

static gboolean
check_channels (const CleaveCall *call, GError **error)
{
  const CleaveDeformConvAttrs *a = call->attrs;
  const CleaveShape *w = &call->operands[W].shape;
  gint64 channels = call->operands[X].shape.dim[1];

  if (!cleave_conv_check_channels (w, a->group, channels, error))
    return FALSE;
  if (channels % a->offset_group != 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "X has %" G_GINT64_FORMAT
                        " channels, not a multiple of offset_group %" G_GINT64_FORMAT,
                        channels, a->offset_group);
  return cleave_conv_check_bias (call, B, call->operands[X].element, w->dim[0], error);
}

/* Checks the shape of the offsets or of the mask (operand number `operand`). The operand must have
 * `each` channels for each tap of each offset group, and the spatial extents of the result. */
static gboolean
check_places (
    const CleaveCall *call, guint operand, gint64 each, const CleaveShape *y, GError **error)
{
  const CleaveDeformConvAttrs *a = call->attrs;
  const CleaveShape *own = &call->operands[operand].shape;
  CleaveShape wanted = *y;
  g_autofree char *want = NULL;
  g_autofree char *got = NULL;

  wanted.dim[1] = cleave_saturated_mul (
      a->offset_group, cleave_saturated_mul (each, count_taps (&call->operands[W].shape)));
  if (cleave_shape_equal (own, &wanted))
    return TRUE;
  want = cleave_shape_to_string (&wanted);
  got = cleave_shape_to_string (own);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "%s is %s, but should be %s",
                      call->op->operands[operand], got, want);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveShape *x = &call->operands[X].shape;
  CleaveTensorType y = call->operands[X];
  CleaveWindow windows[CLEAVE_MAX_RANK];

  if (!check_operands (call, error) || !check_attrs (call->attrs, x->rank - 2, error) ||
      !check_channels (call, error))
    return FALSE;
  cleave_deform_windows (call, windows);
  y.shape.dim[1] = call->operands[W].shape.dim[0];
  for (guint i = 0; i < x->rank - 2; i++)
    if (!cleave_window_count (&windows[i], i, FALSE, &y.shape.dim[2 + i], error))
      return FALSE;
  if (!check_places (call, OFFSET, x->rank - 2, &y.shape, error) ||
      (cleave_call_has (call, MASK) && !check_places (call, MASK, 1, &y.shape, error)))
    return FALSE;
  results[0] = y;
  return TRUE;
}

/* Returns the map of the channels of the offsets, or of the mask. This operand has `own` channels
 * for each offset group. The map needs all channels if neither the number of groups nor the number
 * of offset groups is a multiple of the other. In this case, narrow() refuses a chunk with only
 * some groups. */
static CleaveDimMap
map_offset_groups (const CleaveCall *call, gint64 own)
{
  const CleaveDeformConvAttrs *a = call->attrs;
  gint64 channels = call->operands[W].shape.dim[0];

  if (a->group % a->offset_group == 0)
    return cleave_dim_map_groups (1, channels / a->offset_group, own);
  if (a->offset_group % a->group == 0)
    return cleave_dim_map_groups (1, channels / a->group, a->offset_group / a->group * own);
  return cleave_dim_map_whole (a->offset_group * own);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveDeformConvAttrs *a = call->attrs;
  const CleaveShape *own = &call->operands[operand].shape, *w = &call->operands[W].shape;

  map[0] = cleave_dim_map_same (operand == W || operand == B ? 1 : 0);
  for (guint d = 1; d < own->rank; d++)
    map[d] = operand == OFFSET || operand == MASK ? cleave_dim_map_same (d)
                                                  : cleave_dim_map_whole (own->dim[d]);
  if (operand == X)
    map[1] = cleave_dim_map_groups (1, w->dim[0] / a->group, w->dim[1]);
  else if (operand == OFFSET || operand == MASK)
    map[1] = map_offset_groups (call, own->dim[1] / a->offset_group);
}

static gboolean
narrow_groups (
    const CleaveCall *call, CleaveSpan out, CleaveSpan in, CleaveDeformConvAttrs *a, GString *why)
{
  gint64 block = call->operands[W].shape.dim[0] / a->group, n_groups;
  gint64 shared = call->operands[X].shape.dim[1] / a->offset_group;

  if (!cleave_conv_narrow_groups (out, block, &n_groups, why))
    return FALSE;
  if (a->group % a->offset_group != 0 && a->offset_group % a->group != 0 && n_groups < a->group)
    return cleave_refuse (why, "groups and offset groups do not nest: channels must not be cut");
  a->group = n_groups;
  if (in.begin % shared == 0 && in.end % shared == 0)
    a->offset_group = (in.end - in.begin) / shared;
  else if (in.begin / shared == (in.end - 1) / shared)
    a->offset_group = 1;
  else
    return cleave_refuse (why,
                          "channels [%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                          ") of X straddle offset groups of %" G_GINT64_FORMAT,
                          in.begin, in.end, shared);
  return TRUE;
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveDeformConvAttrs *a = attrs;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  guint n = cleave_deform_windows (call, windows);

  if (!narrow_groups (call, chunk->range.dim[1], chunk->slices[X].range.dim[1], a, why))
    return FALSE;
  a->pads = (CleaveInts){ .n = 2 * n };
  for (guint i = 0; i < n; i++)
    {
      const CleaveWindow *w = &windows[i];
      CleaveSpan out = chunk->range.dim[2 + i];
      gboolean is_whole = out.end == call->results[0].shape.dim[2 + i];

      a->pads.v[i] = w->pad_begin - out.begin * w->stride;
      a->pads.v[n + i] =
          is_whole ? w->pad_end
                   : (out.end - 1) * w->stride + cleave_window_reach (w) - w->extent - w->pad_begin;
    }
  return TRUE;
}

static gint64
macs (const CleaveCall *call)
{
  const CleaveShape *w = &call->operands[W].shape;

  return cleave_saturated_mul (cleave_shape_n_elements (&call->results[0].shape),
                               cleave_saturated_mul (w->dim[1], count_taps (w)));
}

/* Writes the interpolated values of one tap to `values`, for n channels of X from channel `c` on.
 * `k` is the number of the tap in row-major order, and `tap` holds its index in each spatial
 * dimension of the window. */
static void
sample (const CleaveDeformWalk *walk,
        gint64 k,
        const gint64 *tap,
        gint64 c,
        gint64 n,
        CleaveView *values)
{
  const CleaveView *x = &walk->operands[X];
  gint64 group = -1;
  CleaveDeformAround around = { 0 };

  for (gint64 i = 0; i < n; i++)
    {
      double sum = 0;

      if ((c + i) / walk->shared != group)
        {
          group = (c + i) / walk->shared;
          cleave_deform_find_around (walk, k, tap, group, &around);
        }
      for (guint j = 0; j < around.n; j++)
        sum += around.weight[j] * cleave_deform_load (x, around.offset[j] + (c + i) * x->stride[1]);
      cleave_real_store (x->type.element, cleave_view_element (values, i), sum);
    }
}

/* Adds the products of all taps to the sums of `n_sums` result channels, from result channel `o`
 * on. These result channels belong to one group; this group reads the channels of X from channel
 * `first` on. */
static void
add_taps (const CleaveDeformWalk *walk, gint64 o, gint64 n_sums, gint64 first, CleaveSum *sums)
{
  const CleaveView *w = &walk->operands[W];
  const CleaveSumOps *ops = cleave_sum_ops (w->type.element);
  double room[MANY];
  CleaveView values = { .data = room, .type.element = w->type.element };
  CleaveShape taps = { .rank = walk->n };
  gint64 tap[CLEAVE_MAX_RANK], k = 0;

  for (guint i = 0; i < walk->n; i++)
    taps.dim[i] = walk->windows[i].kernel;
  for (gboolean more = cleave_index_first (&taps, tap); more;
       more = cleave_index_next (&taps, tap), k++)
    for (gint64 c = 0; c < walk->n_in; c += MANY)
      {
        gint64 n = MIN (walk->n_in - c, MANY);
        gint64 from =
            o * w->stride[0] + c * w->stride[1] + cleave_index_offset (walk->n, tap, w->stride + 2);

        sample (walk, k, tap, first + c, n, &values);
        for (gint64 i = 0; i < n_sums; i++)
          ops->add (&sums[i], room, 1, cleave_view_element (w, from + i * w->stride[0]),
                    w->stride[1], n);
      }
}

/* Computes all channels of the result at one position. */
static void
compute_place (const CleaveDeformWalk *walk, const CleaveView *b, const CleaveView *y, gint64 block)
{
  const CleaveSumOps *ops = cleave_sum_ops (y->type.element);
  gint64 to =
      walk->at[0] * y->stride[0] + cleave_index_offset (walk->n, walk->at + 2, y->stride + 2);
  CleaveSum sums[MANY];
  gint64 n;

  for (gint64 o = 0; o < y->type.shape.dim[1]; o += n)
    {
      n = MIN (block - o % block, MANY);
      for (gint64 i = 0; i < n; i++)
        ops->begin (&sums[i], b == NULL ? NULL : cleave_view_element (b, (o + i) * b->stride[0]));
      add_taps (walk, o, n, o / block * walk->n_in, sums);
      for (gint64 i = 0; i < n; i++)
        ops->end (&sums[i], cleave_view_element (y, to + (o + i) * y->stride[1]));
    }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveDeformConvAttrs *a = call->attrs;
  const CleaveView *y = &results[0];
  const CleaveShape *w = &operands[W].type.shape;
  CleaveShape places = y->type.shape;
  gint64 at[CLEAVE_MAX_RANK];
  CleaveDeformWalk walk = cleave_deform_walk (call, operands, at);

  places.dim[1] = MIN (places.dim[1], 1);
  CLEAVE_EACH_INDEX (at, &places)
    compute_place (&walk, cleave_call_has (call, B) ? &operands[B] : NULL, y, w->dim[0] / a->group);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return call->operands[X].element == CLEAVE_FLOAT32 ? CLEAVE_KERNEL_DEFORM_CONV
                                                     : CLEAVE_KERNEL_REFERENCE;
}

static guint
since (const CleaveCall *call)
{
  return 19;
}

static const CleaveAttr attr_table[] = {
  { "group", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDeformConvAttrs, group), .fallback = 1,
    CLEAVE_AT_LEAST (1) },
  { "offset_group", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDeformConvAttrs, offset_group),
    .fallback = 1, CLEAVE_AT_LEAST (1) },
  CLEAVE_STEPS_ATTR (CleaveDeformConvAttrs, strides),
  CLEAVE_STEPS_ATTR (CleaveDeformConvAttrs, dilations),
  { "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveDeformConvAttrs, pads),
    .flags = CLEAVE_ATTR_NOT_BELOW_0 },
  { 0 },
};

const CleaveOp cleave_op_deform_conv = {
  .name = "DeformConv",
  .operands = (const char *const[]){ "X", "W", "offset", "B", "mask", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 3,
  .attrs_size = sizeof (CleaveDeformConvAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .narrow = narrow,
  .layout = cleave_call_letters,
  .macs = macs,
  .kernel = kernel,
  .compute = compute,
  .since = since,
};
