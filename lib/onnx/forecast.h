/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-onnx.h>

/* Returns the result of cleave_onnx_estimate_bytes(), and sets `iterations` to the result of
 * cleave_onnx_list_iterations(). Takes half the time of the two functions. Returns -1 and sets the
 * error on failure. */
gint64 cleave_onnx_forecast (const CleaveGraph *graph, char ***iterations, GError **error);
