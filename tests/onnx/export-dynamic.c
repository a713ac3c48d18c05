/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The export of models whose shapes depend on data: a split model that is written and read again
 * keeps its dynamic part and its results. */

#include "dynamic-models.h"

#include "../../lib/ops/reference.h"
#include "interpret.h"
#include "random-graph.h"
#include "test.h"

/* Splits all nodes of the static part, writes the model, and reads it again. */
static CleaveGraph *
split_and_write (CleaveGraph *graph)
{
  const gint64 two = 2;
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("-1", &two, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  CleaveGraph *again;

  report = cleave_split_all_nodes (graph, tiling, NULL, &error);
  g_assert_no_error (error);
  ck_assert_uint_gt (cleave_split_report_get_n_split (report), 0);
  bytes = cleave_onnx_serialize (graph, &error);
  g_assert_no_error (error);
  again = cleave_onnx_parse (bytes, NULL, &dynamic_options, &error);
  g_assert_no_error (error);
  return again;
}

START_TEST (a_split_model_keeps_its_dynamic_part)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (CleaveGraph) graph = dynamic_import (model), again = split_and_write (graph);
  g_autoptr (CleaveTensor) x = dynamic_make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), 7);
  g_autoptr (GPtrArray) want = dynamic_fold (model, x), split = dynamic_run (graph, x, NULL);
  g_autoptr (GPtrArray) written = dynamic_run (again, x, NULL);

  ck_assert_uint_eq (cleave_onnx_dynamic_get_n_nodes (cleave_onnx_get_dynamic (again)), 3);
  dynamic_assert_equal (split, want);
  dynamic_assert_equal (written, want);
}
END_TEST

/* The pieces of the node `relu` get names such as "relu_1" and "r_1". Pieces must not get names of
 * the dynamic part. */
START_TEST (names_of_dynamic_values_are_not_given_to_pieces)
{
  g_autoptr (Model) model = dynamic_mask_new ();
  g_autoptr (CleaveGraph) graph = NULL, again = NULL;
  g_autoptr (CleaveTensor) x = dynamic_make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), 7);
  g_autoptr (GPtrArray) want = NULL, written = NULL;

  model_add_node (model, "Exp", "relu_1", "v", "relu.chunk_0");
  model_add_node (model, "Abs", "relu_2", "relu.chunk_0", "r_1");
  model_add_node (model, "Neg", "relu.chunk_1", "r_1", "relu.chunk_1");
  model_add_output (model, "relu.chunk_1");
  want = dynamic_fold (model, x);
  graph = dynamic_import (model);
  again = split_and_write (graph);
  written = dynamic_run (again, x, NULL);
  dynamic_assert_equal (written, want);
}
END_TEST

/* Makes a NonZero and, after it, nodes of opset 11 that have another form in opset 17. */
static Model *
old_forms_new (void)
{
  Model *model = model_new (11);
  const CleaveInts zero = CLEAVE_INTS (0), last = CLEAVE_INTS (1);

  model_add_input (model, "x", "4x6");
  model_add_node (model, "Relu", "relu", "x", "r");
  model_add_node (model, "NonZero", "where", "r", "i");
  node_add_int (model_add_node (model, "Cast", "cast", "i", "f"), "to",
                ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
  node_add_ints (model_add_node (model, "Unsqueeze", "unsqueeze", "f", "u"), "axes", &zero);
  node_add_ints (model_add_node (model, "Squeeze", "squeeze", "u", "q"), "axes", &zero);
  model_add_node (model, "Softmax", "softmax", "u", "s");
  node_add_int (model_add_node (model, "Softmax", "softmax.0", "u", "s0"), "axis", 0);
  node_add_ints (model_add_node (model, "ReduceSum", "sum", "s", "t"), "axes", &last);
  node_add_ints (model_add_node (model, "ReduceMean", "mean", "q", "m"), "axes", &last);
  for (guint i = 0; i < 4; i++)
    model_add_output (model, ((const char *[]){ "s0", "t", "m", "q" })[i]);
  return model;
}

START_TEST (older_forms_of_dynamic_nodes_are_written_as_newer_ones)
{
  g_autoptr (Model) model = old_forms_new ();
  g_autoptr (CleaveGraph) graph = dynamic_import (model), again = split_and_write (graph);
  g_autoptr (CleaveTensor) x = dynamic_make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), 5);
  g_autoptr (GPtrArray) want = dynamic_fold (model, x), got = dynamic_run (graph, x, NULL);
  g_autoptr (GPtrArray) written = dynamic_run (again, x, NULL);

  dynamic_assert_equal (got, want);
  dynamic_assert_equal (written, want);
}
END_TEST

