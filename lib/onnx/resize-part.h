/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Describes a piece of a Resize that scales by a fractional factor. ONNX has no node for such a
 * piece. export/resize-part.c writes a matrix product or a Gather for each dimension, and describes
 * the piece in a line of the last node's doc string. The import reads that line and replaces the
 * written nodes by the piece. */

#include "../ir/op.h"

/* Return a copy of the doc string `doc`, which may be NULL. The first function adds the line that
 * describes the piece; the second function removes this line. The caller frees the result. */
char *cleave_onnx_dup_doc_with_resize (const CleaveResizeAttrs *attrs, const char *doc);
char *cleave_onnx_dup_doc_without_resize (const char *doc);
/* Reads the line that describes a piece into `attrs`. Returns FALSE if there is no line, or if the
 * line is not valid. */
gboolean cleave_onnx_read_resize (const char *doc, CleaveResizeAttrs *attrs);
