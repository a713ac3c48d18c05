/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

/* Makes the results of a node of the file. body.c looks up the operands of each node, calls
 * cleave_onnx_read_values(), and then gives the results their names. */

/* Returns whether a node belongs to a domain that the importer does not know, so that it becomes a
 * Custom node. */
gboolean cleave_onnx_is_custom (const Onnx__NodeProto *proto);
/* Sets `values`, the results of a node whose operands are known. Adds nodes to the graph that
 * compute the results, or computes the results at once. */
gboolean
cleave_onnx_read_values (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
