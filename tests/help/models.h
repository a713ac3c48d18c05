/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* ONNX models made in memory, for tests of import and export. A suite builds the protobuf message
 * node by node and imports it; no file is written. */

#include <cleave/cleave.h>

#include "onnx.pb-c.h"

typedef Onnx__ModelProto Model;

Model *model_new (gint64 opset);
void model_free (Model *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Model, model_free)

/* Adds an input of float32. `dims` is a text such as "Nx?x8x8". A name, such as N, is a free
 * dimension with this name; "?" is a free dimension without a name. `dims` NULL: the input has no
 * shape. */
Onnx__ValueInfoProto *model_add_input (Model *model, const char *name, const char *dims);
void model_add_output (Model *model, const char *name);
/* Declares an output as float32 with these dimensions, such as "2xn"; NULL: any shape. */
void model_declare_output (Model *model, guint index, const char *dims);
/* Adds a node. Names of operands and results are separated by blanks; "-" is absent. */
Onnx__NodeProto *model_add_node (
    Model *model, const char *op, const char *name, const char *operands, const char *results);
void node_add_int (Onnx__NodeProto *node, const char *name, gint64 value);
void node_add_ints (Onnx__NodeProto *node, const char *name, const CleaveInts *values);
void node_add_float (Onnx__NodeProto *node, const char *name, float value);
void node_add_floats (Onnx__NodeProto *node, const char *name, const CleaveDoubles *values);
void node_add_string (Onnx__NodeProto *node, const char *name, const char *value);
void node_add_strings (Onnx__NodeProto *node, const char *name, const char *const *values, guint n);
Onnx__AttributeProto *
node_add_attr (Onnx__NodeProto *node, const char *name, Onnx__AttributeProto__AttributeType type);
/* Adds an attribute with the graph of `body`. Takes ownership of `body`. */
void node_add_graph (Onnx__NodeProto *node, const char *name, Model *body);
/* Returns a tensor with raw data. `data` NULL: the elements 0, 1, 2, ... as floats or 64-bit
 * integers. */
Onnx__TensorProto *tensor_new (const char *name, const CleaveTensorType *type, gconstpointer data);
Onnx__TensorProto *model_add_initializer (Model *model,
                                          const char *name,
                                          const CleaveTensorType *type,
                                          gconstpointer data);
Onnx__TensorProto *model_add_ints (Model *model, const char *name, const CleaveInts *values);
void tensor_add_external (Onnx__TensorProto *tensor, const char *key, const char *value);

GBytes *model_pack (const Model *model);
/* Imports the model without shapes for its inputs. */
CleaveGraph *model_import (const Model *model, GError **error);
/* Asserts that the import of the model fails with this error. */
void model_assert_error (const Model *model, CleaveError code, const char *message);
/* Imports the model, and asserts that the printed graph is `expected`. */
void model_assert_dump (const Model *model, const char *expected);
