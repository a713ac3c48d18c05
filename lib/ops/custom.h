/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Custom ops: nodes of other domains than ONNX's, whose meaning Cleave does not know. The exporter
 * writes them as the importer read them; they cannot be split or run. */

#include "../ir/op.h"

typedef struct
{
  char *op;           /* the operator of the node in the file, "domain:op" */
  GArray *outputs;    /* gint64: for each output of the node in the file, the element type, the rank
                       * and the extents; or only CLEAVE_NONE for an output that is absent */
  CleaveTensor *node; /* the serialized NodeProto */
} CleaveCustomAttrs;

extern const CleaveOp cleave_op_custom;

/* Appends an output to a list of outputs. A `type` of NULL is an output that is absent. */
void cleave_custom_add_output (GArray *outputs, const CleaveTensorType *type);
/* Iterates over a list of outputs: sets `type`, and moves `at`, which is 0 at first, to the next
 * output. Returns FALSE at the end. */
gboolean cleave_custom_next_output (const GArray *outputs, guint *at, CleaveTensorType *type);
