/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Inputs that have a default value in the model's file (an initializer with the name of an input).
 * The importer lists these inputs (lib/onnx/import/inputs.c), and the exporter writes them as
 * inputs again. A pass that computes with constants, such as fold-constants, must take each
 * constant from cleave_node_get_final_constant(). defaults.c says why. */

#include <cleave/cleave-graph.h>

typedef enum {
  CLEAVE_DEFAULT_OPEN,  /* whoever runs the exported file may pass another value */
  CLEAVE_DEFAULT_FIXED, /* the value decided a shape or an attribute, so nobody may pass another
                         * value */
  CLEAVE_DEFAULT_GIVEN, /* the user gave another value for the input */
} CleaveDefaultState;

/* An input that has a default value in the model's file. */
typedef struct
{
  char *name;
  CleaveTensor *tensor; /* value that the input has in the graph */
  CleaveDefaultState state;
} CleaveDefault;

void cleave_default_clear (gpointer entry);

/* Sets the default values (CleaveDefault) of a graph and takes ownership of the array. The array
 * must not change afterwards, since copies of the graph share it. */
void cleave_graph_set_defaults (CleaveGraph *graph, GArray *defaults);
/* Copies default values from the graph `from` to the graph `to`, which has a part of the nodes of
 * `from`. Copies only the default values that constants of `to` use. */
void cleave_graph_copy_used_defaults (CleaveGraph *to, const CleaveGraph *from);
/* Returns the name of the input whose default value is `tensor`, or whose default value `tensor` is
 * a slice of. Ignores inputs whose state is not CLEAVE_DEFAULT_OPEN. Returns NULL if there is no
 * such input. */
const char *cleave_graph_find_default (const CleaveGraph *graph, CleaveTensor *tensor);
/* Returns the value of a constant. Returns NULL if the node is no constant, or if the constant is a
 * default value with the state CLEAVE_DEFAULT_OPEN: whoever runs the exported file may replace this
 * value. A rewrite that computes with a value must get the value from this function. */
CleaveTensor *cleave_node_get_final_constant (const CleaveNode *node);
