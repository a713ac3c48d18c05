/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The positions and names of dimensions, by layout and rank. */

#include "layout.h"

const char *const cleave_layout_names[] = { "NCHW", "NHWC", NULL };

const char *
cleave_layout_letters (CleaveLayout layout, guint rank)
{
  static const char *const letters[][CLEAVE_MAX_RANK + 1] = {
    { NULL, NULL, "NC", "NCW", "NCHW", "NCDHW" },
    { NULL, NULL, "NC", "NWC", "NHWC", "NDHWC" },
  };

  return rank <= 5 ? letters[layout][rank] : NULL;
}
