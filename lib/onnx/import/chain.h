/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

/* A chain of nodes of the dynamic part that run as one program, with fused kernels, threads and one
 * arena. An expensive node starts a chain: the run adds the node to a graph, as an import does, and
 * does not compute it. Later nodes that read its results join the chain, since their shapes are
 * known. The chain ends before a node that needs the contents of a value.
 *
 *     Compress          computed at once
 *     Conv, Relu, Gemm  one program; Conv starts the chain
 *     NonZero           needs the contents of the result of Gemm, so the program runs before
 */

struct CleaveOnnxChain
{
  gboolean is_open;    /* whether the current node of the run may start a chain or join it */
  guint first;         /* index of the first node of the chain */
  guint n_before;      /* number of values that the import had before it read the current node */
  GPtrArray *operands; /* CleaveOnnxValue: known values that are constants or inputs of the graph */
  GPtrArray *tensors;  /* CleaveTensor of each input of the graph */
};

CleaveOnnxChain *cleave_onnx_chain_new (void);
void cleave_onnx_chain_free (CleaveOnnxChain *chain);
/* Returns whether the current node, whose operands have known values, becomes a node of the chain:
 * `is_open` is set, the node is expensive, and the model does not store all operands. */
gboolean cleave_onnx_chain_starts (const CleaveOnnxImport *import,
                                   const CleaveCall *call,
                                   const GPtrArray *operands);
/* Adds a known value, which a node of the chain reads, to the graph. A value that the model stores
 * becomes a constant. Any other value becomes an input of the graph. */
void cleave_onnx_chain_add_operand (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Runs the chain. Stores a result if it is an output of the model, or if node `node` of `graph` or
 * a later node reads it. `last` maps the name of a value to 1 plus the index of its last reader;
 * G_MAXUINT: the value is an output. */
gboolean cleave_onnx_chain_run (CleaveOnnxImport *import,
                                const Onnx__GraphProto *graph,
                                GHashTable *last,
                                guint node,
                                GError **error);
