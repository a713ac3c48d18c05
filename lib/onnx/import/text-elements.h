/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "texts.h"

/* Access to tensors and attributes that hold strings or labels. text-nodes.c and labels.c use these
 * functions during a run of the dynamic part. */

/* An element of a tensor: a string or a number. */
typedef struct
{
  gboolean is_text;
  gint64 integer; /* value of an integer element; for a string, its number in the table of
                   * strings (texts.h) */
  double real;
} CleaveTextElement;

/* Read and write element `i` of a tensor, which must be dense. Return FALSE if the element type is
 * not supported. */
gboolean cleave_text_element_read (CleaveTensor *dense, gint64 i, CleaveTextElement *element);
gboolean
cleave_text_element_write (CleaveTensor *tensor, gint64 i, const CleaveTextElement *element);
/* Returns an element for a string of the file. Adds the string to the table of strings. */
CleaveTextElement cleave_text_element_new (CleaveOnnxImport *import,
                                           const ProtobufCBinaryData *bytes);
/* Makes a tensor the next result of the node. Takes ownership of the tensor. `is_text`: whether the
 * elements of the tensor are strings. */
gboolean cleave_text_finish (CleaveOnnxNode *node, CleaveTensor *tensor, gboolean is_text);
/* Returns operand `index` as a dense tensor. Returns NULL and the error if the operand does not
 * hold strings (`is_text` TRUE) or numbers (FALSE). */
CleaveTensor *
cleave_text_operand (const CleaveOnnxNode *node, guint index, gboolean is_text, GError **error);
/* Returns a new tensor with the shape of `like` and the element type `element`. */
CleaveTensor *cleave_text_tensor (CleaveTensor *like, CleaveElement element, GError **error);
/* Returns the attribute whose name begins with `prefix` and ends with `ending`; NULL if the node
 * has none. */
const Onnx__AttributeProto *
cleave_text_attr (const Onnx__NodeProto *proto, const char *prefix, const char *ending);

/* labels.c: makes the result of a LabelEncoder. */
gboolean
cleave_onnx_read_labels (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* text-casts.c: makes the result of a Cast, or of a CastLike, to or from strings. */
gboolean cleave_onnx_read_cast (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
gboolean
cleave_onnx_read_cast_like (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
