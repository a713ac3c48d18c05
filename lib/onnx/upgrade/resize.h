/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Types of the upgrade of Resize from opset 18 on. resize-18.c reads the node into these structs;
 * resize-weights.c builds the forms that our op record cannot express. */

#include "contrib.h"

/* The scale and the extent of each dimension of the result. */
typedef struct
{
  guint rank;
  gboolean is_known;   /* scales or sizes are constant, one for each dimension */
  gboolean has_sizes;  /* sizes are given, not scales */
  gboolean is_rounded; /* an extent of the result is not floor (extent * scale) */
  float scale[CLEAVE_MAX_RANK];
  gint64 from[CLEAVE_MAX_RANK], to[CLEAVE_MAX_RANK];
} CleaveOnnxResizeTarget;

typedef struct
{
  CleaveResizeAttrs attrs;
  gboolean is_symmetric; /* mode half_pixel_symmetric, which the op record lacks */
  gboolean is_smooth;    /* attribute antialias */
} CleaveOnnxResize;

/* Sets the node's value, computed by Gathers, products with weights and sums. Returns FALSE on
 * error. */
gboolean cleave_onnx_resample (CleaveOnnxNode *node,
                               const CleaveOnnxResize *settings,
                               const CleaveOnnxResizeTarget *target,
                               GError **error);
