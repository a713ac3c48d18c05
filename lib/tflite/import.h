/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The state and the functions that the files of the TensorFlow Lite import share.
 *
 * The operators of the file are in execution order. convert.c has a table with a function for each
 * operator code. The function reads operands and options of the current operator and adds nodes.
 * Values stay in the layout NHWC of the file. */

#include <cleave/cleave-tflite.h>

#include "../ir/error.h"
#include "model.h"

typedef struct
{
  CleaveResult *result;   /* NULL: not computed yet, or a constant that no node has read */
  CleaveTensor *constant; /* NULL: not known during the import */
  /* a PAD of zeros (as real values) around tensor `base` is deferred: a convolution adds the zeros
   * itself */
  gboolean has_pads;
  guint base; /* index of the tensor without the zeros */
  gint64 pads_begin[2], pads_end[2];
  guint state; /* 1 plus the index of a variable in `states`, if the tensor is its handle
                  (VAR_HANDLE); else 0 */
} CleaveTfliteValue;

/* A variable. The graph reads its value as an input and returns its next value as an output, so
 * that the caller carries the value from run to run. */
typedef struct
{
  char *name;
  gint64 tensor;         /* index of the variable tensor; -1: a VAR_HANDLE names the variable */
  CleaveResult *input;   /* value before the run; NULL: no operator has read it */
  CleaveResult *next;    /* current value: `input`, until an operator sets the variable */
  CleaveTensor *initial; /* value before the first run; NULL: the zero point */
} CleaveTfliteState;

typedef struct
{
  CleaveTfliteModel *model;
  GBytes *bytes; /* contents of the file */
  CleaveGraph *graph;
  /* The subgraph that is read. */
  const CleaveTfliteSubgraph *subgraph;
  CleaveTfliteValue *values; /* indexed by tensor */
  char **names;              /* indexed by tensor: unique name */
  guint index;               /* index of the current operator */
  const CleaveTfliteOperator *op;
  guint depth;      /* nesting of calls of subgraphs */
  gboolean is_once; /* the subgraph belongs to a CALL_ONCE */

  /* indexed by subgraph and tensor: result of the Constant node, which all calls of the subgraph
   * share */
  CleaveResult ***constants;
  GArray *states;      /* CleaveTfliteState, in the order in which operators name them */
  GHashTable *handles; /* maps the name of a VAR_HANDLE to 1 plus the index of its state */
  double work;         /* number of kernel steps that folding of constants may still take */
  gint64 copies;       /* number of bytes that folded and unpacked constants may still take */
  gint64 calls; /* remaining limit on the tensors and operators that calls of subgraphs read */
} CleaveTfliteImport;

/* Gives each tensor of the subgraph a unique name, made of its name in the file. */
void cleave_tflite_name_tensors (CleaveTfliteImport *import);
/* Adds nodes for all operators of the subgraph. */
gboolean cleave_tflite_add_operators (CleaveTfliteImport *import, GError **error);
/* Frees the values and names of the subgraph. */
void cleave_tflite_clear_values (CleaveTfliteImport *import);

/* Operands and results of the current operator */

/* Returns the tensor that is input `i`; NULL if the input is absent. */
const CleaveTfliteTensor *cleave_tflite_input (const CleaveTfliteImport *import, guint i);
const CleaveTfliteTensor *cleave_tflite_output (const CleaveTfliteImport *import, guint i);
/* Returns the type of input `i`, which must be present. */
const CleaveTensorType *cleave_tflite_input_type (const CleaveTfliteImport *import, guint i);
/* Sets `result` to the value of tensor `tensor`, which is input `i` of an operator or output `i` of
 * the graph. Adds a node if the value is a constant or a deferred Pad. */
gboolean cleave_tflite_find_value (
    CleaveTfliteImport *import, guint i, guint tensor, CleaveResult **result, GError **error);
/* Sets `result` to the value of input `i`; NULL if the input is absent. */
gboolean cleave_tflite_find_result (CleaveTfliteImport *import,
                                    guint i,
                                    CleaveResult **result,
                                    GError **error);
/* Sets `x` to input 0 without the zeros of a deferred Pad, and `pads_begin` and `pads_end` to the
 * numbers of zeros, which a convolution adds itself. */
gboolean cleave_tflite_find_unpadded (CleaveTfliteImport *import,
                                      CleaveResult **x,
                                      gint64 *pads_begin,
                                      gint64 *pads_end,
                                      GError **error);
/* Sets `result` to the value of input `i`, a variable. The first operator that reads the variable
 * adds an input of the graph. */
gboolean cleave_tflite_find_state (CleaveTfliteImport *import,
                                   guint i,
                                   CleaveResult **result,
                                   GError **error);
/* Sets the variable that is input `i`: later operators, and the next run, read `result`. `result`
 * NULL: the error is set already. */
gboolean
cleave_tflite_set_state (CleaveTfliteImport *import, guint i, CleaveResult *result, GError **error);
/* Sets `constant` to the value of input `i`, without a reference of its own; NULL if the input is
 * absent, or its value is not known during the import. */
gboolean cleave_tflite_find_constant (CleaveTfliteImport *import,
                                      guint i,
                                      CleaveTensor **constant,
                                      GError **error);
/* Reads input `i`, which must be a constant of a few integers. */
gboolean
cleave_tflite_read_ints (CleaveTfliteImport *import, guint i, CleaveInts *ints, GError **error);
/* Adds a node with one result, which gets the name of output 0. Returns NULL on error. */
CleaveResult *cleave_tflite_add (CleaveTfliteImport *import,
                                 const char *op,
                                 CleaveResult *const *operands,
                                 guint n_operands,
                                 gconstpointer attrs,
                                 GError **error);
