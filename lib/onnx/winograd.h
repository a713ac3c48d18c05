/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Stores in a file which convolutions use Winograd's F(2x2, 3x3), and in which phase; ONNX has no
 * attribute for that. By default, a Conv uses Winograd's algorithm if it is faster and the weights
 * are not quantized. A line in the doc string states any other choice. */

#include "../ir/op.h"

/* Sets `winograd` in the attributes of a call before the node is added. The types of its operands
 * are known. */
void cleave_onnx_choose_winograd (const CleaveCall *call,
                                  gboolean has_plain_weights,
                                  const char *doc,
                                  gpointer attrs);
/* Returns the text of the Winograd line up to the end of the doc string; NULL if there is no such
 * line. */
const char *cleave_onnx_find_winograd (const char *doc);
/* Returns the doc string with a Winograd line; NULL if the default choice needs no line and there
 * is no doc string. The caller frees it. */
char *cleave_onnx_dup_doc_with_winograd (const CleaveNode *node, const char *doc);
/* Returns the doc string without the Winograd line; NULL if nothing is left. The caller frees it.
 */
char *cleave_onnx_dup_doc_without_winograd (const char *doc);
