/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The positions and names of the dimensions of image-like values. For an op whose attributes have a
 * layout (NCHW or NHWC), the functions return the indices of N, C, H and W. cleave_call_dims() of
 * op.h returns the indices for operand 0. */

#include <cleave/cleave-ops.h>

/* The indices of the batch dimension, the channels and the first spatial dimension, and the number
 * of spatial dimensions. Spatial dimensions follow each other. NHWC with rank 4: n 0, h 1, c 3,
 * n_spatial 2. */
typedef struct
{
  guint n, c, h, n_spatial;
} CleaveDims;

static inline CleaveDims
cleave_layout_dims (CleaveLayout layout, guint rank)
{
  if (layout == CLEAVE_LAYOUT_NHWC)
    return (CleaveDims){ .n = 0, .c = rank - 1, .h = 1, .n_spatial = rank - 2 };
  return (CleaveDims){ .n = 0, .c = 1, .h = 2, .n_spatial = rank - 2 };
}

/* Returns the dimension names as a string: "NCHW" or "NHWC" for rank 4, "NCW" for rank 3, "NCDHW"
 * for rank 5. Returns NULL for a rank of less than 2 or more than 5. */
const char *cleave_layout_letters (CleaveLayout layout, guint rank);
/* The names of CleaveLayout, for attribute tables; ends with NULL. */
extern const char *const cleave_layout_names[];
