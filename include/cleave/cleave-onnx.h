/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleaveOnnxShape:
 * @name: (nullable): the name of the input; %NULL for the only input of the model
 * @shape: its shape
 *
 * The shape of an input, which replaces free dimensions of the model.
 */
typedef struct
{
  const char *name;
  CleaveShape shape;
} CleaveOnnxShape;

/**
 * CleaveOnnxGiven:
 * @name: (nullable): the name of the input; %NULL for the only input of the model
 * @value: its value
 *
 * The value of an input, which becomes a constant.
 */
typedef struct
{
  const char *name;
  CleaveTensor *value;
} CleaveOnnxGiven;

/**
 * CleaveOnnxOptions:
 * @shapes: (array length=n_shapes) (nullable): shapes of inputs
 * @n_shapes: number of @shapes
 * @values: (array length=n_values) (nullable): values of inputs
 * @n_values: number of @values
 *
 * How to load a model.
 */
typedef struct
{
  const CleaveOnnxShape *shapes;
  guint n_shapes;
  const CleaveOnnxGiven *values;
  guint n_values;
} CleaveOnnxOptions;

CLEAVE_API CleaveGraph *
cleave_onnx_load (const char *path, const CleaveOnnxOptions *options, GError **error);
CLEAVE_API CleaveGraph *cleave_onnx_parse (GBytes *bytes,
                                           const char *folder,
                                           const CleaveOnnxOptions *options,
                                           GError **error);
CLEAVE_API gboolean cleave_onnx_save (const CleaveGraph *graph, const char *path, GError **error);
CLEAVE_API gboolean cleave_onnx_save_with_data (const CleaveGraph *graph,
                                                const char *path,
                                                const char *data_path,
                                                const char *location,
                                                gboolean *has_data,
                                                GError **error);
CLEAVE_API const char *cleave_node_get_custom_op (const CleaveNode *node);
CLEAVE_API GBytes *cleave_onnx_serialize (const CleaveGraph *graph, GError **error);
CLEAVE_API CleaveTensor *cleave_onnx_parse_tensor (GBytes *bytes, GError **error);

G_END_DECLS
