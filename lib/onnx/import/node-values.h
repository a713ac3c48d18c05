/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

/* Makes the values of a node of the file. body.c calls cleave_onnx_read_values() for each node
 * after it has looked up the operands, and then gives the values their names. */

/* Returns whether a node belongs to a domain that the importer does not know, so that it becomes a
 * Custom node. */
gboolean cleave_onnx_is_custom (const Onnx__NodeProto *proto);
/* Sets the `values` of a node whose operands are known. Adds nodes to the graph, or computes the
 * values. */
gboolean
cleave_onnx_read_values (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
