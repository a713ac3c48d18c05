/* SPDX-License-Identifier: GPL-2.0-or-later */

/* QUANTIZE and DEQUANTIZE that undo each other leave no nodes. QUANTIZE rounds floats near ties. */

#include <math.h>

#include "graphs.h"
#include "run-help.h"
#include "tflite-file.h"

#define N(array) ((guint) G_N_ELEMENTS (array))

/* A file of `n_steps` operators, each of which reads the result of the previous operator. Tensor i
 * has the type types[i] and the scale scales[i]. If scales[i] is 0, tensor i has no scale. */
typedef struct
{
  guint n_steps;
  gint codes[3], types[4];
  float scales[4];
  gint64 zeros[4];
  guint n_lookups, n_rescales, n_quantizes, n_dequantizes; /* numbers of nodes after the import */
} Chain;

enum { QUANTIZE = 114, DEQUANTIZE = 6, RELU = 19, UINT8 = 3 };

static const Chain chains[] = {
  /* If QUANTIZE keeps scale, zero point and type, the import adds no node. */
  { 1, { QUANTIZE }, { TFLITE_INT8, TFLITE_INT8 }, { 0.1f, 0.1f }, { 3, 3 }, 0, 0, 0, 0 },
  { 1, { QUANTIZE }, { TFLITE_INT16, TFLITE_INT16 }, { 0.1f, 0.1f }, { 0, 0 }, 0, 0, 0, 0 },
  /* QUANTIZE changes the scale, the zero point, or the type. */
  { 1, { QUANTIZE }, { TFLITE_INT8, TFLITE_INT8 }, { 0.1f, 0.2f }, { 3, 3 }, 0, 1, 0, 0 },
  { 1, { QUANTIZE }, { TFLITE_INT8, TFLITE_INT8 }, { 0.1f, 0.1f }, { 3, 4 }, 0, 1, 0, 0 },
  { 1, { QUANTIZE }, { TFLITE_INT8, TFLITE_INT16 }, { 0.1f, 0.1f }, { 0, 0 }, 0, 1, 0, 0 },
  /* QUANTIZE changes uint8 to int8 and back. The import computes uint8 as int8, so it adds a lookup
     at the input and one at the output. */
  { 2,
    { QUANTIZE, QUANTIZE },
    { UINT8, TFLITE_INT8, UINT8 },
    { 0.1f, 0.1f, 0.1f },
    { 128, 0, 128 },
    2,
    0,
    0,
    0 },
  /* In these four chains, DEQUANTIZE and QUANTIZE change integers to floats and back. In the third
   * of these chains, the zero points differ, so QUANTIZE clamps. In the fourth chain, RELU
   * clamps. */
  { 2,
    { DEQUANTIZE, QUANTIZE },
    { TFLITE_INT8, TFLITE_FLOAT32, TFLITE_INT8 },
    { 0.1f, 0, 0.1f },
    { -7, 0, -7 },
    0,
    0,
    0,
    0 },
  { 2,
    { DEQUANTIZE, QUANTIZE },
    { TFLITE_INT16, TFLITE_FLOAT32, TFLITE_INT16 },
    { 0.003f, 0, 0.003f },
    { 0, 0, 0 },
    0,
    0,
    0,
    0 },
  { 2,
    { DEQUANTIZE, QUANTIZE },
    { TFLITE_INT8, TFLITE_FLOAT32, TFLITE_INT8 },
    { 0.1f, 0, 0.1f },
    { -7, 0, -6 },
    0,
    0,
    1,
    1 },
  { 3,
    { DEQUANTIZE, RELU, QUANTIZE },
    { TFLITE_INT8, TFLITE_FLOAT32, TFLITE_FLOAT32, TFLITE_INT8 },
    { 0.1f, 0, 0, 0.1f },
    { -7, 0, 0, -7 },
    0,
    0,
    1,
    1 },
};

