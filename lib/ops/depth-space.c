/* SPDX-License-Identifier: GPL-2.0-or-later */

/* DepthToSpace and SpaceToDepth: f * f channels become squares of f by f pixels, and back.  Both
 * are NCHW, as in ONNX. */

#include "move.h"

enum { N, C, H, W };

static const char *const operand_names[] = { "input", NULL };
static const char *const result_names[] = { "output", NULL };
static const char *const mode_names[] = { "DCR", "CRD", NULL };

static const CleaveAttr depth_attrs[] = {
  { "blocksize", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDepthAttrs, blocksize), .minimum = 1,
    .has_minimum = TRUE },
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveDepthAttrs, mode), .names = mode_names },
  { 0 },
};

static const CleaveAttr space_attrs[] = {
  { "blocksize", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDepthAttrs, blocksize), .minimum = 1,
    .has_minimum = TRUE },
  { 0 },
};

static const char *
layout (const CleaveCall *call)
{
  return cleave_layout_letters (CLEAVE_LAYOUT_NCHW, 4);
}

/* The channel in which pixel (i, j) of each square lies, as an offset and a step per channel of the
 * deep side; `c` is the number of channels of the wide side. */
static CleaveView
deep_part (const CleaveView *deep, const CleaveDepthAttrs *a, gint64 c, gint64 i, gint64 j)
{
  gint64 f = a->blocksize;
  gboolean crd = a->mode == CLEAVE_DEPTH_CRD;
  gint64 first = crd ? i * f + j : (i * f + j) * c;
  CleaveView part = *deep;

  part.data = cleave_view_element (deep, first * deep->stride[C]);
  part.type.shape.dim[C] = c;
  part.stride[C] *= crd ? f * f : 1;
  return part;
}

/* Pixel (i, j) of each square. */
static CleaveView
wide_part (const CleaveView *wide, gint64 f, gint64 i, gint64 j)
{
  CleaveView part = *wide;

  part.data = cleave_view_element (wide, i * wide->stride[H] + j * wide->stride[W]);
  for (guint d = H; d <= W; d++)
    {
      part.type.shape.dim[d] /= f;
      part.stride[d] *= f;
    }
  return part;
}

/* DepthToSpace */

static gboolean
infer_depth (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveDepthAttrs *a = call->attrs;
  gint64 *y = results[0].shape.dim, area;

  if (!cleave_call_check_rank (call, 0, 4, 4, error))
    return FALSE;
  results[0] = call->operands[0];
  if (__builtin_mul_overflow (a->blocksize, a->blocksize, &area) || y[C] % area != 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "%" G_GINT64_FORMAT
                        " channels do not divide by the square of blocksize %" G_GINT64_FORMAT,
                        y[C], a->blocksize);
  y[C] /= area;
  if (__builtin_mul_overflow (y[H], a->blocksize, &y[H]) ||
      __builtin_mul_overflow (y[W], a->blocksize, &y[W]))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "the result does not fit 64 bits");
  return TRUE;
}

/* With DCR a channel's pixels come from all over the channels. */
static void
maps_depth (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveDepthAttrs *a = call->attrs;
  gint64 f = a->blocksize;

  map[N] = cleave_dim_map_same (N);
  map[C] = a->mode == CLEAVE_DEPTH_CRD || f == 1
               ? cleave_dim_map_groups (C, 1, f * f)
               : cleave_dim_map_whole (call->operands[0].shape.dim[C]);
  map[H] = cleave_dim_map_groups (H, f, 1);
  map[W] = cleave_dim_map_groups (W, f, 1);
}

static void
compute_depth (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveDepthAttrs *a = call->attrs;

  if (cleave_shape_n_elements (&results[0].type.shape) == 0)
    return;
  for (gint64 i = 0; i < a->blocksize; i++)
    for (gint64 j = 0; j < a->blocksize; j++)
      {
        CleaveView from = deep_part (&operands[0], a, results[0].type.shape.dim[C], i, j);
        CleaveView to = wide_part (&results[0], a->blocksize, i, j);

        cleave_view_copy (&to, &from);
      }
}

