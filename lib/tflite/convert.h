/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The functions that convert.c lists in its table, one for each operator. Such a function reads the
 * operands and options of the current operator, adds nodes, and sets the operator's outputs. Most
 * of these functions are in the files convert-*.c, and use the functions of import.h and
 * quantization.h. */

#include "quantization.h"

/* Facts about a convolution or product. `x` and `w` are indices of inputs. `axis` is the dimension
 * of w that holds the channels of the result. `activation` is the index of the options field that
 * names the activation. `is_product` tells whether the operator is FULLY_CONNECTED. */
typedef struct
{
  guint x, w;
  gint64 axis;
  guint activation;
  gboolean is_product;
} CleaveTfliteConvInputs;

/* Operands of a TfliteConv or TfliteConvTranspose, and the attributes that do not depend on the
 * windows. */
typedef struct
{
  /* x, zero point of x, w, multiplier, shift, zero point of y, bias, zero point of w */
  CleaveResult *operands[8];
  guint n_operands;
  gint64 min, max;
  gboolean wide;
} CleaveTfliteConvParts;

/* If the zero point of the weights is not 0, subtracts it from the weights. If a difference does
 * not fit int8, makes the zero point an operand in `parts` instead (weights.c). `tensor` is the
 * tensor of the weights in the file. */
gboolean cleave_tflite_add_weights_zero (CleaveTfliteImport *import,
                                         const CleaveTfliteTensor *tensor,
                                         CleaveTfliteConvParts *parts,
                                         GError **error);
/* Sets the operands and attributes in `parts` other than x, w and bias, which the caller has
 * set. */
gboolean cleave_tflite_read_conv_parts (CleaveTfliteImport *import,
                                        const CleaveTfliteConvInputs *inputs,
                                        CleaveTfliteConvParts *parts,
                                        GError **error);

/* Sets the pads of a transposed convolution so that its result has the extents of output 0. The
 * caller has set the layout and the strides in `attrs`. `kernel` has the extent of the window along
 * each spatial dimension. With SAME (`padding` 0), the sum of the pads is (in - 1) * stride +
 * (kernel - 1) * dilation + 1 - out. */
gboolean cleave_tflite_transposed_pads (CleaveTfliteImport *import,
                                        const CleaveShape *x,
                                        const gint64 *kernel,
                                        gint64 padding,
                                        CleaveConvTransposeAttrs *attrs,
                                        GError **error);

