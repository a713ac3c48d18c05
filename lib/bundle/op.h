/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A bundle's record of an op: its function selects the C99 kernel of a node, and describes the
 * constants that the kernel reads. Each op that a bundle supports has one record, in a file op-….c
 * of this folder. model.c calls this function; the planner and the writers know no op by name. A
 * kernel computes one row of a result (kernels/cleave-kernels.h). The op's dimension maps give the
 * rows of operands that the kernel needs. A variable operand is an operand that a run computes. */

#include "../ir/graph-private.h"

/* The kernel and the constants of one layer. The functions below set them. */
typedef struct _CleaveBundleLayer CleaveBundleLayer;

typedef struct
{
  const char *op; /* name of the op, as in CleaveOp: "TfliteConv" */
  /* Calls the functions below to set the kernel and the constants of the layer that computes
   * `node`. Fails if a bundle cannot compute this node; the error states why, and how to change the
   * model. */
  gboolean (*describe) (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);
} CleaveBundleOp;

/* Sets the kernel function, such as "cleave_conv_s8", which is defined in kernels/`file`.c. */
void
cleave_bundle_layer_set_kernel (CleaveBundleLayer *layer, const char *file, const char *kernel);
/* Sets the constants of the layer. `type` is the name of the kernel's C struct of constants.
 * `fields` is the C text of the struct's initializer, such as ".in_channels = 3, .stride = { 1, 1
 * }". */
void
cleave_bundle_layer_set_params (CleaveBundleLayer *layer, const char *type, const char *fields);
/* Adds a constant array. Returns the C expression with which the fields refer to the array, such as
 * "vww_a12"; the layer owns this string. Equal arrays are stored once. `type` is int8_t, int16_t,
 * int32_t, float and so on. The bytes have the byte order of this machine. */
const char *cleave_bundle_layer_add_array (CleaveBundleLayer *layer,
                                           const char *type,
                                           gconstpointer data,
                                           gsize n_elements);
/* Makes the layer add each row of variable operand 0 to running sums as soon as the row is
 * computed, so that only one row is in memory at a time. The result of the layer must have one row
 * that needs each row of the operand once, as in a global pooling.
 *
 * The running sums are one row of `columns` pixels. `kernel` adds row `call->row` of the operand to
 * the sums in `call->y`; for row 0, `kernel` sets the sums. `kernel` reads the constants of the
 * layer. After the last row, the kernel of cleave_bundle_layer_set_kernel() computes the result.
 * That kernel gets the sums as variable operand 0. If the summed operand has R rows, the kernel
 * reads the sums as row R - 1. */
void cleave_bundle_layer_set_sums (CleaveBundleLayer *layer,
                                   const char *kernel,
                                   gint64 columns,
                                   gsize pixel_bytes);
/* Lets the kernel write row r of the result over row r of variable operand `operand`. The kernel
 * must read each pixel of row r before it writes the same pixel, and must read no other row. */
void cleave_bundle_layer_set_in_place (CleaveBundleLayer *layer, guint operand);

/* Sets the zero point of a variable operand. `operand` is the operand's index among the node's
 * operands. */
void cleave_bundle_layer_set_zero (CleaveBundleLayer *layer, guint operand, gint64 zero);

/* Lets the kernel compute all images of a batch at once. The kernel then gets each value as one
 * image, which has the rows of all images, one image after the other. The step then requires every
 * operand as a whole, so the kernel can read any row of its operands. */
void cleave_bundle_layer_set_folded (CleaveBundleLayer *layer);

/* Lets the kernel compute a whole image at once, as one row of all its pixels in order. The step
 * then requires every operand as a whole, so the kernel can read any element of its operands. */
void cleave_bundle_layer_set_flat (CleaveBundleLayer *layer);

/* Makes the bundle define CLEAVE_FLOAT_SCALES, since the scales of this layer are floats, as in
 * ONNX. */
void cleave_bundle_layer_set_float_scales (CleaveBundleLayer *layer);
/* Makes the bundle define CLEAVE_FIXED_SCALES, since this layer is a convolution of int8 with
 * scales in fixed point, as in TensorFlow Lite. */
void cleave_bundle_layer_set_fixed_scales (CleaveBundleLayer *layer);
/* Makes the bundle define CLEAVE_SEPARATE_WEIGHTS, since the weights of this layer have the order
 * of kernels/dot-separate-s8.h. */
void cleave_bundle_layer_set_separate_weights (CleaveBundleLayer *layer);
/* Makes the bundle define CLEAVE_WIDE, since a number of this layer does not fit into the small
 * types of kernels/operands.h. */
void cleave_bundle_layer_set_wide (CleaveBundleLayer *layer);

/* Returns the elements of a constant operand, dense and in row-major order of its logical shape;
 * NULL if the operand is absent. */
gconstpointer cleave_bundle_constant (const CleaveNode *node, guint operand);

/* The layout of a value in memory as images: their extents, and which dimensions of the value are
 * their rows, columns and channels. */
typedef struct
{
  gint64 images, rows, columns, channels; /* number of images, rows, columns and channels: each is a
                                           * product of extents, or 1 if the value has no such
                                           * dimension */
  gint row_dim, column_dim, channel_dim;  /* logical dimensions of rows, columns and channels; -1:
                                           * none */
  gsize pixel_bytes;
} CleaveBundleImage;

/* The largest number of rows, columns or images: the tables of a bundle have fields of 16 bits. */
#define CLEAVE_BUNDLE_MAX_EXTENT 32767

/* Returns whether values with `rank` dimensions have their channels in dimension 1. This is so if a
 * node of the graph reads a value of this rank as images with channels first. */
gboolean cleave_bundle_has_channels_first (const CleaveGraph *graph, guint rank);
/* Returns the image of a value in memory, with channels innermost. */
CleaveBundleImage cleave_bundle_image (const CleaveResult *value);

/* Returns the offset of an element in the memory of a value, in elements. `image` is the result of
 * cleave_bundle_image() for the value. Call that function once for all elements, since it visits
 * each node of the graph. */
gint64
cleave_bundle_offset (const CleaveBundleImage *image, const CleaveShape *shape, const gint64 *at);

/* Returns the record of a node's op; NULL if a bundle cannot compute it. */
const CleaveBundleOp *cleave_bundle_op_find (const CleaveNode *node);
/* Returns which operand of a join (CLEAVE_OP_JOIN, such as Concat) this layer copies; a join has
 * one layer for each operand. If a run computes the copied operand, that operand is variable
 * operand 0 of the layer. Each layer but the first has one more variable operand, the last one: the
 * result of the previous layer, which this layer must overwrite
 * (cleave_bundle_layer_set_in_place()). */
guint cleave_bundle_layer_get_part (const CleaveBundleLayer *layer);
