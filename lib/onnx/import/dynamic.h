/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The dynamic part: the nodes that the import does not read into the graph, but keeps in a model of
 * their own. dynamic.c decides which nodes these are, border.c makes the dynamic part from them,
 * and interpret.c runs it. */

#include "import.h"

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

/* The functions below make the dynamic part (dynamic.c, bounds.c, border.c). */

/* Called with each name that a node, or a node of one of its inner graphs, reads. */
typedef void (*CleaveOnnxReadFunc) (const char *name, gpointer data);
void
cleave_onnx_each_read (const Onnx__NodeProto *proto, CleaveOnnxReadFunc function, gpointer data);
/* Returns the name of the node, or the name of its first result if the node has no name. */
const char *cleave_onnx_name_of_node (const Onnx__NodeProto *proto);
/* Starts an import with a dynamic part: a node becomes dynamic if the import cannot read it as a
 * static node. */
void cleave_onnx_begin_dynamic (CleaveOnnxImport *import);
/* Returns the name of a value that a dynamic node or a dynamic input gives, and that `proto` or a
 * node in a graph attribute of `proto` reads. Returns NULL if there is no such value. */
const char *cleave_onnx_find_dynamic (const CleaveOnnxImport *import, const Onnx__NodeProto *proto);
GBytes *cleave_onnx_pack_node (const Onnx__NodeProto *proto);
/* Returns a copy of a node of the file, for the dynamic part. Call this function before the import
 * reads the node, since reading may change the node. */
CleaveOnnxDeferred *
cleave_onnx_deferred_new (CleaveOnnxImport *import, const Onnx__NodeProto *proto, guint position);
void cleave_onnx_deferred_free (CleaveOnnxDeferred *deferred);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxDeferred, cleave_onnx_deferred_free)
/* Makes a node dynamic. Takes ownership of `deferred`, the copy of the node. `value` is the dynamic
 * value that the node reads; NULL: the node is dynamic for another reason, which
 * cleave_onnx_note_unknown() has recorded. */
void cleave_onnx_defer (CleaveOnnxImport *import, CleaveOnnxDeferred *deferred, const char *value);
/* Stores `deferred`, the copy of a static node, in import->makers if the node has made a sequence.
 * If a dynamic node reads the sequence, cleave_onnx_collect_dynamic() later makes the static node
 * dynamic. If the node has made no sequence, frees the copy. Takes ownership of `deferred`. */
void cleave_onnx_note_maker (CleaveOnnxImport *import, CleaveOnnxDeferred *deferred);
/* Records why the current node is dynamic. The text continues a sentence whose subject is the node,
 * such as "has too many iterations". `value` is the value whose contents decide the node's shapes;
 * NULL: no single value does. Has no effect without a dynamic part. */
void cleave_onnx_note_unknown (CleaveOnnxImport *import,
                               const CleaveOnnxValue *value,
                               const char *format,
                               ...) G_GNUC_PRINTF (3, 4);
/* Returns the largest number of bytes that the results of a node can take, whatever its operands
 * contain. Returns -1 if no bound is known. */
gint64 cleave_onnx_bound_results (CleaveOnnxImport *import, const Onnx__NodeProto *proto);
/* Completes the set of dynamic nodes after all nodes were read. Returns whether the model has a
 * dynamic part: a dynamic node, or an input that the graph cannot have. */
gboolean cleave_onnx_collect_dynamic (CleaveOnnxImport *import);
/* border.c: makes the dynamic part. The values of the static part that dynamic nodes read become
 * outputs of the graph, after the model's outputs. */
gboolean cleave_onnx_finish_dynamic (CleaveOnnxImport *import,
                                     const Onnx__GraphProto *whole,
                                     GError **error);

/* The functions below are for a run of the dynamic part (held.c, compute.c). */

/* cleave_onnx_count_held() adds 1 to the number of values that hold the tensor.
 * cleave_onnx_count_released() subtracts 1. */
void cleave_onnx_count_held (CleaveOnnxImport *import, CleaveTensor *tensor);
void cleave_onnx_count_released (CleaveOnnxImport *import, CleaveTensor *tensor);
/* Computes a node: calls the function `compute` of the import with a graph that has only this node.
 * `operands` has a CleaveOnnxValue for each operand; NULL: absent. Returns the results
 * (CleaveTensor); NULL on error. */
GPtrArray *cleave_onnx_compute (CleaveOnnxImport *import,
                                const CleaveCall *call,
                                const GPtrArray *operands,
                                GError **error);
/* Returns whether a node has so much work that compiling a graph for the node saves time. */
gboolean cleave_onnx_is_expensive (const CleaveOnnxImport *import,
                                   const CleaveCall *call,
                                   CleaveTensor *const *operands);
/* Frees the tensor of a value, unless the value's `is_kept` or `is_live` is set. */
void cleave_onnx_release_value (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Frees the tensors of the values from index `first` of `all_values` to the end, as
 * cleave_onnx_release_value() does. Does nothing outside a run of the dynamic part. */
void cleave_onnx_release (CleaveOnnxImport *import, guint first);
/* Calls cleave_onnx_release(). Later calls of cleave_onnx_value_new() may return the freed values
 * again, so no scope and no node may refer to these values. */
void cleave_onnx_recycle (CleaveOnnxImport *import, guint first);
