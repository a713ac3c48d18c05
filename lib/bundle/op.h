/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How a bundle computes an op: the kernel in C99 and the constants that it reads. Each op that a
 * bundle supports has one record, in a file op-….c of this folder; the planner and the writer know
 * no op by name. A kernel computes one row of a result (kernels/cleave-kernels.h). The dimension
 * maps of the op say which rows of the operands that row needs. */

#include "../ir/graph-private.h"

/* Collects the kernel and the constants of one layer. */
typedef struct _CleaveBundleLayer CleaveBundleLayer;

typedef struct
{
  const char *op; /* name of the op, as in CleaveOp: "TfliteConv" */
  /* Describes the layer that computes a node: calls the functions below. Fails if a bundle cannot
   * compute this node; the message says why and what would help. */
  gboolean (*describe) (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);
} CleaveBundleOp;

/* Sets the kernel function, such as "cleave_conv_s8", which is in kernels/`file`.c. */
void
cleave_bundle_layer_set_kernel (CleaveBundleLayer *layer, const char *file, const char *kernel);
/* Sets the constants of the layer: the name of their C struct, and the fields of its initializer as
 * C text, such as ".in_channels = 3, .stride = { 1, 1 }". */
void
cleave_bundle_layer_set_params (CleaveBundleLayer *layer, const char *type, const char *fields);
/* Adds a constant array and returns the C expression to name it in the fields, such as "vww_a12".
 * Equal arrays are stored once. `type` is int8_t, int16_t, int32_t, float …; the bytes are ordered
 * as in this machine's memory. The string belongs to the layer. */
const char *cleave_bundle_layer_add_array (CleaveBundleLayer *layer,
                                           const char *type,
                                           gconstpointer data,
                                           gsize n_elements);
/* Sums up the rows of variable operand 0 as they are computed, so that one of them at a time is in
 * memory. This is for a result of one row that needs each row of the operand once, such as the
 * result of a global pooling. The sums are one row of `columns` pixels. `kernel`, with the same
 * constants, adds row `call->row` of the operand to the sums in `call->y`; row 0 is the first one
 * and sets them. The kernel of the layer then reads the sums as the last row of the operand. */
void cleave_bundle_layer_set_sums (CleaveBundleLayer *layer,
                                   const char *kernel,
                                   gint64 columns,
                                   gsize pixel_bytes);
/* Lets the kernel write row r of the result over row r of variable operand `operand`. The kernel
 * reads each pixel of that row before it writes the same pixel, and reads no other row. */
void cleave_bundle_layer_set_in_place (CleaveBundleLayer *layer, guint operand);

/* Sets the zero point of a variable operand, given by its index among the operands of the node. */
void cleave_bundle_layer_set_zero (CleaveBundleLayer *layer, guint operand, gint64 zero);

/* Lets the kernel compute all images of a batch at once. To the kernel, each value is one image
 * whose rows are the rows of all images, one image after the other. It may read all rows of its
 * operands.
 */
void cleave_bundle_layer_set_folded (CleaveBundleLayer *layer);

/* Lets the kernel compute an image as one row. The rows follow each other, and the kernel may read
 * the whole row of its operands. */
void cleave_bundle_layer_set_flat (CleaveBundleLayer *layer);

/* Compiles the kernels with scales of ONNX, which are floats: CLEAVE_FLOAT_SCALES. */
void cleave_bundle_layer_set_float_scales (CleaveBundleLayer *layer);

/* Returns the values of a constant operand, dense and in the order of its logical shape, or NULL if
 * the operand is absent. */
gconstpointer cleave_bundle_constant (const CleaveNode *node, guint operand);

/* The dimensions of a value as an image in memory. */
typedef struct
{
  gint64 images, rows, columns, channels; /* products of extents; 1 if there is no such dimension */
  gint row_dim, column_dim, channel_dim;  /* logical dimensions; -1: none */
  gsize pixel_bytes;
} CleaveBundleImage;

/* Returns whether values of this rank have their channels in dimension 1: some node of the graph
 * reads a value of this rank as images with channels first. */
gboolean cleave_bundle_has_channels_first (const CleaveGraph *graph, guint rank);
/* Returns how a value lies in memory: channels innermost. */
CleaveBundleImage cleave_bundle_image (const CleaveResult *value);

/* Returns the place of an element in the memory of a value, counted in elements. `image` is the
 * cleave_bundle_image() of the value, which takes time for each node of the graph. */
gint64
cleave_bundle_offset (const CleaveBundleImage *image, const CleaveShape *shape, const gint64 *at);

/* Returns the record of a node's op, or NULL if a bundle cannot compute it. */
const CleaveBundleOp *cleave_bundle_op_find (const CleaveNode *node);
/* For an op whose operands are parts of its result (CLEAVE_OP_JOIN, such as Concat): each part is a
 * layer of its own. Variable operand 0 is the part; variable operand 1, which the first part lacks,
 * is the result of the layer of the part before, and should be marked in place. Returns the index
 * of the part among the operands of the node. */
guint cleave_bundle_layer_get_part (const CleaveBundleLayer *layer);
