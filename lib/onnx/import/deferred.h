/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

/* A node that the import does not read into the graph, but keeps for the dynamic part. dynamic.c
 * decides which nodes these are, and border.c makes the dynamic part from them. */

/* A dynamic node, or a static node that made a sequence and may become dynamic. */
struct CleaveOnnxDeferred
{
  const Onnx__NodeProto *proto;
  GBytes *packed; /* serialized copy of the node, if reading the node may move bytes out of it;
                   * NULL: not needed */
  guint position; /* the node's position in the order in which the import reads nodes */
  gint64 opset;
  char *value, *reason;
  gboolean is_cause;
  gint64 max_bytes;
};
