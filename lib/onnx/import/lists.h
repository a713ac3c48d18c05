/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "import.h"

#include "../dynamic.h"

/* Inputs and outputs of the model that are lists of tensors: sequences and optional values. A graph
 * has no such value, so the nodes that read or make a list are dynamic. A run of the dynamic part
 * takes and returns a list as several tensors: the number of tensors, and then the tensors.
 *
 *     ["s", "s", "s"]    [2, x0, x1]    a sequence of two tensors
 *     ["s"]              [0]            an empty sequence
 *     ["o"]              [-1]           an optional value that is absent */

/* Returns whether an input or an output of the file is declared as a sequence or an optional value.
 */
gboolean cleave_onnx_is_list (const Onnx__ValueInfoProto *info);
/* Returns whether the model has an input of this name that is a sequence or an optional value. */
gboolean cleave_onnx_is_list_input (const CleaveOnnxImport *import, const char *name);
/* Stores in `dynamic` the types of the model's inputs and outputs that are lists. */
gboolean
cleave_onnx_keep_lists (CleaveOnnxDynamic *dynamic, const Onnx__GraphProto *whole, GError **error);
/* At the begin of a run of the dynamic part: defines the inputs that are lists, from the values of
 * the caller. Fails if the list of an input is missing, or does not have the declared type. */
gboolean cleave_onnx_bind_lists (CleaveOnnxImport *import,
                                 const CleaveOnnxDynamic *dynamic,
                                 const char *const *names,
                                 CleaveTensor *const *values,
                                 guint n_values,
                                 GError **error);
/* Appends to `outputs` the number of tensors of a list, and then copies of the tensors. */
gboolean cleave_onnx_take_list (CleaveOnnxImport *import,
                                const char *name,
                                const CleaveOnnxListType *type,
                                const CleaveOnnxValue *value,
                                GPtrArray *outputs,
                                GError **error);
