/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The data of a dynamic part (CleaveOnnxDynamic): the nodes of a model that cannot be nodes of a
 * graph. The importer fills a CleaveOnnxDynamic and attaches it to the graph's origin. The exporter
 * writes the dynamic nodes after the nodes of the graph, and import/interpret.c runs the dynamic
 * nodes. */

#include <cleave/cleave-onnx.h>

/* A constant that nodes of the dynamic part read, and the name of the constant in the file. */
typedef struct
{
  char *name;
  CleaveTensor *tensor;
} CleaveOnnxDynamicConstant;

/* The type of an input or an output of the model whose value is a list of tensors: a sequence, or
 * an optional value. The list of an optional tensor has one tensor. */
typedef struct
{
  char *text;                        /* the type as text, such as "optional(seq(float32))" */
  gboolean is_optional, is_sequence; /* `is_optional`: whether the value may be absent;
                                      * `is_sequence`: whether the value may have any number of
                                      * tensors */
  CleaveTensorType tensor;           /* declared type of the tensors; an extent of -1 is free.
                                      * Without a declared shape, the tensor has one free extent */
} CleaveOnnxListType;

/* The dynamic part of a model. No function changes it after the import, so copies of a graph share
 * it. */
struct _CleaveOnnxDynamic
{
  GArray *nodes;     /* CleaveOnnxDynamicNode, in the order of a run; the array owns the strings of
                      * its elements */
  GArray *opsets;    /* gint64, indexed by node: opset of the node */
  GBytes *graph;     /* serialized GraphProto: the nodes as in the file, and the model's outputs */
  GArray *constants; /* CleaveOnnxDynamicConstant: the constants that nodes of the dynamic part
                      * read */
  GPtrArray *reads;  /* char *: names of the values that nodes of the dynamic part read: inputs
                      * of the model and outputs of the graph */
  GHashTable *made;  /* set of the names of the results of all nodes of the dynamic part */
  GHashTable *texts; /* set of the names of the model's inputs and outputs that are tensors of
                      * strings */
  GHashTable *lists; /* maps the name of an input or an output of the model that is a sequence or
                      * an optional value to its CleaveOnnxListType */
  char **inputs;     /* names of the model's inputs that are sequences or optional values */
  char **outputs;    /* names of the model's outputs, in the order of the file */
};

CleaveOnnxDynamic *cleave_onnx_dynamic_new (void);
/* Appends a node to the nodes of the dynamic part. Copies the texts of `node`. */
void cleave_onnx_dynamic_add_node (CleaveOnnxDynamic *dynamic,
                                   const CleaveOnnxDynamicNode *node,
                                   gint64 opset);
void cleave_onnx_dynamic_add_constant (CleaveOnnxDynamic *dynamic,
                                       const char *name,
                                       CleaveTensor *tensor);
/* Returns the highest opset of all nodes of the dynamic part. */
gint64 cleave_onnx_dynamic_get_opset (const CleaveOnnxDynamic *dynamic);
