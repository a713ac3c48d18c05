/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "run-help.h"

/* A small part of something larger, and between it and the rest a value of so many channels. */
static CleaveGraph *
make_graph (gint64 n_between)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16));
  CleaveResult *part = run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *between = run_conv (graph, part, n_between, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *few = run_conv (graph, between, 4, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *parts[] = { part, run_conv (graph, few, 56, 1, CLEAVE_LAYOUT_NCHW) };

  run_output (graph, run_concat (graph, parts, 2, 1));
  return graph;
}

START_TEST (a_part_waits_apart_while_memory_is_scarce)
{
  g_autoptr (CleaveGraph) graph = make_graph (128);
  CleaveProgramStats stats = run_get_stats (graph, 1);

  ck_assert_int_eq (stats.peak_activation_bytes, (8 + 128 + 4) * 1024);
  ck_assert_int_eq (stats.copied_bytes, 8 * 1024);
  run_assert_same (graph, 0);
}
END_TEST

/* The peak is where the whole is there: apart, the part would only come on top. */
START_TEST (a_part_is_not_copied_for_nothing)
{
  g_autoptr (CleaveGraph) graph = make_graph (4);
  CleaveProgramStats stats = run_get_stats (graph, 1);

  ck_assert_int_eq (stats.peak_activation_bytes, (64 + 4 + 4) * 1024);
  ck_assert_int_eq (stats.copied_bytes, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "apart", a_part_waits_apart_while_memory_is_scarce,
                   a_part_is_not_copied_for_nothing, NULL);
}

CLEAVE_TEST_MAIN ("storage-apart", add_tests)
