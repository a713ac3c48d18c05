/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A convolution or a product of integers: the common form of TfliteConv, QLinearConv, QLinearMatMul
 * and the transposed convolutions. */

#include "op-help.h"

/* The ways in which a sum becomes an element of the result. */
typedef enum {
  CLEAVE_BUNDLE_SCALE_FIXED, /* 32 bits: cleave_scale() in kernels/cleave-kernels.h */
  CLEAVE_BUNDLE_SCALE_WIDE,  /* 64 bits: a multiplier of 16 bits, then a right shift */
  CLEAVE_BUNDLE_SCALE_FLOAT, /* the multiplier has the bits of a float */
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
