/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Lists among the inputs of the model. A list is a sequence or an optional value. inputs.c reads
 * the tensors of the lists from files. A run first gets a tensor for each input of the graph. For
 * each list, the run then gets the number of the list's tensors, and the tensors themselves. */

/* A list among the inputs of the model, and the tensors that --input gives for this list. */
typedef struct
{
  const char *name, *type; /* `type`: such as "seq(float32)" */
  CleaveTensorType tensor; /* declared type of the tensors, with -1 for a free extent */
  gboolean has_strings;
  GPtrArray *tensors; /* CleaveTensor; NULL: no --input names this list */
} CleaveListInput;

/* Returns a CleaveListInput for each list among the inputs of the model, in the order of the
 * inputs. */
GArray *cleave_list_inputs_new (const CleaveGraph *graph);
/* Returns the list with the name `name`, or NULL if there is no such list. If `name` is NULL,
 * returns the only input of the model, if this input is a list. */
CleaveListInput *
cleave_list_inputs_find (GArray *lists, const CleaveGraph *graph, const char *name);
/* Appends the tensors of the file at `path` to a list. A .npz archive has several tensors, which
 * keep their order in the archive. Any other file has one tensor. */
gboolean cleave_list_input_load (CleaveListInput *list, const char *path, GError **error);
/* Appends all lists to the tensors of a run. A sequence without a file has two random tensors. An
 * optional value without a file is absent. */
gboolean cleave_list_inputs_append (GArray *lists, gint64 seed, GPtrArray *tensors, GError **error);
