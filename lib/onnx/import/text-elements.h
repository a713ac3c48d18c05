/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "texts.h"

/* Reads and writes elements of tensors, and attributes, for nodes that work on strings or
 * labels. */

/* An element: a text or a number. */
typedef struct
{
  gboolean is_text;
  gint64 integer; /* value of an integer element; for a text, its number in the table of strings */
  double real;
} CleaveTextElement;

/* Read and write element `i` of a dense tensor. Return FALSE if the element type is not
 * supported. */
gboolean cleave_text_element_read (CleaveTensor *dense, gint64 i, CleaveTextElement *element);
gboolean
cleave_text_element_write (CleaveTensor *tensor, gint64 i, const CleaveTextElement *element);
/* Returns the element for a string of the file, which is added to the table of strings. */
CleaveTextElement cleave_text_element_new (CleaveOnnxImport *import,
                                           const ProtobufCBinaryData *bytes);
/* Makes a tensor the next result of the node, and takes ownership of it. `is_text`: its elements
 * are strings. */
gboolean cleave_text_finish (CleaveOnnxNode *node, CleaveTensor *tensor, gboolean is_text);
/* Returns operand `index` as a dense tensor. Returns NULL and the error unless it has strings
 * (`is_text`) or numbers. */
CleaveTensor *
cleave_text_operand (const CleaveOnnxNode *node, guint index, gboolean is_text, GError **error);
/* Returns a new tensor with the shape of `like` and the element type `element`. */
CleaveTensor *cleave_text_tensor (CleaveTensor *like, CleaveElement element, GError **error);
/* Returns the attribute whose name begins with `prefix` and ends with `ending`; NULL if there is
 * none. */
const Onnx__AttributeProto *
cleave_text_attr (const Onnx__NodeProto *proto, const char *prefix, const char *ending);

/* Makes the values of a LabelEncoder. */
gboolean
cleave_onnx_read_labels (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
