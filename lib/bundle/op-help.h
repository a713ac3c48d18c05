/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Helpers for the records of ops (op.h) in the files op-….c. Some functions check operands and set
 * an error; other functions print C initializers. Example: cleave_bundle_print_slide() appends
 * ".stride = { 2, 2 }, .kernel = { 3, 3 }, …". */

#include "op.h"

/* Sets an error that names the node. Returns FALSE. */
gboolean cleave_bundle_fail (const CleaveNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Fails unless operands first … end - 1 are constant or absent. The error calls these operands
 * `names`, such as "weights and scales". */
gboolean cleave_bundle_need_constants (
    const CleaveNode *node, guint first, guint end, const char *names, GError **error);

/* Returns element `i` of a constant operand of integers. If the operand has only one element,
 * returns that element; if the operand is absent, 0. */
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

/* Returns the shift for cleave_scale() in kernels/arithmetic.h that is equivalent to `shift`, a
 * shift for the functions in lib/ops/fixed-point.h. */
gint cleave_bundle_shift (gint64 shift);
/* Fails if a multiplier is negative, since cleave_scale() would round its product wrongly. */
gboolean cleave_bundle_check_multiplier (const CleaveNode *node, gint64 multiplier, GError **error);

/* Fails unless an operand has the element type `element`. */
gboolean cleave_bundle_need_element (const CleaveNode *node,
                                     guint operand,
                                     CleaveElement element,
                                     GError **error);

/* Appends the C initializer of a CleaveRepeat, which broadcasts an operand to the shape of result
 * 0. */
gboolean cleave_bundle_print_operand (const CleaveNode *node,
                                      guint operand,
                                      CleaveBundleLayer *layer,
                                      GString *fields,
                                      GError **error);
/* Lets the result overwrite each variable operand that has the shape and the element size of the
 * result. */
void cleave_bundle_set_in_place_if_same (const CleaveNode *node, CleaveBundleLayer *layer);

/* Returns a new tensor of int32 with the shape of operand 0. */
CleaveTensor *cleave_bundle_new_integers (const CleaveNode *node);
/* Runs the reference code of an op that moves elements, with `x` in place of operand 0. The other
 * operands must be constant. The result has the element type int32, as `x` has. If `x` contains the
 * numbers 0, 1, 2, …, each element of the result is the index of the element of operand 0 that the
 * op copies. */
CleaveTensor *cleave_bundle_run_on (const CleaveNode *node, const CleaveTensor *x);

/* Describes a node that copies elements and treats dimensions separately: for each dimension, a
 * table maps the index in the result to the index in operand 0. */
gboolean
cleave_bundle_describe_move (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Describes a node that copies elements in the order of nested loops, such as a Transpose that
 * moves the batch dimension. */
gboolean
cleave_bundle_describe_reorder (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Describes a MatMul of two operands that are both computed at run time. */
gboolean
cleave_bundle_describe_product (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Describes a QLinearMatMul of two operands that are both computed at run time. */
gboolean cleave_bundle_describe_product_of_bytes (const CleaveNode *node,
                                                  CleaveBundleLayer *layer,
                                                  GError **error);

/* Describes a Resize with linear or cubic interpolation. */
gboolean
cleave_bundle_describe_linear (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Appends a float as a C constant that has exactly its value. */
void cleave_bundle_print_float (float value, GString *fields);

/* Describes a node that maps each byte of its operand to a byte. The kernel uses a table of 256
 * entries. */
gboolean
cleave_bundle_describe_table (const CleaveNode *node, CleaveBundleLayer *layer, GError **error);

/* Returns whether a pooling has one row of windows, and each window covers all rows of the operand.
 */
gboolean cleave_bundle_pool_has_all_rows (const CleaveNode *node, const CleavePoolAttrs *a);

/* Describes a pooling of float32. The kernel in kernels/`file`.c takes a CleavePoolF32. */
gboolean cleave_bundle_describe_float_pool (const CleaveNode *node,
                                            const char *file,
                                            const char *kernel,
                                            CleaveBundleLayer *layer,
                                            GError **error);
