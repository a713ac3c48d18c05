/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The upgrade of Resize from opset 18 on. resize-18.c reads the node into these structs. If our op
 * record cannot express the node, resize-weights.c replaces the node by Gathers, Muls with weights,
 * and sums. */

#include "contrib.h"

/* For each dimension: the extent of the operand (`from`), the extent of the result (`to`), and the
 * scale. */
typedef struct
{
  guint rank;
  gboolean is_known;   /* whether exactly one of scales and sizes is constant, with a number for
                        * each dimension */
  gboolean has_sizes;  /* whether the node has sizes, not scales */
  gboolean is_rounded; /* whether an extent of the result is not floor (extent * scale) */
  float scale[CLEAVE_MAX_RANK];
  gint64 from[CLEAVE_MAX_RANK], to[CLEAVE_MAX_RANK];
} CleaveOnnxResizeTarget;

typedef struct
{
  CleaveResizeAttrs attrs;
  gboolean is_symmetric; /* whether the mode is half_pixel_symmetric, which the op record lacks */
  gboolean is_smooth;    /* whether the attribute antialias is set, which the op record lacks */
} CleaveOnnxResize;

/* Replaces the node by Gathers, Muls with weights, and sums, and sets the node's result. Returns
 * FALSE on error. */
gboolean cleave_onnx_resample (CleaveOnnxNode *node,
                               const CleaveOnnxResize *settings,
                               const CleaveOnnxResizeTarget *target,
                               GError **error);