CleaveResult *cleave_tflite_add_unary (CleaveTfliteImport *import,
                                       const char *op,
                                       CleaveResult *x,
                                       gconstpointer attrs,
                                       GError **error);
CleaveResult *cleave_tflite_add_binary (
    CleaveTfliteImport *import, const char *op, CleaveResult *a, CleaveResult *b, GError **error);
/* Adds a constant. Takes ownership of the tensor. */
CleaveResult *cleave_tflite_add_constant (CleaveTfliteImport *import, CleaveTensor *tensor);
/* Adds a constant: a vector of `n` elements, or a scalar if `n` is 0. */
CleaveResult *cleave_tflite_add_data (CleaveTfliteImport *import,
                                      CleaveElement element,
                                      gint64 n,
                                      gconstpointer data);
CleaveResult *cleave_tflite_add_float (CleaveTfliteImport *import, float value);
/* Adds a scalar constant of int8, int16 or int32. */
CleaveResult *
cleave_tflite_add_integer (CleaveTfliteImport *import, CleaveElement element, gint32 value);
CleaveResult *cleave_tflite_add_reshape (CleaveTfliteImport *import,
                                         CleaveResult *x,
                                         const CleaveShape *shape,
                                         GError **error);
CleaveResult *cleave_tflite_add_transpose (CleaveTfliteImport *import,
                                           CleaveResult *x,
                                           const CleaveInts *perm,
                                           GError **error);
/* If a value depends on constants alone and is within the limits of folding, computes it and
 * replaces it by a constant. Returns the constant; `x` if the value was not computed. */
CleaveResult *cleave_tflite_fold (CleaveTfliteImport *import, CleaveResult *x, GError **error);
/* Folds x as cleave_tflite_fold() does, and gives the constant the name `name`. NULL: the name of
 * operand 0. */
CleaveResult *cleave_tflite_fold_as (CleaveTfliteImport *import,
                                     CleaveResult *x,
                                     const char *name,
                                     GError **error);
/* Makes `result` the value of output `i`. It must have the type that the file declares. `result`
 * NULL: the error is set already. */
gboolean
cleave_tflite_set (CleaveTfliteImport *import, guint i, CleaveResult *result, GError **error);
/* Makes a constant the value of output `i`. Takes ownership of the tensor. */
gboolean cleave_tflite_set_constant (CleaveTfliteImport *import,
                                     guint i,
                                     CleaveTensor *tensor,
                                     GError **error);

/* Options of the current operator, by field of its options table */

gboolean cleave_tflite_option (const CleaveTfliteImport *import,
                               guint field,
                               gsize size,
                               gint64 fallback,
                               gint64 *value,
                               GError **error);
gboolean cleave_tflite_option_float (
    const CleaveTfliteImport *import, guint field, float fallback, float *value, GError **error);

/* Fails with CLEAVE_ERROR_MODEL. The caller adds the name of the operator. */
gboolean cleave_tflite_refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Constants (constants.c) */

/* Returns the value of a tensor with data: bytes of the file, or an unpacked or dequantized copy.
 * Weights of 8-bit integers that a float operator reads are dequantized. */
CleaveTensor *
cleave_tflite_read_constant (CleaveTfliteImport *import, guint tensor, GError **error);
/* Returns the dense value of a sparse tensor, whose missing elements are 0 (sparse.c). */
CleaveTensor *cleave_tflite_densify (CleaveTfliteImport *import, guint tensor, GError **error);
/* Subtracts `n_bytes` from the limit on computed constants. Fails if the limit is too small. */
gboolean cleave_tflite_take_bytes (CleaveTfliteImport *import, gint64 n_bytes, GError **error);

/* Quantization (scale.c, quantization.c) */

typedef struct
{
  float scale;
  gint32 zero;
} CleaveTfliteScale;

/* Returns whether the tensor has integers that stand for real numbers. */
gboolean cleave_tflite_is_quantized (const CleaveTfliteTensor *tensor);
/* Reads the only scale of a tensor. Fails if it is not positive, or if the zero point does not fit
 * the element type. */
gboolean cleave_tflite_read_scale (const CleaveTfliteTensor *tensor,
                                   CleaveTfliteScale *scale,
                                   GError **error);
/* Fails unless input `i` and output 0 have the same scale and zero point. Operators that only move
 * integers need this. */
gboolean cleave_tflite_check_same_scale (CleaveTfliteImport *import, guint i, GError **error);
/* If input `i` has 8-bit weights, returns them dequantized, for a float operator. Returns `w` if
 * the weights are floats. */
CleaveResult *
cleave_tflite_float_weights (CleaveTfliteImport *import, guint i, CleaveResult *w, GError **error);

/* Activations (convert-math.c): ActivationFunctionType of the schema */

enum {
  CLEAVE_TFLITE_NONE,
  CLEAVE_TFLITE_RELU,
  CLEAVE_TFLITE_RELU_N1_TO_1,
  CLEAVE_TFLITE_RELU6,
  CLEAVE_TFLITE_TANH
};

/* Adds the activation that option `field` names to a value of floats. */
CleaveResult *cleave_tflite_add_activation (CleaveTfliteImport *import,
                                            guint field,
                                            CleaveResult *x,
                                            GError **error);

/* Computes the pads for windows that slide over x, [N, H, W, C] or [N, D, H, W, C]; there are as
 * many spatial dimensions as strides. `padding` is 0 for SAME and 1 for VALID (windows.c). */
gboolean cleave_tflite_pads (const CleaveShape *x,
                             gint64 padding,
                             const gint64 *kernel,
                             const CleaveInts *strides,
                             const CleaveInts *dilations,
                             CleaveInts *pads,
                             GError **error);

/* Adds the nodes of the current operator (convert.c). */

gboolean cleave_tflite_convert (CleaveTfliteImport *import, GError **error);
