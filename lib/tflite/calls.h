/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Calls of subgraphs: the operators of a called subgraph become nodes of the graph.
 * convert-control.c calls these functions for IF, WHILE and CALL_ONCE. Inputs and outputs of a call
 * are arrays of CleaveTfliteValue. */

#include "convert.h"

GArray *cleave_tflite_new_values (void);
void cleave_tflite_clear_value (gpointer value);
/* Returns the type of a value. The value must be a tensor, not a handle of a variable. */
const CleaveTensorType *cleave_tflite_value_type (const CleaveTfliteValue *value);
/* Appends the value of a tensor to `values`. `i` is the position of the tensor among the inputs or
 * outputs, for error messages. */
gboolean cleave_tflite_append_value (
    CleaveTfliteImport *import, guint i, gint64 tensor, GArray *values, GError **error);
/* Adds the nodes of the operators of subgraph `index`. Returns the subgraph's outputs
 * (CleaveTfliteValue); NULL on error. */
GArray *
cleave_tflite_call (CleaveTfliteImport *import, gint64 index, const GArray *inputs, GError **error);
