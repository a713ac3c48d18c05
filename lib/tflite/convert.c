/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The list of supported operators, by operator code. Checks the operands of an operator, and calls
 * the function that converts it. */

#include "convert.h"

#include <string.h>

typedef gboolean (*Convert) (CleaveTfliteImport *import, GError **error);

#define MANY G_MAXUINT

enum { CODE_RNN = 24, CODE_SVDF = 27, CODE_LSTM = 44, CODE_BIDIRECTIONAL_LSTM = 52 };

typedef struct
{
  guint code;
  guint min_inputs, max_inputs;
  guint max_outputs;        /* largest number of outputs (the smallest is 1) */
  Convert floats, integers; /* functions that convert the operator on floats, and on integers with a
                             * scale; NULL: not supported */
} Operator;

#define F(word) cleave_tflite_convert_##word
#define BOTH(word) F (word), F (word)

static const Operator operators[] = {
  { 0, 2, 2, 1, F (plain), F (integer_add) },                          /* ADD */
  { 1, 1, 1, 1, F (average_pool), F (integer_average_pool) },          /* AVERAGE_POOL_2D */
  { 2, 1, MANY, 1, BOTH (concatenation) },                             /* CONCATENATION */
  { 3, 2, 3, 1, F (conv), F (integer_conv) },                          /* CONV_2D */
  { 4, 2, 3, 1, F (depthwise), F (integer_depthwise) },                /* DEPTHWISE_CONV_2D */
  { 5, 1, 1, 1, BOTH (depth_to_space) },                               /* DEPTH_TO_SPACE */
  { 6, 1, 1, 1, BOTH (dequantize) },                                   /* DEQUANTIZE */
  { 7, 2, 2, 1, BOTH (embedding_lookup) },                             /* EMBEDDING_LOOKUP */
  { 8, 1, 1, 1, F (plain), NULL },                                     /* FLOOR */
  { 9, 2, 3, 1, F (fully_connected), F (integer_fully_connected) },    /* FULLY_CONNECTED */
  { 11, 1, 1, 1, F (l2_normalization), F (integer_l2_normalization) }, /* L2_NORMALIZATION */
  { 12, 1, 1, 1, F (l2_pool), NULL },                                  /* L2_POOL_2D */
  { 13, 1, 1, 1, F (lrn), NULL },                              /* LOCAL_RESPONSE_NORMALIZATION */
  { 14, 1, 1, 1, F (plain), F (integer_logistic) },            /* LOGISTIC */
  { 17, 1, 1, 1, F (max_pool), F (integer_max_pool) },         /* MAX_POOL_2D */
  { 18, 2, 2, 1, F (plain), F (integer_mul) },                 /* MUL */
  { 19, 1, 1, 1, F (plain), F (integer_relu) },                /* RELU */
  { 20, 1, 1, 1, F (relu_n1_to_1), F (integer_relu_n1_to_1) }, /* RELU_N1_TO_1 */
  { 21, 1, 1, 1, F (relu6), F (integer_relu6) },               /* RELU6 */
  { 22, 1, 2, 1, BOTH (reshape) },                             /* RESHAPE */
  { 23, 2, 2, 1, F (resize_bilinear), F (integer_resize_bilinear) }, /* RESIZE_BILINEAR */
  { CODE_RNN, 5, 5, 1, F (rnn), NULL },
  { 25, 1, 1, 1, F (softmax), F (integer_softmax) }, /* SOFTMAX */
  { 26, 1, 1, 1, BOTH (space_to_depth) },            /* SPACE_TO_DEPTH */
  { CODE_SVDF, 3, 5, 1, F (svdf), F (integer_svdf) },
  { 28, 1, 1, 1, F (plain), F (integer_tanh) }, /* TANH */
  { 34, 2, 2, 1, BOTH (pad) },                  /* PAD */
  { CLEAVE_TFLITE_CODE_SEQUENCE_RNN, 5, 5, 1, F (rnn), NULL },
  { 36, 2, 2, 1, BOTH (gather) },                /* GATHER */
  { 37, 3, 3, 1, BOTH (batch_to_space) },        /* BATCH_TO_SPACE_ND */
  { 38, 3, 3, 1, BOTH (space_to_batch) },        /* SPACE_TO_BATCH_ND */
  { 39, 2, 2, 1, BOTH (transpose) },             /* TRANSPOSE */
  { 40, 2, 2, 1, F (reduce), F (integer_mean) }, /* MEAN */
  { 41, 2, 2, 1, F (plain), F (integer_sub) },   /* SUB */
  { 42, 2, 2, 1, F (plain), F (integer_div) },   /* DIV */
  { 43, 1, 1, 1, BOTH (reshape) },               /* SQUEEZE */
  { CODE_LSTM, 1, 24, 1, F (lstm), F (integer_lstm) },
  { CODE_BIDIRECTIONAL_LSTM, 1, 48, 2, F (bidirectional_lstm), NULL },
  { 45, 4, 4, 1, BOTH (strided_slice) },                           /* STRIDED_SLICE */
  { 47, 1, 1, 1, F (plain), F (integer_exp) },                     /* EXP */
  { 48, 2, 2, 2, BOTH (top_k) },                                   /* TOPK_V2 */
  { 49, 2, 2, MANY, BOTH (split) },                                /* SPLIT */
  { 50, 1, 1, 1, F (log_softmax), F (integer_log_softmax) },       /* LOG_SOFTMAX */
  { 53, 1, 1, 1, F (cast), F (cast) },                             /* CAST */
  { 54, 2, 2, 1, F (plain), F (integer_prelu) },                   /* PRELU */
  { 55, 2, 2, 1, F (plain), F (bounds) },                          /* MAXIMUM */
  { 56, 2, 2, 1, BOTH (arg) },                                     /* ARG_MAX */
  { 57, 2, 2, 1, F (plain), F (bounds) },                          /* MINIMUM */
  { 58, 2, 2, 1, F (plain), F (integer_comparison) },              /* LESS */
  { 59, 1, 1, 1, F (plain), NULL },                                /* NEG */
  { 60, 3, 3, 1, BOTH (pad) },                                     /* PADV2 */
  { 61, 2, 2, 1, F (plain), F (integer_comparison) },              /* GREATER */
  { 62, 2, 2, 1, F (plain), F (integer_comparison) },              /* GREATER_EQUAL */
  { 63, 2, 2, 1, F (plain), F (integer_comparison) },              /* LESS_EQUAL */
  { 64, 3, 3, 1, BOTH (select) },                                  /* SELECT */
  { 65, 3, 3, 1, BOTH (slice) },                                   /* SLICE */
  { 66, 1, 1, 1, F (plain), NULL },                                /* SIN */
  { 67, 3, 4, 1, F (transpose_conv), F (integer_transpose_conv) }, /* TRANSPOSE_CONV */
  { 69, 2, 2, 1, BOTH (tile) },                                    /* TILE */
  { 70, 1, 2, 1, BOTH (reshape) },                                 /* EXPAND_DIMS */
  { 71, 2, 2, 1, F (plain), F (integer_comparison) },              /* EQUAL */
  { 72, 2, 2, 1, F (not_equal), F (integer_comparison) },          /* NOT_EQUAL */
  { 73, 1, 1, 1, F (plain), F (integer_log) },                     /* LOG */
  { 74, 2, 2, 1, F (reduce), F (integer_sum) },                    /* SUM */
  { 75, 1, 1, 1, F (plain), NULL },                                /* SQRT */
  { 76, 1, 1, 1, F (rsqrt), F (integer_rsqrt) },                   /* RSQRT */
  { 77, 1, 1, 1, BOTH (shape) },                                   /* SHAPE */
  { 78, 2, 2, 1, F (plain), NULL },                                /* POW */
  { 79, 2, 2, 1, BOTH (arg) },                                     /* ARG_MIN */
  { 81, 2, 2, 1, F (reduce), NULL },                               /* REDUCE_PROD */
  { 82, 2, 2, 1, BOTH (reduce) },                                  /* REDUCE_MAX */
  { 83, 1, MANY, 1, BOTH (pack) },                                 /* PACK */
  { 84, 2, 2, 1, F (plain), NULL },                                /* LOGICAL_OR */
  { 85, 4, 4, 1, BOTH (one_hot) },                                 /* ONE_HOT */
  { 86, 2, 2, 1, F (plain), NULL },                                /* LOGICAL_AND */
  { 87, 1, 1, 1, F (plain), NULL },                                /* LOGICAL_NOT */
  { 88, 1, 1, MANY, BOTH (unpack) },                               /* UNPACK */
  { 89, 2, 2, 1, BOTH (reduce) },                                  /* REDUCE_MIN */
  { 90, 2, 2, 1, F (floor_div), NULL },                            /* FLOOR_DIV */
  { 91, 2, 2, 1, F (reduce_bools), NULL },                         /* REDUCE_ANY */
  { 92, 1, 1, 1, F (squared), NULL },                              /* SQUARE */
  { 93, 1, 1, 1, BOTH (zeros_like) },                              /* ZEROS_LIKE */
  { 94, 2, 2, 1, BOTH (fill) },                                    /* FILL */
  { 95, 2, 2, 1, F (floor_mod), NULL },                            /* FLOOR_MOD */
  { 96, 3, 3, 1, F (range), NULL },                                /* RANGE */
  { 97, 2, 2, 1, BOTH (resize_nearest) },                          /* RESIZE_NEAREST_NEIGHBOR */
  { 98, 1, 1, 1, F (leaky_relu), F (integer_leaky_relu) },         /* LEAKY_RELU */
  { 99, 2, 2, 1, F (squared), F (integer_squared_difference) },    /* SQUARED_DIFFERENCE */
  { 100, 2, 2, 1, BOTH (mirror_pad) },                             /* MIRROR_PAD */
  { 101, 1, 1, 1, F (plain), F (integer_abs) },                    /* ABS */
  { 102, 3, 3, MANY, BOTH (split_v) },                             /* SPLIT_V */
  { 104, 1, 1, 1, F (plain), NULL },                               /* CEIL */
  { 105, 2, 2, 1, BOTH (reverse) },                                /* REVERSE_V2 */
  { 106, 1, MANY, 1, F (add_n), F (integer_add_n) },               /* ADD_N */
  { 107, 2, 2, 1, BOTH (gather_nd) },                              /* GATHER_ND */
  { 108, 1, 1, 1, F (plain), NULL },                               /* COS */
  { 110, 1, 1, 1, BOTH (rank) },                                   /* RANK */
  { 111, 1, 1, 1, F (elu), F (integer_elu) },                      /* ELU */
  { 112, 2, 2, 1, BOTH (reverse_sequence) },                       /* REVERSE_SEQUENCE */
  { 114, 1, 1, 1, BOTH (quantize) },                               /* QUANTIZE */
  { 116, 1, 1, 1, F (plain), NULL },                               /* ROUND */
  { 117, 1, 1, 1, F (plain), F (integer_hard_swish) },             /* HARD_SWISH */
  { 122, 3, 3, 1, F (scatter_nd), NULL },                          /* SCATTER_ND */
  { 123, 3, 3, 1, BOTH (select) },                                 /* SELECT_V2 */
  { 124, 1, 1, 1, BOTH (densify) },                                /* DENSIFY */
  { 125, 2, 2, 1, F (segment_sum), NULL },                         /* SEGMENT_SUM */
  { 126, 2, 2, 1, F (batch_matmul), F (integer_batch_matmul) },    /* BATCH_MATMUL */
  { 128, 2, 2, 1, F (cumsum), F (integer_cumsum) },                /* CUMSUM */
  { 130, 2, 2, 1, BOTH (broadcast_to) },                           /* BROADCAST_TO */
  { 132, 2, 3, 1, F (conv_3d), NULL },                             /* CONV_3D */
  { 140, 2, 2, 1, F (reduce_bools), NULL },                        /* REDUCE_ALL */
  { 141, 3, 4, 1, F (conv_3d_transpose), NULL },                   /* CONV_3D_TRANSPOSE */
  { 150, 1, 1, 1, F (gelu), F (integer_gelu) },                    /* GELU */
  { 151, 3, 3, 1, BOTH (update_slice) },                           /* DYNAMIC_UPDATE_SLICE */
  { 152, 1, 1, 1, F (relu_0_to_1), F (integer_relu_0_to_1) },      /* RELU_0_TO_1 */
  { 158, 1, 1, 1, F (plain), NULL },                               /* SIGN */
};

