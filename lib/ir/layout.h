/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-ops.h>

/* Which dimensions are N, C and spatial (h, h + 1, … up to n_spatial of them). */
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

/* The letters of the dimensions: "NCHW", "NHWC"; with one spatial dimension "NCW", with three
 * "NCDHW". */
const char *cleave_layout_letters (CleaveLayout layout, guint rank);
/* Names of the enum, for attribute tables. */
extern const char *const cleave_layout_names[];
