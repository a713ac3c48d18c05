/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Loads a model of any format that Cleave reads. */

#include <cleave/cleave-onnx.h>

G_BEGIN_DECLS

CLEAVE_API CleaveGraph *
cleave_graph_load (const char *path, const CleaveOnnxOptions *options, GError **error);
CLEAVE_API CleaveGraph *cleave_graph_load_bytes (GBytes *bytes,
                                                 const char *folder,
                                                 const CleaveOnnxOptions *options,
                                                 GError **error);

G_END_DECLS
