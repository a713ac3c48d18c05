/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops RNN, GRU and LSTM. A step is a time step of a sequence. */

#include "graphs.h"
#include "op-case.h"

/* Adds a layer of T steps with batch 2, 3 inputs and hidden size 4. If `lstm`, all optional
 * operands are present. */
static CleaveNode *
add_layer (CleaveGraph *graph,
           const char *op,
           gint64 n_gates,
           const CleaveRecurrentAttrs *a,
           GError **error)
{
  gint64 d = a->direction == CLEAVE_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  CleaveShape state = a->layout == 0 ? CLEAVE_SHAPE (d, 2, 4) : CLEAVE_SHAPE (2, d, 4);
  CleaveTensorType lengths = CLEAVE_TYPE (CLEAVE_INT32, 2);
  CleaveResult *operands[] = {
    cleave_case_input (graph, "x",
                       a->layout == 0 ? CLEAVE_SHAPE (5, 2, 3) : CLEAVE_SHAPE (2, 5, 3)),
    cleave_case_input (graph, "w", CLEAVE_SHAPE (d, n_gates * 4, 3)),
    cleave_case_input (graph, "r", CLEAVE_SHAPE (d, n_gates * 4, 4)),
    cleave_case_input (graph, "b", CLEAVE_SHAPE (d, n_gates * 8)),
    cleave_graph_add_input (graph, "lengths", &lengths, NULL),
    cleave_case_input (graph, "h", state),
    cleave_case_input (graph, "c", state),
    cleave_case_input (graph, "p", CLEAVE_SHAPE (d, 12)),
  };

  return cleave_test_add_recurrent (graph, op, "y", operands, n_gates == 4 ? 8 : 6, a, error);
}

static void
assert_types (
    const char *op, gint64 n_gates, const CleaveRecurrentAttrs *a, const char *y, const char *state)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = add_layer (graph, op, n_gates, a, NULL);

  cleave_assert_infers (cleave_node_get_result (node, 0), NULL, y);
  for (guint i = 1; i < cleave_node_get_n_results (node); i++)
    cleave_assert_infers (cleave_node_get_result (node, i), NULL, state);
}

START_TEST (the_layout_selects_the_batch_dimension)
{
  CleaveRecurrentAttrs a = { .direction = CLEAVE_DIRECTION_BIDIRECTIONAL };

  assert_types ("RNN", 1, &a, "float32 5x2x2x4", "float32 2x2x4");
  assert_types ("LSTM", 4, &a, "float32 5x2x2x4", "float32 2x2x4");
  a = (CleaveRecurrentAttrs){ .layout = 1 };
  assert_types ("GRU", 3, &a, "float32 2x5x1x4", "float32 2x1x4");
}
END_TEST

static void
assert_fails (const CleaveRecurrentAttrs *a, gint64 n_gates, const char *message)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (add_layer (graph, "GRU", n_gates, a, &error));
  ck_assert_str_eq (error->message, message);
}

START_TEST (attributes_are_checked)
{
  CleaveRecurrentAttrs two = { .activations = CLEAVE_INTS (0, 0, 0) };
  CleaveRecurrentAttrs unknown = { .activations = CLEAVE_INTS (0, 99) };
  CleaveRecurrentAttrs layout = { .layout = 2 }, clip = { .clip = -1 }, plain = { 0 };
  CleaveRecurrentAttrs size = { .hidden_size = 3 };

  assert_fails (&two, 3, "GRU 'y': has 3 activations, not 2");
  assert_fails (&unknown, 3, "GRU 'y': activations has no value 99");
  assert_fails (&layout, 3, "GRU 'y': layout must be 0 or 1, not 2");
  assert_fails (&clip, 3, "GRU 'y': clip must be more than 0");
  assert_fails (&size, 3, "GRU 'y': W is 1x12x3, but must be 1x9x3");
  assert_fails (&plain, 1, "GRU 'y': W is 1x4x3, but must be 1x12x3");
}
END_TEST

