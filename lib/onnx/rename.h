/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "onnx.pb-c.h"

#include <glib.h>

/* Renames values and nodes. When the importer replaces a call of a function by the function's nodes
 * (import/inline.c), the values of these nodes get new names. So two calls have no values in
 * common. */

typedef struct
{
  const char *prefix;  /* prefix of each new name: the name of the node that calls the function */
  GHashTable *renamed; /* maps a value's name in the function to its name in the model; owns both
                        * names */
  GHashTable *taken;   /* set of the names in use, to which new names are added */
  gsize n_bytes;       /* number of bytes of all new names together */
} CleaveOnnxRenaming;

/* Replaces the text in a field of a message by a copy of `to`. */
void cleave_onnx_set_text (char **text, const char *to);
/* Adds to the set `names` the names of all values of a graph, and of the graphs in its nodes. */
void cleave_onnx_note_names (GHashTable *names, const Onnx__GraphProto *graph);
/* Renames a node, its operands and its results. Also renames the nodes of graphs in its
 * attributes. */
void cleave_onnx_rename_node (CleaveOnnxRenaming *renaming, Onnx__NodeProto *node);
