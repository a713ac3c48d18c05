/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the errors of imports, for mistakes in one node of a file. Each line of the table of
 * mistakes describes a model with one node, its operands and an attribute, and the error of its
 * import. */

#include "test.h"

#include "models.h"

typedef struct
{
  gint64 opset;
  const char *op, *operands, *results;
  /* name of an attribute, NULL: none; its value is `text`, or `ints` if `text` is NULL */
  const char *attr;
  const char *text;
  CleaveInts ints;
  const char *message; /* the message of the error, without "Op 'n': " */
} Mistake;

static void
add_values (Model *model)
{
  static const float minus[] = { -1 };

  model_add_input (model, "x", "1x3x8x8");
  model_add_input (model, "v", "3");
  model_add_input (model, "i", "2x4")->type->tensor_type->elem_type =
      ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
  model_add_initializer (model, "minus", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1), minus);
  model_add_initializer (model, "kernel", &CLEAVE_TYPE (CLEAVE_FLOAT32, 3, 2, 3, 3), NULL);
  model_add_initializer (model, "yes", &CLEAVE_TYPE (CLEAVE_BOOL, 2), "\1\1");
  model_add_initializer (model, "boxes", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 40000, 4), NULL);
  model_add_initializer (model, "scores", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1, 40000), NULL);
  model_add_initializer (model, "wrong", &CLEAVE_TYPE (CLEAVE_INT64, 1, 1, 40000), NULL);
  model_add_initializer (model, "all", &CLEAVE_TYPE (CLEAVE_INT64, 1), &(gint64){ 40000 });
  model_add_initializer (model, "two", &CLEAVE_TYPE (CLEAVE_INT64, 2), NULL);
}

static const Mistake mistakes[] = {
  { 13, "Size", "-", "y", .message = "it has no operand" },
  { 15, "CastLike", "x", "y", .message = "it has no second operand" },
  { 13, "Compress", "- yes", "y", .message = "operand 0 is missing" },
  { 13, "OneHot", "i minus v", "y", .message = "depth is not a number of elements" },
  { 13, "NonMaxSuppression", "boxes -", "y", .message = "operand 1 is missing" },
  { 13, "NonMaxSuppression", "boxes wrong", "y", .message = "operand 1 has another element type" },
  { 13, "NonMaxSuppression", "boxes scores two", "y", .message = "operand 2 is not one number" },
  { 13, "NonMaxSuppression", "boxes scores all", "y",
    .message = "it takes more work than constant folding may do for a file of this size" },
  { 15, "BatchNormalization", "x v v v -", "y m s", "training_mode", .ints = { 1, { 1 } },
    .message = "operand 4 is missing" },
  { 15, "BatchNormalization", "x v v v v", "m s a y", "training_mode", .ints = { 1, { 1 } },
    .message = "4 results are read, but in training it has at most 3" },
  { 11, "ConvTranspose", "x kernel", "y", "output_shape", .ints = { 2, { 0, 16 } },
    .message = "output_shape must have entries of at least 1, not 0" },
  { 11, "ConvTranspose", "x kernel", "y", "output_shape", .ints = { 1, { 16 } },
    .message = "output_shape has 1 entries, but there are 2 spatial dimensions" },
  { 13, "Conv", "x kernel", "y", "strides", .ints = { 17, { 0 } },
    .message = "strides has 17 entries, more than 16" },
  { 13, "DepthToSpace", "x", "y", "mode", "ABC", .message = "mode 'ABC' is not supported" },
  { 13, "LSTM", "x kernel kernel", "y", "activations", "Relu",
    .message = "activations is a string with 0 elements, but should be strings" },
};