const CleaveOp cleave_op_depth_to_space = {
  .name = "DepthToSpace",
  .operands = operand_names,
  .results = result_names,
  .min_operands = 1,
  .attrs_size = sizeof (CleaveDepthAttrs),
  .attrs = depth_attrs,
  .infer = infer_depth,
  .maps = maps_depth,
  .work = cleave_work_once,
  .layout = layout,
  .compute = compute_depth,
};

/**
 * cleave_graph_add_depth_to_space:
 * @graph: the graph to add to
 * @name: (nullable): name of the node
 * @x: (transfer none): `[N, C * f * f, H, W]` where f is the blocksize
 * @attrs: blocksize, at least 1, and whether the squares (DCR) or the channels (CRD) come first in
 * a channel's number
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a rearrangement of channels into pixels:
 * [ONNX DepthToSpace](https://onnx.ai/onnx/operators/onnx__DepthToSpace.html).
 *
 * The result is `[N, C, H * f, W * f]`.  It can be split along N, along H and W at multiples of f,
 * and along C with the mode CRD.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if @x is not of this shape and with %CLEAVE_ERROR_ATTRIBUTE if the
 * blocksize is out of range; the graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 */
CleaveResult *
cleave_graph_add_depth_to_space (CleaveGraph *graph,
                                 const char *name,
                                 CleaveResult *x,
                                 const CleaveDepthAttrs *attrs,
                                 GError **error)
{
  return cleave_build (graph, &cleave_op_depth_to_space, name, &x, 1, attrs, error);
}

/* SpaceToDepth: DepthToSpace with DCR, backwards. */

static gboolean
infer_space (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveDepthAttrs *a = call->attrs;
  gint64 *y = results[0].shape.dim, area;

  if (!cleave_call_check_rank (call, 0, 4, 4, error))
    return FALSE;
  results[0] = call->operands[0];
  for (guint d = H; d <= W; d++)
    {
      if (y[d] % a->blocksize != 0)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "dimension %u has %" G_GINT64_FORMAT
                            ", which does not divide by blocksize %" G_GINT64_FORMAT,
                            d, y[d], a->blocksize);
      y[d] /= a->blocksize;
    }
  if (__builtin_mul_overflow (a->blocksize, a->blocksize, &area) ||
      __builtin_mul_overflow (y[C], area, &y[C]))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "the result does not fit 64 bits");
  return TRUE;
}

static void
maps_space (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveDepthAttrs *a = call->attrs;
  gint64 f = a->blocksize;

  map[N] = cleave_dim_map_same (N);
  map[C] = f == 1 ? cleave_dim_map_same (C) : cleave_dim_map_whole (call->operands[0].shape.dim[C]);
  map[H] = cleave_dim_map_groups (H, 1, f);
  map[W] = cleave_dim_map_groups (W, 1, f);
}

static void
compute_space (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveDepthAttrs a = *(const CleaveDepthAttrs *) call->attrs;

  a.mode = CLEAVE_DEPTH_DCR;
  if (cleave_shape_n_elements (&results[0].type.shape) == 0)
    return;
  for (gint64 i = 0; i < a.blocksize; i++)
    for (gint64 j = 0; j < a.blocksize; j++)
      {
        CleaveView from = wide_part (&operands[0], a.blocksize, i, j);
        CleaveView to = deep_part (&results[0], &a, operands[0].type.shape.dim[C], i, j);

        cleave_view_copy (&to, &from);
      }
}

const CleaveOp cleave_op_space_to_depth = {
  .name = "SpaceToDepth",
  .operands = operand_names,
  .results = result_names,
  .min_operands = 1,
  .attrs_size = sizeof (CleaveDepthAttrs),
  .attrs = space_attrs,
  .infer = infer_space,
  .maps = maps_space,
  .work = cleave_work_once,
  .layout = layout,
  .compute = compute_space,
};
