/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Everything about a convolution but its arithmetic: what Conv and its quantised kin share.
 *
 * The attributes are CleaveConvAttrs.  X is operand 0; the weights, [O, I / group, KH, KW], are the
 * operand with the name W or w. */

#include "window.h"

extern const CleaveAttr cleave_conv_attrs[];
extern const CleaveAttr cleave_quantized_conv_attrs[]; /* without `winograd` */

guint cleave_conv_weights (const CleaveCall *call);
/* Whether weights, [O, I / group, …], are for so many channels of X. */
gboolean
cleave_conv_check_channels (const CleaveShape *w, gint64 group, gint64 channels, GError **error);
/* The shape of the result; its element type stays X's. */
gboolean cleave_conv_infer (const CleaveCall *call, CleaveTensorType *y, GError **error);
/* The bias, if there is one: a number of this element type for each channel of the result. */
gboolean cleave_conv_check_bias (
    const CleaveCall *call, guint bias, CleaveElement element, gint64 channels, GError **error);
/* Of X and W; what else an op reads goes by the channels of the result. */
void cleave_conv_maps (const CleaveCall *call, guint operand, CleaveDimMap *map);
/* The number of groups, of `block` channels each, in a span of channels of the result; refuses one
 * that straddles them. */
gboolean cleave_conv_narrow_groups (CleaveSpan channels, gint64 block, gint64 *group, GString *why);
/* Sets pads and group; refuses a chunk that straddles groups. */
gboolean
cleave_conv_narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why);
/* Each group has one input channel, in one or two spatial dimensions; but many channels from a
 * single one are a product.  The bits are the same. */
gboolean cleave_conv_is_depthwise (const CleaveCall *call);
/* Whether it is a ConvTranspose. */
gboolean cleave_conv_is_transposed (const CleaveCall *call);
/* Multiplications by padding included, as is usual. */
gint64 cleave_conv_macs (const CleaveCall *call);

/* The arithmetic: what is done for each element of the result. */
typedef struct
{
  void (*begin) (gpointer self, gint64 channel); /* of the result */
  /* One tap that is no padding: `n` input channels of X and of W, so far apart. */
  void (*add) (
      gpointer self, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n);
  void (*end) (gpointer self, gpointer y);
} CleaveConvSteps;

/* Winograd's F(2x2, 3x3): whether the attributes ask for it, whether it can be, and an error if it
 * is asked for in vain. */
gboolean cleave_conv_is_winograd (const CleaveCall *call);
gboolean cleave_conv_could_be_winograd (const CleaveCall *call);
/* Whether it is faster, of a call that may not fit its operands yet. */
gboolean cleave_conv_pays_winograd (const CleaveCall *call);
gboolean cleave_conv_check_winograd (const CleaveCall *call, GError **error);
/* Sets the phases of a chunk. */
void cleave_conv_narrow_winograd (const CleaveCall *call,
                                  const CleaveRange *chunk,
                                  CleaveConvAttrs *attrs);
void cleave_conv_compute_winograd (const CleaveCall *call,
                                   const CleaveView *operands,
                                   const CleaveView *y);

/* A convolution at work, or a transposed one: its weights are [I, O / group, KH, KW], and its taps
 * go from X to the result. */
typedef struct
{
  CleaveDims dims;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  gint64 n_in, n_out; /* channels of a group: of X, of the result */
  gboolean is_transposed;
} CleaveConvWalk;

CleaveConvWalk cleave_conv_init_walk (const CleaveCall *call);
/* Goes through the elements of the result, and for each through the taps of the kernel in row-major
 * order. */
void cleave_conv_walk (const CleaveConvWalk *walk,
                       const CleaveView *x,
                       const CleaveView *w,
                       const CleaveView *y,
                       const CleaveConvSteps *steps,
                       gpointer self);
/* The same with sums of floats, of X, W and a bias, which may be absent. */
void cleave_conv_compute (const CleaveCall *call,
                          const CleaveConvWalk *walk,
                          const CleaveView *operands,
                          const CleaveView *y);
