/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes small TensorFlow Lite files. */

#include <glib.h>

/* A tensor of the file. */
typedef struct
{
  const char *name;
  gint type;          /* TensorType of the schema */
  const char *shape;  /* "1x4x4x3"; "" is a scalar */
  gconstpointer data; /* NULL: no value */
  guint n_bytes;
  const float *scales; /* NULL: not quantized */
  guint n_scales;
  gint64 zero; /* zero point of all scales */
  gint axis;
  gboolean is_variable;
} TfliteTensor;

enum {
  TFLITE_FLOAT32 = 0,
  TFLITE_FLOAT16 = 1,
  TFLITE_INT32 = 2,
  TFLITE_INT64 = 4,
  TFLITE_BOOL = 6,
  TFLITE_INT16 = 7,
  TFLITE_INT8 = 9
};

/* A field of the options of an operator. */
typedef struct
{
  guint field;
  char kind; /* 'b': a byte, 'i': 32 bits with a sign, 'f': a float; 0: no more fields */
  double value;
} TfliteOption;

typedef struct
{
  gint code; /* BuiltinOperator of the schema */
  const char *custom;
  gint inputs[24], n_inputs, outputs[4], n_outputs;
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
  guint n_listed; /* how many times the file lists operator 0; 0 stands for once */
} TfliteGraph;

/* Writes a file of one subgraph. Operator i has operator code i. */
GBytes *tflite_file_new (const TfliteGraph *graph);

/* A few files with convolutions, products, reductions, moves and quantized operators, all of which
 * the import accepts: GBytes. */
GPtrArray *tflite_file_examples (void);
