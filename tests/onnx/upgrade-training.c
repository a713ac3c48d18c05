/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The nodes that replace losses, BatchNormalization in training mode, and Dropout. ONNX's own tests
 * compare the numbers. */

#include "test.h"

#include "models.h"

static Model *
loss_model (const char *op, const char *operands, const char *results)
{
  Model *model = model_new (13);

  model_add_input (model, "x", "3x5x2");
  /* 7 is the number of int64 in TensorProto.DataType */
  model_add_input (model, "t", "3x2")->type->tensor_type->elem_type = 7;
  model_add_input (model, "w", "5");
  model_add_node (model, op, "n", operands, results);
  model_add_output (model, "y");
  return model;
}

#define INPUTS                                                                                     \
  "%0 = Input : float32 3x5x2  # x\n"                                                              \
  "%1 = Input : int64 3x2  # t\n"                                                                  \
  "%2 = Input : float32 5  # w\n"

START_TEST (a_loss_without_weights_is_a_mean)
{
  g_autoptr (Model) model = loss_model ("NegativeLogLikelihoodLoss", "x t", "y");

  model_assert_dump (model, INPUTS "%3 = Unsqueeze %1 axes=1 : int64 3x1x2  # n.at\n"
                                   "%4 = GatherElements %0, %3 axis=1 : float32 3x1x2  # n.picked\n"
                                   "%5 = Squeeze %4 axes=1 : float32 3x2  # n.flat\n"
                                   "%6 = Neg %5 : float32 3x2  # n.negative\n"
                                   "%7 = ReduceMean %6 keepdims=0 : float32 scalar  # n.mean\n"
                                   "output %7  # y\n");
}
END_TEST

/* For an ignored label, the Gather reads class 0: the label may be out of range, and runtimes check
 * indices. */
START_TEST (weights_and_ignored_labels_are_used)
{
  g_autoptr (Model) model = loss_model ("SoftmaxCrossEntropyLoss", "x t w", "y");

  node_add_int (model->graph->node[0], "ignore_index", -1);
  node_add_string (model->graph->node[0], "reduction", "mean");
  model_assert_dump (model, INPUTS "%3 = LogSoftmax %0 axis=1 : float32 3x5x2  # n.log_prob\n"
                                   "%4 = Constant : int64 scalar  # constant\n"
                                   "%5 = Equal %1, %4 : bool 3x2  # n.ignored\n"
                                   "%6 = Constant : int64 scalar  # constant_1\n"
                                   "%7 = Where %5, %6, %1 : int64 3x2  # n.class\n"
                                   "%8 = Unsqueeze %7 axes=1 : int64 3x1x2  # n.at\n"
                                   "%9 = GatherElements %3, %8 axis=1 : float32 3x1x2  # n.picked\n"
                                   "%10 = Squeeze %9 axes=1 : float32 3x2  # n.flat\n"
                                   "%11 = Neg %10 : float32 3x2  # n.negative\n"
                                   "%12 = Gather %2, %7 : float32 3x2  # n.weight\n"
                                   "%13 = Mul %11, %12 : float32 3x2  # n.weighed\n"
                                   "%14 = Constant : float32 scalar  # constant_2\n"
                                   "%15 = Where %5, %14, %12 : float32 3x2  # n.counted\n"
                                   "%16 = Where %5, %14, %13 : float32 3x2  # n.kept\n"
                                   "%17 = ReduceSum %16 keepdims=0 : float32 scalar  # n.sum\n"
                                   "%18 = ReduceSum %15 keepdims=0 : float32 scalar  # n.total\n"
                                   "%19 = Div %17, %18 : float32 scalar  # n.mean\n"
                                   "output %19  # y\n");
}
END_TEST

START_TEST (log_probabilities_are_a_second_result)
{
  g_autoptr (Model) model = loss_model ("SoftmaxCrossEntropyLoss", "x t", "y p");
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  const CleaveShape labels = CLEAVE_SHAPE (3, 2), classes = CLEAVE_SHAPE (3, 5, 2);

  node_add_string (model->graph->node[0], "reduction", "none");
  model_add_output (model, "p");
  graph = model_import (model, &error);
  cleave_assert_no_error (error);
  ck_assert (cleave_shape_equal (
      &cleave_result_get_type (cleave_operand_get_result (cleave_graph_get_output (graph, 0)))
           ->shape,
      &labels));
  ck_assert (cleave_shape_equal (
      &cleave_result_get_type (cleave_operand_get_result (cleave_graph_get_output (graph, 1)))
           ->shape,
      &classes));
}
END_TEST

