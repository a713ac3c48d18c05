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
 * Gives an input a shape, so that the input has no free dimensions. @name may also be the name of a
 * dimension, if no input has this name. @shape then has one dimension: the extent of the named
 * dimension in all inputs.
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
 * Gives an input a value. The input becomes a constant.
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
 * Gives a free dimension an extent in all inputs that have this dimension. If @name is the name of
 * an input of one integer, and of no dimension, this input gets the value @extent.
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
 * @dynamic: whether nodes whose shapes depend on data form a dynamic part; if %FALSE, a node of
 * this kind is an error
 * @mapped: whether the loader maps files of external data, so that a weight takes memory only after
 * it is read. If %FALSE, the loader reads files of at most 2 GiB into memory, and maps only larger
 * files. No process may shorten a mapped file
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
  gboolean dynamic, mapped;
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

CLEAVE_API void cleave_onnx_options_set_dynamic (CleaveOnnxOptions *options, gboolean dynamic);

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

#define CLEAVE_TYPE_ONNX_DYNAMIC (cleave_onnx_dynamic_get_gtype ())

/**
 * CleaveOnnxDynamic:
 *
 * The dynamic part of a model: the nodes whose shapes depend on data, and the nodes that read their
 * results. The dynamic part reads inputs of the model, and outputs of the graph, which is the
 * static part.
 */
typedef struct _CleaveOnnxDynamic CleaveOnnxDynamic;

/**
 * CleaveOnnxDynamicNode:
 * @name: the name of the node
 * @op: the op of the node
 * @value: the value whose contents decide the shapes of the node's results; or, if the node only
 * reads a result of another dynamic node, this result
 * @reason: the reason why the node is dynamic, as the end of a sentence that begins with the name
 * of the node
 * @is_cause: whether the node itself is the reason, rather than a value that it reads
 * @max_bytes: the most bytes that the results of the node can take; -1 if no bound is known
 *
 * A node of the dynamic part.
 */
typedef struct
{
  const char *name, *op, *value, *reason;
  gboolean is_cause;
  gint64 max_bytes;
} CleaveOnnxDynamicNode;

/**
 * CleaveOnnxDynamicStats:
 * @peak_bytes: the most bytes that values of the dynamic part took at once, without the constants
 *   and the values of the static part
 * @n_calls: the number of kernels that ran
 *
 * The cost of one run of a dynamic part.
 */
typedef struct
{
  gint64 peak_bytes, n_calls;
} CleaveOnnxDynamicStats;

/**
 * CleaveOnnxComputeFunc:
 * @graph: a graph of an expensive node and of nodes that read its results; the function may change
 *   it
 * @inputs: (array length=n_inputs): a tensor for each input of the graph
 * @n_inputs: number of inputs
 * @outputs: (array length=n_outputs): a tensor for each output of the graph, to be written
 * @n_outputs: number of outputs
 * @data: the data that the caller of [method@Cleave.OnnxDynamic.run] gave
 * @error: return location for a [struct@GLib.Error]
 *
 * Computes the outputs of a graph, for example with a [struct@Cleave.Program].
 *
 * Returns: %TRUE, or %FALSE on error
 */
typedef gboolean (*CleaveOnnxComputeFunc) (CleaveGraph *graph,
                                           CleaveTensor *const *inputs,
                                           guint n_inputs,
                                           CleaveTensor *const *outputs,
                                           guint n_outputs,
                                           gpointer data,
                                           GError **error);

CLEAVE_API GType cleave_onnx_dynamic_get_gtype (void);
CLEAVE_API CleaveOnnxDynamic *cleave_onnx_get_dynamic (const CleaveGraph *graph);
CLEAVE_API CleaveOnnxDynamic *cleave_onnx_dynamic_ref (CleaveOnnxDynamic *dynamic);
CLEAVE_API void cleave_onnx_dynamic_unref (CleaveOnnxDynamic *dynamic);
CLEAVE_API guint cleave_onnx_dynamic_get_n_nodes (const CleaveOnnxDynamic *dynamic);
CLEAVE_API const CleaveOnnxDynamicNode *
cleave_onnx_dynamic_get_node (const CleaveOnnxDynamic *dynamic, guint index);
CLEAVE_API const char *const *cleave_onnx_dynamic_get_outputs (const CleaveOnnxDynamic *dynamic);
CLEAVE_API const char *const *cleave_onnx_dynamic_get_inputs (const CleaveOnnxDynamic *dynamic);
CLEAVE_API const char *cleave_onnx_dynamic_get_list_type (const CleaveOnnxDynamic *dynamic,
                                                          const char *name,
                                                          CleaveTensorType *tensor);
CLEAVE_API gboolean cleave_onnx_dynamic_computes (const CleaveOnnxDynamic *dynamic,
                                                  const char *output);
CLEAVE_API gboolean cleave_onnx_dynamic_has_strings (const CleaveOnnxDynamic *dynamic,
                                                     const char *output);
CLEAVE_API GPtrArray *cleave_onnx_dynamic_run (const CleaveOnnxDynamic *dynamic,
                                               const char *const *names,
                                               CleaveTensor *const *values,
                                               guint n_values,
                                               CleaveOnnxComputeFunc compute,
                                               gpointer data,
                                               CleaveOnnxDynamicStats *stats,
                                               GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxDynamic, cleave_onnx_dynamic_unref)

G_END_DECLS
