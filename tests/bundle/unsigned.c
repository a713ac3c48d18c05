/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Bundles of graphs with values of uint8, which lib/bundle/prepare-unsigned.c rewrites to int8. */

#include "networks.h"
#include "test.h"

#include "../../lib/bundle/bundle.h"

#define CONSTANTS                                                                                  \
  "%scale = Constant value=0.02 : float32 scalar  # scale\n"                                       \
  "%zero = Constant value=131 : uint8 scalar  # zero\n"                                            \
  "%other = Constant value=7 : uint8 scalar  # other\n"                                            \
  "%w = Constant seed=3 : int8 6x4x3x3  # w\n"                                                     \
  "%w_scale = Constant value=0.003 : float32 6  # w_scale\n"                                       \
  "%w_zero = Constant value=0 : int8 6  # w_zero\n"

#define CONV                                                                                       \
  "%conv = QLinearConv %x, %scale, %zero, %w, %w_scale, %w_zero, %scale, %other pads=1,1,1,1  "    \
  "# conv\n"

static gboolean
has_kernel (const CleaveBundle *bundle, const char *kernel)
{
  for (guint i = 0; i < bundle->model->steps->len; i++)
    if (g_strcmp0 (cleave_bundle_step (bundle->model, i)->kernel, kernel) == 0)
      return TRUE;
  return FALSE;
}

/* Makes a bundle of a graph. Asserts that no step of the bundle has the kernel cleave_conv_integer,
 * which is slow and supports all element types: the bundle must use the fast kernels for int8. Also
 * compiles and runs the bundle, and asserts that the bundle's outputs have the same bits as the
 * outputs of the graph. Returns whether the bundle converts values between uint8 and int8. */
static gboolean
converts (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error);
  g_autoptr (CleaveBundle) bundle = NULL;

  cleave_assert_no_error (error);
  bundle = cleave_bundle_new (graph, NULL, &error);
  cleave_assert_no_error (error);
  ck_assert_msg (!has_kernel (bundle, "cleave_conv_integer"), "%s", text);
  ck_assert_int_eq (network_check (bundle, "-O1 -fsanitize=undefined -fno-sanitize-recover"), 0);
  return has_kernel (bundle, "cleave_lookup");
}

START_TEST (values_between_convolutions_are_not_converted)
{
  ck_assert (!converts ("%image = Input : float32 1x4x6x5  # image\n" CONSTANTS
                        "%x = QuantizeLinear %image, %scale, %zero  # x\n" CONV
                        "%pool = MaxPool %conv kernel_shape=2,2 strides=2,2  # pool\n"
                        "%join = Concat %pool, %pool axis=1  # join\n"
                        "%y = DequantizeLinear %join, %scale, %other  # y\n"
                        "output %y  # y\n"));
}
END_TEST

START_TEST (inputs_and_outputs_are_converted)
{
  ck_assert (converts ("%x = Input : uint8 1x4x6x5  # x\n" CONSTANTS CONV "output %conv  # y\n"));
}
END_TEST

START_TEST (a_value_that_is_also_an_output_is_converted)
{
  ck_assert (converts ("%image = Input : float32 1x4x6x5  # image\n" CONSTANTS
                       "%x = QuantizeLinear %image, %scale, %zero  # x\n" CONV
                       "%y = DequantizeLinear %conv, %scale, %other  # y\n"
                       "output %x  # x\noutput %conv  # conv\noutput %y  # y\n"));
}
END_TEST

START_TEST (an_absent_zero_point_is_zero)
{
  ck_assert (!converts ("%image = Input : float32 5x4  # image\n" CONSTANTS
                        "%m = Constant seed=4 : int8 4x6  # m\n"
                        "%none = Constant value=0 : uint8 scalar  # none\n"
                        "%m_zero = Constant value=0 : int8 scalar  # m_zero\n"
                        "%x = QuantizeLinear %image, %scale  # x\n"
                        "%product = QLinearMatMul %x, %scale, %none, %m, %scale, %m_zero, %scale, "
                        "%other  # product\n"
                        "%y = DequantizeLinear %product, %scale, %other  # y\n"
                        "output %y  # y\n"));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "uint8", values_between_convolutions_are_not_converted,
                   inputs_and_outputs_are_converted, a_value_that_is_also_an_output_is_converted,
                   an_absent_zero_point_is_zero, NULL);
}

CLEAVE_TEST_SUITE ("unsigned", add_tests)
