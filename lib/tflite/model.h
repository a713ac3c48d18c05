/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of a TensorFlow Lite file that the import reads. cleave_tflite_model_new() checks the
 * file first: every index is in range, and every vector is inside the file. import.c makes a graph
 * of the model, and memory-plan.c plans its arena. Strings and vectors of the file are borrowed. */

#include <cleave/cleave-tensor.h>

#include "flat.h"

#define CLEAVE_TFLITE_CUSTOM 32 /* operator code of custom operators */

/* The real numbers for which integers stand: scale * (integer - zero point). There is one scale and
 * zero point, or one for each index of dimension `axis`. */
typedef struct
{
  CleaveFlatVector scales, zeros;
  gint64 axis;
} CleaveTfliteQuantization;

typedef struct
{
  char *name;
  CleaveTensorType type;    /* type of the tensor; element CLEAVE_NONE: Cleave does not have the
                             * element type */
  gint64 type_code;         /* element type as in the file: TensorType of the schema */
  const guint8 *data;       /* value of a constant; NULL: the tensor is computed, or is an input */
  gsize n_bytes;            /* number of bytes of the value */
  CleaveFlatTable sparsity; /* sparsity of the value; absent: the value is dense */
  CleaveTfliteQuantization quantization;
  /* TRUE: the file has uint8 with a scale. The import reads such a tensor as int8: it subtracts 128
   * from the integers and from the zero points. */
  gboolean is_unsigned;
  gboolean is_variable;
} CleaveTfliteTensor;

typedef struct
{
  guint code;                       /* operator code as in the file: BuiltinOperator of the
                                     * schema */
  char *custom;                     /* name of a custom operator; NULL: a builtin operator */
  CleaveFlatVector inputs, outputs; /* 32-bit indices of tensors; -1: an absent input */
  gint64 options_type;              /* type of the options table: BuiltinOptions of the schema; 0:
                                     * no options */
  CleaveFlatTable options;
  CleaveFlatVector custom_options;
} CleaveTfliteOperator;

typedef struct
{
  CleaveTfliteTensor *tensors;
  guint n_tensors;
  CleaveTfliteOperator *operators;
  guint n_operators;
  CleaveFlatVector inputs, outputs; /* indices of tensors, in 32 bits */
} CleaveTfliteSubgraph;

typedef struct
{
  CleaveFlat flat;
  char *description;
  CleaveTfliteSubgraph *subgraphs; /* subgraph 0 is the model; operators such as WHILE call other
                                    * subgraphs */
  guint n_subgraphs;
  char **customs; /* indexed by operator code in the file: name of a custom operator; NULL: a
                   * builtin operator */
  guint n_codes;
} CleaveTfliteModel;

/* Returns the model in a file, with all subgraphs. Fails with CLEAVE_ERROR_MODEL if the file is not
 * valid. */
CleaveTfliteModel *cleave_tflite_model_new (const guint8 *data, gsize n_bytes, GError **error);
void cleave_tflite_model_free (CleaveTfliteModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveTfliteModel, cleave_tflite_model_free)

/* Returns zero point `i` of a tensor; 0 if the file has no zero points. */
gint64 cleave_tflite_zero_point (const CleaveTfliteTensor *tensor, guint i);

/* Returns the name of an operator: the name in the schema, such as "CONV_2D", or the name of a
 * custom operator. */
const char *cleave_tflite_operator_name (const CleaveTfliteOperator *op);
