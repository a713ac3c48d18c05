/* SPDX-License-Identifier: GPL-2.0-or-later */

/* QUANTIZE and DEQUANTIZE that undo each other leave no nodes. */

#include "graphs.h"
#include "run-help.h"
#include "tflite-file.h"

#define N(array) ((guint) G_N_ELEMENTS (array))

/* A file of `n_steps` operators, each of which reads the result of the one before it. Tensor i has
 * the type types[i] and the scale scales[i], or none if that is 0. */
typedef struct
{
  guint n_steps;
  gint codes[3], types[4];
  float scales[4];
  gint64 zeros[4];
  guint n_lookups, n_rescales, n_quantizes, n_dequantizes; /* nodes that stay */
} Chain;

enum { QUANTIZE = 114, DEQUANTIZE = 6, RELU = 19, UINT8 = 3 };

static const Chain chains[] = {
  /* Equal scales leave no node. */
  { 1, { QUANTIZE }, { TFLITE_INT8, TFLITE_INT8 }, { 0.1f, 0.1f }, { 3, 3 }, 0, 0, 0, 0 },
  { 1, { QUANTIZE }, { TFLITE_INT16, TFLITE_INT16 }, { 0.1f, 0.1f }, { 0, 0 }, 0, 0, 0, 0 },
  /* Another scale, another zero point, another type. */
  { 1, { QUANTIZE }, { TFLITE_INT8, TFLITE_INT8 }, { 0.1f, 0.2f }, { 3, 3 }, 0, 1, 0, 0 },
  { 1, { QUANTIZE }, { TFLITE_INT8, TFLITE_INT8 }, { 0.1f, 0.1f }, { 3, 4 }, 0, 1, 0, 0 },
  { 1, { QUANTIZE }, { TFLITE_INT8, TFLITE_INT16 }, { 0.1f, 0.1f }, { 0, 0 }, 0, 1, 0, 0 },
  /* uint8 to int8 and back: one lookup for each end. */
  { 2,
    { QUANTIZE, QUANTIZE },
    { UINT8, TFLITE_INT8, UINT8 },
    { 0.1f, 0.1f, 0.1f },
    { 128, 0, 128 },
    2,
    0,
    0,
    0 },
  /* Integers to floats and back; the middle one clamps. */
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

/* Chains of one type at both ends give all integers back, whether nodes are left out or not. */
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

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "quantize", steps_that_change_nothing_leave_no_nodes, integers_come_back,
                   NULL);
}

CLEAVE_TEST_SUITE ("tflite-quantize", add_tests)
