/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the upgrades of Resize since opset 18 share. */

#include "contrib.h"

/* The scale and the extent of each dimension of the result. */
typedef struct
{
  guint rank;
  gboolean is_known;   /* scales or sizes are constants, one for each dimension */
  gboolean has_sizes;  /* they are sizes */
  gboolean is_rounded; /* an extent is not the scaled one, rounded down */
  float scale[CLEAVE_MAX_RANK];
  gint64 from[CLEAVE_MAX_RANK], to[CLEAVE_MAX_RANK];
} CleaveOnnxResizeTarget;

typedef struct
{
  CleaveResizeAttrs attrs;
  gboolean is_symmetric; /* half_pixel_symmetric, which the record does not have */
  gboolean is_smooth;    /* antialias */
} CleaveOnnxResize;

/* Makes the node's value of Gathers, products with weights and sums. */
gboolean cleave_onnx_resample (CleaveOnnxNode *node,
                               const CleaveOnnxResize *settings,
                               const CleaveOnnxResizeTarget *target,
                               GError **error);
