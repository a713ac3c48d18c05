/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Ops that pool over regions of images: RoiAlign and MaxRoiPool. Their records and kernels share
 * the maps and the reading of regions. Operand 0 is the batch of images. In each other operand,
 * each region has one row. */

#include "../ir/op.h"
#include "reference.h"

static inline gboolean
cleave_roi_check_images (const CleaveShape *x, GError **error)
{
  if (x->dim[0] == 0 || x->dim[2] == 0 || x->dim[3] == 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "X has no images, no rows or no columns");
  return TRUE;
}

/* Sets the maps. The result can be cut by regions and by channels. A region can read any image, row
 * and column. */
static inline void
cleave_roi_maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *shape = &call->operands[operand].shape;
  guint same = operand == 0 ? 1 : 0;

  for (guint d = 0; d < shape->rank; d++)
    map[d] = d == same ? cleave_dim_map_same (d) : cleave_dim_map_whole (shape->dim[d]);
}

/* Returns the number at index k in the row of region `roi`: for example, a coordinate of a
 * corner. */
static inline double
cleave_roi_load (const CleaveView *rois, gint64 roi, guint k)
{
  return cleave_real_load (rois->type.element,
                           cleave_view_element (rois, roi * rois->stride[0] + k * rois->stride[1]));
}
