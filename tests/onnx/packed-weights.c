/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Weights of 4 bits: a file that Cleave writes stores them with 4 bits again, if all their readers
 * are DequantizeLinears. */

#include "graphs.h"
#include "interpret.h"
#include "models.h"
#include "test.h"

#include <string.h>

/* Numbers of the element types, which Debian's schema does not have. */
#define UINT4 21
#define INT4 22

/* Adds an initializer of 4-bit elements, two in each byte. `columns` 0: a vector of `rows`
 * elements. */
static void
add_packed (Model *model, const char *name, int number, gint64 rows, gint64 columns)
{
  gint64 n = rows * MAX (columns, 1);
  guint8 bytes[256];
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT8, n / 2);
  Onnx__TensorProto *tensor;

  for (gint64 i = 0; i < n / 2; i++)
    bytes[i] = (guint8) (i * 37 + rows + columns);
  tensor = model_add_initializer (model, name, &type, bytes);
  tensor->data_type = number;
  g_free (tensor->dims);
  tensor->n_dims = columns == 0 ? 1 : 2;
  tensor->dims = g_memdup2 ((const int64_t[]){ rows, columns }, 2 * sizeof (int64_t));
}

/* Imports a model of the product y = x · transpose (w s), with 4-bit weights w [12, 8], and a scale
 * s and a zero point for each row. */
static CleaveGraph *
import (int number)
{
  g_autoptr (Model) model = model_new (21);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph;
  float scales[12];

  for (guint i = 0; i < 12; i++)
    scales[i] = 0.25f * (float) (i + 1);
  model_add_input (model, "x", "5x8");
  add_packed (model, "w", number, 12, 8);
  add_packed (model, "z", number, 12, 0);
  model_add_initializer (model, "s", &CLEAVE_TYPE (CLEAVE_FLOAT32, 12), scales);
  node_add_int (model_add_node (model, "DequantizeLinear", "real", "w s z", "r"), "axis", 0);
  node_add_int (model_add_node (model, "Gemm", "product", "x r", "y"), "transB", 1);
  model_add_output (model, "y");
  bytes = model_pack (model);
  graph = cleave_onnx_parse (bytes, NULL, NULL, &error);
  cleave_assert_no_error (error);
  return graph;
}

static CleaveGraph *
parse (GBytes *bytes)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_onnx_parse (bytes, NULL, NULL, &error);

  cleave_assert_no_error (error);
  return graph;
}

/* Returns the number of initializers of a file that have the element type `number` and half as many
 * bytes as elements. */
static guint
count_packed (GBytes *bytes, int number)
{
  Model *model =
      onnx__model_proto__unpack (NULL, g_bytes_get_size (bytes), g_bytes_get_data (bytes, NULL));
  guint n = 0;

  for (size_t i = 0; i < model->graph->n_initializer; i++)
    {
      const Onnx__TensorProto *tensor = model->graph->initializer[i];
      size_t n_elements = 1;

      for (size_t d = 0; d < tensor->n_dims; d++)
        n_elements *= (size_t) tensor->dims[d];
      n += tensor->data_type == number && tensor->raw_data.len == n_elements / 2 ? 1 : 0;
    }
  model_free (model);
  return n;
}

static void
assert_same (const CleaveGraph *a, const CleaveGraph *b)
{
  g_autoptr (CleaveTensor) x = cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_FLOAT32, 5, 8), 3, FALSE);
  g_autoptr (GPtrArray) want = cleave_interpret (a, &x), got = cleave_interpret (b, &x);

  ck_assert (cleave_tensor_equal (want->pdata[0], got->pdata[0]));
}

START_TEST (weights_of_4_bits_are_written_with_4_bits)
{
  const int number = _i == 0 ? UINT4 : INT4;

  for (guint was_read = 0; was_read < 2; was_read++)
    {
      g_autoptr (CleaveGraph) graph = import (number), other = import (number), again = NULL;
      g_autoptr (GBytes) bytes = NULL;

      if (was_read == 1)
        assert_same (graph, other);
      bytes = cleave_onnx_serialize (graph, NULL);
      again = parse (bytes);
      ck_assert_uint_eq (count_packed (bytes, number), 2);
      assert_same (other, again);
    }
}
END_TEST

START_TEST (parts_of_weights_of_4_bits_are_written_as_bytes)
{
  g_autoptr (CleaveGraph) graph = import (INT4), whole = import (INT4), again = NULL;
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("1", (const gint64[]){ 3 }, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node (cleave_graph_find_node (graph, "product"), tiling, NULL, &error);
  g_autoptr (GBytes) bytes = NULL;

  cleave_assert_no_error (error);
  ck_assert (cleave_clean_up (graph, NULL, NULL));
  bytes = cleave_onnx_serialize (graph, &error);
  cleave_assert_no_error (error);
  again = parse (bytes);
  assert_same (whole, again);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("packed-weights");

  tcase_add_loop_test (tcase, weights_of_4_bits_are_written_with_4_bits, 0, 2);
  tcase_add_test (tcase, parts_of_weights_of_4_bits_are_written_as_bytes);
  suite_add_tcase (suite, tcase);
}

CLEAVE_TEST_SUITE ("packed-weights", add_tests)