static void
add_attr (Onnx__NodeProto *node, const Mistake *mistake)
{
  if (mistake->attr == NULL)
    return;
  if (mistake->text != NULL)
    node_add_string (node, mistake->attr, mistake->text);
  else if (mistake->ints.n == 1 && g_str_has_suffix (mistake->attr, "mode"))
    node_add_int (node, mistake->attr, mistake->ints.v[0]);
  else if (mistake->ints.n <= G_N_ELEMENTS (mistake->ints.v))
    node_add_ints (node, mistake->attr, &mistake->ints);
  else
    {
      Onnx__AttributeProto *attr =
          node_add_attr (node, mistake->attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

      attr->n_ints = mistake->ints.n;
      attr->ints = g_new0 (gint64, mistake->ints.n);
    }
}

START_TEST (each_mistake_of_a_node_is_an_error)
{
  const Mistake *mistake = &mistakes[_i];
  g_autoptr (Model) model = model_new (mistake->opset);
  g_autofree char *message = g_strdup_printf ("%s 'n': %s", mistake->op, mistake->message);

  add_values (model);
  add_attr (model_add_node (model, mistake->op, "n", mistake->operands, mistake->results), mistake);
  model_add_output (model, "y");
  model_assert_error (model, CLEAVE_ERROR_MODEL, message);
}
END_TEST

/* Ops of ONNX Runtime's optimizer and quantizer. */
static const char *const contrib[] = {
  "BiasGelu",
  "DequantizeLinear",
  "DynamicQuantizeLSTM",
  "DynamicQuantizeMatMul",
  "FastGelu",
  "FusedConv",
  "FusedGemm",
  "FusedMatMul",
  "Gelu",
  "MatMulIntegerToFloat",
  "NhwcMaxPool",
  "QGemm",
  "QLinearAdd",
  "QLinearAveragePool",
  "QLinearConcat",
  "QLinearGlobalAveragePool",
  "QLinearLeakyRelu",
  "QLinearMul",
  "QLinearSigmoid",
  "QLinearSoftmax",
  "QuantizeLinear",
  "QuickGelu",
  "SkipLayerNormalization",
  "SkipSimplifiedLayerNormalization",
};

static void
import_without_operands (const char *domain, const char *op, gint64 opset, guint absence)
{
  g_autoptr (Model) model = model_new (opset);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  static const char *const operands[] = { "", "-", "- - - -", "x", "x - - -", "- x x x" };

  model_add_input (model, "x", "1x3x8x8");
  model_add_node (model, op, "n", operands[absence], "y")->domain = g_strdup (domain);
  model_add_output (model, "y");
  graph = model_import (model, &error);
  ck_assert_msg ((graph == NULL) == (error != NULL), "%s in opset %d", op, (int) opset);
}

/* Leaves out each operand of each op. The import must set an error, not only return NULL. */
START_TEST (a_missing_operand_is_an_error)
{
  guint n_ops;
  const CleaveOp *const *ops = cleave_op_list (&n_ops);

  for (guint i = 0; i < n_ops; i++)
    for (gint64 opset = 1; opset <= 24; opset += opset < 16 ? 5 : 1)
      import_without_operands ("", cleave_op_get_name (ops[i]), opset, (guint) _i);
  for (guint i = 0; i < G_N_ELEMENTS (contrib); i++)
    import_without_operands ("com.microsoft", contrib[i], 17, (guint) _i);
}
END_TEST

/* The import checks the strings and the number of entries of attributes that are lists of strings
 * or of floats. */
START_TEST (lists_of_attributes_are_checked)
{
  g_autoptr (Model) unknown = model_new (14), many = model_new (14), floats = model_new (14);
  const char *names[17];
  const char *typo[] = { "Tanhh" };
  Model *models[] = { unknown, many, floats };
  Onnx__NodeProto *node[3];
  Onnx__AttributeProto *attr;

  for (guint i = 0; i < 3; i++)
    {
      model_add_input (models[i], "x", "5x2x3");
      model_add_initializer (models[i], "w", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 4, 3), NULL);
      model_add_initializer (models[i], "r", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 4, 4), NULL);
      node[i] = model_add_node (models[i], "RNN", "n", "x w r", "y");
      model_add_output (models[i], "y");
    }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    names[i] = "Relu";
  node_add_strings (node[0], "activations", typo, 1);
  model_assert_error (unknown, CLEAVE_ERROR_MODEL, "RNN 'n': activations 'Tanhh' is not supported");
  node_add_strings (node[1], "activations", names, 17);
  model_assert_error (many, CLEAVE_ERROR_MODEL,
                      "RNN 'n': activations has 17 entries, more than 16");
  attr = node_add_attr (node[2], "activation_alpha", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  attr->n_floats = 17;
  attr->floats = g_new0 (float, 17);
  model_assert_error (floats, CLEAVE_ERROR_MODEL,
                      "RNN 'n': activation_alpha has 17 entries, more than 16");
}
END_TEST

START_TEST (the_number_of_inputs_and_outputs_is_limited)
{
  g_autoptr (Model) inputs = model_new (13), outputs = model_new (13);

  for (guint i = 0; i < 4097; i++)
    {
      g_autofree char *name = g_strdup_printf ("v%u", i);

      model_add_input (inputs, name, "1");
      model_add_output (outputs, "x");
    }
  model_add_output (inputs, "v0");
  model_add_input (outputs, "x", "1");
  model_assert_error (inputs, CLEAVE_ERROR_MODEL, "4097 inputs are more than 4096");
  model_assert_error (outputs, CLEAVE_ERROR_MODEL, "4097 outputs are more than 4096");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *table = tcase_create ("table");

  tcase_add_loop_test (table, each_mistake_of_a_node_is_an_error, 0, G_N_ELEMENTS (mistakes));
  tcase_add_loop_test (table, a_missing_operand_is_an_error, 0, 6);
  suite_add_tcase (suite, table);
  cleave_add_case (suite, "lists", lists_of_attributes_are_checked,
                   the_number_of_inputs_and_outputs_is_limited, NULL);
}

CLEAVE_TEST_SUITE ("import-errors", add_tests)
