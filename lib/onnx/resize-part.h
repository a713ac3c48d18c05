/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A piece of a Resize by a fractional factor. ONNX has no node for it, so it is written as a
 * matrix product or Gather per dimension. The last node has a line in its doc string that
 * describes the piece, so that the import can merge the nodes. */

#include "../ir/op.h"

/* Returns the doc string, which may be NULL, with the line appended. The caller frees it. */
char *cleave_onnx_dup_doc_with_resize (const CleaveResizeAttrs *attrs, const char *doc);
char *cleave_onnx_dup_doc_without_resize (const char *doc);
/* Reads the line into `attrs`. FALSE if there is none or if it is not valid. */
gboolean cleave_onnx_read_resize (const char *doc, CleaveResizeAttrs *attrs);
