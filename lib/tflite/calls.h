/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Calls of subgraphs (calls.c). Their inputs and outputs are arrays of CleaveTfliteValue. */

#include "convert.h"

GArray *cleave_tflite_new_values (void);
void cleave_tflite_clear_value (gpointer value);
/* Returns the type of a value. The value must not be a handle of a variable. */
const CleaveTensorType *cleave_tflite_value_type (const CleaveTfliteValue *value);
/* Appends the value of tensor `tensor` to `values`. `i` is the tensor's index among the inputs or
 * outputs, for error messages. */
gboolean cleave_tflite_append_value (
    CleaveTfliteImport *import, guint i, gint64 tensor, GArray *values, GError **error);
/* Adds the nodes of subgraph `index`. Returns its outputs (CleaveTfliteValue); NULL on error. */
GArray *
cleave_tflite_call (CleaveTfliteImport *import, gint64 index, const GArray *inputs, GError **error);
