/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The state and the functions that the files of the TensorFlow Lite import share.
 *
 * cleave_tflite_parse() (import.c) goes through the operators of the file, which are in the order
 * of a run. The table in convert.c has a function for each operator code. Such a function reads the
 * operands and options of the current operator and adds nodes. Values keep the layout NHWC of the
 * file. */

#include <cleave/cleave-tflite.h>

#include "../ir/error.h"
#include "model.h"

typedef struct
{
  CleaveResult *result;   /* value in the graph; NULL: not computed yet, or a constant that no
                           * node reads so far */
  CleaveTensor *constant; /* value of a constant or folded tensor; NULL: not known during the
                           * import */
  /* If `has_pads`, the value is the result of a PAD that is not in the graph yet: tensor `base`
   * with zeros (as real values) around it. A convolution that reads the value adds the zeros
   * itself. */
  gboolean has_pads;
  guint base; /* index of the tensor that the PAD reads; valid if `has_pads` */
  gint64 pads_begin[2], pads_end[2];
  guint state; /* 1 plus the index in `states` of a variable, if the tensor is a handle of this
                * variable (VAR_HANDLE); 0: the tensor is no handle */
} CleaveTfliteValue;

/* A variable: a value that a model keeps from run to run. The graph reads it as an input and
 * returns its next value as an output, and the caller feeds the output to the next run. */
typedef struct
{
  char *name;
  gint64 tensor;         /* index of the variable tensor in the file; -1: a VAR_HANDLE names the
                          * variable */
  CleaveResult *input;   /* value before the run, an input of the graph; NULL: no operator has
                          * read it */
  CleaveResult *next;    /* current value; it is `input` until an operator sets the variable */
  CleaveTensor *initial; /* value before the first run; NULL: all elements are the zero point */
} CleaveTfliteState;

typedef struct
{
  CleaveTfliteModel *model;
  GBytes *bytes; /* contents of the file */
  CleaveGraph *graph;
  /* The subgraph that is read now. */
  const CleaveTfliteSubgraph *subgraph;
  CleaveTfliteValue *values; /* indexed by tensor of the subgraph: value of the tensor */
  char **names;              /* indexed by tensor of the subgraph: unique name */
  guint index;               /* index of the current operator */
  const CleaveTfliteOperator *op;
  guint depth;      /* number of calls of subgraphs around the current operator */
  gboolean is_once; /* whether the subgraph is called by CALL_ONCE */

  /* indexed by subgraph and tensor: result of the Constant node that all calls of the subgraph
   * share; NULL: no call has read it */
  CleaveResult ***constants;
  GArray *states;      /* CleaveTfliteState: the variables, in the order in which operators first
                        * name them */
  GHashTable *handles; /* maps the name of a VAR_HANDLE to 1 plus the index of its variable in
                        * `states` */
  double work;         /* number of steps, as cleave_evaluate_work() counts them, that further
                        * folding of constants may take */
  gint64 copies;       /* number of bytes that further folded and unpacked constants may take */
  gint64 calls;        /* number of tensors and operators that further calls of subgraphs may have
                        * in total */
} CleaveTfliteImport;

/* Gives each tensor of the subgraph a unique name, which begins with its name in the file. */
void cleave_tflite_name_tensors (CleaveTfliteImport *import);
/* Adds the nodes of all operators of the subgraph. */
gboolean cleave_tflite_add_operators (CleaveTfliteImport *import, GError **error);
/* Frees the values and names of the subgraph. */
void cleave_tflite_clear_values (CleaveTfliteImport *import);

/* The functions below are for inputs and outputs of the current operator. */

/* Returns the tensor of the file that is input `i`; NULL if the input is absent. */
const CleaveTfliteTensor *cleave_tflite_input (const CleaveTfliteImport *import, guint i);
const CleaveTfliteTensor *cleave_tflite_output (const CleaveTfliteImport *import, guint i);
/* Returns the type of input `i`, which must be present. */
const CleaveTensorType *cleave_tflite_input_type (const CleaveTfliteImport *import, guint i);
/* Sets `result` to the value of tensor `tensor`. Adds a node if the value is a constant or a
 * deferred Pad. `i` is the tensor's index among the operator's inputs or the graph's outputs, for
 * errors. */
gboolean cleave_tflite_find_value (
    CleaveTfliteImport *import, guint i, guint tensor, CleaveResult **result, GError **error);
/* Sets `result` to the value of input `i`; NULL if the input is absent. */
gboolean cleave_tflite_find_result (CleaveTfliteImport *import,
                                    guint i,
                                    CleaveResult **result,
                                    GError **error);
/* Reads input 0 for a convolution, which adds the zeros of a deferred Pad itself. Sets `x` to the
 * value without these zeros. Sets `pads_begin` and `pads_end` to the numbers of zeros before and
 * after each spatial dimension. */
gboolean cleave_tflite_find_unpadded (CleaveTfliteImport *import,
                                      CleaveResult **x,
                                      gint64 *pads_begin,
                                      gint64 *pads_end,
                                      GError **error);
/* Sets `result` to the value of input `i`, a variable. If no operator has read the variable before,
 * adds an input of the graph. */
gboolean cleave_tflite_find_state (CleaveTfliteImport *import,
                                   guint i,
                                   CleaveResult **result,
                                   GError **error);
/* Makes `result` the value of input `i`, a variable, for later operators and the next run. If
 * `result` is NULL, an earlier step has set the error: returns FALSE. */
gboolean
cleave_tflite_set_state (CleaveTfliteImport *import, guint i, CleaveResult *result, GError **error);
/* Sets `constant` to the value of input `i`; the caller gets no reference. Sets `constant` to NULL
 * if the input is absent, or if its value is not known during the import. */
