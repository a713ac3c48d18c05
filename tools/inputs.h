/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "arguments.h"
#include "model.h"

/* The options of the command line that give the inputs of a run. */
typedef struct
{
  char **files; /* [NAME=]FILE */
  char *seed, *mean, *scale;
} CleaveInputOptions;

void cleave_input_options_clear (CleaveInputOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveInputOptions, cleave_input_options_clear)

/* The options (--mean, --scale) that have no effect without --input. */
extern const CleaveArgumentNeed cleave_input_needs[];

/* Loads a model. Free dimensions of its inputs that no --shape sets get the extents of the tensors
 * that --input gives. */
CleaveGraph *cleave_model_load_for_inputs (const char *path,
                                           const CleaveModelOptions *model,
                                           const CleaveInputOptions *inputs,
                                           GError **error);

/* Makes a tensor for each input: from its file, or random without one. With `options` NULL, all are
 * random. */
GPtrArray *
cleave_make_inputs (const CleaveGraph *graph, const CleaveInputOptions *options, GError **error);

/* The options of every command that runs a model. */
#define CLEAVE_INPUT_OPTIONS(variable)                                                             \
  { "input",                                                                                       \
    0,                                                                                             \
    0,                                                                                             \
    G_OPTION_ARG_STRING_ARRAY,                                                                     \
    &(variable).files,                                                                             \
    "Take an input from a .npy, .npz, .pb, .png or .jpg file; the name may be left out if there "  \
    "is one input, and with .npz",                                                                 \
    "NAME=FILE" },                                                                                 \
      { "mean",                                                                                    \
        0,                                                                                         \
        0,                                                                                         \
        G_OPTION_ARG_STRING,                                                                       \
        &(variable).mean,                                                                          \
        "What is taken from the 0 to 255 of a picture, for all channels or each (0)",              \
        "M,…" },                                                                                   \
      { "scale",                                                                                   \
        0,                                                                                         \
        0,                                                                                         \
        G_OPTION_ARG_STRING,                                                                       \
        &(variable).scale,                                                                         \
        "What the rest is multiplied with (1/255; 1 for integers)",                                \
        "S,…" },                                                                                   \
  {                                                                                                \
    "seed", 0, 0, G_OPTION_ARG_STRING, &(variable).seed,                                           \
        "Seed of the inputs that are not given (0)", "N"                                           \
  }
