/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Convolution except for its arithmetic: types, maps, pieces and the walk over windows. Conv,
 * QLinearConv, ConvInteger and ConvTranspose share it.
 *
 * The attributes are CleaveConvAttrs. X is operand 0, [N, I, H, W]. The weights, [O, I / group, KH,
 * KW], are the operand with the name W or w. */

#include "window.h"

extern const CleaveAttr cleave_conv_attrs[];
extern const CleaveAttr cleave_quantized_conv_attrs[]; /* the attributes without `winograd` */

guint cleave_conv_weights (const CleaveCall *call);
/* Checks that weights [O, I / group, …] match the number of channels of X. */
gboolean
cleave_conv_check_channels (const CleaveShape *w, gint64 group, gint64 channels, GError **error);
/* Infers the shape of the result. Its element type is set to the element type of X. */
gboolean cleave_conv_infer (const CleaveCall *call, CleaveTensorType *y, GError **error);
/* Checks the bias, if present: it has this element type, and one element for each channel of the
 * result. */
gboolean cleave_conv_check_bias (
    const CleaveCall *call, guint bias, CleaveElement element, gint64 channels, GError **error);
/* Sets the maps of X and W. Any other operand, such as the bias, is mapped by the channels of the
 * result. */
void cleave_conv_maps (const CleaveCall *call, guint operand, CleaveDimMap *map);
/* Sets `group` to the number of groups in a span of channels of the result. Groups have `block`
 * channels. The span must be inside one group, or begin and end between groups; otherwise refuses.
 */
gboolean cleave_conv_narrow_groups (CleaveSpan channels, gint64 block, gint64 *group, GString *why);
/* Sets pads and group of a piece; refuses a chunk as cleave_conv_narrow_groups() does. */
gboolean
cleave_conv_narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why);
/* Returns whether each group has one input channel, and there are one or two spatial dimensions.
 * FALSE if X has a single channel and the result has many, since a matrix product is then faster.
 * The bits are the same in both cases. */
gboolean cleave_conv_is_depthwise (const CleaveCall *call);
/* Returns whether the call is a ConvTranspose. */
gboolean cleave_conv_is_transposed (const CleaveCall *call);
/* Returns the number of multiply-accumulates. Counts also the multiply-accumulates with padding,
 * as is usual. */
gint64 cleave_conv_macs (const CleaveCall *call);

/* The arithmetic: functions that compute one element of the result. `self` is their state. */
typedef struct
{
  void (*begin) (gpointer self, gint64 channel); /* begins a sum of this result channel */
  /* Adds the products of one tap that is no padding: n channels of X and W, with these strides in
   * elements. */
  void (*add) (
      gpointer self, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n);
  void (*end) (gpointer self, gpointer y);
} CleaveConvSteps;

/* Winograd's algorithm F(2x2, 3x3). */

/* Returns whether the attributes ask for Winograd's algorithm. */
gboolean cleave_conv_is_winograd (const CleaveCall *call);
/* Returns whether Winograd's algorithm can compute a call. */
gboolean cleave_conv_could_be_winograd (const CleaveCall *call);
/* Returns whether Winograd's algorithm is estimated to be faster. The operands need not be checked.
 */
gboolean cleave_conv_pays_winograd (const CleaveCall *call);
/* Fails if the attributes ask for Winograd's algorithm and it cannot compute the call. */
gboolean cleave_conv_check_winograd (const CleaveCall *call, GError **error);
/* Sets the phases of a piece, so that its tiles are tiles of the whole node. */
void cleave_conv_narrow_winograd (const CleaveCall *call,
                                  const CleaveRange *chunk,
                                  CleaveConvAttrs *attrs);
void cleave_conv_compute_winograd (const CleaveCall *call,
                                   const CleaveView *operands,
                                   const CleaveView *y);

/* The state of a walk over a convolution. If it is transposed, the weights are [I, O / group, KH,
 * KW], and windows are placed on the result instead of X. */
typedef struct
{
  CleaveDims dims;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  gint64 n_in, n_out; /* numbers of channels of a group, in X and in the result */
  gboolean is_transposed;
} CleaveConvWalk;

CleaveConvWalk cleave_conv_init_walk (const CleaveCall *call);
/* Computes each element of the result with `steps`: adds the taps of the kernel in row-major order.
 */
void cleave_conv_walk (const CleaveConvWalk *walk,
                       const CleaveView *x,
                       const CleaveView *w,
                       const CleaveView *y,
                       const CleaveConvSteps *steps,
                       gpointer self);
/* Computes a convolution of floats: operands are X, W, and the bias, which may be absent. */
void cleave_conv_compute (const CleaveCall *call,
                          const CleaveConvWalk *walk,
                          const CleaveView *operands,
                          const CleaveView *y);
