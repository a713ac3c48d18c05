/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions that pick windows, images and stacks of matrices for random convolutions and products.
 * random-ops-conv.c, random-ops-quantized.c and other generators of random nodes call these
 * functions. The functions of random-pick.h pick single numbers, element types and tensor types. */

#include "random-pick.h"

static inline CleaveInts
pick_ints (GRand *rand, guint n, gint32 min, gint32 max)
{
  CleaveInts ints = { .n = pick (rand, 0, 2) == 0
                               ? 0
                               : n }; /* 0: the attribute is absent and has its default */

  for (guint i = 0; i < ints.n; i++)
    ints.v[i] = pick (rand, min, max);
  return ints;
}

static inline gint64
at (const CleaveInts *ints, guint i, gint64 fallback)
{
  return ints->n == 0 ? fallback : ints->v[i];
}

static inline CleaveResult *
add_shaped (CleaveGraph *graph, const char *name, CleaveElement element, const CleaveShape *shape)
{
  CleaveTensorType type = { element, *shape };

  return cleave_graph_add_input (graph, name, &type, NULL);
}

/* Returns the shape of images in this layout: `n` images, `c` channels, and the spatial extents. */
static inline CleaveShape
image_shape (CleaveLayout layout, gint64 n, gint64 c, const gint64 *spatial, guint n_spatial)
{
  CleaveShape shape = { .rank = n_spatial + 2 };

  shape.dim[0] = n;
  shape.dim[layout == CLEAVE_LAYOUT_NHWC ? n_spatial + 1 : 1] = c;
  for (guint i = 0; i < n_spatial; i++)
    shape.dim[(layout == CLEAVE_LAYOUT_NHWC ? 1 : 2) + i] = spatial[i];
  return shape;
}

/* Returns an extent that is large enough for a window with these pads. `reach` is the extent of the
 * window with its dilations. */
static inline gint64
pick_extent (GRand *rand, gint64 reach, gint64 pads)
{
  return MAX (reach - pads, 1) + pick (rand, 0, 5);
}

/* Returns the shape of an operand: some of the batch dimensions, each with its extent in `batch` or
 * with extent 1, and then the matrix. */
static inline CleaveShape
pick_stack (GRand *rand, const CleaveInts *batch, gint64 rows, gint64 columns)
{
  CleaveShape shape = { 0 };
  guint skip = (guint) pick (rand, 0, (gint32) batch->n);

  for (guint i = skip; i < batch->n; i++)
    shape.dim[shape.rank++] = pick (rand, 0, 3) == 0 ? 1 : batch->v[i];
  shape.dim[shape.rank++] = rows;
  shape.dim[shape.rank++] = columns;
  return shape;
}
