/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The dynamic part of a model: its nodes, its results, and its form in a written file. */

#include "test.h"

#include <gio/gio.h>
#include <string.h>

#include "../../lib/ops/reference.h"
#include "interpret.h"
#include "models.h"
#include "random-graph.h"

static const CleaveOnnxOptions with_dynamic = { .dynamic = TRUE };

static CleaveGraph *
import (const Model *model)
{
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_onnx_parse (bytes, NULL, &with_dynamic, &error);

  g_assert_no_error (error);
  return graph;
}

/* Runs a graph and its dynamic part. */
static GPtrArray *
run_many (const CleaveGraph *graph, const GPtrArray *inputs, CleaveOnnxDynamicStats *stats)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  g_autoptr (GPtrArray) got = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);
  g_autoptr (GError) error = NULL;
  GPtrArray *outputs;

  for (guint i = 0; i < inputs->len; i++)
    {
      g_ptr_array_add (names, cleave_result_dup_name (cleave_graph_get_input (graph, i)));
      g_ptr_array_add (values, inputs->pdata[i]);
    }
  for (guint i = 0; i < got->len; i++)
    {
      g_ptr_array_add (names, g_strdup (cleave_graph_get_output_name (graph, i)));
      g_ptr_array_add (values, got->pdata[i]);
    }
  outputs = cleave_onnx_dynamic_run (
      cleave_onnx_get_dynamic (graph), (const char *const *) names->pdata,
      (CleaveTensor *const *) values->pdata, values->len, NULL, NULL, stats, &error);
  g_assert_no_error (error);
  return outputs;
}

static GPtrArray *
run (const CleaveGraph *graph, CleaveTensor *x, CleaveOnnxDynamicStats *stats)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();

  g_ptr_array_add (inputs, x);
  return run_many (graph, inputs, stats);
}

static CleaveTensor *
make_x (const CleaveTensorType *type, guint64 seed)
{
  CleaveTensor *x = cleave_tensor_new (type, NULL);

  cleave_tensor_fill_random (x, "x", seed);
  return x;
}

/* Makes x a constant, so that the import computes all nodes. Returns the outputs. */
static GPtrArray *
fold (const Model *model, CleaveTensor *x)
{
  const CleaveOnnxGiven given = { "x", x };
  const CleaveOnnxOptions options = { .values = &given, .n_values = 1 };
  g_autoptr (GBytes) bytes = model_pack (model);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, &options, &error);

  g_assert_no_error (error);
  return cleave_interpret (graph, NULL);
}

static void
assert_equal (const GPtrArray *one, const GPtrArray *other)
{
  ck_assert_uint_eq (one->len, other->len);
  for (guint i = 0; i < one->len; i++)
    ck_assert (cleave_tensor_equal (one->pdata[i], other->pdata[i]));
}

/* Makes a model whose outputs are the elements of x above a threshold, and their sum. */
static Model *
mask_new (void)
{
  Model *model = model_new (16);
  const float half = 0.5;

  model_add_input (model, "x", "4x6");
  model_add_initializer (model, "half", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &half);
  model_add_node (model, "Relu", "relu", "x", "r");
  model_add_node (model, "Greater", "greater", "r half", "above");
  model_add_node (model, "NonZero", "where", "above", "i");
  node_add_ints (model_add_node (model, "Transpose", "rows", "i", "j"), "perm",
                 &CLEAVE_INTS (1, 0));
  model_add_node (model, "GatherND", "values", "r j", "v");
  model_add_node (model, "Neg", "neg", "r", "n");
  model_add_output (model, "v");
  model_add_output (model, "n");
  model_declare_output (model, 0, NULL);
  return model;
}

START_TEST (nodes_after_a_data_dependent_shape_are_dynamic)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (CleaveGraph) graph = import (model);
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  static const char *const names[] = { "where", "rows", "values" };
  static const char *const values[] = { "above", "i", "j" };

  ck_assert_uint_eq (cleave_onnx_dynamic_get_n_nodes (dynamic), 3);
  for (guint i = 0; i < 3; i++)
    {
      const CleaveOnnxDynamicNode *node = cleave_onnx_dynamic_get_node (dynamic, i);

      ck_assert_str_eq (node->name, names[i]);
      ck_assert_str_eq (node->value, values[i]);
      ck_assert (node->is_cause == (i == 0));
      ck_assert_int_eq (node->max_bytes, i == 0 ? 24 * 2 * 8 : -1);
    }
  ck_assert (cleave_onnx_dynamic_computes (dynamic, "v"));
  ck_assert (!cleave_onnx_dynamic_computes (dynamic, "n"));
}
END_TEST

