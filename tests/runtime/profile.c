/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Profiles of programs: the time and the bytes of each step. */

#include "run-help.h"

static GPtrArray *
new_outputs (const CleaveGraph *graph)
{
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      CleaveResult *result = cleave_operand_get_result (cleave_graph_get_output (graph, i));

      g_ptr_array_add (outputs, cleave_tensor_new (cleave_result_get_type (result), NULL));
    }
  return outputs;
}

static CleaveProfile *
profile_graph (const CleaveGraph *graph, GPtrArray *outputs, guint n_threads, guint n_runs)
{
  CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, &error);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);

  cleave_assert_no_error (error);
  cleave_program_bind (program, (CleaveTensor *const *) inputs->pdata, inputs->len,
                       (CleaveTensor *const *) outputs->pdata, outputs->len, &error);
  cleave_assert_no_error (error);
  return cleave_program_profile (program, n_runs);
}

static void
assert_as_run (const CleaveGraph *graph, const GPtrArray *outputs)
{
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1);
  g_autoptr (GPtrArray) want = run_graph (graph, inputs, 1);

  for (guint i = 0; i < want->len; i++)
    ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[i]),
                      cleave_tensor_get_data (want->pdata[i]),
                      (gsize) cleave_tensor_type_n_bytes (cleave_tensor_get_type (want->pdata[i])));
}

static const CleaveStepTime *
find_step (const CleaveProfile *profile, const char *what)
{
  for (guint i = 0; i < profile->n_steps; i++)
    if (g_str_equal (profile->steps[i].what, what))
      return &profile->steps[i];
  ck_abort_msg ("no step '%s'", what);
}

/* Adds a depthwise Conv, which has a kernel that fuses a Relu in every build. */
static CleaveResult *
add_depthwise (CleaveGraph *graph, CleaveResult *x)
{
  gint64 n_channels = cleave_result_get_type (x)->shape.dim[1];
  CleaveConvAttrs attrs = { .group = n_channels, .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (n_channels, 1, 3, 3), 1);
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (graph, NULL, x, w, NULL, &attrs, &error);

  cleave_assert_no_error (error);
  return y;
}

START_TEST (steps_are_in_order_with_their_fused_consumers)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 6, 6));
  CleaveResult *y = add_depthwise (graph, x);
  g_autoptr (CleaveProfile) profile = NULL;
  g_autoptr (GPtrArray) outputs = NULL;
  const CleaveStepTime *conv;

  run_output (graph, run_unary (graph, "Relu", y));
  outputs = new_outputs (graph);
  profile = profile_graph (graph, outputs, 1, 3);
  conv = find_step (profile, "Conv + Relu");
  ck_assert_uint_eq (profile->n_steps, 3);
  ck_assert_str_eq (profile->steps[0].what, "load");
  ck_assert_ptr_eq (conv, &profile->steps[1]);
  ck_assert_str_eq (profile->steps[2].what, "store");
  ck_assert_str_eq (conv->name, cleave_node_get_name (cleave_result_get_node (y)));
  ck_assert_int_eq (conv->macs, 8 * 36 * 9);
  ck_assert_int_eq (conv->bytes, 4 * (8 * 36 + 8 * 36 + 8 * 9));
  ck_assert_int_eq (profile->steps[0].bytes, 2 * 4 * 8 * 36);
  ck_assert_int_gt (conv->nanoseconds, 0);
  ck_assert_int_lt (conv->nanoseconds, G_MAXINT64);
}
END_TEST

/* A step that overwrites its operand counts the bytes of both the read and the write. */
START_TEST (in_place_steps_count_reads_and_writes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleaveProfile) profile = NULL;
  g_autoptr (GPtrArray) outputs = NULL;
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 6, 6));

  run_output (graph, run_unary (graph, "Softmax", add_depthwise (graph, x)));
  outputs = new_outputs (graph);
  profile = profile_graph (graph, outputs, 1, 1);
  ck_assert_int_eq (find_step (profile, "Softmax")->bytes, 2 * 4 * 8 * 36);
}
END_TEST

/* The profile has the steps of all threads, and the outputs are the same as in a run. */
START_TEST (a_profiled_run_has_the_same_outputs)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 5, 5));
  CleaveResult *a = run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW);
  CleaveResult *b = run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW);
  g_autoptr (CleaveProfile) profile = NULL;
  g_autoptr (GPtrArray) outputs = NULL;

  run_output (graph, run_binary (graph, "Add", a, b));
  outputs = new_outputs (graph);
  profile = profile_graph (graph, outputs, 2, 1);
  for (guint i = 0; i < profile->n_steps; i++)
    ck_assert_int_lt (profile->steps[i].nanoseconds, G_MAXINT64);
  ck_assert_uint_ge (profile->n_steps, 4);
  assert_as_run (graph, outputs);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "profile", steps_are_in_order_with_their_fused_consumers,
                   in_place_steps_count_reads_and_writes, a_profiled_run_has_the_same_outputs,
                   NULL);
}

CLEAVE_TEST_SUITE ("profile", add_tests)
