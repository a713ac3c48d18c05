/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of a convolution without its arithmetic: types, maps, pieces and the walk over windows.
 * The records and reference kernels of Conv, QLinearConv and ConvInteger consist mostly of these
 * functions; conv-transpose.h and DeformConv use some of them. Fast kernels and bundles call only
 * the functions that return a property of a call, such as cleave_conv_is_depthwise().
 *
 * The attributes are CleaveConvAttrs. X is operand 0, [N, I, H, W]. The weights, [O, I / group, KH,
 * KW], are the operand with the name W or w. */

#include "window.h"

extern const CleaveAttr cleave_conv_attrs[];
/* the attributes of QLinearConv and ConvInteger: all attributes of Conv except `winograd` */
extern const CleaveAttr cleave_quantized_conv_attrs[];

guint cleave_conv_weights (const CleaveCall *call);
/* Checks that weights of shape `w`, [O, I / group, …], fit an X of `channels` channels. */
gboolean
cleave_conv_check_channels (const CleaveShape *w, gint64 group, gint64 channels, GError **error);
/* Infers the shape of the result, and sets its element type to the element type of X. */
gboolean cleave_conv_infer (const CleaveCall *call, CleaveTensorType *y, GError **error);
/* Checks operand number `bias`, if the call has this operand. The bias must have the element type
 * `element`, and `channels` elements: one for each channel of the result. */
gboolean cleave_conv_check_bias (
    const CleaveCall *call, guint bias, CleaveElement element, gint64 channels, GError **error);
/* Sets the maps of an operand. From X, a piece reads the windows of the elements that the piece
 * computes. From each other operand, it reads the indices in dimension 0 that are the computed
 * channels, and all other dimensions whole. */
void cleave_conv_maps (const CleaveCall *call, guint operand, CleaveDimMap *map);
/* Sets `group` to the number of groups that a span of channels of the result overlaps; each group
 * has `block` channels. Returns FALSE, and appends the reason to `why`, if the span has parts of
 * several groups: a span must lie in one group or consist of whole groups. */
gboolean cleave_conv_narrow_groups (CleaveSpan channels, gint64 block, gint64 *group, GString *why);
/* Sets the pads and the group of a piece. Refuses the chunks that cleave_conv_narrow_groups()
 * refuses. */
gboolean
cleave_conv_narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why);
/* Returns whether each group has one input channel, and there are one or two spatial dimensions.
 * Also returns FALSE if X has a single channel and the result at least 8 channels, since a matrix
 * product is then faster. The depthwise kernel and the matrix product compute the same bits. */
gboolean cleave_conv_is_depthwise (const CleaveCall *call);
/* Returns whether the call is a ConvTranspose. */
gboolean cleave_conv_is_transposed (const CleaveCall *call);
/* Returns the number of multiply-accumulates. As is usual, counts multiply-accumulates with
 * padding, too. */
gint64 cleave_conv_macs (const CleaveCall *call);

/* The arithmetic of a convolution: functions that compute one element of the result. `self` is the
 * state of these functions. */
typedef struct
{
  void (*begin) (gpointer self, gint64 channel); /* begins the sum of one element of the result, in
                                                  * channel `channel` */
  /* adds the products of one tap that is not padding: n channels of X, `x_stride` elements apart,
   * times n channels of W, `w_stride` elements apart */
  void (*add) (
      gpointer self, gconstpointer x, gint64 x_stride, gconstpointer w, gint64 w_stride, gint64 n);
  void (*end) (gpointer self, gpointer y);
} CleaveConvSteps;

/* The functions below are about Winograd's algorithm F(2x2, 3x3) (conv-winograd.c). */

/* Returns whether the attributes ask for Winograd's algorithm. */
gboolean cleave_conv_is_winograd (const CleaveCall *call);
/* Returns whether Winograd's algorithm can compute a call: 3x3 kernel, strides and dilations of 1.
 */
gboolean cleave_conv_could_be_winograd (const CleaveCall *call);
/* Returns whether Winograd's algorithm is estimated to be faster for a call. The operands of the
 * call may be unchecked. */
gboolean cleave_conv_pays_winograd (const CleaveCall *call);
/* Fails if the attributes ask for Winograd's algorithm, but the algorithm cannot compute the call.
 */
gboolean cleave_conv_check_winograd (const CleaveCall *call, GError **error);
/* Sets the phases of a piece (attribute `winograd`) so that its tiles are also tiles of the whole
 * node. */
void cleave_conv_narrow_winograd (const CleaveCall *call,
                                  const CleaveRange *chunk,
                                  CleaveConvAttrs *attrs);
void cleave_conv_compute_winograd (const CleaveCall *call,
                                   const CleaveView *operands,
                                   const CleaveView *y);

/* The state of a walk over the windows of a convolution. In a transposed convolution, the weights
 * are [I, O / group, KH, KW], and windows lie on the result instead of X. */
typedef struct
{
  CleaveDims dims;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  gint64 n_in, n_out; /* numbers of channels of a group: in X (`n_in`) and in the result (`n_out`)
                       */
  gboolean is_transposed;
} CleaveConvWalk;

CleaveConvWalk cleave_conv_init_walk (const CleaveCall *call);
/* Computes each element of the result with the functions `steps`: adds the taps of the kernel in
 * row-major order. */
void cleave_conv_walk (const CleaveConvWalk *walk,
                       const CleaveView *x,
                       const CleaveView *w,
                       const CleaveView *y,
                       const CleaveConvSteps *steps,
                       gpointer self);
/* Computes a convolution of floats. The operands are X, W, and the bias, which may be absent. */
void cleave_conv_compute (const CleaveCall *call,
                          const CleaveConvWalk *walk,
                          const CleaveView *operands,
                          const CleaveView *y);
