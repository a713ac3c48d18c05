/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "onnx.pb-c.h"

#include <cleave/cleave-error.h>
#include <glib.h>

/* Converts the nodes of a graph, and of their inner graphs, to the opset `opset`. `opsets` (gint64)
 * has the current opset of each node. New values get names that are not in `taken`, a set that owns
 * its names. Fails if a node has no form in that opset. */
gboolean cleave_onnx_convert_nodes (
    Onnx__GraphProto *graph, const GArray *opsets, gint64 opset, GHashTable *taken, GError **error);
