/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-onnx.h>

/* A constant that nodes of the dynamic part read. */
typedef struct
{
  char *name;
  CleaveTensor *tensor;
} CleaveOnnxDynamicConstant;

/* The dynamic part of a model (see CleaveOnnxDynamic). It does not change after it is made, so that
 * copies of a graph share it. */
struct _CleaveOnnxDynamic
{
  GArray *nodes;  /* CleaveOnnxDynamicNode, whose texts the array owns, in the order of a run */
  GArray *opsets; /* gint64: opset of each node */
  GBytes *
      graph; /* serialized GraphProto: the nodes as they are in the file, and the model's outputs */
  GArray *constants; /* CleaveOnnxDynamicConstant: the constants that the nodes read */
  GPtrArray *reads; /* char *: names of the inputs of the model and of the outputs of the graph that
                       the nodes read */
  GHashTable *made; /* set of names: results of the dynamic nodes */
  GHashTable *texts; /* set of names: inputs and outputs of the model that are tensors of strings */
  char **outputs;    /* names of the model's outputs, in the order of the file */
};

CleaveOnnxDynamic *cleave_onnx_dynamic_new (void);
/* Adds a node, whose texts are copied. */
void cleave_onnx_dynamic_add_node (CleaveOnnxDynamic *dynamic,
                                   const CleaveOnnxDynamicNode *node,
                                   gint64 opset);
void cleave_onnx_dynamic_add_constant (CleaveOnnxDynamic *dynamic,
                                       const char *name,
                                       CleaveTensor *tensor);
/* Returns the highest opset of all nodes. */
gint64 cleave_onnx_dynamic_get_opset (const CleaveOnnxDynamic *dynamic);