START_TEST (mistakes_of_losses_are_errors)
{
  g_autoptr (Model) labels = loss_model ("NegativeLogLikelihoodLoss", "x w", "y");
  g_autoptr (Model) shape = loss_model ("NegativeLogLikelihoodLoss", "w t", "y");
  g_autoptr (Model) one = loss_model ("NegativeLogLikelihoodLoss", "x", "y");
  g_autoptr (Model) turned = loss_model ("NegativeLogLikelihoodLoss", "x t", "y");
  g_autoptr (Model) reduction = loss_model ("NegativeLogLikelihoodLoss", "x t", "y");

  model_assert_error (labels, CLEAVE_ERROR_MODEL,
                      "NegativeLogLikelihoodLoss 'n': labels cannot be float32");
  model_assert_error (
      shape, CLEAVE_ERROR_MODEL,
      "NegativeLogLikelihoodLoss 'n': its first operand has no classes: its rank is 1");
  model_assert_error (one, CLEAVE_ERROR_MODEL, "NegativeLogLikelihoodLoss 'n': it has no labels");
  turned->graph->input[1]->type->tensor_type->shape->dim[0]->dim_value = 2;
  model_assert_error (turned, CLEAVE_ERROR_MODEL,
                      "NegativeLogLikelihoodLoss 'n': labels are 2x2, but should be 3x2");
  node_add_string (reduction->graph->node[0], "reduction", "max");
  model_assert_error (reduction, CLEAVE_ERROR_MODEL,
                      "NegativeLogLikelihoodLoss 'n': reduction 'max' is not supported");
}
END_TEST

START_TEST (training_mode_normalizes_by_the_batch)
{
  g_autoptr (Model) model = model_new (15);

  model_add_input (model, "x", "2x3x4");
  model_add_input (model, "c", "3");
  model_add_node (model, "BatchNormalization", "n", "x c c c c", "y m");
  node_add_int (model->graph->node[0], "training_mode", 1);
  model_add_output (model, "y");
  model_add_output (model, "m");
  model_assert_dump (model, "%0 = Input : float32 2x3x4  # x\n"
                            "%1 = Input : float32 3  # c\n"
                            "%2 = ReduceMean %0 axes=0,2 : float32 1x3x1  # n.mean\n"
                            "%3 = Sub %0, %2 : float32 2x3x4  # n.centered\n"
                            "%4 = Mul %3, %3 : float32 2x3x4  # n.square\n"
                            "%5 = ReduceMean %4 axes=0,2 : float32 1x3x1  # n.variance\n"
                            "%6 = Reshape %2 shape=3 : float32 3  # n.flat_mean\n"
                            "%7 = Reshape %5 shape=3 : float32 3  # n.flat_variance\n"
                            "%8 = BatchNormalization %0, %1, %1, %6, %7 : float32 2x3x4  # n\n"
                            "%9 = Constant : float32 scalar  # constant\n"
                            "%10 = Mul %1, %9 : float32 3  # n.running_mean.kept\n"
                            "%11 = Constant : float32 scalar  # constant_1\n"
                            "%12 = Mul %6, %11 : float32 3  # n.running_mean.added\n"
                            "%13 = Add %10, %12 : float32 3  # n.running_mean\n"
                            "output %8  # y\n"
                            "output %13  # m\n");
}
END_TEST

START_TEST (inference_stays_one_node)
{
  g_autoptr (Model) model = model_new (15);

  model_add_input (model, "x", "2x3x4");
  model_add_input (model, "c", "3");
  model_add_node (model, "BatchNormalization", "n", "x c c c c", "y");
  node_add_int (model->graph->node[0], "training_mode", 0);
  node_add_float (model->graph->node[0], "momentum", 0.5f);
  model_add_output (model, "y");
  model_assert_dump (model, "%0 = Input : float32 2x3x4  # x\n"
                            "%1 = Input : float32 3  # c\n"
                            "%2 = BatchNormalization %0, %1, %1, %1, %1 : float32 2x3x4  # n\n"
                            "output %2  # y\n");
}
END_TEST

START_TEST (an_old_dropout_mask_has_zeros_of_the_operands_type)
{
  for (gint64 opset = 1; opset <= 13; opset++)
    {
      g_autoptr (Model) model = model_new (opset);

      model_add_input (model, "x", "2");
      model_add_node (model, "Dropout", "n", "x", "y m");
      model_add_output (model, "m");
      model_assert_dump (model, opset < 10   ? "%0 = Input : float32 2  # x\n"
                                               "%1 = Identity %0 : float32 2  # n\n"
                                               "%2 = Constant : float32 2  # m\n"
                                               "output %2  # m\n"
                                : opset < 12 ? "%0 = Input : float32 2  # x\n"
                                               "%1 = Identity %0 : float32 2  # n\n"
                                               "%2 = Constant : bool 2  # m\n"
                                               "output %2  # m\n"
                                             : "%0 = Input : float32 2  # x\n"
                                               "%1, %2 = Dropout %0 : float32 2, bool 2  # n\n"
                                               "output %2  # m\n");
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "losses", a_loss_without_weights_is_a_mean,
                   weights_and_ignored_labels_are_used, log_probabilities_are_a_second_result,
                   mistakes_of_losses_are_errors, NULL);
  cleave_add_case (suite, "batch-norm", training_mode_normalizes_by_the_batch,
                   inference_stays_one_node, NULL);
  cleave_add_case (suite, "dropout", an_old_dropout_mask_has_zeros_of_the_operands_type, NULL);
}

CLEAVE_TEST_SUITE ("upgrade-training", add_tests)