/* Operators that call subgraphs or name variables. Such an operator may have no output. */
static const struct
{
  guint code;
  Convert convert;
} controls[] = {
  { 118, F (if) },         { 119, F (while) },         { 129, F (call_once) },
  { 142, F (var_handle) }, { 143, F (read_variable) }, { 144, F (assign_variable) },
};

/* Custom operators, which a name identifies. */
static const struct
{
  const char *name;
  Operator op;
} customs[] = {
  { "Convolution2DTransposeBias",
    { CLEAVE_TFLITE_CUSTOM, 3, 3, 1, F (transpose_conv_bias), NULL } },
  { "TFLite_Detection_PostProcess",
    { CLEAVE_TFLITE_CUSTOM, 3, 3, CLEAVE_TFLITE_N_DETECTION_OUTPUTS, BOTH (detections) } },
};
#undef BOTH
#undef F

static Convert
find_control (const CleaveTfliteOperator *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (controls); i++)
    if (controls[i].code == op->code)
      return controls[i].convert;
  return NULL;
}

static const Operator *
find_operator (const CleaveTfliteOperator *op)
{
  for (guint i = 0; op->custom != NULL && i < G_N_ELEMENTS (customs); i++)
    if (strcmp (op->custom, customs[i].name) == 0)
      return &customs[i].op;
  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    if (operators[i].code == op->code && op->custom == NULL)
      return &operators[i];
  return NULL;
}

