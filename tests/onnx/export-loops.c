/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loops in exported files: repeated strips become Loops, shapes are hidden from ONNX Runtime, and
 * an estimate predicts the memory of a run. The import of such a file computes the same bits. */

#include "graphs.h"
#include "models.h"
#include "random-graph.h"
#include "run-help.h"

#define N_SEEDS CLEAVE_TRIALS (60)

/* Makes three convolutions with Relus, and adds the results of the first and the last convolution.
 * Output 0 is the sum, output 1 its absolute value. */
static CleaveGraph *
make_image (gint64 rows, CleaveLayout layout)
{
  CleaveGraph *graph = cleave_graph_new ("image");
  gboolean first = layout == CLEAVE_LAYOUT_NCHW;
  CleaveResult *x =
      run_input (graph, first ? &CLEAVE_SHAPE (1, 3, rows, 8) : &CLEAVE_SHAPE (1, rows, 8, 3));
  CleaveResult *wide = run_conv (graph, x, 4, 3, layout), *y;

  y = run_conv (graph, run_unary (graph, "Relu", wide), 4, 5, layout);
  y = run_conv (graph, run_unary (graph, "Relu", y), 4, 3, layout);
  y = run_binary (graph, "Add", y, wide);
  run_output (graph, y);
  run_output (graph, run_unary (graph, "Abs", y));
  return graph;
}

static void
split (CleaveGraph *graph, gint64 size, CleaveHalo halo)
{
  const CleaveRecursion recursion = { .depth = 100, .halo = halo };
  CleaveResult *value = cleave_operand_get_result (cleave_graph_get_output (graph, 0));
  CleaveNode *end = cleave_result_get_node (value);
  const char *dim = cleave_result_get_type (value)->shape.dim[1] == 4 ? "2" : "1";
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_chunk_size (dim, &size, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node_recursively (end, tiling, NULL, &recursion, &error);

  cleave_assert_no_error (error);
}

static Onnx__ModelProto *
unpack (GBytes *bytes)
{
  Onnx__ModelProto *model =
      onnx__model_proto__unpack (NULL, g_bytes_get_size (bytes), g_bytes_get_data (bytes, NULL));

  ck_assert_ptr_nonnull (model);
  return model;
}

/* Returns whether a Loop computes anything. A Loop that only hides shapes returns its inputs. */
static gboolean
computes (const Onnx__NodeProto *node)
{
  for (size_t k = 0; k < node->n_attribute; k++)
    for (size_t i = 0; node->attribute[k]->g != NULL && i < node->attribute[k]->g->n_node; i++)
      if (!g_str_equal (node->attribute[k]->g->node[i]->op_type, "Identity"))
        return TRUE;
  return FALSE;
}

/* Returns the number of Loops in a file. Sets `n_nodes` to the number of nodes outside Loops. */
static guint
count_loops (GBytes *bytes, guint *n_nodes)
{
  Onnx__ModelProto *model = unpack (bytes);
  guint n = 0;

  *n_nodes = (guint) model->graph->n_node;
  for (size_t i = 0; i < model->graph->n_node; i++)
    if (g_str_equal (model->graph->node[i]->op_type, "Loop") && computes (model->graph->node[i]))
      n++;
  onnx__model_proto__free_unpacked (model, NULL);
  return n;
}

/* Exports the graph with loops and asserts that the import computes the same bits. Returns the
 * number of loops. */
static guint
write_loops (CleaveGraph *graph, guint32 seed, guint *n_nodes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (CleaveGraph) again = NULL;
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed), before = NULL, after = NULL;

  cleave_onnx_set_loops (graph, TRUE);
  bytes = cleave_onnx_serialize (graph, &error);
  cleave_assert_no_error (error);
  again = cleave_onnx_parse (bytes, NULL, NULL, &error);
  cleave_assert_no_error (error);
  before = run_graph (graph, inputs, 1);
  after = run_graph (again, inputs, 1);
  ck_assert_msg (cleave_compare_outputs (before, after) < 0, "seed %u", seed);
  return count_loops (bytes, n_nodes);
}

