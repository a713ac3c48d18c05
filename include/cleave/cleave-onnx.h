/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads ONNX models into graphs and writes graphs as ONNX models. Shapes must be known: the options
 * give extents to free dimensions, shapes to inputs, and values to inputs that decide a shape.
 * Split graphs are written with standard operators, so that any ONNX runtime can run them. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleaveOnnxShape:
 * @name: (nullable): the name of the input; %NULL for the only input of the model
 * @shape: the shape of the input
 *
 * Gives an input a shape, which replaces the free dimensions that the model has. If no input has
 * the name, and @shape is one number, it is the extent of the dimension of that name in all inputs.
 */
typedef struct
{
  const char *name;
  CleaveShape shape;
} CleaveOnnxShape;

/**
 * CleaveOnnxGiven:
 * @name: (nullable): the name of the input; %NULL for the only input of the model
 * @value: the value of the input
 *
 * Gives an input a value, so that it becomes a constant.
 */
typedef struct
{
  const char *name;
  CleaveTensor *value;
} CleaveOnnxGiven;

/**
 * CleaveOnnxDim:
 * @name: a dimension that the model names, such as `batch`, or an input that holds one integer
 * @extent: the extent of the dimension, or the value of the input
 *
 * Gives a free dimension an extent, in all inputs that have it. If no dimension but an input of one
 * integer has this name, gives the input this value.
 */
typedef struct
{
  const char *name;
  gint64 extent;
} CleaveOnnxDim;

#define CLEAVE_TYPE_ONNX_OPTIONS (cleave_onnx_options_get_gtype ())

/**
 * CleaveOnnxOptions:
 * @shapes: (array length=n_shapes) (nullable): shapes of inputs
 * @n_shapes: number of @shapes
 * @values: (array length=n_values) (nullable): values of inputs
 * @n_values: number of @values
 * @dims: (array length=n_dims) (nullable): extents of named dimensions
 * @n_dims: number of @dims
 *
 * Options for loading a model.
 */
typedef struct
{
  const CleaveOnnxShape *shapes;
  guint n_shapes;
  const CleaveOnnxGiven *values;
  guint n_values;
  const CleaveOnnxDim *dims;
  guint n_dims;
} CleaveOnnxOptions;

/* Allocate options, for bindings of other languages. */
CLEAVE_API GType cleave_onnx_options_get_gtype (void);
CLEAVE_API CleaveOnnxOptions *cleave_onnx_options_new (void);
CLEAVE_API CleaveOnnxOptions *cleave_onnx_options_copy (const CleaveOnnxOptions *options);
CLEAVE_API void cleave_onnx_options_free (CleaveOnnxOptions *options);
CLEAVE_API void cleave_onnx_options_add_shape (CleaveOnnxOptions *options,
                                               const char *name,
                                               const gint64 *extents,
                                               guint n_extents);
CLEAVE_API void
cleave_onnx_options_add_value (CleaveOnnxOptions *options, const char *name, CleaveTensor *value);
CLEAVE_API void
cleave_onnx_options_add_dim (CleaveOnnxOptions *options, const char *name, gint64 extent);

CLEAVE_API CleaveGraph *
cleave_onnx_load (const char *path, const CleaveOnnxOptions *options, GError **error);
CLEAVE_API CleaveGraph *cleave_onnx_parse (GBytes *bytes,
                                           const char *folder,
                                           const CleaveOnnxOptions *options,
                                           GError **error);
CLEAVE_API const char *const *cleave_onnx_get_warnings (const CleaveGraph *graph);
CLEAVE_API gboolean cleave_onnx_save (const CleaveGraph *graph, const char *path, GError **error);
CLEAVE_API gboolean cleave_onnx_save_with_data (const CleaveGraph *graph,
                                                const char *path,
                                                const char *data_path,
                                                const char *location,
                                                gboolean *has_data,
                                                GError **error);
CLEAVE_API void
cleave_onnx_set_node_docs (CleaveGraph *graph, const char *const *names, const char *const *docs);
CLEAVE_API void cleave_onnx_set_loops (CleaveGraph *graph, gboolean loops);
CLEAVE_API char **cleave_onnx_list_iterations (const CleaveGraph *graph, GError **error);
CLEAVE_API gint64 cleave_onnx_estimate_bytes (const CleaveGraph *graph, GError **error);
CLEAVE_API const char *cleave_onnx_get_node_doc (const CleaveGraph *graph, const char *name);
CLEAVE_API char **cleave_onnx_list_defaults (const CleaveGraph *graph, gboolean only_open);
CLEAVE_API const char *cleave_node_get_custom_op (const CleaveNode *node);
CLEAVE_API GBytes *cleave_onnx_serialize (const CleaveGraph *graph, GError **error);
CLEAVE_API CleaveTensor *cleave_onnx_parse_tensor (GBytes *bytes, GError **error);

G_END_DECLS
