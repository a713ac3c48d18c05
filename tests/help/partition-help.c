/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes graphs to cut into parts. Runs a program for each part of a partition, and compares the
 * outputs with the whole graph. */

#include "partition-help.h"

#include "graphs.h"
#include "random-graph.h"
#include "run-help.h"
#include "test.h"

/* Runs the parts in order. Each part reads its inputs from `values`, and adds its outputs to
 * `values`, by name. */
static void
run_parts (const CleavePartition *partition, GHashTable *values, const char *what)
{
  for (guint i = 0; i < cleave_partition_get_n_parts (partition); i++)
    {
      CleaveGraph *part = cleave_partition_get_graph (partition, i);
      g_autoptr (GPtrArray) inputs = g_ptr_array_new (), outputs = NULL;

      ck_assert (cleave_graph_validate (part, NULL));
      for (guint k = 0; k < cleave_graph_get_n_inputs (part); k++)
        {
          g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (part, k));
          CleaveTensor *value = g_hash_table_lookup (values, name);

          ck_assert_msg (value != NULL, "%s: part %u reads %s before it is written", what, i, name);
          g_ptr_array_add (inputs, value);
        }
      for (guint k = 0; k < cleave_partition_get_n_before (partition, i); k++)
        ck_assert_uint_lt (cleave_partition_get_before (partition, i, k), i);
      ck_assert_msg (cleave_graph_get_n_outputs (part) > 0, "%s: part %u has no outputs", what, i);
      outputs = run_graph (part, inputs, 1);
      for (guint k = 0; k < outputs->len; k++)
        {
          const char *name = cleave_graph_get_output_name (part, k);

          ck_assert_msg (!g_hash_table_contains (values, name), "%s: %s is written twice", what,
                         name);
          g_hash_table_insert (values, g_strdup (name), cleave_tensor_ref (outputs->pdata[k]));
        }
    }
}

void
assert_partition_same (const CleavePartition *partition,
                       const CleaveGraph *graph,
                       guint32 seed,
                       const char *what)
{
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
  g_autoptr (GPtrArray) expected = run_graph (graph, inputs, 1);
  g_autoptr (GHashTable) values =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < inputs->len; i++)
    g_hash_table_insert (values, cleave_result_dup_name (cleave_graph_get_input (graph, i)),
                         cleave_tensor_ref (inputs->pdata[i]));
  run_parts (partition, values, what);
  for (guint i = 0; i < expected->len; i++)
    {
      const char *name = cleave_partition_get_output_value (partition, i);
      CleaveTensor *value = g_hash_table_lookup (values, name);

      ck_assert_msg (value != NULL, "%s: nobody writes %s", what, name);
      ck_assert_msg (cleave_tensor_equal (value, expected->pdata[i]), "%s: %s differs", what, name);
    }
}

CleaveGraph *
partition_parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  cleave_assert_no_error (error);
  return graph;
}

CleaveGraph *
partition_make_graph (guint32 seed)
{
  static const char *const pipelines[] = { "clean-up", "split{all dims=-1 num-chunks=3}",
                                           "split{all dims=0 num-chunks=2},clean-up" };
  g_autoptr (CleavePipeline) pipeline =
      cleave_pipeline_parse (pipelines[seed / 2 % G_N_ELEMENTS (pipelines)], NULL);
  CleaveGraph *graph = seed % 2 == 0 ? random_graph (seed, 25) : cleave_random_graph (seed, 25);

  cleave_pipeline_run (pipeline, graph, NULL, NULL, NULL, NULL);
  return graph;
}

guint
partition_count_nodes (const CleaveGraph *graph, const CleavePartition *partition)
{
  guint n = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    n += cleave_partition_find (partition, node) >= 0;
  return n;
}

char **
partition_pick_values (const CleaveGraph *graph, guint32 seed, guint n)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (CleavePartition) whole = cleave_partition_new_by_count (graph, 1, NULL);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  guint left = partition_count_nodes (graph, whole);

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL && n > 0;
       node = cleave_node_get_next (node))
    if (cleave_partition_find (whole, node) >= 0 && cleave_node_get_constant (node) == NULL &&
        g_rand_int_range (random, 0, (gint32) left--) < (gint32) n)
      {
        g_autofree char *name = cleave_result_dup_name (cleave_node_get_result (node, 0));

        g_strv_builder_add (names, name);
        n--;
      }
  return g_strv_builder_end (names);
}
