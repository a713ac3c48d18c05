/* SPDX-License-Identifier: GPL-2.0-or-later */

/* GridSample, opset 16: each element of the result is taken from where a grid says.  N, C, and both
 * dimensions of the grid split at will; of X all rows and columns are needed.
 *
 * Order: rows of taps, then columns, each weight the product of the two, in double; rounded once.
 */

#include "build.h"
#include "grid-taps.h"
#include "reference.h"

enum { X, GRID };

static const char *const mode_names[] = { "bilinear", "nearest", "bicubic", NULL };
static const char *const padding_names[] = { "zeros", "border", "reflection", NULL };

static const CleaveAttr attr_table[] = {
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveGridSampleAttrs, mode), .names = mode_names },
  { "padding_mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveGridSampleAttrs, padding_mode),
    .names = padding_names },
  { "align_corners", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveGridSampleAttrs, align_corners) },
  { 0 },
};

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveShape *x = &call->operands[X].shape, *grid = &call->operands[GRID].shape;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_element (call, GRID, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, X, 4, 4, error) ||
      !cleave_call_check_rank (call, GRID, 4, 4, error))
    return FALSE;
  if (grid->dim[0] != x->dim[0] || grid->dim[3] != 2)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "grid must be %" G_GINT64_FORMAT "xHxWx2, not %" G_GINT64_FORMAT
                        "xHxWx%" G_GINT64_FORMAT,
                        x->dim[0], grid->dim[0], grid->dim[3]);
  if (x->dim[2] == 0 || x->dim[3] == 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "X has no rows or no columns");
  results[0] =
      CLEAVE_TYPE (call->operands[X].element, x->dim[0], x->dim[1], grid->dim[1], grid->dim[2]);
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *x = &call->operands[X].shape;

  map[0] = cleave_dim_map_same (0);
  map[1] = cleave_dim_map_same (operand == X ? 1 : 2);
  map[2] = operand == X ? cleave_dim_map_whole (x->dim[2]) : cleave_dim_map_same (3);
  map[3] = cleave_dim_map_whole (operand == X ? x->dim[3] : 2);
}

static const char *
layout (const CleaveCall *call)
{
  return cleave_layout_letters (CLEAVE_LAYOUT_NCHW, 4);
}

static double
work (const CleaveCall *call)
{
  const CleaveGridSampleAttrs *a = call->attrs;
  double taps = a->mode == CLEAVE_GRID_BICUBIC ? 16 : 4;

  return taps * (double) cleave_shape_n_elements (&call->results[0].shape);
}

/* The element of one channel whose taps these are. */
static double
sample (const CleaveView *x,
        gint64 channel,
        const CleaveGridTaps *rows,
        const CleaveGridTaps *columns)
{
  double sum = 0;

  for (guint i = 0; i < rows->n; i++)
    for (guint j = 0; j < columns->n; j++)
      if (cleave_grid_is_inside (rows->at[i], x->type.shape.dim[2]) &&
          cleave_grid_is_inside (columns->at[j], x->type.shape.dim[3]))
        sum += rows->weight[i] * columns->weight[j] *
               cleave_real_load (x->type.element,
                                 cleave_view_element (x, channel + rows->at[i] * x->stride[2] +
                                                             columns->at[j] * x->stride[3]));
  return sum;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *grid = &operands[GRID], *y = &results[0];
  CleaveShape places = { 3, { y->type.shape.dim[0], y->type.shape.dim[2], y->type.shape.dim[3] } };
  gint64 i[CLEAVE_MAX_RANK];

  for (gboolean more = cleave_index_first (&places, i); more; more = cleave_index_next (&places, i))
    {
      gint64 at = cleave_index_offset (3, i, grid->stride);
      double column = cleave_real_load (grid->type.element, cleave_view_element (grid, at));
      double row =
          cleave_real_load (grid->type.element, cleave_view_element (grid, at + grid->stride[3]));
      CleaveGridTaps rows = cleave_grid_taps (call->attrs, row, x->type.shape.dim[2]);
      CleaveGridTaps columns = cleave_grid_taps (call->attrs, column, x->type.shape.dim[3]);

      for (gint64 c = 0; c < y->type.shape.dim[1]; c++)
        cleave_real_store (y->type.element,
                           cleave_view_element (y, i[0] * y->stride[0] + c * y->stride[1] +
                                                       i[1] * y->stride[2] + i[2] * y->stride[3]),
                           sample (x, i[0] * x->stride[0] + c * x->stride[1], &rows, &columns));
    }
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_GRID_SAMPLE);
}

const CleaveOp cleave_op_grid_sample = {
  .name = "GridSample",
  .operands = (const char *const[]){ "X", "grid", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveGridSampleAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .work = work,
  .layout = layout,
  .kernel = kernel,
  .compute = compute,
};
