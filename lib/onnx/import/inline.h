/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "onnx.pb-c.h"

#include <glib.h>

/* Replaces calls of the model's functions by the nodes of the functions, and removes the functions.
 * torch.onnx (dynamo) and onnxscript write such models.
 *
 *     function gate (x) = Mul (x, Sigmoid (x))        call: gate "g" (a) -> b
 *
 *     Sigmoid "g/sigmoid" (a) -> g/s                  the call is replaced by these two nodes
 *     Mul "g/mul" (a, g/s) -> b
 *
 * Returns the nodes whose opset differs from the model's, since their function states another one:
 * Onnx__NodeProto -> gint64 as a pointer. NULL on error; the model is then only fit to be freed. */
GHashTable *cleave_onnx_inline (Onnx__ModelProto *model, GError **error);
