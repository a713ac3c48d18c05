/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A convolution or a product of integers: the common form of TfliteConv, QLinearConv, QLinearMatMul
 * and the transposed convolutions. */

#include "op-help.h"

/* The rules by which a kernel scales a sum to an element of the result. */
typedef enum {
  CLEAVE_BUNDLE_SCALE_FIXED, /* sum of 32 bits, scaled by cleave_scale() in kernels/cleave-kernels.h
                              */
  CLEAVE_BUNDLE_SCALE_WIDE,  /* sum of 64 bits, times a multiplier of 16 bits, then shifted right */
  CLEAVE_BUNDLE_SCALE_FLOAT, /* sum of 32 bits, times a float whose bits the multiplier has */
} CleaveBundleScale;

typedef struct
{
  guint n_spatial; /* number of spatial dimensions; 0: a product, in which each pixel is a row of
                      matrix A */
  gint64 groups, in, out; /* number of groups, and channels of a group in x and in the result */
  gint64 kernel[2];       /* numbers of rows and columns of taps */
  CleaveInts strides, dilations, pads;
  gboolean is_transposed;
  CleaveElement x, y;
  gint16 *weights; /* weights minus their zero points: [channel of the result][channel of a
                      group][tap] */
  gint64 *bias;    /* indexed by channel of the result */
  CleaveBundleScale scale;
  gint32 *multipliers; /* indexed by channel of the result */
  gint8 *shifts;
  gint64 x_zero, y_zero, min, max;
} CleaveBundleConv;

/* Appends the fields of the CleaveSlide of a convolution or a product. */
gboolean cleave_bundle_print_conv_slide (const CleaveNode *node,
                                         const CleaveBundleConv *conv,
                                         CleaveBundleLayer *layer,
                                         GString *fields,
                                         GError **error);
/* Describes the layer for x, weights and a result of int8. The scale must not be wide, and the
 * convolution not transposed. */
gboolean cleave_bundle_set_conv_s8 (const CleaveNode *node,
                                    const CleaveBundleConv *conv,
                                    CleaveBundleLayer *layer,
                                    GError **error);
