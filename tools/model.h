/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A model from a file; `shapes` are the texts of --shape, or NULL.  Errors name the file. */
CleaveGraph *cleave_model_load (const char *path, char **shapes, GError **error);

/* The node of this name, or whose first result has it. */
CleaveNode *cleave_model_find_node (const CleaveGraph *graph, const char *name);
gint64 cleave_model_get_macs (const CleaveGraph *graph);

/* What --shape says in the help of every command that loads a model. */
#define CLEAVE_SHAPE_OPTION(variable)                                                              \
  {                                                                                                \
    "shape", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(variable),                                         \
        "Fix an input's free dimensions; the name may be left out if there is one input",          \
        "NAME=1,3,224,224"                                                                         \
  }
