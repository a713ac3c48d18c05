/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The records of the ops that a bundle can compute. */

#include "op.h"

extern const CleaveBundleOp cleave_bundle_op_tflite_add;
extern const CleaveBundleOp cleave_bundle_op_tflite_sub;
extern const CleaveBundleOp cleave_bundle_op_tflite_mul;
extern const CleaveBundleOp cleave_bundle_op_tflite_conv;
extern const CleaveBundleOp cleave_bundle_op_pad;
extern const CleaveBundleOp cleave_bundle_op_slice;
extern const CleaveBundleOp cleave_bundle_op_tile;
extern const CleaveBundleOp cleave_bundle_op_expand;
extern const CleaveBundleOp cleave_bundle_op_resize;
extern const CleaveBundleOp cleave_bundle_op_concat;
extern const CleaveBundleOp cleave_bundle_op_transpose;
extern const CleaveBundleOp cleave_bundle_op_depth_to_space;
extern const CleaveBundleOp cleave_bundle_op_tflite_average_pool;
extern const CleaveBundleOp cleave_bundle_op_max_pool;
extern const CleaveBundleOp cleave_bundle_op_tflite_sum;
extern const CleaveBundleOp cleave_bundle_op_tflite_softmax;
extern const CleaveBundleOp cleave_bundle_op_tflite_lookup;
extern const CleaveBundleOp cleave_bundle_op_tflite_rescale;
extern const CleaveBundleOp cleave_bundle_op_tflite_quantize;
extern const CleaveBundleOp cleave_bundle_op_dequantize_linear;

/* Returns whether there is a record of an op. */
gboolean cleave_bundle_op_has (const char *op);
