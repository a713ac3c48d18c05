/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Everything about a convolution but its arithmetic: what Conv and its quantised kin share.
 *
 * The attributes are CleaveConvAttrs.  X is operand 0; `w` is the index of the weights, [O, I /
 * group, KH, KW]. */

#include "window.h"

extern const CleaveAttr cleave_conv_attrs[];

/* The shape of the result; its element type stays X's. */
gboolean cleave_conv_infer (const CleaveCall *call, guint w, CleaveTensorType *y, GError **error);
void cleave_conv_maps_x (const CleaveCall *call, guint w, CleaveDimMap *map);
void cleave_conv_maps_w (const CleaveCall *call, guint w, CleaveDimMap *map);
/* Sets pads and group; refuses a chunk that straddles groups. */
gboolean cleave_conv_narrow (const CleaveCall *call,
                             guint w,
                             const CleaveRange *chunk,
                             const CleaveSlice *slices,
                             CleaveConvAttrs *attrs,
                             GString *why);
const char *cleave_conv_layout (const CleaveCall *call);
/* Multiplications by padding included, as is usual. */
gint64 cleave_conv_macs (const CleaveCall *call, guint w);

/* The arithmetic: what is done for each element of the result. */
typedef struct
{
  void (*begin) (gpointer self, gint64 channel); /* of the result */
  /* One tap that is no padding: `n` input channels of X and of W, so far apart. */
  void (*add) (
      gpointer self, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n);
  void (*end) (gpointer self, gpointer y);
} CleaveConvSteps;

/* Goes through the elements of the result, and for each through the taps of the kernel in row-major
 * order. */
void cleave_conv_walk (const CleaveCall *call,
                       const CleaveView *x,
                       const CleaveView *w,
                       const CleaveView *y,
                       const CleaveConvSteps *steps,
                       gpointer self);
