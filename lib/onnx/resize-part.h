/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A part of a Resize by a factor that is no whole number.  ONNX has no such node: it is written as
 * a product with weights, or a Gather, for each dimension, of which the last says in a line of its
 * doc string what they are together. */

#include "../ir/op.h"

/* (transfer full): the doc string with the line. */
char *cleave_onnx_dup_doc_with_resize (const CleaveResizeAttrs *attrs, const char *doc);
char *cleave_onnx_dup_doc_without_resize (const char *doc);
/* FALSE: there is no such line. */
gboolean cleave_onnx_read_resize (const char *doc, CleaveResizeAttrs *attrs);
