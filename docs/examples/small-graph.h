/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The graph that the examples split-*.c share: an input, a Relu and a pooling. Each example builds
 * it with small_graph(), splits one or more of its nodes, and prints the result. */

#include <cleave/cleave.h>

/* Makes the graph x 1x4x16x16 → relu → pool 1x4x8x8. Returns NULL on error. */
static CleaveGraph *
small_graph (GError **error)
{
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (2, 2), .strides = CLEAVE_INTS (2, 2) };
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("example");
  CleaveResult *y =
      cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 4, 16, 16), error);

  if (y == NULL || (y = cleave_graph_add_unary (graph, "Relu", "relu", y, NULL, error)) == NULL ||
      (y = cleave_graph_add_pool (graph, "MaxPool", "pool", y, &pool, error)) == NULL ||
      !cleave_graph_add_output (graph, "y", y, error))
    return NULL;
  return g_steal_pointer (&graph);
}
