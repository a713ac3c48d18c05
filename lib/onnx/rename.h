/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "onnx.pb-c.h"

#include <glib.h>

/* Renames the values in a function's nodes, so that two calls of the function have no values in
 * common. */

typedef struct
{
  const char *prefix;  /* prefix of new names: the name of the calling node */
  GHashTable *renamed; /* maps a name in the function to the name in the model; owns both */
  GHashTable *taken;   /* set of the names in use, to which new names are added */
  gsize n_bytes;       /* bytes of all new names */
} CleaveOnnxRenaming;

/* Replaces a text field of a message by a copy of `to`. */
void cleave_onnx_set_text (char **text, const char *to);
/* Adds to `names` the names of all values of a graph, and of graphs within it. */
void cleave_onnx_note_names (GHashTable *names, const Onnx__GraphProto *graph);
/* Renames a node, its operands and results, and the nodes, operands and results of graphs within
 * it. */
void cleave_onnx_rename_node (CleaveOnnxRenaming *renaming, Onnx__NodeProto *node);
