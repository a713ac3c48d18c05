/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sequences and optional values during the import: lists of tensors (`items` of a CleaveOnnxValue).
 * node-values.c calls the functions that read ops of lists. sequences.c, optionals.c,
 * sequence-map.c and split-to-sequence.c contain these functions. */

#include "import.h"

/* Sets the result of the node to a sequence of the tensors `items`. Takes ownership of `items`. */
gboolean cleave_onnx_finish_sequence (CleaveOnnxNode *node, GPtrArray *items);
/* Returns the tensors of operand 0. Returns NULL and the error if operand 0 is not a sequence. */
GPtrArray *cleave_onnx_get_items (CleaveOnnxNode *node, GError **error);
GPtrArray *cleave_onnx_copy_items (const GPtrArray *items);
/* Checks that an operand is a tensor. Sets the error if it is not. */
gboolean cleave_onnx_check_tensor (const CleaveOnnxNode *node, guint index, GError **error);

gboolean cleave_onnx_read_split_to_sequence (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional_element (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional_has (CleaveOnnxNode *node, GError **error);
