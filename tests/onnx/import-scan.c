/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The import of Scan: each index of the scanned axis is an iteration, and the iterations are
 * unrolled. */

#include "test.h"

#include "models.h"

/* Makes a model with a Scan that carries s of 2 floats and scans x of 2x3. */
static Model *
model_with_scan (gint64 opset, const char *operands, const char *results, gint64 n_scanned)
{
  Model *model = model_new (opset);

  model_add_input (model, "s", "2");
  model_add_input (model, "x", "2x3");
  model_add_input (model, "z", "4x2");
  node_add_int (model_add_node (model, "Scan", "scan", operands, results), "num_scan_inputs",
                n_scanned);
  model_add_output (model, "y");
  return model;
}

/* Returns a body that adds the scanned part to the carried value. The sum is also a scan output. */
static Model *
body_new (void)
{
  Model *body = model_new (16);

  model_add_input (body, "carried", "2");
  model_add_input (body, "part", "2");
  model_add_node (body, "Add", "add", "carried part", "sum");
  model_add_node (body, "Neg", "neg", "sum", "given");
  model_add_output (body, "sum");
  model_add_output (body, "given");
  return body;
}

#define HEAD                                                                                       \
  "%0 = Input : float32 2  # s\n"                                                                  \
  "%1 = Input : float32 2x3  # x\n"                                                                \
  "%2 = Input : float32 4x2  # z\n"

START_TEST (each_part_is_an_iteration)
{
  g_autoptr (Model) model = model_with_scan (9, "s z", "last y", 1);

  node_add_graph (model->graph->node[0], "body", body_new ());
  model_assert_dump (model,
                     HEAD "%3 = Slice %2 0:1,0:2 : float32 1x2  # scan.part\n"
                          "%4 = Reshape %3 shape=2 : float32 2  # scan.shaped\n"
                          "%5 = Add %0, %4 : float32 2  # add\n"
                          "%6 = Neg %5 : float32 2  # neg\n"
                          "%7 = Slice %2 1:2,0:2 : float32 1x2  # scan.part_1\n"
                          "%8 = Reshape %7 shape=2 : float32 2  # scan.shaped_1\n"
                          "%9 = Add %5, %8 : float32 2  # add_1\n"
                          "%10 = Neg %9 : float32 2  # neg_1\n"
                          "%11 = Slice %2 2:3,0:2 : float32 1x2  # scan.part_2\n"
                          "%12 = Reshape %11 shape=2 : float32 2  # scan.shaped_2\n"
                          "%13 = Add %9, %12 : float32 2  # add_2\n"
                          "%14 = Neg %13 : float32 2  # neg_2\n"
                          "%15 = Slice %2 3:4,0:2 : float32 1x2  # scan.part_3\n"
                          "%16 = Reshape %15 shape=2 : float32 2  # scan.shaped_3\n"
                          "%17 = Add %13, %16 : float32 2  # add_3\n"
                          "%18 = Neg %17 : float32 2  # neg_3\n"
                          "%19 = Reshape %6 shape=1,2 : float32 1x2  # scan.iteration\n"
                          "%20 = Reshape %10 shape=1,2 : float32 1x2  # scan.iteration_1\n"
                          "%21 = Reshape %14 shape=1,2 : float32 1x2  # scan.iteration_2\n"
                          "%22 = Reshape %18 shape=1,2 : float32 1x2  # scan.iteration_3\n"
                          "%23 = Concat %19, %20, %21, %22 : float32 4x2  # scan.iterations\n"
                          "output %23  # y\n");
}
END_TEST

/* The Scan reads columns from the last column to the first. Its results become columns: the result
 * of the first iteration is the last column. */
