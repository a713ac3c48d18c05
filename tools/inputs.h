/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "arguments.h"
#include "model.h"

/* What the command line says of the tensors that a model is run on. */
typedef struct
{
  char **files; /* [NAME=]FILE */
  char *seed, *mean, *scale;
} CleaveInputOptions;

void cleave_input_options_clear (CleaveInputOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveInputOptions, cleave_input_options_clear)

/* The options that have no effect without --input. */
extern const CleaveArgumentNeed cleave_input_needs[];

/* A model, the free dimensions of whose inputs may be those of the tensors that it is given: where
 * they are free, and no --shape says them. */
CleaveGraph *cleave_model_load_for_inputs (const char *path,
                                           const CleaveModelOptions *model,
                                           const CleaveInputOptions *inputs,
                                           GError **error);

/* A tensor for each input: from its file, else random.  Of NULL, all are random. */
GPtrArray *
cleave_make_inputs (const CleaveGraph *graph, const CleaveInputOptions *options, GError **error);

/* The options of every command that runs a model on what it is given. */
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