/* Returns the number of the graph's nodes that become iterations of a Loop. */
static guint
count_iterations (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) iterations = cleave_onnx_list_iterations (graph, &error);

  cleave_assert_no_error (error);
  return g_strv_length (iterations);
}

START_TEST (even_strips_become_iterations)
{
  static const CleaveHalo halos[] = { CLEAVE_HALO_CARRY, CLEAVE_HALO_RECOMPUTE };

  for (guint i = 0; i < G_N_ELEMENTS (halos); i++)
    for (CleaveLayout layout = CLEAVE_LAYOUT_NCHW; layout <= CLEAVE_LAYOUT_NHWC; layout++)
      {
        g_autoptr (CleaveGraph) graph = make_image (96, layout);
        guint n_nodes;

        split (graph, 8, halos[i]);
        ck_assert_uint_eq (count_iterations (graph), 0);
        ck_assert_uint_eq (write_loops (graph, 1, &n_nodes), 1);
        ck_assert_uint_ge (count_iterations (graph),
                           8 * 5); /* 8 strips of at least 5 nodes become iterations */
        /* of 12 strips, 4 strips stay outside the Loop */
        ck_assert_uint_lt (n_nodes, cleave_graph_count_operators (graph) / 2);
      }
}
END_TEST

/* Strips of different sizes stay outside Loops, or compute the same bits. The sizes include two
 * extremes. With strips of 1 row, the residual value is live for more iterations than a Loop may
 * carry. With strips of 38 rows, there are 2 strips, fewer than a Loop needs. */
START_TEST (uneven_strips_stay_or_compute_the_same)
{
  for (gint64 size = 1; size <= 40; size += size < 8 ? 1 : 5)
    for (gint64 rows = 61; rows <= 64; rows++)
      {
        g_autoptr (CleaveGraph) graph = make_image (rows, CLEAVE_LAYOUT_NCHW);
        guint n_nodes;

        split (graph, size, size % 2 == 0 ? CLEAVE_HALO_CARRY : CLEAVE_HALO_RECOMPUTE);
        write_loops (graph, (guint32) (size * 100 + rows), &n_nodes);
      }
}
END_TEST

START_TEST (random_fits_compute_the_same)
{
  const CleaveFitOptions options = { .even_strips = TRUE };
  g_autoptr (CleaveGraph) graph =
      _i % 2 == 0 ? cleave_random_graph ((guint32) _i, 12) : random_graph ((guint32) _i, 14);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
  g_autoptr (CleaveSplitReport) report = NULL;
  guint n_nodes;

  cleave_assert_no_error (error);
  report = cleave_fit_plan_apply (plan, graph, &error);
  cleave_assert_no_error (error);
  write_loops (graph, (guint32) _i, &n_nodes);
}
END_TEST

/* A plan for even strips has no tiles, and all strips of a segment have the same size. So most
 * strips become iterations. */
START_TEST (even_strips_are_made_on_request)
{
  g_autoptr (CleaveGraph) graph = make_image (100, CLEAVE_LAYOUT_NCHW);
  CleaveFitOptions options = { .even_strips = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;
  guint n_nodes;

  options.max_memory = run_get_stats (graph, 1).arena_bytes * 7 / 10;
  plan = cleave_fit_plan_new (graph, &options, &error);
  cleave_assert_no_error (error);
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    ck_assert_uint_eq (cleave_fit_plan_get_segment (plan, i)->n_columns, 1);
  report = cleave_fit_plan_apply (plan, graph, &error);
  cleave_assert_no_error (error);
  ck_assert_int_le (run_get_stats (graph, 1).arena_bytes, options.max_memory);
  ck_assert_uint_gt (write_loops (graph, 1, &n_nodes), 0);
}
END_TEST

/* A segment has two results: one that its last node computes, and one that the Concat after the
 * segment reads much later. The Loop returns both results for each strip. */
START_TEST (iterations_have_all_results_of_a_segment)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("ends");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 96, 96)), *both[2];
  const CleaveFitOptions options = { .even_strips = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;
  guint n_nodes;

  for (guint i = 0; i < 2; i++)
    x = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW);
  both[1] = run_conv (graph, x, 2, 1, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, run_halve (graph, x), 8, 1, CLEAVE_LAYOUT_NCHW);
  both[0] = run_add (graph, "DepthToSpace", &x, 1, &(CleaveDepthAttrs){ .blocksize = 2 });
  run_output (graph, run_concat (graph, both, 2, 1));
  plan = cleave_fit_plan_new (graph, &options, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_fit_plan_get_n_segments (plan), 1);
  ck_assert_uint_eq (cleave_fit_plan_get_segment (plan, 0)->n_ends, 2);
  report = cleave_fit_plan_apply (plan, graph, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (write_loops (graph, 1, &n_nodes), 1);
}
END_TEST

