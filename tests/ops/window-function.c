/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix. */

#include "op-case.h"

static CleaveResult *
add (CleaveGraph *graph, const char *op, gconstpointer attrs, GError **error)
{
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup (op), "w", NULL, 0, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (windows)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveWindowFunctionAttrs a = { 4, TRUE, CLEAVE_FLOAT32 };

  cleave_assert_values (add (graph, "HannWindow", &a, &error), "0 0.5 1 0.5");
  cleave_assert_values (add (graph, "BlackmanWindow", &a, &error), "-1.38778e-17 0.34 1 0.34");
  a.periodic = FALSE;
  a.size = 3;
  cleave_assert_values (add (graph, "HannWindow", &a, &error), "0 1 0");
  a.size = 1;
  cleave_assert_infers (add (graph, "HammingWindow", &a, &error), &error, "float32 1");
  a.size = 0;
  cleave_assert_infers (add (graph, "HammingWindow", &a, &error), &error, "float32 0");
  a.size = -1;
  cleave_assert_infers (add (graph, "HannWindow", &a, &error), &error,
                        "HannWindow 'w': size must be at least 0, not -1");
  a = (CleaveWindowFunctionAttrs){ 4, TRUE, CLEAVE_BOOL };
  cleave_assert_infers (add (graph, "HannWindow", &a, &error), &error,
                        "HannWindow 'w': output_datatype cannot be bool");
}
END_TEST

START_TEST (mel_weights)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveMelAttrs a = { 2, 8, 8000, 0, 4000, CLEAVE_FLOAT32 };

  /* The edges of the filters are at 0, 427, 1114 and 2220 Hz, which lie in the frequency bins 0, 0,
   * 1 and 2. */
  cleave_assert_infers (add (graph, "MelWeightMatrix", &a, &error), &error, "float32 5x2");
  cleave_assert_values (add (graph, "MelWeightMatrix", &a, &error), "1 0 0 1 0 0 0 0 0 0");
  a.lower_edge_hertz = 5000;
  cleave_assert_infers (add (graph, "MelWeightMatrix", &a, &error), &error,
                        "MelWeightMatrix 'w': lower_edge_hertz must be at least 0 and below "
                        "upper_edge_hertz, but they are 5000 and 4000");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "window-function", windows, mel_weights, NULL);
}

CLEAVE_TEST_SUITE ("window-function", add_tests)
