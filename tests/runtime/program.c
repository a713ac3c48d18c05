/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Programs through the public API: bindings, threads, errors, statistics and traces. */

#include "random-graph.h"
#include "run-help.h"

#include <string.h>
#include <sys/mman.h>

static CleaveGraph *
make_graph (void)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 4, 4));

  run_output (graph, run_unary (graph, "Relu", run_conv (graph, x, 3, 3, CLEAVE_LAYOUT_NCHW)));
  return graph;
}

static CleaveTensor *
make_tensor (CleaveTensorType type)
{
  return cleave_random_tensor (&type, 1, FALSE);
}

START_TEST (wrong_tensors_are_errors)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, NULL, NULL);
  g_autoptr (CleaveTensor) x = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 2, 4, 4));
  g_autoptr (CleaveTensor) y = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 4, 4));
  g_autoptr (CleaveTensor) z = make_tensor (CLEAVE_TYPE (CLEAVE_INT32, 1, 3, 4, 4));
  CleaveTensor *tensors[] = { x, y, z };
  g_autoptr (GError) error = NULL;

  ck_assert (!cleave_program_bind (program, NULL, 0, tensors + 1, 1, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_BINDING, "input 'x0' is missing: float32 1x2x4x4");
  ck_assert (!cleave_program_bind (program, tensors, 2, tensors + 1, 1, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_BINDING, "the program has 1 input, not 2");
  ck_assert (!cleave_program_bind (program, tensors + 1, 1, tensors + 1, 1, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_BINDING,
                       "input 'x0' must be float32 1x2x4x4, not float32 1x3x4x4");
  ck_assert (!cleave_program_bind (program, tensors, 1, tensors + 2, 1, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_BINDING,
                       "output 'y0' must be float32 1x3x4x4, not int32 1x3x4x4");
  ck_assert (cleave_program_bind (program, tensors, 1, tensors + 1, 1, &error));
  cleave_assert_no_error (error);
}
END_TEST

START_TEST (too_many_threads_are_an_error)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveProgramOptions options = { .n_threads = 5000 };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_program_new (graph, &options, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "number of threads must be at most 1024, not 5000");
  ck_assert_int_eq (cleave_graph_get_scratch_bytes (graph, options.n_threads, &error), -1);
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "number of threads must be at most 1024, not 5000");
}
END_TEST

/* A program can be run after its graph is freed, on tensors that are slices of larger tensors. */
START_TEST (program_outlives_its_graph)
{
  const CleaveRange in_wide = CLEAVE_RANGE (0, 1, 0, 2, 0, 4, 3, 7);
  const CleaveRange in_tall = CLEAVE_RANGE (1, 2, 0, 3, 1, 5, 0, 4);
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveProgramOptions options = { .n_threads = 2 };
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
  g_autoptr (CleaveTensor) y = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 4, 4));
  g_autoptr (CleaveTensor) wide = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 2, 4, 9));
  g_autoptr (CleaveTensor) tall = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3, 6, 4));
  g_autoptr (CleaveTensor) x = cleave_tensor_new_slice (wide, &in_wide);
  g_autoptr (CleaveTensor) z = cleave_tensor_new_slice (tall, &in_tall);
  CleaveTensor *whole_x = NULL;
  g_autoptr (GError) error = NULL;

  g_clear_pointer (&graph, cleave_graph_unref);
  whole_x = cleave_tensor_dup_dense (x);
  cleave_program_bind (program, &whole_x, 1, &y, 1, &error);
  cleave_program_run (program);
  cleave_program_bind (program, &x, 1, &z, 1, &error);
  cleave_program_run (program);
  cleave_assert_no_error (error);
  ck_assert (cleave_tensor_equal (y, z));
  cleave_tensor_unref (whole_x);
}
END_TEST

static gboolean
all_zero (const char *bytes, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    if (bytes[i] != 0)
      return FALSE;
  return TRUE;
}

/* The test maps the file of the arena a second time, as another process would. */
START_TEST (an_arena_can_be_shared)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *between =
      run_conv (graph, run_input (graph, &CLEAVE_SHAPE (1, 2, 4, 4)), 3, 3, CLEAVE_LAYOUT_NCHW);
  CleaveProgramOptions options = { .n_threads = 1, .share = TRUE };
  g_autoptr (CleaveProgram) shared = NULL, own = NULL;
  g_autoptr (CleaveTensor) x = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 2, 4, 4));
  g_autoptr (CleaveTensor) y = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 4, 4));
  CleaveProgramStats stats;
  gconstpointer begin = NULL;
  const char *there;
  int fd;

  run_output (graph, run_conv (graph, between, 3, 3, CLEAVE_LAYOUT_NCHW));
  shared = cleave_program_new (graph, &options, NULL);
  own = cleave_program_new (graph, NULL, NULL);
  fd = cleave_program_get_arena_file (shared, &begin);
  cleave_program_get_stats (shared, &stats);
  ck_assert_int_ge (fd, 0);
  there = mmap (NULL, (gsize) stats.arena_bytes, PROT_READ, MAP_SHARED, fd, 0);
  ck_assert (there != MAP_FAILED && (gconstpointer) there != begin);
  cleave_program_bind (shared, &x, 1, &y, 1, NULL);
  cleave_program_run (shared);
  ck_assert_mem_eq (there, begin, (gsize) stats.arena_bytes);
  ck_assert (!all_zero (there, stats.arena_bytes));
  ck_assert_int_eq (munmap ((gpointer) there, (gsize) stats.arena_bytes), 0);
  ck_assert_int_eq (cleave_program_get_arena_file (own, &begin), -1);
}
END_TEST

