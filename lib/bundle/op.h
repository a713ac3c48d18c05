/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A bundle's record of an op: how to describe the C99 kernel of a node and the constants that it
 * reads. Each op that a bundle supports has one record, in a file op-….c of this folder. The
 * planner and the writers know no op by name. A kernel computes one row of a result
 * (kernels/cleave-kernels.h). The op's dimension maps determine the rows of the operands that this
 * row needs. */

#include "../ir/graph-private.h"

/* The kernel and the constants of one layer, which the functions below set. */
typedef struct _CleaveBundleLayer CleaveBundleLayer;

typedef struct
{
  const char *op; /* name of the op, as in CleaveOp: "TfliteConv" */
  /* Describes the layer that computes a node, by calling the functions below. Fails if a bundle
   * cannot compute this node; the error states why and what would help. */
  gboolean (*describe) (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);
} CleaveBundleOp;

/* Sets the kernel function, such as "cleave_conv_s8", which is in kernels/`file`.c. */
void
cleave_bundle_layer_set_kernel (CleaveBundleLayer *layer, const char *file, const char *kernel);
/* Sets the constants of the layer. `type` is the name of their C struct. `fields` is the C text of
 * its initializer, such as ".in_channels = 3, .stride = { 1, 1 }". */
void
cleave_bundle_layer_set_params (CleaveBundleLayer *layer, const char *type, const char *fields);
/* Adds a constant array. Returns the C expression that names it in the fields, such as "vww_a12";
 * the layer owns this string. Equal arrays are stored once. `type` is int8_t, int16_t, int32_t,
 * float and so on. The bytes have the order of this machine's memory. */
const char *cleave_bundle_layer_add_array (CleaveBundleLayer *layer,
                                           const char *type,
                                           gconstpointer data,
                                           gsize n_elements);
/* Lets rows of variable operand 0 be summed as soon as they are computed, so that only one of them
 * is in memory at a time. This is for a result of one row that needs each row of the operand once,
 * as a global pooling does. The sums are one row of `columns` pixels. `kernel`, with the layer's
 * constants, adds row `call->row` of the operand to the sums in `call->y`; for row 0, it sets the
 * sums. The layer's own kernel then reads the sums as the last row of the operand. */
void cleave_bundle_layer_set_sums (CleaveBundleLayer *layer,
                                   const char *kernel,
                                   gint64 columns,
                                   gsize pixel_bytes);
/* Lets the kernel write row r of the result over row r of variable operand `operand`. The kernel
 * must read each pixel of that row before it writes the same pixel, and must read no other row. */
void cleave_bundle_layer_set_in_place (CleaveBundleLayer *layer, guint operand);

/* Sets the zero point of a variable operand. `operand` is its index among the node's operands. */
void cleave_bundle_layer_set_zero (CleaveBundleLayer *layer, guint operand, gint64 zero);

/* Lets the kernel compute all images of a batch at once. For the kernel, each value is one image,
 * whose rows are the rows of all images, one image after the other. The kernel may read all rows of
 * its operands. */
void cleave_bundle_layer_set_folded (CleaveBundleLayer *layer);

/* Lets the kernel compute an image as one row, in which the rows follow each other. The kernel may
 * read the whole row of its operands. */
void cleave_bundle_layer_set_flat (CleaveBundleLayer *layer);

/* Compiles the bundle with CLEAVE_FLOAT_SCALES, since this layer has scales that are floats, as in
 * ONNX. */
void cleave_bundle_layer_set_float_scales (CleaveBundleLayer *layer);
/* Compiles the bundle with CLEAVE_WIDE, since a number of this layer does not fit the small types.
 */
void cleave_bundle_layer_set_wide (CleaveBundleLayer *layer);

/* Returns the values of a constant operand, dense and in row-major order of its logical shape; NULL
 * if the operand is absent. */
gconstpointer cleave_bundle_constant (const CleaveNode *node, guint operand);

/* A value as an image in memory: extents, and the dimensions to which they belong. */
typedef struct
{
  gint64 images, rows, columns, channels; /* products of the extents of one kind of dimension; 1 if
                                             the value has no such dimension */
  gint row_dim, column_dim, channel_dim;  /* logical dimensions; -1: none */
  gsize pixel_bytes;
} CleaveBundleImage;

/* Returns whether values of this rank have their channels in dimension 1, because a node of the
 * graph reads a value of this rank as images with channels first. */
gboolean cleave_bundle_has_channels_first (const CleaveGraph *graph, guint rank);
/* Returns the image of a value in memory, with channels innermost. */
CleaveBundleImage cleave_bundle_image (const CleaveResult *value);

/* Returns the offset of an element in the memory of a value, in elements. `image` is the result of
 * cleave_bundle_image() for the value, which takes time for each node of the graph. */
gint64
cleave_bundle_offset (const CleaveBundleImage *image, const CleaveShape *shape, const gint64 *at);

/* Returns the record of a node's op; NULL if a bundle cannot compute it. */
const CleaveBundleOp *cleave_bundle_op_find (const CleaveNode *node);
/* For an op whose operands are parts of its result (CLEAVE_OP_JOIN, such as Concat), each part is a
 * layer of its own. Returns the index of the layer's part among the node's operands. Variable
 * operand 0 is the part. Variable operand 1, which the first part lacks, is the result of the layer
 * of the part before, and should be marked in place. */
guint cleave_bundle_layer_get_part (const CleaveBundleLayer *layer);
