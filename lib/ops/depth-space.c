/* SPDX-License-Identifier: GPL-2.0-or-later */

/* DepthToSpace turns f * f channels of a pixel into a block of f by f pixels. SpaceToDepth is the
 * inverse. Both ops have the layout NCHW, as in ONNX. */

#include "../ir/copy.h"
#include "move.h"

enum { N, C, H, W };

static const CleaveAttr depth_attrs[] = {
  { "blocksize", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDepthAttrs, blocksize), CLEAVE_AT_LEAST (1) },
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveDepthAttrs, mode),
    .names = (const char *const[]){ "DCR", "CRD", NULL } },
  { 0 },
};

static const CleaveAttr space_attrs[] = {
  { "blocksize", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDepthAttrs, blocksize), CLEAVE_AT_LEAST (1) },
  { 0 },
};

/* Copies blocks between two values of the same elements. The value `deep` has f * f times the
 * channels of `wide`, and `wide` has f times the rows and f times the columns of `deep`. */
static void
copy_squares (
    const CleaveView *deep, const CleaveView *wide, gboolean widens, gboolean crd, gint64 f)
{
  const gint64 *w = wide->stride, *x = deep->stride, *n = deep->type.shape.dim;
  gint64 c = n[C] / (f * f), channel = crd ? f * f : 1, square = crd ? 1 : c;
  const struct
  {
    gint64 n, wide, deep;
  } dims[] = { { n[N], w[N], x[N] },     { c, w[C], channel * x[C] },
               { n[H], f * w[H], x[H] }, { f, w[H], f * square * x[C] },
               { n[W], f * w[W], x[W] }, { f, w[W], square * x[C] } };
  CleaveCopyLoops loops = { .size = (gint64) cleave_element_size (deep->type.element) };

  for (guint i = 0; i < G_N_ELEMENTS (dims); i++)
    if (widens)
      cleave_copy_loops_add (&loops, dims[i].n, dims[i].wide, dims[i].deep);
    else
      cleave_copy_loops_add (&loops, dims[i].n, dims[i].deep, dims[i].wide);
  if (widens)
    cleave_copy_loops_run (&loops, wide->data, deep->data);
  else
    cleave_copy_loops_run (&loops, deep->data, wide->data);
}

/* The code below defines the op DepthToSpace. */

/* Computes a DepthToSpace in CRD order, one pixel at a time, if f is 2 and the channels of x and of
 * y are contiguous. Returns FALSE, and copies nothing, in all other cases. */
static gboolean
part_channels (const CleaveView *x, const CleaveView *y, gint64 f)
{
  const CleaveShape *shape = &x->type.shape;
  gint64 size = (gint64) cleave_element_size (x->type.element), n = shape->dim[C] / (f * f);

  if (x->stride[C] != 1 || y->stride[C] != 1 || f != 2)
    return FALSE;
  for (gint64 b = 0; b < shape->dim[N]; b++)
    for (gint64 h = 0; h < shape->dim[H]; h++)
      for (gint64 w = 0; w < shape->dim[W]; w++)
        {
          const char *from = (const char *) x->data +
                             (b * x->stride[N] + h * x->stride[H] + w * x->stride[W]) * size;
          char *first = (char *) y->data +
                        (b * y->stride[N] + 2 * h * y->stride[H] + 2 * w * y->stride[W]) * size;
          char *second = first + y->stride[H] * size;
          char *to[] = { first, first + y->stride[W] * size, second, second + y->stride[W] * size };

          if (!cleave_copy_part (to, from, n, 4, size))
            return FALSE;
        }
  return TRUE;
}

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

/* Sets the maps of DepthToSpace. In DCR order, the pixels of one channel of the result come from
 * channels of the operand that are far apart, so a piece reads all channels. */
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

  if (a->mode != CLEAVE_DEPTH_CRD || !part_channels (&operands[0], &results[0], a->blocksize))
    copy_squares (&operands[0], &results[0], TRUE, a->mode == CLEAVE_DEPTH_CRD, a->blocksize);
}

/* Fields that the records of DepthToSpace and SpaceToDepth share. */
#define SQUARES                                                                                    \
  .operands = (const char *const[]){ "input", NULL },                                              \
  .results = (const char *const[]){ "output", NULL }, .min_operands = 1,                           \
  .attrs_size = sizeof (CleaveDepthAttrs), .work = cleave_work_once, .layout = cleave_call_letters

const CleaveOp cleave_op_depth_to_space = {
  .name = "DepthToSpace",
  SQUARES,
  .attrs = depth_attrs,
  .infer = infer_depth,
  .maps = maps_depth,
  .kernel = cleave_move_kernel,
  .compute = compute_depth,
};

/* The code below defines SpaceToDepth, the inverse of DepthToSpace in DCR order. */

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
  const CleaveDepthAttrs *a = call->attrs;

  copy_squares (&results[0], &operands[0], FALSE, FALSE, a->blocksize);
}

const CleaveOp cleave_op_space_to_depth = {
  .name = "SpaceToDepth",
  SQUARES,
  .attrs = space_attrs,
  .infer = infer_space,
  .maps = maps_space,
  .kernel = cleave_move_kernel,
  .compute = compute_space,
};
