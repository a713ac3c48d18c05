/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Describes a piece of a Resize by a fractional factor. ONNX has no node for it, so it is written
 * as a matrix product or Gather for each dimension. The doc string of the last node has a line that
 * describes the piece, so that the import can merge the nodes. */

#include "../ir/op.h"

/* The first function returns the doc string `doc`, which may be NULL, with the line appended. The
 * second returns it without the line. The caller frees the result. */
char *cleave_onnx_dup_doc_with_resize (const CleaveResizeAttrs *attrs, const char *doc);
char *cleave_onnx_dup_doc_without_resize (const char *doc);
/* Reads the line into `attrs`. Returns FALSE if there is no line, or if it is not valid. */
gboolean cleave_onnx_read_resize (const char *doc, CleaveResizeAttrs *attrs);