START_TEST (batch_and_directions_split_time_and_state_do_not)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveRecurrentAttrs a = { .direction = CLEAVE_DIRECTION_BIDIRECTIONAL,
                             .activations = CLEAVE_INTS (
                                 CLEAVE_ACTIVATION_ELU, CLEAVE_ACTIVATION_TANH,
                                 CLEAVE_ACTIVATION_RELU, CLEAVE_ACTIVATION_SCALED_TANH),
                             .activation_alpha = CLEAVE_DOUBLES (2, 3),
                             .activation_beta = CLEAVE_DOUBLES (4) };
  CleaveResult *y = cleave_node_get_result (add_layer (graph, "GRU", 3, &a, NULL), 0);

  cleave_assert_chunk (y, "0:5,0:2,1:2,0:4",
                       "0:5,1:2,0:3 0:2,0:12,0:3 0:2,0:12,0:4 0:2,0:24 1:2 0:2,1:2,0:4"
                       " direction=bidirectional activations=Elu,Tanh,Relu,ScaledTanh"
                       " activation_alpha=2,3 activation_beta=4 hidden_size=4");
  cleave_assert_chunk (y, "0:5,1:2,0:2,0:4",
                       "0:5,0:2,0:3 1:2,0:12,0:3 1:2,0:12,0:4 1:2,0:24 0:2 1:2,0:2,0:4"
                       " direction=reverse activations=Relu,ScaledTanh activation_alpha=3"
                       " activation_beta=4 hidden_size=4");
  cleave_assert_chunk (y, "0:3,0:2,0:2,0:4",
                       "refused: dimension 0, the time, is computed as a whole");
  cleave_assert_chunk (y, "0:5,0:2,0:2,0:2",
                       "refused: dimension 3, the hidden state, is computed as a whole");
}
END_TEST

static CleaveResult *
add_values (CleaveGraph *graph, CleaveShape shape, const float *values)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, values, NULL);

  return cleave_graph_add_constant (graph, "c", tensor);
}

/* Adds an RNN of one unit with Relu: h = x + 2 h. x is 1 2 3 in one sequence and 10 20 30 in the
 * other. */
static CleaveNode *
add_counter (CleaveGraph *graph, CleaveRecurrentAttrs *a, const gint32 *lengths)
{
  static const float x[] = { 1, 10, 2, 20, 3, 30 }, w[] = { 1, 1 }, r[] = { 2, 2 };
  gint64 d = a->direction == CLEAVE_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT32, 2);
  g_autoptr (CleaveTensor) tensor =
      lengths == NULL ? NULL : cleave_tensor_new_copy (&type, lengths, NULL);
  CleaveResult *operands[] = {
    add_values (graph, CLEAVE_SHAPE (3, 2, 1), x),
    add_values (graph, CLEAVE_SHAPE (d, 1, 1), w),
    add_values (graph, CLEAVE_SHAPE (d, 1, 1), r),
    NULL,
    tensor == NULL ? NULL : cleave_graph_add_constant (graph, "lengths", tensor),
  };

  a->activations = d == 1 ? CLEAVE_INTS (CLEAVE_ACTIVATION_RELU)
                          : CLEAVE_INTS (CLEAVE_ACTIVATION_RELU, CLEAVE_ACTIVATION_RELU);
  return cleave_test_add_recurrent (graph, "RNN", "y", operands, 5, a, NULL);
}

START_TEST (directions_and_lengths_select_the_first_step)
{
  static const gint32 lengths[] = { 2, 3 }, wild[] = { -7, 99 };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveRecurrentAttrs forward = { .direction = CLEAVE_DIRECTION_FORWARD },
                       reverse = { .direction = CLEAVE_DIRECTION_REVERSE },
                       both = { .direction = CLEAVE_DIRECTION_BIDIRECTIONAL };
  CleaveNode *node = add_counter (graph, &forward, NULL);

  cleave_assert_values (cleave_node_get_result (node, 0), "1 10 4 40 11 110");
  cleave_assert_values (cleave_node_get_result (node, 1), "11 110");
  node = add_counter (graph, &reverse, NULL);
  cleave_assert_values (cleave_node_get_result (node, 0), "17 170 8 80 3 30");
  cleave_assert_values (cleave_node_get_result (node, 1), "17 170");
  node = add_counter (graph, &both, lengths);
  cleave_assert_values (cleave_node_get_result (node, 0), "1 10 5 170 4 40 2 80 0 110 0 30");
  cleave_assert_values (cleave_node_get_result (node, 1), "4 110 5 170");
  node = add_counter (graph, &forward, wild);
  cleave_assert_values (cleave_node_get_result (node, 0), "0 10 0 40 0 110");
}
END_TEST