/* Without cleave_onnx_set_loops(), the file has no Loops. */
START_TEST (loops_are_exported_on_request)
{
  g_autoptr (CleaveGraph) graph = make_image (96, CLEAVE_LAYOUT_NCHW);
  g_autoptr (GBytes) bytes = NULL;
  guint n_nodes;

  split (graph, 8, CLEAVE_HALO_CARRY);
  bytes = cleave_onnx_serialize (graph, NULL);
  ck_assert_uint_eq (count_loops (bytes, &n_nodes), 0);
}
END_TEST

/* Makes a value of 16 x rows x rows floats, and much later another value of that shape. Between
 * these values, the graph has two values with as many bytes but a different shape. */
static CleaveGraph *
make_late_twin (gint64 rows)
{
  CleaveGraph *graph = cleave_graph_new ("late twin");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, rows, rows));
  CleaveDepthAttrs up = { .blocksize = 2 };

  x = run_halve (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW));
  x = run_conv (graph, x, 64, 3, CLEAVE_LAYOUT_NCHW);
  x = run_conv (graph, x, 64, 3, CLEAVE_LAYOUT_NCHW);
  x = run_add (graph, "DepthToSpace", &x, 1, &up);
  run_output (graph, run_halve (graph, x));
  return graph;
}

static gint64
estimate (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  gint64 n_bytes = cleave_onnx_estimate_bytes (graph, &error);

  cleave_assert_no_error (error);
  return n_bytes;
}

static guint
count_op (GBytes *bytes, const char *op)
{
  Onnx__ModelProto *model = unpack (bytes);
  guint n = 0;

  for (size_t i = 0; i < model->graph->n_node; i++)
    n += g_str_equal (model->graph->node[i]->op_type, op);
  onnx__model_proto__free_unpacked (model, NULL);
  return n;
}

/* ONNX Runtime does not free the memory of a dead value if it knows that a later value has the same
 * shape. Therefore, the exported file hides the shapes of large values. The shapes of small values
 * stay, since hiding them costs more than it saves. */
START_TEST (shapes_are_hidden_until_the_run)
{
  g_autoptr (CleaveGraph) graph = make_late_twin (128), small = make_late_twin (32), again = NULL;
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), before = NULL, after = NULL;
  g_autoptr (GBytes) bytes = NULL;

  cleave_onnx_set_loops (graph, TRUE);
  cleave_onnx_set_loops (small, TRUE);
  ck_assert_int_eq (estimate (small), 3 << 16);
  ck_assert_int_eq (estimate (graph), 2 << 20);
  bytes = cleave_onnx_serialize (graph, NULL);
  ck_assert (count_op (bytes, "Loop") > 0 && count_op (bytes, "Reshape") > 0);
  again = cleave_onnx_parse (bytes, NULL, NULL, NULL);
  ck_assert_uint_eq (cleave_graph_count_operators (again), cleave_graph_count_operators (graph));
  before = run_graph (graph, inputs, 1);
  after = run_graph (again, inputs, 1);
  ck_assert_int_lt (cleave_compare_outputs (before, after), 0);
}
END_TEST

/* No Reshape hides the shape of an input with one element, or of an input that nodes only reshape
 * to an output. ONNX Runtime would fuse this Reshape with the nodes, and then refuse the file. The
 * image and the last input get one Reshape each. */
