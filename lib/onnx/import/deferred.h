/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

/* A node of the dynamic part during the import. */
struct CleaveOnnxDeferred
{
  const Onnx__NodeProto *proto;
  GBytes *packed; /* copy of the node from before it was read, if reading may have moved bytes out
                     of it; NULL otherwise */
  guint position; /* index of the node in the order in which the import reads nodes */
  gint64 opset;
  char *value, *reason;
  gboolean is_cause;
  gint64 max_bytes;
};
