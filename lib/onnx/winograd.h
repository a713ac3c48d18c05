/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Which convolutions of a file are computed by Winograd's F(2x2, 3x3), and in which phase: ONNX has
 * no attribute for it.  A node whose weights are no quantised ones is, where that pays; a line of
 * its doc string says what is otherwise. */

#include "../ir/op.h"

/* The attributes of a call that is about to be made, whose operands' types are known. */
void cleave_onnx_choose_winograd (const CleaveCall *call,
                                  gboolean has_plain_weights,
                                  const char *doc,
                                  gpointer attrs);
/* What that line of a doc string says, up to its end or more; NULL: there is none. */
const char *cleave_onnx_find_winograd (const char *doc);
/* (transfer full) (nullable): the doc string with the line, or NULL if there is no need for it. */
char *cleave_onnx_dup_doc_with_winograd (const CleaveNode *node, const char *doc);
/* (transfer full) (nullable): the doc string without it. */
char *cleave_onnx_dup_doc_without_winograd (const char *doc);
