/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions and poolings whose pads the import computes: from auto_pad, or from output_shape. */

#include "test.h"

#include "models.h"

/* Returns a model with one node, which reads the input x and computes the output y. */
static Model *
model_of (const char *op, const char *operands)
{
  Model *model = model_new (13);

  model_add_input (model, "x", "1x1x8x7");
  model_add_node (model, op, "n", operands, "y");
  model_add_output (model, "y");
  return model;
}

static Onnx__NodeProto *
node_of (Model *model)
{
  return model->graph->node[0];
}

static Model *
window_of (const char *op, const char *auto_pad, gint64 stride)
{
  static const CleaveTensorType weights = { CLEAVE_FLOAT32, { 4, { 1, 1, 3, 3 } } };
  gboolean pool = g_str_equal (op, "MaxPool");
  Model *model = model_of (op, pool ? "x" : "x w");
  CleaveInts three = CLEAVE_INTS (3, 3), strides = CLEAVE_INTS (stride, stride);

  if (!pool)
    model_add_initializer (model, "w", &weights, NULL);
  node_add_ints (node_of (model), "kernel_shape", &three);
  node_add_ints (node_of (model), "strides", &strides);
  if (auto_pad != NULL)
    node_add_string (node_of (model), "auto_pad", auto_pad);
  return model;
}

START_TEST (auto_pad_becomes_pads)
{
  static const struct
  {
    const char *op, *auto_pad, *dump;
  } cases[] = {
    { "Conv", "SAME_UPPER", "%2 = Conv %0, %1 strides=2,2 pads=0,1,1,1 : float32 1x1x4x4  # n\n" },
    { "Conv", "SAME_LOWER", "%2 = Conv %0, %1 strides=2,2 pads=1,1,0,1 : float32 1x1x4x4  # n\n" },
    { "Conv", "VALID", "%2 = Conv %0, %1 strides=2,2 : float32 1x1x3x3  # n\n" },
    { "Conv", "NOTSET", "%2 = Conv %0, %1 strides=2,2 : float32 1x1x3x3  # n\n" },
    { "ConvTranspose", "SAME_UPPER",
      "%2 = ConvTranspose %0, %1 strides=2,2 pads=0,0,1,1 : float32 1x1x16x14  # n\n" },
    { "ConvTranspose", "SAME_LOWER",
      "%2 = ConvTranspose %0, %1 strides=2,2 pads=1,1,0,0 : float32 1x1x16x14  # n\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = window_of (cases[i].op, cases[i].auto_pad, 2);
      g_autofree char *dump = g_strconcat ("%0 = Input : float32 1x1x8x7  # x\n"
                                           "%1 = Constant : float32 1x1x3x3  # w\n",
                                           cases[i].dump, "output %2  # y\n", NULL);

      model_assert_dump (model, dump);
    }
}
END_TEST

START_TEST (auto_pad_of_a_pool_becomes_pads)
{
  g_autoptr (Model) model = window_of ("MaxPool", "SAME_UPPER", 2);

  model_assert_dump (
      model, "%0 = Input : float32 1x1x8x7  # x\n"
             "%1 = MaxPool %0 kernel_shape=3,3 strides=2,2 pads=0,1,1,1 : float32 1x1x4x4  # n\n"
             "output %1  # y\n");
}
END_TEST

/* The weights of a QLinearConv are operand 3, not operand 1 as in a Conv. Their shape is the shape
 * of the kernel, from which the import computes the pads. */
START_TEST (auto_pad_of_a_quantized_convolution_becomes_pads)
{
  static const CleaveTensorType x = { CLEAVE_UINT8, { 4, { 1, 1, 8, 7 } } };
  static const CleaveTensorType w = { CLEAVE_UINT8, { 4, { 1, 1, 3, 3 } } };
  static const CleaveTensorType scale = { CLEAVE_FLOAT32, { 0 } }, zero = { CLEAVE_UINT8, { 0 } };
  g_autoptr (Model) model = model_of ("QLinearConv", "q s z w s z s z");
  CleaveInts three = CLEAVE_INTS (3, 3), strides = CLEAVE_INTS (2, 2);

  model_add_initializer (model, "q", &x, NULL);
  model_add_initializer (model, "s", &scale, NULL);
  model_add_initializer (model, "z", &zero, NULL);
  model_add_initializer (model, "w", &w, NULL);
  node_add_ints (node_of (model), "kernel_shape", &three);
  node_add_ints (node_of (model), "strides", &strides);
  node_add_string (node_of (model), "auto_pad", "SAME_UPPER");
  model_assert_dump (model, "%0 = Input : float32 1x1x8x7  # x\n"
                            "%1 = Constant : uint8 1x1x4x4  # y\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (output_shape_becomes_pads_and_padding)
{
  g_autoptr (Model) model = window_of ("ConvTranspose", NULL, 2);
  g_autoptr (Model) whole = window_of ("ConvTranspose", NULL, 2);
  CleaveInts shape = CLEAVE_INTS (18, 14), long_shape = CLEAVE_INTS (1, 1, 18, 14);
  const char *dump = "%0 = Input : float32 1x1x8x7  # x\n"
                     "%1 = Constant : float32 1x1x3x3  # w\n"
                     "%2 = ConvTranspose %0, %1 strides=2,2 pads=0,1,0,0 output_padding=1,0 : "
                     "float32 1x1x18x14  # n\n"
                     "output %2  # y\n";

  node_add_ints (node_of (model), "output_shape", &shape);
  model_assert_dump (model, dump);
  node_add_ints (node_of (whole), "output_shape", &long_shape);
  model_assert_dump (whole, dump);
}
END_TEST

START_TEST (windows_are_checked)
{
  g_autoptr (Model) kernel = window_of ("Conv", NULL, 1);
  g_autoptr (Model) mode = window_of ("Conv", "SAME", 1);
  g_autoptr (Model) stride = window_of ("Conv", "SAME_UPPER", 0);
  g_autoptr (Model) shape = window_of ("ConvTranspose", NULL, 1);
  CleaveInts one = CLEAVE_INTS (1);

  node_of (kernel)->attribute[0]->ints[1] = 5;
  model_assert_error (kernel, CLEAVE_ERROR_MODEL,
                      "Conv 'n': kernel_shape differs from the shape of its weights");
  model_assert_error (mode, CLEAVE_ERROR_MODEL, "Conv 'n': auto_pad 'SAME' is not known");
  model_assert_error (stride, CLEAVE_ERROR_MODEL,
                      "Conv 'n': strides must have entries of at least 1, not 0");
  node_add_ints (node_of (shape), "output_shape", &one);
  model_assert_error (
      shape, CLEAVE_ERROR_MODEL,
      "ConvTranspose 'n': output_shape has 1 entries, but there are 2 spatial dimensions");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "windows", auto_pad_becomes_pads, auto_pad_of_a_pool_becomes_pads,
                   auto_pad_of_a_quantized_convolution_becomes_pads,
                   output_shape_becomes_pads_and_padding, windows_are_checked, NULL);
}

CLEAVE_TEST_SUITE ("upgrade-windows", add_tests)