/* Returns whether input `i` of an operator is a state. A state must be a variable tensor in the
 * file. */
static gboolean
has_state (const Operator *known, guint i)
{
  gboolean is_rnn = known->code == CODE_RNN || known->code == CLEAVE_TFLITE_CODE_SEQUENCE_RNN;

  return ((known->code == CODE_SVDF || is_rnn) && i == CLEAVE_TFLITE_SVDF_STATE) ||
         (known->code == CODE_LSTM &&
          (i == CLEAVE_TFLITE_LSTM_HIDDEN || i == CLEAVE_TFLITE_LSTM_CELL)) ||
         (known->code == CODE_BIDIRECTIONAL_LSTM && i >= CLEAVE_TFLITE_BIDIRECTIONAL_STATE &&
          i <= CLEAVE_TFLITE_BIDIRECTIONAL_LAST);
}

/* Checks that no required input is missing, and that Cleave supports the element types of inputs
 * and outputs. Sets the error if not. */
static gboolean
check_operands (const CleaveTfliteImport *import, const Operator *known, GError **error)
{
  const CleaveTfliteOperator *op = import->op;

  if (op->inputs.n < known->min_inputs || op->inputs.n > known->max_inputs || op->outputs.n < 1 ||
      op->outputs.n > known->max_outputs)
    return cleave_tflite_refuse (error, "it has %u inputs and %u outputs", op->inputs.n,
                                 op->outputs.n);
  for (guint i = 0; i < op->inputs.n; i++)
    {
      const CleaveTfliteTensor *tensor = cleave_tflite_input (import, i);

      if (tensor == NULL && i >= known->min_inputs && known->max_inputs != MANY)
        continue; /* an optional input that is absent */
      if (tensor == NULL)
        return cleave_tflite_refuse (error, "input %u is absent", i);
      if (tensor->type.element == CLEAVE_NONE)
        return cleave_tflite_refuse (error,
                                     "input %u has the element type %" G_GINT64_FORMAT
                                     " of the schema, which is not supported",
                                     i, tensor->type_code);
      if (tensor->is_variable && !has_state (known, i))
        return cleave_tflite_refuse (error, "input %u is a variable, which is not supported", i);
    }
  for (guint i = 0; i < op->outputs.n; i++)
    if (cleave_tflite_output (import, i)->type.element == CLEAVE_NONE)
      return cleave_tflite_refuse (error,
                                   "output %u has the element type %" G_GINT64_FORMAT
                                   " of the schema, which is not supported",
                                   i, cleave_tflite_output (import, i)->type_code);
  return TRUE;
}

gboolean
cleave_tflite_convert (CleaveTfliteImport *import, GError **error)
{
  const Operator *known = find_operator (import->op);
  Convert control = find_control (import->op);
  const CleaveTfliteTensor *y;
  gboolean is_integer;
  Convert convert;

  if (control != NULL)
    return control (import, error);
  if (known == NULL)
    return cleave_tflite_refuse (error, "the operator is not supported");
  if (!check_operands (import, known, error))
    return FALSE;
  y = cleave_tflite_output (import, 0);
  is_integer = cleave_tflite_is_quantized (y) ||
               cleave_tflite_is_quantized (cleave_tflite_input (import, 0));
  convert = is_integer ? known->integers : known->floats;
  if (convert == NULL)
    return cleave_tflite_refuse (error, "the operator is not supported on quantized %s",
                                 cleave_element_get_name (y->type.element));
  return convert (import, error);
}
