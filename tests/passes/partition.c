/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Partitions by parallel subgraphs. */

#include "graphs.h"
#include "partition-help.h"
#include "random-graph.h"
#include "run-help.h"
#include "test.h"

/* Partitions the graph by subgraphs, and asserts that the parts compute the bits of the graph.
 * Returns the number of parts. */
static guint
assert_same (const CleaveGraph *graph, guint32 seed, const char *what)
{
  g_autoptr (CleavePartition) partition = cleave_partition_new (graph, NULL);

  assert_partition_same (partition, graph, seed, what);
  return cleave_partition_get_n_parts (partition);
}

START_TEST (parts_compute_the_same_bits)
{
  static const char *const pipelines[] = { "clean-up", "split{all dims=0 num-chunks=2},clean-up",
                                           "split{all dims=-1 num-chunks=3}",
                                           "split-for-threads{threads=2},clean-up" };
  guint n_parts = 0;
  const guint n = CLEAVE_TRIALS (80);

  for (guint32 seed = 0; seed < n; seed++)
    {
      g_autoptr (CleaveGraph) graph =
          seed % 2 == 0 ? random_graph (seed, 25) : cleave_random_graph (seed, 25);
      g_autoptr (CleavePipeline) pipeline =
          cleave_pipeline_parse (pipelines[seed / 2 % G_N_ELEMENTS (pipelines)], NULL);
      g_autofree char *what = g_strdup_printf ("seed %u", seed);

      cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL);
      n_parts += assert_same (graph, seed, what);
    }
  ck_assert_uint_gt (n_parts, 2 * n);
}
END_TEST

static void
assert_can_be_written (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);

  cleave_assert_no_error (error);
}

/* Two values may have the same name. A value without a name has the name of its node, and another
 * value or an output may also have that name. */
START_TEST (values_with_the_same_name_stay_apart)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph =
      cleave_graph_parse ("graph g\n%x = Input : float32 1x2x8x8\n%a = Relu %x\n%b = Sigmoid %a\n"
                          "%c = Neg %b\noutput %c  # c\noutput %a  # b\n",
                          NULL, &error);
  g_autoptr (CleavePartition) partition = NULL;
  g_autoptr (CleaveGraph) end = NULL;

  cleave_assert_no_error (error);
  end = cleave_graph_extract (graph, (const char *const[]){ "x", NULL }, NULL, &error);
  cleave_assert_no_error (error);
  assert_can_be_written (end);
  cleave_result_set_name (cleave_node_get_result (cleave_graph_find_node (graph, "b"), 0), "a");
  cleave_result_set_name (cleave_node_get_result (cleave_graph_find_node (graph, "c"), 0), "x");
  partition = cleave_partition_new_by_count (graph, 3, &error);
  cleave_assert_no_error (error);
  assert_partition_same (partition, graph, 1, "same names");
  for (guint i = 0; i < 3; i++)
    assert_can_be_written (cleave_partition_get_graph (partition, i));
}
END_TEST

/* An output of the graph has the name of the value at which the submodel begins. */
START_TEST (a_submodel_may_end_with_the_name_of_its_beginning)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (
      "graph g\n%x = Input : float32 2x4\n%n = Relu %x\n%b = Neg %n\noutput %b  # a\n", NULL,
      &error);
  g_autoptr (CleaveGraph) end = NULL;

  cleave_assert_no_error (error);
  cleave_result_set_name (cleave_node_get_result (cleave_graph_find_node (graph, "n"), 0), "a");
  end = cleave_graph_extract (graph, (const char *const[]){ "n", NULL }, NULL, &error);
  cleave_assert_no_error (error);
  ck_assert_str_eq (cleave_graph_get_output_name (end, 0), "a");
  assert_can_be_written (end);
}
END_TEST

#define TEXT                                                                                       \
  "graph g\n%x = Input : float32 1x2x8x8\n%w = Constant seed=1 : float32 2x2x3x3\n"                \
  "%c = Conv %x, %w pads=1,1,1,1\n%r = Relu %c\n%k = Constant value=3 : float32 2\n"               \
  "%s = Sigmoid %r\noutput %s\noutput %k\noutput %x  # same\n"

static void
assert_part (const CleavePartition *partition, guint i, guint level, int subgraph, guint n_before)
{
  ck_assert_uint_eq (cleave_partition_get_level (partition, i), level);
  ck_assert_int_eq (cleave_partition_get_subgraph (partition, i), subgraph);
  ck_assert_uint_eq (cleave_partition_get_n_before (partition, i), n_before);
}

START_TEST (strips_are_parts)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (TEXT, NULL, &error);
  g_autoptr (CleavePipeline) pipeline =
      cleave_pipeline_parse ("split{node=r dims=H num-chunks=2 depth=2},clean-up", NULL);
  g_autoptr (CleavePartition) partition = NULL;

  cleave_assert_no_error (error);
  ck_assert (cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, &error));
  ck_assert_uint_eq (assert_same (graph, 1, "strips"), 4);
  partition = cleave_partition_new (graph, NULL);
  assert_part (partition, 0, 0, -1, 0);
  assert_part (partition, 1, 0, 0, 0);
  assert_part (partition, 2, 0, 1, 0);
  assert_part (partition, 3, 1, -1, 2);
  ck_assert_str_eq (cleave_partition_get_output_value (partition, 2), "x");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "partition", strips_are_parts, parts_compute_the_same_bits,
                   values_with_the_same_name_stay_apart,
                   a_submodel_may_end_with_the_name_of_its_beginning, NULL);
}

CLEAVE_TEST_SUITE ("partition", add_tests)