gboolean cleave_tflite_find_constant (CleaveTfliteImport *import,
                                      guint i,
                                      CleaveTensor **constant,
                                      GError **error);
/* Reads input `i` into `ints`. The input must be a constant of at most as many integers as `ints`
 * holds. */
gboolean
cleave_tflite_read_ints (CleaveTfliteImport *import, guint i, CleaveInts *ints, GError **error);
/* Adds a node with one result. The result gets the name of output 0. Returns NULL on error. */
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
/* Adds a constant, and returns its value. Takes ownership of the tensor. */
CleaveResult *cleave_tflite_add_constant (CleaveTfliteImport *import, CleaveTensor *tensor);
/* Adds a constant, and returns its value: a vector of `n` elements, or a scalar if `n` is 0. */
CleaveResult *cleave_tflite_add_data (CleaveTfliteImport *import,
                                      CleaveElement element,
                                      gint64 n,
                                      gconstpointer data);
CleaveResult *cleave_tflite_add_float (CleaveTfliteImport *import, float value);
/* Adds a scalar constant of int8, int16 or int32, and returns its value. */
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
/* If a value depends only on constants and folding it is within the limits, replaces it by a
 * constant. Returns the constant, or `x` if the value is not folded. */
CleaveResult *cleave_tflite_fold (CleaveTfliteImport *import, CleaveResult *x, GError **error);
/* Folds x as cleave_tflite_fold() does. The constant gets the name `name`; NULL: the name of
 * operand 0. */
CleaveResult *cleave_tflite_fold_as (CleaveTfliteImport *import,
                                     CleaveResult *x,
                                     const char *name,
                                     GError **error);
/* Makes `result` the value of output `i`. The type of `result` must be the type that the file
 * declares. If `result` is NULL, an earlier step has set the error: returns FALSE. */
gboolean
cleave_tflite_set (CleaveTfliteImport *import, guint i, CleaveResult *result, GError **error);
/* Makes a constant the value of output `i`. Takes ownership of the tensor. */
gboolean cleave_tflite_set_constant (CleaveTfliteImport *import,
                                     guint i,
                                     CleaveTensor *tensor,
                                     GError **error);

/* Read an option of the current operator. `field` is the index of a field of the operator's options
 * table.
 */

gboolean cleave_tflite_option (const CleaveTfliteImport *import,
                               guint field,
                               gsize size,
                               gint64 fallback,
                               gint64 *value,
                               GError **error);
gboolean cleave_tflite_option_float (
    const CleaveTfliteImport *import, guint field, float fallback, float *value, GError **error);

/* Fails with CLEAVE_ERROR_MODEL. The message has no name of the operator; the caller adds it. */
gboolean cleave_tflite_refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* The functions below read constants of the file (constants.c, sparse.c). */

/* Returns the value of a constant tensor: bytes of the file, or an unpacked or dequantized copy.
 * Dequantizes weights of 8-bit integers if a float operator reads them. */
CleaveTensor *
cleave_tflite_read_constant (CleaveTfliteImport *import, guint tensor, GError **error);
/* sparse.c: returns the dense value of a sparse tensor. Elements that the file lacks are 0. */
CleaveTensor *cleave_tflite_densify (CleaveTfliteImport *import, guint tensor, GError **error);
/* Subtracts `n_bytes` from the number of bytes that computed constants may still take. Fails if
 * fewer are left. */
gboolean cleave_tflite_take_bytes (CleaveTfliteImport *import, gint64 n_bytes, GError **error);

/* The functions below read scales and zero points (scale.c, quantization.c). */

typedef struct
{
  float scale;
  gint32 zero;
} CleaveTfliteScale;

/* Returns whether the tensor has integers with a scale, which stand for real numbers. */
gboolean cleave_tflite_is_quantized (const CleaveTfliteTensor *tensor);
/* Reads the scale and the zero point of a tensor. Fails if the tensor has several scales, if the
 * scale is not positive, or if the zero point does not fit the element type. */
gboolean cleave_tflite_read_scale (const CleaveTfliteTensor *tensor,
                                   CleaveTfliteScale *scale,
                                   GError **error);
/* Checks that input `i` and output 0 have the same scale and zero point, as operators that only
 * move integers need. Sets the error if not. */
gboolean cleave_tflite_check_same_scale (CleaveTfliteImport *import, guint i, GError **error);
/* Returns the weights for a float operator. `w` is the value of input `i`. Dequantizes weights of
 * 8-bit integers. Returns `w` for all other weights. */
CleaveResult *
cleave_tflite_float_weights (CleaveTfliteImport *import, guint i, CleaveResult *w, GError **error);

/* Numbers of activation functions, as in ActivationFunctionType of the schema (convert-math.c). */

enum {
  CLEAVE_TFLITE_NONE,
  CLEAVE_TFLITE_RELU,
  CLEAVE_TFLITE_RELU_N1_TO_1,
  CLEAVE_TFLITE_RELU6,
  CLEAVE_TFLITE_TANH
};

/* Applies the activation that option `field` names to a value of floats. Returns the result. */
CleaveResult *cleave_tflite_add_activation (CleaveTfliteImport *import,
                                            guint field,
                                            CleaveResult *x,
                                            GError **error);

/* windows.c: computes the pads for windows that slide over x, [N, H, W, C] or [N, D, H, W, C].
 * There are as many spatial dimensions as strides. `padding` is 0 for SAME and 1 for VALID. */
gboolean cleave_tflite_pads (const CleaveShape *x,
                             gint64 padding,
                             const gint64 *kernel,
                             const CleaveInts *strides,
                             const CleaveInts *dilations,
                             CleaveInts *pads,
                             GError **error);

/* convert.c: adds the nodes of the current operator. */

gboolean cleave_tflite_convert (CleaveTfliteImport *import, GError **error);
