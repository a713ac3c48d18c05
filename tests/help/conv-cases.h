/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random convolutions for tests of fast kernels. The suites gemm-upcast-conv.c and integer-conv.c
 * draw a convolution, fill in its operands, and try it with cleave_try_instance() (site.h). */

#include "kernel-cases.h"

typedef struct
{
  CleaveTrySite instance;
  CleaveConvAttrs attrs;
  CleaveTensorType x, w;
  gint64 n_out;
} Conv;

/* Draws a small convolution of any kind: 1 to 3 dimensions, either layout, any memory order.
 * Occasionally windows read only padding, or a value is empty. */
static inline void
draw_conv (Conv *conv, GRand *rand, CleaveElement x, CleaveElement w)
{
  guint n = (guint) draw (rand, 1, 8) > 6 ? (guint) draw (rand, 1, 3) : 2;
  gint64 group_in = draw (rand, 1, g_rand_boolean (rand) ? 5 : 40);
  gint64 group_out = draw (rand, 1, g_rand_boolean (rand) ? 9 : 70);
  CleaveConvAttrs *a = &conv->attrs;
  gboolean nhwc = draw (rand, 1, 3) == 1;
  CleaveShape *from = &conv->x.shape, *by = &conv->w.shape;

  *conv = (Conv){ .instance = { .attrs = a } };
  a->layout = nhwc ? CLEAVE_LAYOUT_NHWC : CLEAVE_LAYOUT_NCHW;
  a->group = draw (rand, 1, 4) == 1 ? draw (rand, 2, 3) : 1;
  a->strides = draw_each (rand, n, 1, 3);
  a->dilations = g_rand_boolean (rand) ? draw_each (rand, n, 1, 1) : draw_each (rand, n, 1, 2);
  a->pads = draw (rand, 1, 3) == 1 ? draw_each (rand, 2 * n, 0, 0) : draw_each (rand, 2 * n, 0, 3);
  conv->n_out = a->group * group_out;
  conv->x = (CleaveTensorType){ x, { n + 2, { draw (rand, 1, 2) } } };
  conv->w = (CleaveTensorType){ w, { n + 2, { conv->n_out, group_in } } };
  from->dim[nhwc ? n + 1 : 1] = a->group * group_in;
  for (guint i = 0; i < n; i++)
    {
      gint64 *extent = &from->dim[(nhwc ? 1 : 2) + i];

      by->dim[2 + i] = draw (rand, 1, n == 3 ? 2 : 4);
      *extent = (by->dim[2 + i] - 1) * a->dilations.v[i] + draw (rand, 1, n == 3 ? 5 : 20);
      if (draw (rand, 1, 10) == 1)
        *extent =
            MAX ((by->dim[2 + i] - 1) * a->dilations.v[i] + 1 - a->pads.v[i] - a->pads.v[n + i], 0);
    }
  conv->instance.row_major = nhwc || draw (rand, 1, 6) == 1 ? 1 : 0;
  conv->instance.y_row_major = nhwc || draw (rand, 1, 6) == 1;
  conv->instance.gap = draw (rand, 0, 2);
  conv->instance.special = g_rand_boolean (rand);
}