START_TEST (the_graph_ends_with_the_values_that_the_dynamic_part_reads)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (CleaveGraph) graph = import (model);
  static const char *const names[] = { "n", "above", "r" };

  ck_assert (cleave_graph_validate (graph, NULL));
  ck_assert_uint_eq (cleave_graph_get_n_outputs (graph), G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    ck_assert_str_eq (cleave_graph_get_output_name (graph, i), names[i]);
}
END_TEST

START_TEST (without_the_option_such_a_node_is_an_error)
{
  g_autoptr (Model) model = mask_new ();

  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "NonZero 'where': operand 0 depends on the input 'x', but must be constant: "
                      "shapes are static (give its value)");
}
END_TEST

START_TEST (a_static_model_has_no_dynamic_part)
{
  g_autoptr (Model) model = model_new (16);
  g_autoptr (CleaveGraph) graph = NULL;

  model_add_input (model, "x", "4x6");
  model_add_node (model, "Relu", "relu", "x", "y");
  model_add_output (model, "y");
  graph = import (model);
  ck_assert_ptr_null (cleave_onnx_get_dynamic (graph));
}
END_TEST

START_TEST (an_undefined_operand_of_a_dynamic_node_is_an_error)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  model_add_node (model, "Add", "add", "v missing", "s");
  bytes = model_pack (model);
  ck_assert_ptr_null (cleave_onnx_parse (bytes, NULL, &with_dynamic, &error));
  g_assert_error (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL);
  ck_assert_str_eq (error->message, "Add 'add': its operand 'missing' is not defined");
}
END_TEST

START_TEST (other_errors_stay_errors)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  model_add_node (model, "MatMul", "product", "x x", "p");
  bytes = model_pack (model);
  ck_assert_ptr_null (cleave_onnx_parse (bytes, NULL, &with_dynamic, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "MatMul 'product'"));
}
END_TEST

START_TEST (a_run_gives_the_bits_of_folded_constants)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (CleaveGraph) graph = import (model);

  for (guint64 seed = 0; seed < 5; seed++)
    {
      g_autoptr (CleaveTensor) x = make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), seed);
      g_autoptr (GPtrArray) got = run (graph, x, NULL), want = fold (model, x);

      assert_equal (got, want);
    }
}
END_TEST

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
  again = cleave_onnx_parse (bytes, NULL, &with_dynamic, &error);
  g_assert_no_error (error);
  return again;
}

START_TEST (a_split_model_keeps_its_dynamic_part)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (CleaveGraph) graph = import (model), again = split_and_write (graph);
  g_autoptr (CleaveTensor) x = make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), 7);
  g_autoptr (GPtrArray) want = fold (model, x), split = run (graph, x, NULL);
  g_autoptr (GPtrArray) written = run (again, x, NULL);

  ck_assert_uint_eq (cleave_onnx_dynamic_get_n_nodes (cleave_onnx_get_dynamic (again)), 3);
  assert_equal (split, want);
  assert_equal (written, want);
}
END_TEST

/* The pieces of the node `relu` get names such as "relu_1" and "r_1". Pieces must not get names of
 * the dynamic part. */
START_TEST (names_of_dynamic_values_are_not_given_to_pieces)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (CleaveGraph) graph = NULL, again = NULL;
  g_autoptr (CleaveTensor) x = make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), 7);
  g_autoptr (GPtrArray) want = NULL, written = NULL;

  model_add_node (model, "Exp", "relu_1", "v", "relu.chunk_0");
  model_add_node (model, "Abs", "relu_2", "relu.chunk_0", "r_1");
  model_add_node (model, "Neg", "relu.chunk_1", "r_1", "relu.chunk_1");
  model_add_output (model, "relu.chunk_1");
  want = fold (model, x);
  graph = import (model);
  again = split_and_write (graph);
  written = run (again, x, NULL);
  assert_equal (written, want);
}
END_TEST

/* Makes a Loop that doubles a matrix until one of its elements is above a limit. */
static Model *
loop_new (gint64 rows)
{
  Model *model = model_new (16), *body = model_new (16);
  const gint64 many = 1 << 20;
  const float limit = 1e6;
  g_autofree char *dims = g_strdup_printf ("%" G_GINT64_FORMAT "x64", rows);

  model_add_input (model, "x", dims);
  model_add_initializer (model, "many", &CLEAVE_SCALAR (CLEAVE_INT64), &many);
  model_add_initializer (model, "limit", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &limit);
  model_add_node (model, "Abs", "abs", "x", "a");
  model_add_node (model, "Loop", "loop", "many - a", "y");
  model_add_output (model, "y");
  model_add_input (body, "i", "");
  model_add_input (body, "c", "");
  model_add_input (body, "s", dims);
  model_add_node (body, "Add", "double", "s s", "t");
  node_add_int (model_add_node (body, "ReduceMax", "most", "t", "m"), "keepdims", 0);
  model_add_node (body, "Less", "less", "m limit", "d");
  model_add_output (body, "d");
  model_add_output (body, "t");
  node_add_graph (model->graph->node[1], "body", body);
  return model;
}

