/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes small TensorFlow Lite files, for tests of the import. A test fills tables of tensors and
 * operators in C and gets the bytes of a file. tflite-examples.c has complete models. */

#include <glib.h>

/* A dimension of a sparse tensor. A dense dimension has `size`; a sparse dimension has `segments`
 * and `indices` instead. */
typedef struct
{
  gint size; /* extent of a dense dimension */
  const guint8 *segments, *indices;
  guint n_segments, n_indices;
} TfliteLevel;

typedef struct
{
  gint order[4], blocks[2];
  guint n_blocks, n_levels;
  TfliteLevel levels[4];
} TfliteSparsity;

/* A tensor of the file. */
typedef struct
{
  const char *name;
  gint type;          /* TensorType of the schema */
  const char *shape;  /* shape as text, such as "1x4x4x3"; "" is a scalar */
  gconstpointer data; /* bytes of a constant; NULL: the tensor is no constant */
  guint n_bytes;
  const float *scales; /* one scale for each index of a dimension, or one for all; NULL: the tensor
                          is not quantized */
  guint n_scales;
  gint64 zero; /* zero point, the same for each scale */
  gint axis;
  gboolean is_variable;
  const TfliteSparsity *sparsity; /* NULL: the tensor is dense */
} TfliteTensor;

enum {
  TFLITE_FLOAT32 = 0,
  TFLITE_FLOAT16 = 1,
  TFLITE_INT32 = 2,
  TFLITE_INT64 = 4,
  TFLITE_BOOL = 6,
  TFLITE_INT16 = 7,
  TFLITE_INT8 = 9,
  TFLITE_RESOURCE = 13
};

/* A field of the options of an operator. */
typedef struct
{
  guint field;
  char kind; /* 'b': a byte, 'i': 32 bits with a sign, 'f': a float, 's': the text of the operator;
              * 'c': the data of tensor `value` (custom operators have one option, of this kind); 0:
              * no more fields */
  double value;
} TfliteOption;

typedef struct
{
  gint code;          /* BuiltinOperator of the schema */
  const char *custom; /* name of a custom operator, or text of an option of kind 's' */
  gint inputs[48], n_inputs, outputs[4], n_outputs;
  gint options_type; /* BuiltinOptions of the schema; 0: none */
  TfliteOption options[8];
} TfliteOperator;

typedef struct
{
  const TfliteTensor *tensors;
  guint n_tensors;
  const TfliteOperator *operators;
  guint n_operators;
  gint inputs[4], n_inputs, outputs[4], n_outputs;
  guint n_listed; /* how often the file lists operator 0; 0 means once */
} TfliteGraph;

/* Writes a file of one subgraph. Each operator has an operator code of its own. */
GBytes *tflite_file_new (const TfliteGraph *graph);
/* Writes a file of several subgraphs; the list ends with NULL. */
GBytes *tflite_file_new_list (const TfliteGraph *const *graphs);

/* Returns files (GBytes), all of which the import accepts. The files have convolutions, products,
 * reductions, moves, quantized operators, control flow, variables and sparse constants. */
GPtrArray *tflite_file_examples (void);
#define TFLITE_CONTROL_EXAMPLE 4 /* index of the example with six subgraphs */
