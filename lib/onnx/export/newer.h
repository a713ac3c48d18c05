/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "onnx.pb-c.h"

#include <cleave/cleave-error.h>
#include <glib.h>

/* Converts the nodes of the dynamic part, which the graph does not contain. The writer of the
 * dynamic part (dynamic.c) calls cleave_onnx_convert_nodes() if the static part needs a later opset
 * than these nodes have. The files of upgrade/ convert the nodes of the static part. */

/* Converts the nodes of a graph, and of the inner graphs of these nodes, to the opset `opset`.
 * `opsets` (gint64) has the current opset of each node. New values get names that are not in the
 * set `taken`, which then owns these names, too. Fails if a node has no form in that opset. */
gboolean cleave_onnx_convert_nodes (
    Onnx__GraphProto *graph, const GArray *opsets, gint64 opset, GHashTable *taken, GError **error);
