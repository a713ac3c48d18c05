/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Helpers of the records of ops (op.h). */

#include "op.h"

/* Sets an error that names the node. Returns FALSE. */
gboolean cleave_bundle_fail (const CleaveNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Fails unless operands first … end - 1 are constant or absent. The error calls these operands
 * `names`, such as "weights and scales". */
gboolean cleave_bundle_need_constants (
    const CleaveNode *node, guint first, guint end, const char *names, GError **error);

/* Returns element `i` of a constant operand of integers; its only element if it has one; 0 if the
 * operand is absent. */
gint64 cleave_bundle_integer (const CleaveNode *node, guint operand, gint64 i);

/* Appends the fields of a CleaveSlide as an initializer. `kernel` is indexed by spatial dimension.
 * Fails if a stride, dilation, kernel size or pad does not fit its field, or if x has more than two
 * spatial dimensions. */
gboolean cleave_bundle_print_slide (const CleaveNode *node,
                                    const gint64 *kernel,
                                    const CleaveInts *strides,
                                    const CleaveInts *dilations,
                                    const CleaveInts *pads,
                                    CleaveBundleLayer *layer,
                                    GString *fields,
                                    GError **error);

/* Converts a shift of lib/ops/fixed-point.h to the shift of cleave_scale() in
 * kernels/cleave-kernels.h. */
gint cleave_bundle_shift (gint64 shift);
/* Fails if a multiplier is negative: cleave_scale() would round its product wrongly. */
gboolean cleave_bundle_check_multiplier (const CleaveNode *node, gint64 multiplier, GError **error);

/* Fails unless an operand has this element type. */
gboolean cleave_bundle_need_element (const CleaveNode *node,
                                     guint operand,
                                     CleaveElement element,
                                     GError **error);

/* Appends the C initializer of the CleaveRepeat of an operand, which is broadcast to result 0. */
gboolean cleave_bundle_print_operand (const CleaveNode *node,
                                      guint operand,
                                      CleaveBundleLayer *layer,
                                      GString *fields,
                                      GError **error);
/* Lets the result overwrite each variable operand with the same shape and size of elements. */
void cleave_bundle_set_in_place_if_same (const CleaveNode *node, CleaveBundleLayer *layer);

/* Returns a new tensor of int32 with the shape of operand 0. */
CleaveTensor *cleave_bundle_new_integers (const CleaveNode *node);
/* Runs the reference code of an op that moves elements, with `x` in place of operand 0, to find
 * which element of operand 0 each element of the result copies. The other operands must be
 * constant. Returns the result, which has int32, too. */
CleaveTensor *cleave_bundle_run_on (const CleaveNode *node, const CleaveTensor *x);

/* Describes a node that copies elements. For each dimension, a table maps the index in the result
 * to the index in operand 0. */
gboolean
cleave_bundle_describe_move (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Describes a node that copies elements in an order of nested loops, such as a permutation of all
 * dimensions of a batch. */
gboolean
cleave_bundle_describe_reorder (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Describes a MatMul of two variables. */
gboolean
cleave_bundle_describe_product (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Describes a Resize with linear or cubic interpolation. */
gboolean
cleave_bundle_describe_linear (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Appends a float as a C constant with its exact value. */
void cleave_bundle_print_float (float value, GString *fields);

/* Describes a node that maps each byte of its operand to a byte by a table of 256 entries. */
gboolean
cleave_bundle_describe_table (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Describes a pooling of float32 with a kernel that takes a CleavePoolF32. */
gboolean cleave_bundle_describe_float_pool (const CleaveNode *node,
                                            const char *file,
                                            const char *kernel,
                                            CleaveBundleLayer *layer,
                                            GError **error);
