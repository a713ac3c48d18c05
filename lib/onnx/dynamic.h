/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-onnx.h>

/* A constant that the dynamic part reads. */
typedef struct
{
  char *name;
  CleaveTensor *tensor;
} CleaveOnnxDynamicConstant;

/* The dynamic part of a model, see CleaveOnnxDynamic. It never changes once it is made, so that
 * copies of a graph share it. */
struct _CleaveOnnxDynamic
{
  GArray *nodes;     /* CleaveOnnxDynamicNode, whose texts it owns; in the order of a run */
  GArray *opsets;    /* gint64, one entry for each node */
  GBytes *graph;     /* serialized GraphProto: the nodes as in the file, and the model's outputs */
  GArray *constants; /* CleaveOnnxDynamicConstant: tensors that the nodes read */
  GPtrArray *reads;  /* names of inputs of the model and outputs of the graph that it reads */
  GHashTable *made;  /* set of names: the results of the dynamic nodes */
  GHashTable *texts; /* set of names: the outputs of the model that have strings */
  char **outputs;    /* names of the model's outputs, in the order of the file */
};

CleaveOnnxDynamic *cleave_onnx_dynamic_new (void);
/* Adds a node; copies its texts. */
void cleave_onnx_dynamic_add_node (CleaveOnnxDynamic *dynamic,
                                   const CleaveOnnxDynamicNode *node,
                                   gint64 opset);
void cleave_onnx_dynamic_add_constant (CleaveOnnxDynamic *dynamic,
                                       const char *name,
                                       CleaveTensor *tensor);
/* Returns the highest opset of a node. */
gint64 cleave_onnx_dynamic_get_opset (const CleaveOnnxDynamic *dynamic);
