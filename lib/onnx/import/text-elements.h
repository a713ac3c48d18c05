/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "texts.h"

/* Reads and writes elements of tensors, and attributes, of nodes that work on strings or labels. */

/* A text, or a number. */
typedef struct
{
  gboolean is_text;
  gint64 integer; /* or the number of a text */
  double real;
} CleaveTextElement;

/* Read and write one element of a dense tensor. FALSE if its element type is not supported. */
gboolean cleave_text_element_read (CleaveTensor *dense, gint64 i, CleaveTextElement *element);
gboolean
cleave_text_element_write (CleaveTensor *tensor, gint64 i, const CleaveTextElement *element);
/* Makes the element of a string in the file. */
CleaveTextElement cleave_text_element_new (CleaveOnnxImport *import,
                                           const ProtobufCBinaryData *bytes);
/* Adds a result to the node; takes the tensor. */
gboolean cleave_text_finish (CleaveOnnxNode *node, CleaveTensor *tensor, gboolean is_text);
/* Returns the operand as a dense tensor; NULL and an error unless it has strings, or numbers. */
CleaveTensor *
cleave_text_operand (const CleaveOnnxNode *node, guint index, gboolean is_text, GError **error);
/* Returns a new tensor of the shape of another one. */
CleaveTensor *cleave_text_tensor (CleaveTensor *like, CleaveElement element, GError **error);
/* Returns an attribute whose name begins and ends so, or NULL. */
const Onnx__AttributeProto *
cleave_text_attr (const Onnx__NodeProto *proto, const char *prefix, const char *ending);

/* Creates the values of a LabelEncoder. */
gboolean
cleave_onnx_read_labels (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
