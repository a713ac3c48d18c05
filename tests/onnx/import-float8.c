/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of initializers of 8-bit floats, which become 32-bit floats. Only DequantizeLinear
 * may read such an initializer. */

#include "test.h"

#include <math.h>

#include "models.h"

/* Makes a model with an initializer w of four 8-bit floats of the ONNX type `type`. */
static Model *
model_with (gint32 type, const guint8 *bytes)
{
  Model *model = model_new (19);
  Onnx__TensorProto *w = model_add_initializer (model, "w", &CLEAVE_TYPE (CLEAVE_UINT8, 4), bytes);

  w->data_type = type;
  return model;
}

/* Returns the value of the only output, which is a constant. */
static CleaveTensor *
get_output (const CleaveGraph *graph)
{
  CleaveTensor *constant = cleave_node_get_constant (
      cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (graph, 0))));

  ck_assert_ptr_nonnull (constant);
  return constant;
}

/* For each ONNX type, by its number and name, four bytes and their values: 1, the largest and the
 * smallest positive number, and a negative number. */
static const struct
{
  gint32 type;
  guint8 bytes[4];
  float values[4];
} cases[] = {
  { 17, { 0x38, 0x7e, 0x01, 0xc1 }, { 1, 448, 0x1p-9F, -2.25F } },   /* FLOAT8E4M3FN */
  { 18, { 0x40, 0x7f, 0x01, 0xc9 }, { 1, 240, 0x1p-10F, -2.25F } },  /* FLOAT8E4M3FNUZ */
  { 19, { 0x3c, 0x7b, 0x01, 0xc1 }, { 1, 57344, 0x1p-16F, -2.5F } }, /* e5m2 */
  { 20, { 0x40, 0x7f, 0x01, 0xc5 }, { 1, 57344, 0x1p-17F, -2.5F } }, /* FLOAT8E5M2FNUZ */
};

START_TEST (floats_of_8_bits_are_exact)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = model_with (cases[i].type, cases[i].bytes);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = NULL;
      const float *values;

      node_add_int (model_add_node (model, "Cast", "n", "w", "y"), "to", 1);
      model_add_output (model, "y");
      graph = model_import (model, &error);
      cleave_assert_no_error (error);
      values = cleave_tensor_get_data (get_output (graph));
      for (guint k = 0; k < 4; k++)
        ck_assert_msg (values[k] == cases[i].values[k], "type %d, byte %02x: %g", cases[i].type,
                       cases[i].bytes[k], (double) values[k]);
    }
}
END_TEST

START_TEST (special_bytes_are_nan_and_infinity)
{
  static const struct
  {
    gint32 type;
    guint8 bytes[4];
    gboolean is_infinite;
  } specials[] = {
    { 17, { 0x7f, 0xff, 0x7f, 0xff }, FALSE },
    { 18, { 0x80, 0x80, 0x80, 0x80 }, FALSE },
    { 19, { 0x7c, 0xfc, 0x7c, 0xfc }, TRUE },
    { 20, { 0x80, 0x80, 0x80, 0x80 }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (specials); i++)
    {
      g_autoptr (Model) model = model_with (specials[i].type, specials[i].bytes);
      g_autoptr (CleaveGraph) graph = NULL;

      node_add_int (model_add_node (model, "Cast", "n", "w", "y"), "to", 1);
      model_add_output (model, "y");
      graph = model_import (model, NULL);
      for (guint k = 0; k < 4; k++)
        {
          float value = ((const float *) cleave_tensor_get_data (get_output (graph)))[k];

          ck_assert (specials[i].is_infinite ? isinf (value) : isnan (value));
        }
    }
}
END_TEST

/* The import computes a DequantizeLinear of constants, also with a scale for each index of an
 * axis. */
START_TEST (dequantize_multiplies_by_the_scale)
{
  static const float expected[] = { 2, 896, 0x1p-7F, -9 };
  g_autoptr (Model) model = model_with (17, cases[0].bytes);
  g_autoptr (CleaveGraph) graph = NULL;

  model->graph->initializer[0]->dims[0] = 2;
  model->graph->initializer[0]->dims = g_renew (int64_t, model->graph->initializer[0]->dims, 2);
  model->graph->initializer[0]->dims[1] = 2;
  model->graph->initializer[0]->n_dims = 2;
  model_add_initializer (model, "scale", &CLEAVE_TYPE (CLEAVE_FLOAT32, 2), (const float[]){ 2, 4 });
  node_add_int (model_add_node (model, "DequantizeLinear", "n", "w scale", "y"), "axis", 0);
  model_add_output (model, "y");
  graph = model_import (model, NULL);
  for (guint k = 0; k < 4; k++)
    ck_assert (((const float *) cleave_tensor_get_data (get_output (graph)))[k] == expected[k]);
}
END_TEST

START_TEST (other_ops_cannot_read_them)
{
  g_autoptr (Model) model = model_with (17, cases[0].bytes);

  model_add_node (model, "Relu", "n", "w", "y");
  model_add_output (model, "y");
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "Relu 'n': operand 0 has floats of 8 bits, which DequantizeLinear and Cast "
                      "alone may read");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "float8", floats_of_8_bits_are_exact, special_bytes_are_nan_and_infinity,
                   dequantize_multiplies_by_the_scale, other_ops_cannot_read_them, NULL);
}

CLEAVE_TEST_SUITE ("import-float8", add_tests)
