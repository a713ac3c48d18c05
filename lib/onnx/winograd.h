/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Stores in a file which convolutions use Winograd's F(2x2, 3x3), and in which phase; ONNX has
 * no attribute for it. By default a Conv uses it where it is faster and the weights are not
 * quantized. A line of the doc string states any other choice. */

#include "../ir/op.h"

/* Sets `winograd` in the attributes of a call that is about to be made; the types of its
 * operands are known. */
void cleave_onnx_choose_winograd (const CleaveCall *call,
                                  gboolean has_plain_weights,
                                  const char *doc,
                                  gpointer attrs);
/* Returns the text of the line, which continues to the end of the doc string, or NULL. */
const char *cleave_onnx_find_winograd (const char *doc);
/* Returns the doc string with the line, or NULL if the default is right. The caller frees it. */
char *cleave_onnx_dup_doc_with_winograd (const CleaveNode *node, const char *doc);
/* Returns the doc string without the line, or NULL. The caller frees it. */
char *cleave_onnx_dup_doc_without_winograd (const char *doc);