START_TEST (a_loop_runs_until_its_condition_ends_it)
{
  g_autoptr (Model) model = loop_new (4);
  g_autoptr (CleaveGraph) graph = import (model);
  g_autoptr (CleaveTensor) x = make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 64), 3);
  CleaveOnnxDynamicStats stats;
  g_autoptr (GPtrArray) got = run (graph, x, &stats), want = fold (model, x);

  assert_equal (got, want);
  ck_assert_int_gt (stats.n_calls, 3 * 10);
}
END_TEST

/* A state of 0 stays below the limit, so only the cancellation ends the Loop. */
START_TEST (a_loop_can_be_cancelled)
{
  g_autoptr (Model) model = loop_new (4);
  g_autoptr (CleaveGraph) graph = import (model);
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 64), NULL);
  g_autoptr (GPtrArray) outputs = cleave_interpret (graph, &x), got = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const char *names[] = { "x", cleave_graph_get_output_name (graph, 0) };
  CleaveTensor *values[] = { x, outputs->pdata[0] };
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  got = cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), names, values, 2, NULL, NULL,
                                 NULL, &error);
  g_cancellable_pop_current (cancellable);
  ck_assert_ptr_null (got);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  ck_assert (g_str_has_prefix (error->message, "Loop 'loop', after 0 iterations: "));
}
END_TEST

/* Each of about 20 iterations computes two matrices. At most three matrices are live at once, since
 * an iteration frees the values of the iteration before. */
START_TEST (an_iteration_frees_the_values_of_the_one_before)
{
  g_autoptr (Model) model = loop_new (64);
  g_autoptr (CleaveGraph) graph = import (model);
  g_autoptr (CleaveTensor) x = make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 64, 64), 3);
  CleaveOnnxDynamicStats stats;
  g_autoptr (GPtrArray) got = run (graph, x, &stats);

  ck_assert_uint_eq (got->len, 1);
  ck_assert_int_le (stats.peak_bytes, 3 * 64 * 64 * 4 + 1024);
}
END_TEST

START_TEST (a_sequence_that_a_dynamic_node_reads_is_dynamic)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveTensor) x = make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), 2);
  g_autoptr (GPtrArray) got = NULL, want = NULL;
  const gint64 two = 2;
  guint n_splits = 0;

  model_add_initializer (model, "two", &CLEAVE_SCALAR (CLEAVE_INT64), &two);
  model_add_node (model, "SplitToSequence", "s", "r two", "s");
  model_add_node (model, "Size", "size", "v", "size");
  model_add_node (model, "Mod", "mod", "size two", "at");
  model_add_node (model, "SequenceAt", "pick", "s at", "picked");
  model_add_output (model, "picked");
  graph = import (model);
  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    n_splits += g_str_equal (cleave_op_get_name (cleave_node_get_op (node)), "Split");
  ck_assert_uint_eq (n_splits, 0);
  got = run (graph, x, NULL);
  want = fold (model, x);
  assert_equal (got, want);
}
END_TEST

START_TEST (a_run_without_a_value_that_it_reads_is_an_error)
{
  g_autoptr (Model) model = mask_new ();
  g_autoptr (CleaveGraph) graph = import (model);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), NULL, NULL, 0, NULL,
                                               NULL, NULL, &error));
  g_assert_error (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION);
  ck_assert_ptr_nonnull (strstr (error->message, "'above'"));
}
END_TEST

START_TEST (the_dynamic_part_outlives_its_graph)
{
  g_autoptr (Model) model = mask_new ();
  CleaveGraph *graph = import (model);
  g_autoptr (CleaveOnnxDynamic) dynamic = cleave_onnx_dynamic_ref (cleave_onnx_get_dynamic (graph));
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);

  cleave_graph_unref (graph);
  ck_assert_ptr_eq (cleave_onnx_get_dynamic (copy), dynamic);
  ck_assert_uint_eq (cleave_onnx_dynamic_get_n_nodes (dynamic), 3);
  ck_assert_str_eq (cleave_onnx_dynamic_get_outputs (dynamic)[1], "n");
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
  g_autoptr (CleaveGraph) graph = import (model), again = split_and_write (graph);
  g_autoptr (CleaveTensor) x = make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 4, 6), 5);
  g_autoptr (GPtrArray) want = fold (model, x), got = run (graph, x, NULL);
  g_autoptr (GPtrArray) written = run (again, x, NULL);

  assert_equal (got, want);
  assert_equal (written, want);
}
END_TEST

