/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

/* The table of strings. An import with a dynamic part has a table, and so has each run of that
 * part. Each distinct string has a number, and a tensor of strings is a tensor of int64 numbers:
 *
 *     ["cat", "dog", "cat"]      [1, 2, 1]      0 is the empty string
 *
 * So a node that only moves elements, or compares them for equality, runs on these numbers as on
 * any other numbers. */

/* Returns whether an op works with strings or labels, such as StringConcat or LabelEncoder. */
gboolean cleave_onnx_is_text_node (const Onnx__NodeProto *proto);
/* Returns whether an op of the default domain works with strings alone, such as StringSplit. */
gboolean cleave_onnx_is_text_op (const char *op);
/* Returns whether a tensor of the file holds strings. */
gboolean cleave_onnx_is_text_tensor (const Onnx__TensorProto *proto);
/* Returns whether an operand of the node holds strings. */
gboolean cleave_onnx_reads_texts (const CleaveOnnxNode *node);

/* Makes a value from a tensor of strings in the file. Returns NULL on error. */
CleaveOnnxValue *cleave_onnx_text_constant (CleaveOnnxImport *import,
                                            const char *name,
                                            const Onnx__TensorProto *proto,
                                            GError **error);
/* Returns whether text-nodes.c or labels.c must run the node: it makes strings, computes with
 * strings, or maps labels. Returns FALSE for a node that only moves strings or compares them for
 * equality: the node runs on the numbers that stand for the strings. Also returns FALSE for a node
 * of ai.onnx.ml if there is no dynamic part: the node becomes a Custom node. */
gboolean cleave_onnx_has_texts (const CleaveOnnxNode *node, const Onnx__NodeProto *proto);
/* In a run of the dynamic part: makes the results of a node for which cleave_onnx_has_texts() is
 * TRUE. When a model is imported: makes the node dynamic, or fails if the import has no dynamic
 * part. */
gboolean
cleave_onnx_read_texts (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Fails if an operand of the node holds strings, and the op computes with the elements. An op that
 * only moves elements, or compares them for equality, also works on the numbers that stand for
 * strings. Call this function for nodes for which cleave_onnx_has_texts() is FALSE. */
gboolean cleave_onnx_check_texts (const CleaveOnnxNode *node, GError **error);
/* If a node moves strings, marks its results as strings. */
void cleave_onnx_mark_texts (const CleaveOnnxNode *node);
/* Returns the strings as a tensor of uint8 with one more dimension: the bytes of each string in
 * UTF-8, then zeros. Returns NULL on error. */
CleaveTensor *
cleave_onnx_texts_to_bytes (CleaveOnnxImport *import, CleaveTensor *numbers, GError **error);
/* Makes a tensor of strings from bytes in the form that cleave_onnx_texts_to_bytes() returns.
 * `name`: the input, for the error. Returns NULL on error. */
CleaveTensor *cleave_onnx_texts_from_bytes (CleaveOnnxImport *import,
                                            const char *name,
                                            CleaveTensor *bytes,
                                            GError **error);
void cleave_onnx_texts_free (CleaveOnnxTexts *texts);
/* Returns the number of a string. Adds the string to the table if it is new. */
gint64 cleave_onnx_text_number (CleaveOnnxImport *import, const char *text);
/* Returns the string with the number `number`; "" if there is none. */
const char *cleave_onnx_text (const CleaveOnnxImport *import, gint64 number);