/* The operators below have one function for floats and one for integers with a scale. */
gboolean cleave_tflite_convert_conv (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_conv_3d (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_conv_3d_transpose (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_depthwise (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_fully_connected (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_conv (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_depthwise (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_fully_connected (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_transpose_conv (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_transpose_conv (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_transpose_conv_bias (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_average_pool (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_average_pool (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_max_pool (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_max_pool (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_resize_nearest (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_resize_bilinear (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_resize_bilinear (CleaveTfliteImport *import, GError **error);

/* The operators below keep a state in variable tensors (convert-svdf.c, convert-lstm.c). The
 * constants are the indices of the inputs that are states. */
#define CLEAVE_TFLITE_CODE_SEQUENCE_RNN 35
enum { CLEAVE_TFLITE_SVDF_STATE = 4, CLEAVE_TFLITE_LSTM_HIDDEN = 18, CLEAVE_TFLITE_LSTM_CELL = 19 };
/* Indices of the first and the last input of BIDIRECTIONAL_SEQUENCE_LSTM that is a state */
enum { CLEAVE_TFLITE_BIDIRECTIONAL_STATE = 35, CLEAVE_TFLITE_BIDIRECTIONAL_LAST = 38 };
gboolean cleave_tflite_convert_rnn (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_svdf (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_svdf (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_lstm (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_bidirectional_lstm (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_lstm (CleaveTfliteImport *import, GError **error);

/* The function below converts the custom operator TFLite_Detection_PostProcess. */
#define CLEAVE_TFLITE_N_DETECTION_OUTPUTS 4
gboolean cleave_tflite_convert_detections (CleaveTfliteImport *import, GError **error);

/* The functions below are for control flow and variables (convert-control.c,
 * convert-variables.c). */
gboolean cleave_tflite_convert_if (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_while (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_call_once (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_var_handle (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_read_variable (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_assign_variable (CleaveTfliteImport *import, GError **error);
/* Adds an input of the graph for the variable of the current VAR_HANDLE, unless an operator has
 * already set the variable. */
gboolean cleave_tflite_read_handle (CleaveTfliteImport *import,
                                    CleaveTfliteState *state,
                                    const CleaveTensorType *type,
                                    GError **error);

/* The functions below convert arithmetic (convert-math.c). cleave_tflite_convert_plain() serves all
 * operators of a table in that file. */
gboolean cleave_tflite_convert_plain (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_relu6 (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_relu_n1_to_1 (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_relu_0_to_1 (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_leaky_relu (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_elu (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_gelu (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_squared (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_rsqrt (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_not_equal (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_softmax (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_log_softmax (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_reduce (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_arg (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_batch_matmul (CleaveTfliteImport *import, GError **error);
/* If option `field` is set, adds a Transpose of the last two dimensions of x, and returns the
 * result of the Transpose. Returns x if the option is not set. */
CleaveResult *
cleave_tflite_adjoin (CleaveTfliteImport *import, guint field, CleaveResult *x, GError **error);
gboolean cleave_tflite_convert_l2_normalization (CleaveTfliteImport *import, GError **error);
/* Converts MAXIMUM and MINIMUM of integers with one scale. */
gboolean cleave_tflite_convert_bounds (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_cast (CleaveTfliteImport *import, GError **error);

/* The functions below convert operators on integers with a scale (convert-integers.c,
 * convert-tables.c, convert-softmax.c and convert-comparison.c). */
gboolean cleave_tflite_convert_integer_add (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_sub (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_mul (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_sum (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_mean (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_softmax (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_log_softmax (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_l2_normalization (CleaveTfliteImport *import,
                                                         GError **error);
gboolean cleave_tflite_convert_integer_leaky_relu (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_logistic (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_tanh (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_relu (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_relu6 (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_relu_n1_to_1 (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_relu_0_to_1 (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_exp (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_log (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_hard_swish (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_div (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_squared_difference (CleaveTfliteImport *import,
                                                           GError **error);
gboolean cleave_tflite_convert_integer_prelu (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_batch_matmul (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_abs (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_rsqrt (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_elu (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_gelu (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_comparison (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_quantize (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_dequantize (CleaveTfliteImport *import, GError **error);

/* The function below converts sparse constants (weights.c). */
gboolean cleave_tflite_convert_densify (CleaveTfliteImport *import, GError **error);

/* The operators below move elements (convert-shape.c, convert-slice.c). Integers keep their
 * scale. */
gboolean cleave_tflite_convert_reshape (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_transpose (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_pad (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_mirror_pad (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_concatenation (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_tile (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_broadcast_to (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_space_to_depth (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_depth_to_space (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_space_to_batch (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_batch_to_space (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_shape (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_slice (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_strided_slice (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_split (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_split_v (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_pack (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_unpack (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_gather (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_select (CleaveTfliteImport *import, GError **error);

/* The operators below move elements by index, or return constants that depend on shapes
 * (convert-index.c). Integers keep their scale. */
gboolean cleave_tflite_convert_reverse (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_reverse_sequence (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_embedding_lookup (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_gather_nd (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_scatter_nd (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_segment_sum (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_update_slice (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_zeros_like (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_fill (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_rank (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_range (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_one_hot (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_top_k (CleaveTfliteImport *import, GError **error);

/* Adds a constant whose bytes are all 0, and returns the constant. */
CleaveResult *
cleave_tflite_add_zeros (CleaveTfliteImport *import, const CleaveTensorType *type, GError **error);
/* Returns x with a border that mirrors x at its edges; the mirror image begins with the edge
 * element. `pads` has the extent of the border at the begin of each dimension, then the extent of
 * the border at the end of each dimension. */
CleaveResult *cleave_tflite_add_mirrored (CleaveTfliteImport *import,
                                          CleaveResult *x,
                                          const CleaveInts *pads,
                                          GError **error);

/* The functions below convert arithmetic that needs several ops (convert-more-math.c). */
gboolean cleave_tflite_convert_add_n (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_floor_div (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_floor_mod (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_cumsum (CleaveTfliteImport *import, GError **error);
/* Reads the axis and the options of CUMSUM into `attrs`. */
gboolean
cleave_tflite_read_cumsum (CleaveTfliteImport *import, CleaveCumsumAttrs *attrs, GError **error);
gboolean cleave_tflite_convert_integer_add_n (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_integer_cumsum (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_reduce_bools (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_lrn (CleaveTfliteImport *import, GError **error);
gboolean cleave_tflite_convert_l2_pool (CleaveTfliteImport *import, GError **error);