START_TEST (axes_and_directions_are_kept)
{
  g_autoptr (Model) model = model_with_scan (16, "s x", "last y", 1);
  Onnx__NodeProto *node = model->graph->node[0];
  CleaveInts axis = CLEAVE_INTS (-1), backwards = CLEAVE_INTS (1);

  node_add_graph (node, "body", body_new ());
  node_add_ints (node, "scan_input_axes", &axis);
  node_add_ints (node, "scan_input_directions", &backwards);
  node_add_ints (node, "scan_output_axes", &axis);
  node_add_ints (node, "scan_output_directions", &backwards);
  model_assert_dump (model,
                     HEAD "%3 = Slice %1 0:2,2:3 : float32 2x1  # scan.part\n"
                          "%4 = Reshape %3 shape=2 : float32 2  # scan.shaped\n"
                          "%5 = Add %0, %4 : float32 2  # add\n"
                          "%6 = Neg %5 : float32 2  # neg\n"
                          "%7 = Slice %1 0:2,1:2 : float32 2x1  # scan.part_1\n"
                          "%8 = Reshape %7 shape=2 : float32 2  # scan.shaped_1\n"
                          "%9 = Add %5, %8 : float32 2  # add_1\n"
                          "%10 = Neg %9 : float32 2  # neg_1\n"
                          "%11 = Slice %1 0:2,0:1 : float32 2x1  # scan.part_2\n"
                          "%12 = Reshape %11 shape=2 : float32 2  # scan.shaped_2\n"
                          "%13 = Add %9, %12 : float32 2  # add_2\n"
                          "%14 = Neg %13 : float32 2  # neg_2\n"
                          "%15 = Reshape %6 shape=2,1 : float32 2x1  # scan.iteration\n"
                          "%16 = Reshape %10 shape=2,1 : float32 2x1  # scan.iteration_1\n"
                          "%17 = Reshape %14 shape=2,1 : float32 2x1  # scan.iteration_2\n"
                          "%18 = Concat %17, %16, %15 axis=1 : float32 2x3  # scan.iterations\n"
                          "output %18  # y\n");
}
END_TEST