static CleaveGraph *
read_chain (const Chain *c)
{
  TfliteTensor tensors[4];
  TfliteOperator operators[3];
  TfliteGraph file = { tensors, c->n_steps + 1, operators, c->n_steps, { 0 }, 1, { 0 }, 1, 0 };
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  CleaveGraph *graph;

  file.outputs[0] = (gint) c->n_steps;
  for (guint i = 0; i <= c->n_steps; i++)
    tensors[i] = (TfliteTensor){ .type = c->types[i],
                                 .shape = "256",
                                 .scales = c->scales[i] == 0 ? NULL : &c->scales[i],
                                 .n_scales = 1,
                                 .zero = c->zeros[i] };
  for (guint i = 0; i < c->n_steps; i++)
    operators[i] =
        (TfliteOperator){ c->codes[i], NULL, { (gint) i }, 1, { (gint) i + 1 }, 1, 0, { { 0 } } };
  bytes = tflite_file_new (&file);
  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  return graph;
}

START_TEST (steps_that_change_nothing_leave_no_nodes)
{
  for (guint i = 0; i < N (chains); i++)
    {
      const Chain *c = &chains[i];
      g_autoptr (CleaveGraph) graph = read_chain (c);

      ck_assert_msg (cleave_count_nodes (graph, "TfliteLookup") == c->n_lookups &&
                         cleave_count_nodes (graph, "TfliteRescale") == c->n_rescales &&
                         cleave_count_nodes (graph, "TfliteQuantize") == c->n_quantizes &&
                         cleave_count_nodes (graph, "DequantizeLinear") == c->n_dequantizes,
                     "chain %u has other nodes", i);
    }
}
END_TEST

/* In five of the chains, the input and the output have the same type and the same scale. The graphs
 * of these chains return their input unchanged, whether the import leaves no node or two
 * lookups. */
START_TEST (integers_come_back)
{
  static const guint same[] = { 0, 1, 5, 6, 7 };

  for (guint i = 0; i < N (same); i++)
    {
      g_autoptr (CleaveGraph) graph = read_chain (&chains[same[i]]);
      g_autoptr (GPtrArray) inputs = run_random_inputs (graph, i);
      g_autoptr (GPtrArray) outputs = run_graph (graph, inputs, 1);

      ck_assert (cleave_tensor_equal (inputs->pdata[0], outputs->pdata[0]));
    }
}
END_TEST

/* Ties round away from zero. Floats just below a tie round toward zero. For the float below 1/2,
 * adding 1/2 and cutting off the fraction would give 1. */
START_TEST (floats_near_ties_are_rounded)
{
  static const float scale = 1;
  static const float values[] = { 0.5f,   0x1.fffffep-2f,  -0.5f,   -0x1.fffffep-2f, 1.5f,
                                  2.5f,   0x1.3ffffep+1f,  -2.5f,   -0x1.3ffffep+1f, 126.5f,
                                  127.5f, 0x1.f9fffep+6f,  -127.5f, INFINITY,        -INFINITY,
                                  NAN,    0x1.fffffep+22f, -0.0f };
  static const gint8 rounded[] = { 1,   0,   -1,  0,    2,   3,    2, -3,  -2,
                                   127, 127, 126, -128, 127, -128, 0, 127, 0 };
  enum { COUNT = G_N_ELEMENTS (values), TIMES = 5 }; /* more elements than a vector of any level */
  const TfliteTensor tensors[] = {
    { .name = "x", .shape = "90" },
    { .name = "y", .type = TFLITE_INT8, .shape = "90", .scales = &scale, .n_scales = 1 },
  };
  const TfliteOperator op = { QUANTIZE, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, NULL);
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;
  float x[COUNT * TIMES];

  for (guint i = 0; i < COUNT * TIMES; i++)
    x[i] = values[i % COUNT];
  ck_assert_ptr_nonnull (graph);
  g_ptr_array_add (inputs,
                   cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_FLOAT32, COUNT * TIMES), x, NULL));
  outputs = run_graph (graph, inputs, 1);
  for (guint i = 0; i < COUNT * TIMES; i++)
    ck_assert_int_eq (((const gint8 *) cleave_tensor_get_data (outputs->pdata[0]))[i],
                      rounded[i % COUNT]);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "quantize", steps_that_change_nothing_leave_no_nodes, integers_come_back,
                   floats_near_ties_are_rounded, NULL);
}

CLEAVE_TEST_SUITE ("tflite-quantize", add_tests)
