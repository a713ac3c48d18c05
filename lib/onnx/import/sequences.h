/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sequences and optional values during the import, which are lists of tensors. */

#include "import.h"

/* Makes the node's value a sequence. Takes ownership of the list. */
gboolean cleave_onnx_finish_sequence (CleaveOnnxNode *node, GPtrArray *items);
/* Returns the tensors of operand 0, a sequence; NULL and the error if it is not a sequence. */
GPtrArray *cleave_onnx_get_items (CleaveOnnxNode *node, GError **error);
GPtrArray *cleave_onnx_copy_items (const GPtrArray *items);
/* Returns whether an operand is a tensor. Sets the error otherwise. */
gboolean cleave_onnx_check_tensor (const CleaveOnnxNode *node, guint index, GError **error);

gboolean cleave_onnx_read_split_to_sequence (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional_element (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_read_optional_has (CleaveOnnxNode *node, GError **error);