START_TEST (inputs_that_are_reshaped_to_outputs_keep_their_shapes)
{
  const CleaveReshapeAttrs square = { .shape = CLEAVE_INTS (4, 4) },
                           row = { .shape = CLEAVE_INTS (16) };
  g_autoptr (CleaveGraph) graph = make_late_twin (128);
  CleaveResult *step = run_input (graph, &CLEAVE_SHAPE (1));
  CleaveResult *flat = run_input (graph, &CLEAVE_SHAPE (1, 16));
  CleaveResult *other = run_input (graph, &CLEAVE_SHAPE (2, 16));
  g_autoptr (GBytes) bytes = NULL;

  run_output (graph, run_unary (graph, "Relu", step));
  flat = run_add (graph, "Reshape", &flat, 1, &square);
  run_output (graph, run_add (graph, "Reshape", &flat, 1, &row));
  run_output (graph, run_unary (graph, "Relu", other));
  cleave_onnx_set_loops (graph, TRUE);
  bytes = cleave_onnx_serialize (graph, NULL);
  ck_assert_uint_eq (count_op (bytes, "Loop"), 1);
  ck_assert_uint_eq (count_op (bytes, "Reshape"), 2 + 2);
}
END_TEST

/* Returns the number of Resizes whose sizes are constant in the file. */
static guint
count_sizes (GBytes *bytes)
{
  Onnx__ModelProto *model = unpack (bytes);
  const Onnx__GraphProto *graph = model->graph;
  guint n = 0;

  for (size_t i = 0; i < graph->n_node; i++)
    for (size_t k = 0; k < graph->n_initializer; k++)
      n += g_str_equal (graph->node[i]->op_type, "Resize") && graph->node[i]->n_input == 4 &&
           g_str_equal (graph->node[i]->input[3], graph->initializer[k]->name);
  onnx__model_proto__free_unpacked (model, NULL);
  return n;
}

/* The exported file hides the sizes of a Resize from ONNX Runtime, since constant sizes would show
 * the shapes of the values after the Resize. Two Resizes with equal sizes share one value. */
START_TEST (sizes_are_hidden_until_the_run)
{
  const CleaveResizeAttrs attrs = { .mode = CLEAVE_RESIZE_NEAREST,
                                    .coordinate_transformation_mode = CLEAVE_RESIZE_ASYMMETRIC,
                                    .nearest_mode = CLEAVE_RESIZE_FLOOR,
                                    .sizes = CLEAVE_INTS (1, 3, 128, 128) };
  g_autoptr (CleaveGraph) graph = make_late_twin (128), again = NULL;
  CleaveResult *x = cleave_operand_get_result (cleave_graph_get_output (graph, 0));
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), before = NULL, after = NULL;
  g_autoptr (GBytes) known = NULL, hidden = NULL;

  x = run_conv (graph, x, 3, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_add (graph, "Resize", &x, 1, &attrs));
  x = run_unary (graph, "Relu", x);
  run_output (graph, run_halve (graph, run_add (graph, "Resize", &x, 1, &attrs)));
  known = cleave_onnx_serialize (graph, NULL);
  ck_assert_uint_eq (count_sizes (known), 2);
  cleave_onnx_set_loops (graph, TRUE);
  hidden = cleave_onnx_serialize (graph, NULL);
  ck_assert (count_op (hidden, "Loop"));
  ck_assert_uint_eq (count_sizes (hidden), 0);
  again = cleave_onnx_parse (hidden, NULL, NULL, NULL);
  ck_assert_uint_eq (cleave_graph_count_operators (again), cleave_graph_count_operators (graph));
  before = run_graph (graph, inputs, 1);
  after = run_graph (again, inputs, 1);
  ck_assert_int_lt (cleave_compare_outputs (before, after), 0);
}
END_TEST

/* The file of a quantized network keeps its shapes, since ONNX Runtime needs them to rewrite the
 * network. */
