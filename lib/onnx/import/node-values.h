/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

/* Returns whether a node has a domain that the importer does not know. */
gboolean cleave_onnx_is_custom (const Onnx__NodeProto *proto);
/* Sets the values of a node whose operands are known. Creates the nodes of the graph, or computes
 * the values. */
gboolean
cleave_onnx_read_values (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
