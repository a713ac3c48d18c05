/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes the inputs of a run from the options --input, --seed, --mean and --scale. run and diff load
 * the model with cleave_model_load_for_inputs(), and then make a tensor for each input. The files
 * may be .npy, .npz, .pb or pictures. simulate, demo and report use random tensors. */

#include "arguments.h"
#include "model.h"

/* The options of the command line that give the inputs of a run. */
typedef struct
{
  char **files; /* texts of --input, each [NAME=]FILE */
  char *seed, *mean, *scale;
} CleaveInputOptions;

/* The options (--mean, --scale) that have no effect without --input. */
extern const CleaveArgumentNeed cleave_input_needs[];

/* Returns the graph of a model. If --shape does not set a free dimension of an input, the dimension
 * gets the extent of the tensor that --input gives. */
CleaveGraph *cleave_model_load_for_inputs (const char *path,
                                           const CleaveModelOptions *model,
                                           const CleaveInputOptions *inputs,
                                           GError **error);

/* Returns the names that --input accepts: inputs, and inputs with default values. */
char **cleave_input_list_names (const CleaveGraph *graph);
/* Returns a hint for a name that is no input: the nearest name, or all names if they are few. */
char *cleave_input_dup_hint (const char *name, char *const *names);

/* Returns a tensor for each input of the graph, from a file of --input or with random elements. If
 * `options` is NULL, all tensors are random. After these tensors come the tensors of the lists
 * among the inputs of the model (list-inputs.h). Returns NULL on error. */
GPtrArray *
cleave_make_inputs (const CleaveGraph *graph, const CleaveInputOptions *options, GError **error);

/* The entries of the options --input, --seed, --mean and --scale, for the commands that run a
 * model. */
#define CLEAVE_INPUT_OPTIONS(variable)                                                             \
  { "input",                                                                                       \
    0,                                                                                             \
    0,                                                                                             \
    G_OPTION_ARG_STRING_ARRAY,                                                                     \
    &(variable).files,                                                                             \
    "read an input from a .npy, .npz, .pb, .png or .jpg file; "                                    \
    "leave out the name for .npz or if the model has one input",                                   \
    "NAME=FILE" },                                                                                 \
      { "mean",                                                                                    \
        0,                                                                                         \
        0,                                                                                         \
        G_OPTION_ARG_STRING,                                                                       \
        &(variable).mean,                                                                          \
        "subtract this from each number of a picture, 0 to 255: one M, or one for each channel "   \
        "(default: 0)",                                                                            \
        "M,…" },                                                                                   \
      { "scale",                                                                                   \
        0,                                                                                         \
        0,                                                                                         \
        G_OPTION_ARG_STRING,                                                                       \
        &(variable).scale,                                                                         \
        "multiply the difference by this number (default: 1/255; 1 for integers)",                 \
        "S,…" },                                                                                   \
  {                                                                                                \
    "seed", 0, 0, G_OPTION_ARG_STRING, &(variable).seed,                                           \
        "make random inputs from this seed (default: 0)", "N"                                      \
  }