/* Makes a product of weights and the rows of x whose first element is positive. */
static Model *
product_new (void)
{
  Model *model = model_new (16);
  const float zero = 0;
  g_autofree float *w = g_new (float, 300 * 200);

  for (guint i = 0; i < 300 * 200; i++)
    w[i] = (float) (i % 17) / 16 - 0.5F;
  model_add_input (model, "x", "200x300");
  model_add_initializer (model, "zero", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &zero);
  model_add_initializer (model, "w", &CLEAVE_TYPE (CLEAVE_FLOAT32, 300, 200), w);
  node_add_ints (model_add_node (model, "ReduceMax", "most", "x", "m"), "axes", &CLEAVE_INTS (1));
  model_add_node (model, "Greater", "greater", "m zero", "g");
  model_add_node (model, "Compress", "rows", "x g", "r");
  node_add_int (model->graph->node[2], "axis", 0);
  model_add_node (model, "MatMul", "product", "r w", "y");
  model_add_output (model, "y");
  return model;
}

START_TEST (the_caller_computes_expensive_nodes)
{
  g_autoptr (Model) model = product_new ();
  g_autoptr (CleaveGraph) graph = import (model);
  g_autoptr (CleaveTensor) x = make_x (&CLEAVE_TYPE (CLEAVE_FLOAT32, 200, 300), 1);
  g_autoptr (GPtrArray) want = run (graph, x, NULL), outputs = cleave_interpret (graph, &x), got;
  const char *names[] = { "x", cleave_graph_get_output_name (graph, 0) };
  CleaveTensor *values[] = { x, outputs->pdata[0] };
  g_autoptr (GError) error = NULL;
  guint n_computed = 0;

  got = cleave_onnx_dynamic_run (cleave_onnx_get_dynamic (graph), names, values, 2,
                                 cleave_interpret_into, &n_computed, NULL, &error);
  g_assert_no_error (error);
  ck_assert_uint_eq (n_computed, 1);
  assert_equal (got, want);
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

  /* protobuf-c allocates a list without room for more elements. */
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
    g_ptr_array_add (inputs,
                     make_x (cleave_result_get_type (cleave_graph_get_input (graph, i)), seed + i));
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

/* A split of the static part keeps the bits of a random graph with a dynamic tail. The seed
 * determines the graph and the split. */
START_TEST (random_graphs_with_dynamic_tails_split_with_the_same_bits)
{
  g_autoptr (CleaveGraph) whole = random_graph ((guint32) _i, 20);
  g_autoptr (Model) model = random_model (whole);
  g_autoptr (CleaveGraph) graph = import (model), again = NULL;
  g_autoptr (GPtrArray) inputs = random_inputs (whole, (guint64) _i);
  g_autoptr (GPtrArray) plain = cleave_interpret (whole, (CleaveTensor *const *) inputs->pdata);
  g_autoptr (GPtrArray) want = run_many (graph, inputs, NULL), split = NULL, written = NULL;

  ck_assert_uint_eq (want->len, 3 * plain->len);
  for (guint i = 0; i < plain->len; i++)
    ck_assert_int_eq (cleave_tensor_get_type (want->pdata[plain->len + 2 * i])->shape.dim[1],
                      count_non_zero (plain->pdata[i]));
  again = split_and_write (graph);
  split = run_many (graph, inputs, NULL);
  written = run_many (again, inputs, NULL);
  assert_equal (split, want);
  assert_equal (written, want);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *random = tcase_create ("random");

  tcase_add_loop_test (random, random_graphs_with_dynamic_tails_split_with_the_same_bits, 0, 40);
  suite_add_tcase (suite, random);
  cleave_add_case (
      suite, "import-dynamic", nodes_after_a_data_dependent_shape_are_dynamic,
      the_graph_ends_with_the_values_that_the_dynamic_part_reads,
      without_the_option_such_a_node_is_an_error, a_static_model_has_no_dynamic_part,
      an_undefined_operand_of_a_dynamic_node_is_an_error, other_errors_stay_errors,
      a_run_gives_the_bits_of_folded_constants, a_split_model_keeps_its_dynamic_part,
      names_of_dynamic_values_are_not_given_to_pieces, a_loop_runs_until_its_condition_ends_it,
      the_caller_computes_expensive_nodes, an_iteration_frees_the_values_of_the_one_before,
      a_loop_can_be_cancelled, a_sequence_that_a_dynamic_node_reads_is_dynamic,
      a_run_without_a_value_that_it_reads_is_an_error, the_dynamic_part_outlives_its_graph,
      older_forms_of_dynamic_nodes_are_written_as_newer_ones, NULL);
}

CLEAVE_TEST_SUITE ("import-dynamic", add_tests)