/* Before opset 9, each batch is scanned separately, along the second dimension. */
START_TEST (batches_of_opset_8_are_scans)
{
  g_autoptr (Model) model = model_new (8);
  Onnx__NodeProto *node;

  model_add_input (model, "s", "2x2");
  model_add_input (model, "x", "2x1x2");
  node = model_add_node (model, "Scan", "scan", "- s x", "last y");
  node_add_int (node, "num_scan_inputs", 1);
  node_add_graph (node, "body", body_new ());
  model_add_output (model, "y");
  model_assert_dump (model, "%0 = Input : float32 2x2  # s\n"
                            "%1 = Input : float32 2x1x2  # x\n"
                            "%2 = Slice %0 0:1,0:2 : float32 1x2  # scan.part\n"
                            "%3 = Reshape %2 shape=2 : float32 2  # scan.shaped\n"
                            "%4 = Slice %1 0:1,0:1,0:2 : float32 1x1x2  # scan.part_1\n"
                            "%5 = Reshape %4 shape=1,2 : float32 1x2  # scan.shaped_1\n"
                            "%6 = Slice %5 0:1,0:2 : float32 1x2  # scan.part_2\n"
                            "%7 = Reshape %6 shape=2 : float32 2  # scan.shaped_2\n"
                            "%8 = Add %3, %7 : float32 2  # add\n"
                            "%9 = Neg %8 : float32 2  # neg\n"
                            "%10 = Reshape %9 shape=1,2 : float32 1x2  # scan.iteration\n"
                            "%11 = Concat %10 : float32 1x2  # scan.iterations\n"
                            "%12 = Slice %0 1:2,0:2 : float32 1x2  # scan.part_3\n"
                            "%13 = Reshape %12 shape=2 : float32 2  # scan.shaped_3\n"
                            "%14 = Slice %1 1:2,0:1,0:2 : float32 1x1x2  # scan.part_4\n"
                            "%15 = Reshape %14 shape=1,2 : float32 1x2  # scan.shaped_4\n"
                            "%16 = Slice %15 0:1,0:2 : float32 1x2  # scan.part_5\n"
                            "%17 = Reshape %16 shape=2 : float32 2  # scan.shaped_5\n"
                            "%18 = Add %13, %17 : float32 2  # add_1\n"
                            "%19 = Neg %18 : float32 2  # neg_1\n"
                            "%20 = Reshape %19 shape=1,2 : float32 1x2  # scan.iteration_1\n"
                            "%21 = Concat %20 : float32 1x2  # scan.iterations_1\n"
                            "%22 = Reshape %8 shape=1,2 : float32 1x2  # scan.batch\n"
                            "%23 = Reshape %18 shape=1,2 : float32 1x2  # scan.batch_1\n"
                            "%24 = Concat %22, %23 : float32 2x2  # scan.batches\n"
                            "%25 = Reshape %11 shape=1,1,2 : float32 1x1x2  # scan.batch_2\n"
                            "%26 = Reshape %21 shape=1,1,2 : float32 1x1x2  # scan.batch_3\n"
                            "%27 = Concat %25, %26 : float32 2x1x2  # scan.batches_1\n"
                            "output %27  # y\n");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  g_autoptr (Model) old = model_with_scan (8, "s z", "last y", 1),
                    none = model_with_scan (9, "s z", "last y", 0),
                    bodiless = model_with_scan (9, "s z", "last y", 1),
                    more = model_with_scan (9, "z x", "last y", 2),
                    axes = model_with_scan (9, "s z", "last y", 1),
                    far = model_with_scan (9, "s z", "last y", 1);
  CleaveInts two = CLEAVE_INTS (0, 1), outside = CLEAVE_INTS (2);

  model_assert_error (old, CLEAVE_ERROR_MODEL, "Scan 'scan': sequence_lens is not supported");
  model_assert_error (none, CLEAVE_ERROR_MODEL, "Scan 'scan': num_scan_inputs is 0 for 2 operands");
  model_assert_error (bodiless, CLEAVE_ERROR_MODEL, "Scan 'scan': it has no body");
  node_add_graph (more->graph->node[0], "body", body_new ());
  model_assert_error (more, CLEAVE_ERROR_MODEL, "Scan 'scan': it scans 4 and 2 elements");
  node_add_graph (axes->graph->node[0], "body", body_new ());
  node_add_ints (axes->graph->node[0], "scan_input_axes", &two);
  model_assert_error (axes, CLEAVE_ERROR_MODEL,
                      "Scan 'scan': scan_input_axes has 2 entries, not 1");
  node_add_graph (far->graph->node[0], "body", body_new ());
  node_add_ints (far->graph->node[0], "scan_output_axes", &outside);
  model_assert_error (far, CLEAVE_ERROR_MODEL,
                      "Scan 'scan': its scan output has rank 1, which has no axis 2");
}
END_TEST

/* A Scan with millions of iterations is an error, even if the body has no nodes. */
START_TEST (the_number_of_iterations_is_limited)
{
  g_autoptr (Model) model = model_new (16);
  Model *body = model_new (16);

  model_add_input (model, "x", "1000000000");
  node_add_int (model_add_node (model, "Scan", "scan", "x", "y"), "num_scan_inputs", 1);
  model_add_output (model, "y");
  model_add_input (body, "part", "");
  model_add_output (body, "part");
  node_add_graph (model->graph->node[0], "body", body);
  model_assert_error (model, CLEAVE_ERROR_MODEL,
                      "Scan 'scan': unrolling the model's loops makes more than 200000 nodes");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "import-scan", each_part_is_an_iteration, axes_and_directions_are_kept,
                   batches_of_opset_8_are_scans, mistakes_are_errors,
                   the_number_of_iterations_is_limited, NULL);
}

CLEAVE_TEST_SUITE ("import-scan", add_tests)
