/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Stores in the doc strings of convolutions in a file whether they use Winograd's algorithm F(2x2,
 * 3x3), for which ONNX has no attribute. The algorithm computes tiles of 2x2 elements. A piece of a
 * convolution may begin in the middle of a tile, so a phase for each dimension is stored, too: 1 if
 * the piece begins with the second element of a tile, 0 if it begins with the first. If the doc
 * string has no line about this, the importer chooses the algorithm, with phase 0 in each
 * dimension, if it is faster and the weights are not quantized. The exporter writes a line for
 * every other choice. */

#include "../ir/op.h"

/* Sets the attribute `winograd` of a node that is about to be added. The types of the node's
 * operands are already known. `has_plain_weights`: the weights are not quantized. */
void cleave_onnx_choose_winograd (const CleaveCall *call,
                                  gboolean has_plain_weights,
                                  const char *doc,
                                  gpointer attrs);
/* Finds the line "cleave: winograd TEXT" in `doc`. Returns a pointer to TEXT inside `doc`, with all
 * later lines after TEXT; NULL if there is no such line, or if `doc` is NULL. */
const char *cleave_onnx_find_winograd (const char *doc);
/* Returns a copy of `doc` with one more line. The line states whether the node uses Winograd's
 * algorithm, and if so, the phase for each dimension. Returns NULL if the node needs no line: the
 * importer would make the same choice, or the op has no Winograd variant. The caller frees the
 * result. */
char *cleave_onnx_dup_doc_with_winograd (const CleaveNode *node, const char *doc);
/* Returns a copy of the doc string `doc` without the Winograd line. The copy is empty if no text
 * remains. Returns NULL if `doc` is NULL. The caller frees the result. */
char *cleave_onnx_dup_doc_without_winograd (const char *doc);