/* The tests below add dynamic tails to random graphs. */

/* Adds a NonZero, and a sum of its indices, behind each float output of a random graph. */
static Model *
random_model (const CleaveGraph *graph)
{
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, NULL);
  gsize n;
  gconstpointer data = g_bytes_get_data (bytes, &n);
  Model *model = onnx__model_proto__unpack (NULL, n, data);
  Onnx__GraphProto *proto = model->graph;

  /* protobuf-c allocates lists that are exactly full, so make them longer. */
  proto->node = g_renew (Onnx__NodeProto *, proto->node, 2 * proto->n_node + 1);
  proto->output = g_renew (Onnx__ValueInfoProto *, proto->output, 2 * proto->n_output + 1);
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      const char *name = cleave_graph_get_output_name (graph, i);
      g_autofree char *found = g_strdup_printf ("found%u", i);
      g_autofree char *real = g_strdup_printf ("real%u", i), *sum = g_strdup_printf ("sum%u", i);

      model_add_node (model, "NonZero", found, name, found);
      node_add_int (model_add_node (model, "Cast", real, found, real), "to",
                    ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
      model_add_node (model, "ReduceSum", sum, real, sum);
      model_add_output (model, found);
      model_add_output (model, sum);
    }
  return model;
}

static GPtrArray *
random_inputs (const CleaveGraph *graph, guint64 seed)
{
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_ptr_array_add (
        inputs,
        dynamic_make_x (cleave_result_get_type (cleave_graph_get_input (graph, i)), seed + i));
  return inputs;
}

static gint64
count_non_zero (CleaveTensor *tensor)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (tensor);
  const CleaveTensorType *type = cleave_tensor_get_type (dense);
  gsize size = cleave_element_size (type->element);
  const char *data = cleave_tensor_get_data (dense);
  gint64 n = 0;

  for (gint64 i = 0; i < cleave_shape_n_elements (&type->shape); i++)
    n += cleave_real_load (type->element, data + (gsize) i * size) != 0;
  return n;
}

/* A random graph with a dynamic tail computes the same bits after a split of the static part. The
 * seed determines the graph and the split. */
START_TEST (random_graphs_with_dynamic_tails_split_with_the_same_bits)
{
  g_autoptr (CleaveGraph) whole = random_graph ((guint32) _i, 20);
  g_autoptr (Model) model = random_model (whole);
  g_autoptr (CleaveGraph) graph = dynamic_import (model), again = NULL;
  g_autoptr (GPtrArray) inputs = random_inputs (whole, (guint64) _i);
  g_autoptr (GPtrArray) plain = cleave_interpret (whole, (CleaveTensor *const *) inputs->pdata);
  g_autoptr (GPtrArray) want = dynamic_run_many (graph, inputs, NULL), split = NULL, written = NULL;

  ck_assert_uint_eq (want->len, 3 * plain->len);
  for (guint i = 0; i < plain->len; i++)
    ck_assert_int_eq (cleave_tensor_get_type (want->pdata[plain->len + 2 * i])->shape.dim[1],
                      count_non_zero (plain->pdata[i]));
  again = split_and_write (graph);
  split = dynamic_run_many (graph, inputs, NULL);
  written = dynamic_run_many (again, inputs, NULL);
  dynamic_assert_equal (split, want);
  dynamic_assert_equal (written, want);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *random = tcase_create ("random");

  tcase_add_loop_test (random, random_graphs_with_dynamic_tails_split_with_the_same_bits, 0,
                       CLEAVE_TRIALS (40));
  suite_add_tcase (suite, random);
  cleave_add_case (suite, "export-dynamic", a_split_model_keeps_its_dynamic_part,
                   names_of_dynamic_values_are_not_given_to_pieces,
                   older_forms_of_dynamic_nodes_are_written_as_newer_ones, NULL);
}

CLEAVE_TEST_SUITE ("export-dynamic", add_tests)
