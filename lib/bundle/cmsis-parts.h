/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The files that select functions of CMSIS-NN (cmsis.h):
 *
 *   cmsis.c         the table of functions, and element-wise functions
 *   cmsis-conv.c    convolutions
 *   cmsis-window.c  windows and poolings
 *
 * A function check…() returns whether a call computes the bits of the node, and sets
 * `context_bytes`. A function print…() appends the constants of the call. */

#include "cmsis.h"
#include "op-conv.h"

/* The most bits that CMSIS-NN can shift to the right. */
#define CLEAVE_BUNDLE_CMSIS_MAX_SHIFT 30

/* A call of CMSIS-NN. */
typedef struct
{
  const CleaveNode *node;
  CleaveBundleImage x, y; /* images of operand 0 and of the result */
  CleaveBundleConv conv;  /* for a convolution: its weights and constants */
  gint32 *shifts;         /* for a convolution, indexed by channel of the result */
  gint64 context_bytes;
} CleaveBundleCmsisCall;

/* A window that slides over images. The arrays are indexed by dimension: rows, columns. */
typedef struct
{
  gint64 kernel[2], stride[2], dilation[2], pad[2];
} CleaveBundleWindow;

/* Makes a window of `n` dimensions, which has the extents `kernel`. */
CleaveBundleWindow cleave_bundle_cmsis_window (const gint64 *kernel,
                                               guint n,
                                               const CleaveInts *strides,
                                               const CleaveInts *dilations,
                                               const CleaveInts *pads);
/* Returns the padding after the last row (`d` is 0) or the last column (`d` is 1). The result is
 * negative if no window reads the last row or column. */
gint64 cleave_bundle_cmsis_end_pad (const CleaveBundleCmsisCall *call,
                                    const CleaveBundleWindow *window,
                                    guint d);
/* Returns whether each window has an element that is not padding. */
gboolean cleave_bundle_cmsis_has_few_pads (const CleaveBundleCmsisCall *call,
                                           const CleaveBundleWindow *window);
/* Appends the initializer of the field `name`, a cmsis_nn_tile. `v` has a number for rows and a
 * number for columns. */
void cleave_bundle_cmsis_print_tile (const char *name, const gint64 *v, GString *fields);
/* Appends the initializer of the field `name`, a cmsis_nn_dims. */
void cleave_bundle_cmsis_print_dims (
    const char *name, gint64 n, gint64 rows, gint64 columns, gint64 channels, GString *fields);
/* Appends the fields x and y: the extents of operand 0 and of the result. */
void cleave_bundle_cmsis_print_images (const CleaveBundleCmsisCall *call, GString *fields);

gboolean cleave_bundle_cmsis_check_product (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer);
void cleave_bundle_cmsis_print_product (const CleaveBundleCmsisCall *call,
                                        CleaveBundleLayer *layer,
                                        GString *fields);
gboolean cleave_bundle_cmsis_check_conv (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer);
void cleave_bundle_cmsis_print_conv (const CleaveBundleCmsisCall *call,
                                     CleaveBundleLayer *layer,
                                     GString *fields);
gboolean cleave_bundle_cmsis_check_depthwise (CleaveBundleCmsisCall *call,
                                              CleaveBundleLayer *layer);
void cleave_bundle_cmsis_print_depthwise (const CleaveBundleCmsisCall *call,
                                          CleaveBundleLayer *layer,
                                          GString *fields);
gboolean cleave_bundle_cmsis_check_max_pool (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer);
void cleave_bundle_cmsis_print_max_pool (const CleaveBundleCmsisCall *call,
                                         CleaveBundleLayer *layer,
                                         GString *fields);
gboolean cleave_bundle_cmsis_check_average_pool (CleaveBundleCmsisCall *call,
                                                 CleaveBundleLayer *layer);
void cleave_bundle_cmsis_print_average_pool (const CleaveBundleCmsisCall *call,
                                             CleaveBundleLayer *layer,
                                             GString *fields);
