/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Models of one node, written as a line of a table. */

#include "models.h"

/* A model whose output y is what `op` (or "domain:op") makes of its operands and attributes; its
 * results are `results`, such as "y" or "- y".  All that `specs` says is constant, but for
 * inputs; it is parted by blanks:
 *
 *   1x2x3  float32 ones, made by a node        =1,2      int64 of rank 1     -  absent
 *   #2x3   float32 0, 1, 2 …                   ~1.5,2    float32 of rank 1
 *   ?2x3   a float32 input of the graph
 *
 * Lists of numbers have another shape with "@1x2" behind them.  All but inputs may have "s:" before
 * them, a scalar, and then "b:", "u8:", "i8:", "u16:", "i16:", "i32:" or "i64:", another element
 * type. An attribute is "size=3", "axes=1," (a list), "alpha=0.5" or "mode=cubic".
 */
Model *model_of_node (
    gint64 opset, const char *op, const char *specs, const char *attrs, const char *results);
/* Makes the graph, in which y is a constant: "2x3: 1 2.5 …", or the error. */
char *model_value (const Model *model);
