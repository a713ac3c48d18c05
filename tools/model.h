/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A value of an input. */
typedef struct
{
  char *name;
  CleaveTensor *tensor;
} CleaveModelValue;

void cleave_model_value_free (gpointer value);

/* What the command line says of a model's inputs: the texts of --shape and --fix, or NULL; and
 * whether what is written may take the place of the model. */
typedef struct
{
  char **shapes, **values;
  const GPtrArray *more_values; /* CleaveModelValue, as --fix gives them; NULL: none */
  gboolean force;
} CleaveModelOptions;

void cleave_model_options_clear (CleaveModelOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveModelOptions, cleave_model_options_clear)

/* How the name of a graph as text ends. */
#define CLEAVE_TEXT_SUFFIX ".cleave"

/* How the name of a saved program ends. */
#define CLEAVE_PROGRAM_SUFFIX ".plan"

/* A model from a file, ONNX or a text.  Errors name the file. */
CleaveGraph *
cleave_model_load (const char *path, const CleaveModelOptions *options, GError **error);

/* A number, or ">= 9.2e18" where 64 bits do not hold it. */
char *cleave_macs_to_string (gint64 macs);

/* The options of every command that loads a model, and of every command that writes a file. */
#define CLEAVE_MODEL_OPTIONS(variable)                                                             \
  { "shape",                                                                                       \
    0,                                                                                             \
    0,                                                                                             \
    G_OPTION_ARG_STRING_ARRAY,                                                                     \
    &(variable).shapes,                                                                            \
    "Fix an input's free dimensions; the name may be left out if there is one input",              \
    "NAME=1,3,224,224" },                                                                          \
  {                                                                                                \
    "fix", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(variable).values,                                    \
        "Fix a free dimension, or make an input a constant: a number, a .npy or .pb file",         \
        "NAME=VALUE"                                                                               \
  }
#define CLEAVE_FORCE_OPTION(variable)                                                              \
  {                                                                                                \
    "force", 0, 0, G_OPTION_ARG_NONE, &(variable).force,                                           \
        "Let an output replace a file that was read", NULL                                         \
  }