START_TEST (stats_have_the_memory_of_a_run)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveProgramStats stats = run_get_stats (graph, 1);

  ck_assert_uint_eq (stats.n_threads, 1);
  ck_assert_uint_eq (stats.n_nodes, 2);
  ck_assert_uint_eq (stats.n_steps, 4); /* one LOAD, a Conv, a Relu and one STORE */
  ck_assert_int_eq (stats.peak_activation_bytes, 128 + 192);
  ck_assert_int_eq (stats.arena_bytes, 128 + 192);
  ck_assert_int_eq (stats.copied_bytes, 0);
  ck_assert_int_ge (stats.weight_bytes, 3 * 2 * 9 * 4);
}
END_TEST

/* For each number of threads, the graph reports the same peak and the same scratch as a program
 * with this number of threads. */
START_TEST (peak_and_scratch_are_those_of_a_program)
{
  g_autoptr (GError) error = NULL;
  guint n_more = 0, n_with_scratch = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (40); seed++)
    for (guint n_threads = 1; n_threads <= 3; n_threads++)
      {
        g_autoptr (CleaveGraph) graph = random_graph (seed, 40);
        gint64 peak = cleave_graph_get_peak_bytes_with_threads (graph, n_threads, &error);
        gint64 scratch = cleave_graph_get_scratch_bytes (graph, n_threads, &error);
        CleaveProgramStats stats = run_get_stats (graph, n_threads);

        cleave_assert_no_error (error);
        ck_assert_int_eq (peak, stats.peak_activation_bytes);
        ck_assert_int_eq (scratch, stats.scratch_bytes);
        n_more += peak > cleave_graph_get_peak_bytes (graph, NULL);
        n_with_scratch += scratch > 0;
      }
  ck_assert_uint_gt (n_more, 0);
  ck_assert_uint_gt (n_with_scratch, 0);
}
END_TEST

START_TEST (thousands_of_live_values_are_placed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (3));
  CleaveProgramStats stats;

  for (guint i = 0; i < 6000; i++)
    run_output (graph, run_unary (graph, "Relu", x));
  stats = run_get_stats (graph, 1);
  ck_assert_int_eq (stats.peak_activation_bytes,
                    6000 * 64); /* the last Relu overwrites the input */
  ck_assert_int_le (stats.arena_bytes, 6001 * 64);
}
END_TEST

START_TEST (cycle_is_an_error)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  CleaveResult *y = cleave_operand_get_result (cleave_graph_get_output (graph, 0));
  CleaveOperand *operand = cleave_node_get_operand (cleave_result_get_node (y), 0);
  CleaveResult *before = cleave_operand_get_result (operand);
  g_autoptr (GError) error = NULL;

  cleave_operand_set (operand, y);
  ck_assert_ptr_null (cleave_program_new (graph, NULL, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_CYCLE));
  g_clear_error (&error);
  ck_assert_int_eq (cleave_graph_get_scratch_bytes (graph, 1, &error), -1);
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_CYCLE));
  cleave_operand_set (operand, before);
}
END_TEST

/* Returns the number of complete events in a trace. */
static guint
count_events (const char *trace)
{
  guint n = 0;

  for (const char *at = trace; (at = strstr (at, "\"ph\":\"X\"")) != NULL; at++)
    n++;
  return n;
}

START_TEST (a_trace_has_every_step_of_a_run)
{
  for (guint n_threads = 1; n_threads <= 3; n_threads += 2)
    {
      g_autoptr (CleaveGraph) graph = make_graph ();
      CleaveProgramOptions options = { .n_threads = n_threads, .trace = TRUE };
      g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
      g_autoptr (CleaveTensor) x = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 2, 4, 4));
      g_autoptr (CleaveTensor) y = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 4, 4));
      g_autofree char *trace = NULL;

      ck_assert_ptr_null (cleave_program_dup_trace (program));
      ck_assert (cleave_program_bind (program, &x, 1, &y, 1, NULL));
      for (guint i = 0; i < 2; i++)
        cleave_program_run (program);
      trace = cleave_program_dup_trace (program);
      /* one event for each step: LOAD, Conv, Relu and STORE */
      ck_assert_uint_eq (count_events (trace), 4);
      ck_assert_ptr_nonnull (strstr (trace, "\"cat\":\"Conv\""));
      ck_assert_ptr_nonnull (strstr (trace, "\"name\":\"y0\",\"cat\":\"store\""));
      ck_assert_ptr_nonnull (strstr (trace, "\"ts\":0.000"));
    }
}
END_TEST

START_TEST (there_is_no_trace_by_default)
{
  g_autoptr (CleaveGraph) graph = make_graph ();
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, NULL, NULL);
  g_autoptr (CleaveTensor) x = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 2, 4, 4));
  g_autoptr (CleaveTensor) y = make_tensor (CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 4, 4));

  ck_assert (cleave_program_bind (program, &x, 1, &y, 1, NULL));
  cleave_program_run (program);
  ck_assert_ptr_null (cleave_program_dup_trace (program));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "new", too_many_threads_are_an_error, cycle_is_an_error,
                   an_arena_can_be_shared, stats_have_the_memory_of_a_run,
                   thousands_of_live_values_are_placed, peak_and_scratch_are_those_of_a_program,
                   NULL);
  cleave_add_case (suite, "bind", wrong_tensors_are_errors, program_outlives_its_graph, NULL);
  cleave_add_case (suite, "trace", a_trace_has_every_step_of_a_run, there_is_no_trace_by_default,
                   NULL);
}

CLEAVE_TEST_SUITE ("program", add_tests)