START_TEST (operands_of_activations_are_clipped)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveRecurrentAttrs a = { .clip = 7 };

  cleave_assert_values (cleave_node_get_result (add_counter (graph, &a, NULL), 0), "1 7 4 7 7 7");
}
END_TEST

/* A large bias makes z = r = 1, so h does not change. With z = 0, the new value replaces h. */
START_TEST (a_gru_keeps_its_state_by_the_update_gate)
{
  static const float x[] = { 1, 2 }, w[] = { 0, 0, 1 }, r[] = { 0, 0, 3 }, h[] = { 5 };
  static const float keep[] = { 50, 50, 0, 0, 0, 1 }, fresh[] = { -50, 50, 0, 0, 0, 1 },
                     no_reset[] = { -50, -50, 0, 0, 0, 1 };
  const float *const biases[] = { keep, fresh, no_reset, no_reset };
  static const char *const expected[] = { "5 5", "17 54", "2 3", "1 2" };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);

  for (guint i = 0; i < 4; i++)
    {
      CleaveRecurrentAttrs a = { .activations = CLEAVE_INTS (CLEAVE_ACTIVATION_SIGMOID,
                                                             CLEAVE_ACTIVATION_RELU),
                                 .linear_before_reset = i == 3 };
      CleaveResult *operands[] = { add_values (graph, CLEAVE_SHAPE (2, 1, 1), x),
                                   add_values (graph, CLEAVE_SHAPE (1, 3, 1), w),
                                   add_values (graph, CLEAVE_SHAPE (1, 3, 1), r),
                                   add_values (graph, CLEAVE_SHAPE (1, 6), biases[i]),
                                   NULL,
                                   add_values (graph, CLEAVE_SHAPE (1, 1, 1), h) };
      CleaveNode *node = cleave_test_add_recurrent (graph, "GRU", "y", operands, 6, &a, NULL);

      cleave_assert_values (cleave_node_get_result (node, 0), expected[i]);
    }
}
END_TEST

/* With affine activations, the gates i, o and f and the candidate equal x. So the new cell state is
 * c' = x c + x x, and h = x c'. Peepholes add c or c' to the gates. */
START_TEST (an_lstm_has_gates_and_peepholes)
{
  static const float x[] = { 1, 2 }, w[] = { 1, 1, 1, 1 }, r[] = { 0, 0, 0, 0 }, c[] = { 3 };
  static const float p[] = { 1, 1, 1 };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveRecurrentAttrs a = { .activations =
                                 CLEAVE_INTS (CLEAVE_ACTIVATION_AFFINE, CLEAVE_ACTIVATION_AFFINE,
                                              CLEAVE_ACTIVATION_AFFINE) };
  CleaveResult *operands[] = { add_values (graph, CLEAVE_SHAPE (2, 1, 1), x),
                               add_values (graph, CLEAVE_SHAPE (1, 4, 1), w),
                               add_values (graph, CLEAVE_SHAPE (1, 4, 1), r),
                               NULL,
                               NULL,
                               NULL,
                               add_values (graph, CLEAVE_SHAPE (1, 1, 1), c),
                               NULL };
  CleaveNode *node = cleave_test_add_recurrent (graph, "LSTM", "y", operands, 8, &a, NULL);

  cleave_assert_values (cleave_node_get_result (node, 0), "4 24");
  cleave_assert_values (cleave_node_get_result (node, 2), "12");
  a.input_forget = TRUE; /* input gate i and forget gate f are coupled: f = 1 - i, and i = x */
  node = cleave_test_add_recurrent (graph, "LSTM", "y", operands, 8, &a, NULL);
  cleave_assert_values (cleave_node_get_result (node, 2), "3");
  a.input_forget = FALSE;
  operands[7] = add_values (graph, CLEAVE_SHAPE (1, 12 / 4), p);
  node = cleave_test_add_recurrent (graph, "LSTM", "y", operands, 8, &a, NULL);
  cleave_assert_values (cleave_node_get_result (node, 0), "272 105624");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "types", the_layout_selects_the_batch_dimension, attributes_are_checked,
                   batch_and_directions_split_time_and_state_do_not, NULL);
  cleave_add_case (suite, "values", directions_and_lengths_select_the_first_step,
                   operands_of_activations_are_clipped, a_gru_keeps_its_state_by_the_update_gate,
                   an_lstm_has_gates_and_peepholes, NULL);
}

CLEAVE_TEST_SUITE ("recurrent", add_tests)
