/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Custom ops: ops of other domains than ONNX's. Cleave does not know the meaning of these ops.
 * lib/onnx/import/custom.c makes the node of a custom op, and lib/onnx/export/custom.c writes the
 * node unchanged. A custom node can neither be split nor run. */

#include "../ir/op.h"

typedef struct
{
  char *op;           /* the operator of the node in the file, "domain:op" */
  GArray *outputs;    /* gint64: the types of the outputs of the node in the file, one after the
                       * other. For each output: the element type, the rank and the extents, or only
                       * CLEAVE_NONE for an absent output */
  CleaveTensor *node; /* the bytes of the node's NodeProto in the file */
} CleaveCustomAttrs;

extern const CleaveOp cleave_op_custom;

/* Appends an output to a list of outputs. `type` is NULL for an absent output. */
void cleave_custom_add_output (GArray *outputs, const CleaveTensorType *type);
/* Iterates over a list of outputs. `at` is the position in the list, and must be 0 before the first
 * call. Sets `type` to the type of the output at this position, and moves `at` to the next output.
 * Returns FALSE at the end of the list. */
gboolean cleave_custom_next_output (const GArray *outputs, guint *at, CleaveTensorType *type);
