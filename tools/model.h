/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Loads the model of a command, with the options --shape and --fix. Every command that takes a
 * model calls cleave_model_load() after it has read its command line; run and diff call it through
 * inputs.h. cleave_model_load() passes the names of files that it reads to
 * cleave_outputs_protect(), so that no output replaces these files. */

#include <cleave/cleave.h>

/* An input that becomes a constant, and the value of the constant. */
typedef struct
{
  char *name;
  CleaveTensor *tensor;
} CleaveModelValue;

void cleave_model_value_free (gpointer value);

/* The options of the command line that load a model. */
typedef struct
{
  char **shapes, **values;      /* texts of --shape and of --fix; NULL: none */
  const GPtrArray *more_values; /* CleaveModelValue: inputs that become constants, in addition to
                                   the inputs of --fix; NULL: none */
  gboolean force;               /* outputs may replace files that were read */
  gboolean is_mapped;   /* the file is mapped, not read: the command reads few weights at a time, or
                           none */
  gboolean has_dynamic; /* the command also runs or prints the dynamic part */
} CleaveModelOptions;

/* Suffix of files with a graph as text. */
#define CLEAVE_TEXT_SUFFIX ".cleave"

/* Suffix of saved programs. */
#define CLEAVE_PROGRAM_SUFFIX ".plan"

/* Returns the graph of a model: an ONNX file, a TensorFlow Lite file or a graph as text. Returns
 * NULL and an error that names the file on failure. */
CleaveGraph *
cleave_model_load (const char *path, const CleaveModelOptions *options, GError **error);

/* Returns a number of MACs as text. Returns ">= 9.2e18" for G_MAXINT64, the largest number that
 * Cleave counts. */
char *cleave_macs_to_string (gint64 macs);

/* The options of every command that loads a model, and of every command that writes a file. */
#define CLEAVE_MODEL_OPTIONS(variable)                                                             \
  { "shape",                                                                                       \
    0,                                                                                             \
    0,                                                                                             \
    G_OPTION_ARG_STRING_ARRAY,                                                                     \
    &(variable).shapes,                                                                            \
    "fix the shape of an input, or dimensions by name, as in batch=1,seq=128; seq=1..512 plans "   \
    "for 512; leave out the input's name if the model has one input",                              \
    "NAME=1,3,224,224" },                                                                          \
  {                                                                                                \
    "fix", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(variable).values,                                    \
        "fix a free dimension, or make an input a constant: a number, a .npy or .pb file",         \
        "NAME=VALUE"                                                                               \
  }
#define CLEAVE_FORCE_OPTION(variable)                                                              \
  {                                                                                                \
    "force", 0, 0, G_OPTION_ARG_NONE, &(variable).force,                                           \
        "let an output replace a file that was read", NULL                                         \
  }
