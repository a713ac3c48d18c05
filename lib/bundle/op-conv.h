/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The common form of convolutions and products of integers. op-conv-integer.c fills it for
 * TfliteConv, QLinearConv, QLinearMatMul and the transposed convolutions. Then op-conv.c describes
 * a fast kernel for int8, or op-conv-integer.c the kernel for all other cases
 * (kernels/conv-integer.c). */

#include "op-help.h"

/* The method by which a kernel scales a sum to an element of the result. */
typedef enum {
  CLEAVE_BUNDLE_SCALE_FIXED, /* a sum of 32 bits; cleave_scale() scales it (kernels/arithmetic.h) */
  CLEAVE_BUNDLE_SCALE_WIDE,  /* a sum of 64 bits; it is multiplied by a multiplier of 16 bits, then
                              * shifted right */
  CLEAVE_BUNDLE_SCALE_FLOAT, /* a sum of 32 bits; it is multiplied by a float, whose bits are stored
                              * as the multiplier */
} CleaveBundleScale;

typedef struct
{
  guint n_spatial; /* number of spatial dimensions; 0: a product of matrices, in which each row of A
                    * is a pixel */
  gint64 groups, in, out; /* number of groups, and number of channels of one group in x and in the
                           * result */
  gint64 kernel[2];       /* numbers of rows and columns of the kernel */
  CleaveInts strides, dilations, pads;
  gboolean is_transposed;
  CleaveElement x, y;
  gint16 *weights; /* weights minus their zero points, indexed by [channel of the result][channel of
                    * a group][tap] */
  gint64 *bias;    /* indexed by channel of the result */
  CleaveBundleScale scale;
  gint32 *multipliers; /* indexed by channel of the result */
  gint8 *shifts;
  gint64 x_zero, y_zero, min, max;
} CleaveBundleConv;

void cleave_bundle_conv_clear (CleaveBundleConv *conv);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveBundleConv, cleave_bundle_conv_clear)

/* Reads the operands and attributes of a TfliteConv. */
gboolean cleave_bundle_read_tflite_conv (const CleaveNode *node,
                                         CleaveBundleLayer *layer,
                                         CleaveBundleConv *conv,
                                         GError **error);
/* Returns whether all weights fit into int8. */
gboolean cleave_bundle_conv_fits_bytes (const CleaveBundleConv *conv);

/* Appends the fields of the CleaveSlide of a convolution or a product. */
gboolean cleave_bundle_print_conv_slide (const CleaveNode *node,
                                         const CleaveBundleConv *conv,
                                         CleaveBundleLayer *layer,
                                         GString *fields,
                                         GError **error);
/* Describes the layer for an int8 convolution: x, weights and result have 8 bits. The scale must
 * not be CLEAVE_BUNDLE_SCALE_WIDE, and the convolution not transposed. */
gboolean cleave_bundle_set_conv_s8 (const CleaveNode *node,
                                    const CleaveBundleConv *conv,
                                    CleaveBundleLayer *layer,
                                    GError **error);
