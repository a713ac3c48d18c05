/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Describes a piece of a Resize by a fractional factor. ONNX has no node for such a piece.
 * export/resize-part.c writes it as a matrix product or a Gather for each dimension, and describes
 * it in a line of the last node's doc string. The import reads that line and replaces these nodes
 * by the piece. */

#include "../ir/op.h"

/* Return a copy of the doc string `doc`, which may be NULL: the first function with the line that
 * describes the piece, the second without that line. The caller frees the result. */
char *cleave_onnx_dup_doc_with_resize (const CleaveResizeAttrs *attrs, const char *doc);
char *cleave_onnx_dup_doc_without_resize (const char *doc);
/* Reads the line that describes a piece into `attrs`. Returns FALSE if there is no line, or if the
 * line is not valid. */
gboolean cleave_onnx_read_resize (const char *doc, CleaveResizeAttrs *attrs);
