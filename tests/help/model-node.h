/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* ONNX models of one node, written as a line of a table. The suites tests/onnx/upgrade-*.c import
 * each model and compare the value of y. Example: the op "Relu" with the operand "~-1,2" (a float32
 * constant with the elements -1 and 2) has the result "2: 0 2" (the shape [2], and the elements 0
 * and 2). */

#include "models.h"

/* Returns a model whose output y is a result of `op` (or "domain:op"). `results` lists the results,
 * such as "y" or "- y". `specs` lists the operands, separated by blanks. Operands other than inputs
 * are constant:
 *
 *   1x2x3  float32 ones, made by a node        =1,2      int64 of rank 1     -  absent
 *   #2x3   float32 0, 1, 2, ...                ~1.5,2    float32 of rank 1
 *   ?2x3   a float32 input of the graph
 *
 * A suffix "@1x2" gives a list of numbers another shape. Constant operands may have the prefix "s:"
 * for a scalar, and then "b:", "u8:", "i8:", "u16:", "i16:", "i32:" or "i64:" for another element
 * type. An attribute is "size=3", "axes=1," (a list), "alpha=0.5" or "mode=cubic". */
Model *model_of_node (
    gint64 opset, const char *op, const char *specs, const char *attrs, const char *results);
/* Imports the model, in which y must become a constant. Returns "2x3: 1 2.5 ...", or the error
 * message. */
char *model_value (const Model *model);
