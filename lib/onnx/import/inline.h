/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "onnx.pb-c.h"

#include <glib.h>

/* Replaces calls of the model's functions by the nodes of the functions, and removes the functions.
 * torch.onnx (dynamo) and onnxscript write such models. import.c calls this before it reads nodes.
 *
 *     function gate (x) = Mul (x, Sigmoid (x))        call: gate "g" (a) -> b
 *
 *     Sigmoid "g/sigmoid" (a) -> g/s                  the call is replaced by these two nodes
 *     Mul "g/mul" (a, g/s) -> b
 *
 * A function may state another opset than the model. Returns a table of the nodes that come from
 * such functions: it maps an Onnx__NodeProto to the opset, stored as a pointer. Returns NULL on
 * error; the caller may then only free the model. */
GHashTable *cleave_onnx_inline (Onnx__ModelProto *model, GError **error);
