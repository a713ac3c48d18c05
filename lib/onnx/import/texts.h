/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

/* Strings of the dynamic part. Each distinct string has a number, and a tensor of strings is a
 * tensor of int64 numbers:
 *
 *     ["cat", "dog", "cat"]      [1, 2, 1]      0 is the empty string
 *
 * So the nodes that move or compare elements run as they do on numbers. */

/* Returns whether a node computes with strings, or maps labels. */
gboolean cleave_onnx_is_text_node (const Onnx__NodeProto *proto);
/* Returns whether an op of the default domain computes with strings alone. */
gboolean cleave_onnx_is_text_op (const char *op);
/* Returns whether a tensor of the file has strings. */
gboolean cleave_onnx_is_text_tensor (const Onnx__TensorProto *proto);
/* Returns whether an operand of the node has strings. */
gboolean cleave_onnx_reads_texts (const CleaveOnnxNode *node);

/* Makes the value of a tensor of strings. Returns NULL on error. */
CleaveOnnxValue *cleave_onnx_text_constant (CleaveOnnxImport *import,
                                            const char *name,
                                            const Onnx__TensorProto *proto,
                                            GError **error);
/* Returns whether a node makes strings, does more with them than moving elements, or maps labels.
 * Without a dynamic part, a node that maps labels is a Custom node. */
gboolean cleave_onnx_has_texts (const CleaveOnnxNode *node, const Onnx__NodeProto *proto);
/* Makes the values of a node that cleave_onnx_has_texts() accepts. In the static part, makes the
 * node dynamic instead. */
gboolean
cleave_onnx_read_texts (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Fails if the node reads strings and does more than move them. Nodes of sequences may read any
 * value. */
gboolean cleave_onnx_check_texts (const CleaveOnnxNode *node, GError **error);
/* Marks the results of a node that moves strings as strings. */
void cleave_onnx_mark_texts (const CleaveOnnxNode *node);
/* Returns the strings as bytes: uint8 with one more dimension, along which a string's bytes in
 * UTF-8 are followed by zeros. Returns NULL on error. */
CleaveTensor *
cleave_onnx_texts_to_bytes (CleaveOnnxImport *import, CleaveTensor *numbers, GError **error);
/* Reads bytes as cleave_onnx_texts_to_bytes() returns them. `name`: the input that has them.
 * Returns NULL on error. */
CleaveTensor *cleave_onnx_texts_from_bytes (CleaveOnnxImport *import,
                                            const char *name,
                                            CleaveTensor *bytes,
                                            GError **error);
void cleave_onnx_texts_free (CleaveOnnxTexts *texts);
/* Returns the number of a string. Adds the string to the table if needed. */
gint64 cleave_onnx_text_number (CleaveOnnxImport *import, const char *text);
/* Returns the string with a number. */
const char *cleave_onnx_text (const CleaveOnnxImport *import, gint64 number);
