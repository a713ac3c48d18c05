/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sequences and optional values during the import: lists of tensors. */

#include "import.h"

/* Makes the node's value a sequence; takes the list. */
gboolean cleave_onnx_finish_sequence (CleaveOnnxNode *node, GPtrArray *items);
/* Returns the sequence that operand 0 is, or NULL and an error. */
GPtrArray *cleave_onnx_get_items (CleaveOnnxNode *node, GError **error);
GPtrArray *cleave_onnx_copy_items (const GPtrArray *items);
/* Returns whether an operand is a tensor; if not, sets the error. */
gboolean cleave_onnx_check_tensor (const CleaveOnnxNode *node, guint index, GError **error);

gboolean cleave_onnx_read_split_to_sequence (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional_element (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional_has (CleaveOnnxNode *node, GError **error);