START_TEST (shapes_of_quantized_networks_are_not_hidden)
{
  g_autoptr (CleaveGraph) graph = make_late_twin (128);
  CleaveResult *x = cleave_operand_get_result (cleave_graph_get_output (graph, 0)), *operands[3];
  g_autoptr (GBytes) bytes = NULL;

  operands[0] = run_unary (graph, "Relu", x);
  operands[1] = run_constant (graph, &(CleaveShape){ 0 }, 1);
  operands[0] = run_add (graph, "QuantizeLinear", operands, 2, &(CleaveAxisAttrs){ 1 });
  run_output (graph, run_add (graph, "DequantizeLinear", operands, 2, &(CleaveAxisAttrs){ 1 }));
  cleave_onnx_set_loops (graph, TRUE);
  bytes = cleave_onnx_serialize (graph, NULL);
  ck_assert (count_op (bytes, "DequantizeLinear") && !count_op (bytes, "Loop"));
}
END_TEST

/* ONNX Runtime computes an Add in place only if it knows the shapes. So the file shows the shapes
 * of the operands of an Add. */
START_TEST (shapes_that_in_place_sums_need_are_not_hidden)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("sums");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 32, 32));
  g_autoptr (GBytes) bytes = NULL;

  x = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW);
  for (guint i = 0; i < 3; i++)
    {
      CleaveResult *y = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW);

      x = run_binary (graph, "Add", x, run_conv (graph, y, 16, 3, CLEAVE_LAYOUT_NCHW));
    }
  run_output (graph, run_halve (graph, x));
  cleave_onnx_set_loops (graph, TRUE);
  ck_assert_int_eq (estimate (graph), 2 << 16);
  bytes = cleave_onnx_serialize (graph, NULL);
  ck_assert (!count_op (bytes, "Loop"));
}
END_TEST

/* ONNX Runtime fuses a convolution and an Add that is the only reader of the convolution's result.
 * The fused node writes the sum into the buffer of the Add's other operand. If the result of the
 * convolution is also an output of the graph, the nodes stay separate, and the estimate includes
 * the bytes of this output. */
START_TEST (outputs_with_readers_are_in_the_memory_estimate)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("outputs");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 16, 32, 32)), *y;

  y = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW);
  x = run_unary (graph, "Sigmoid", y);
  run_output (graph, x);
  x = run_binary (graph, "Mul", y, x);
  y = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, y);
  run_output (graph, run_binary (graph, "Add", y, x));
  cleave_onnx_set_loops (graph, TRUE);
  ck_assert_int_ge (estimate (graph), 3 << 16);
}
END_TEST

/* At the end of a Loop, the results of all iterations exist twice: as single results and in the
 * joined value. The estimate counts both copies. */
START_TEST (results_of_iterations_count_twice_in_the_memory_estimate)
{
  g_autoptr (CleaveGraph) graph = make_image (96, CLEAVE_LAYOUT_NCHW);
  gint64 n_bytes = 4 * 96 * 8 * 4; /* bytes of the result of the Add: 4 channels x 96 x 8 floats */
  gint64 whole = estimate (graph);

  split (graph, 8, CLEAVE_HALO_CARRY);
  cleave_onnx_set_loops (graph, TRUE);
  ck_assert_int_gt (estimate (graph), 2 * n_bytes * 8 / 12); /* 8 of the 12 strips are iterations,
                                                              * so 2/3 of the bytes exist twice */
  ck_assert_int_lt (estimate (graph), whole);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *random = tcase_create ("random");

  cleave_add_case (
      suite, "export-loops", even_strips_become_iterations, uneven_strips_stay_or_compute_the_same,
      even_strips_are_made_on_request, iterations_have_all_results_of_a_segment,
      loops_are_exported_on_request, shapes_are_hidden_until_the_run,
      inputs_that_are_reshaped_to_outputs_keep_their_shapes, sizes_are_hidden_until_the_run,
      shapes_of_quantized_networks_are_not_hidden, shapes_that_in_place_sums_need_are_not_hidden,
      outputs_with_readers_are_in_the_memory_estimate,
      results_of_iterations_count_twice_in_the_memory_estimate, NULL);
  tcase_set_timeout (random, 0);
  tcase_add_loop_test (random, random_fits_compute_the_same, 0, N_SEEDS);
  tcase_add_loop_test (random, random_fits_compute_the_same, 787,
                       788); /* seed 787: strips of two different shapes alternate */
  suite_add_tcase (suite, random);
}

CLEAVE_TEST_SUITE ("export-loops", add_tests)
