/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "json.h"

#include <cleave/cleave.h>

/* Messages of commands about the dynamic part of a model: the nodes whose shapes depend on data.
 * model.c prints a note after it has loaded a model. compile and `run --ranks` refuse the model,
 * and info lists the nodes. */

/* Prints a note on standard error if the model has a dynamic part: the numbers of the command do
 * not include that part. */
void cleave_dynamic_warn (const CleaveGraph *graph, const char *path);
/* Prints a note on standard error if the model has dynamic nodes: the written files do not contain
 * them. */
void cleave_dynamic_warn_left_out (const CleaveGraph *graph);
/* Fails if the dynamic part computes one of the values. `values`: their names, NULL-terminated;
 * NULL: no values. */
gboolean
cleave_dynamic_check_static (const CleaveGraph *graph, char *const *values, GError **error);
/* Fails if the model has a dynamic part. The error message names the first node whose shape depends
 * on data. `what` is the end of the message. */
gboolean cleave_dynamic_refuse (const CleaveGraph *graph, const char *what, GError **error);
/* Prints the inputs of the model that are lists. */
void cleave_dynamic_print_inputs (const CleaveOnnxDynamic *dynamic);
/* Prints the outputs of the model that the dynamic part computes. */
void cleave_dynamic_print_outputs (const CleaveOnnxDynamic *dynamic);
/* Prints nodes of the dynamic part: all nodes if `all`, else only the nodes that begin the dynamic
 * part. */
void cleave_dynamic_print (const CleaveOnnxDynamic *dynamic, gboolean all);
void cleave_dynamic_add_json (CleaveJson *json, const CleaveOnnxDynamic *dynamic);
/* Returns whether this output of the graph is also an output of the model. If not, only the dynamic
 * part reads the output. */
gboolean cleave_dynamic_is_output (const CleaveGraph *graph, const char *output);
/* Returns the type of an input or an output of the model that is a list of tensors, such as
 * "seq(float32)"; NULL: the value is a tensor. `dynamic` may be NULL. */
const char *cleave_dynamic_list_type (const CleaveOnnxDynamic *dynamic, const char *name);
/* Returns the number of tensors in a list. `number` is the int64 scalar that precedes the tensors
 * of the list, and holds their number. Returns 0 if the list is absent. */
guint cleave_dynamic_list_length (CleaveTensor *number);
/* Returns the name of a tensor in a list, such as "s.0". */
char *cleave_dynamic_item_name (const char *list, guint index);
/* Adds the tensors of inputs or outputs of the model to `flat`, and returns a name for each added
 * tensor. `names` are the names of the inputs or outputs. `tensors` has the tensor of each input or
 * output, in the order of `names`. For a list, `tensors` has a scalar with the length of the list,
 * and then the tensors of the list. `dynamic` may be NULL. */
char **cleave_dynamic_flatten (const CleaveOnnxDynamic *dynamic,
                               const char *const *names,
                               const GPtrArray *tensors,
                               GPtrArray *flat);
/* Returns whether the values of an input or an output of the model are strings. */
gboolean cleave_dynamic_has_strings (const CleaveGraph *graph, const char *name);
