/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Loads a model of any format that Cleave reads: ONNX, TensorFlow Lite, or a graph as text. The
 * loader recognizes a TensorFlow Lite model by an identifier in the file, and a text by a file name
 * that ends in .cleave. The loader reads any other file as ONNX. The command loads its argument
 * this way. The result is the graph that passes edit and programs run. */

#include <cleave/cleave-onnx.h>

G_BEGIN_DECLS

CLEAVE_API CleaveGraph *
cleave_graph_load (const char *path, const CleaveOnnxOptions *options, GError **error);
CLEAVE_API CleaveGraph *cleave_graph_load_bytes (GBytes *bytes,
                                                 const char *folder,
                                                 const CleaveOnnxOptions *options,
                                                 GError **error);

G_END_DECLS
