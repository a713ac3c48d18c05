/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Footprints: the cache lines that a step reads besides values. A thread prefetches the lines of
 * its next step. */

#include "run-help.h"

#include "../../lib/runtime/program-private.h"
#include "../../lib/runtime/quantized-tiles.h"
#include "../../lib/runtime/through-scratch.h"

START_TEST (adjacent_lines_are_merged)
{
  static char memory[1024];
  char *base = memory + (CLEAVE_CACHE_LINE - (gsize) memory % CLEAVE_CACHE_LINE);
  g_autoptr (GArray) lines = g_array_new (FALSE, FALSE, sizeof (CleaveMemoryLines));
  const CleaveMemoryLines *all;

  /* Adds entry 0, which cleave_memory_lines_unite (lines, 1) must not change: the function unites
   * the entries from entry 1 on. */
  cleave_memory_lines_add (lines, base + 640, 1);
  cleave_memory_lines_add (lines, base + 256, 64);
  cleave_memory_lines_add (lines, base + 63, 2);
  cleave_memory_lines_add (lines, NULL, 64);
  cleave_memory_lines_add (lines, base + 128, 0);
  cleave_memory_lines_add (lines, base + 70, 100);
  cleave_memory_lines_add (lines, base + 10, 20);
  cleave_memory_lines_unite (lines, 1);
  all = (const CleaveMemoryLines *) (gpointer) lines->data;
  ck_assert_uint_eq (lines->len, 3);
  ck_assert_ptr_eq (all[0].begin, base + 640);
  ck_assert_ptr_eq (all[1].begin, base);
  ck_assert_uint_eq (all[1].n, 3);
  ck_assert_ptr_eq (all[2].begin, base + 256);
  ck_assert_uint_eq (all[2].n, 1);
}
END_TEST

static CleaveProgram *
make_chain (guint n_convs, guint n_threads)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveProgramOptions options = { .n_threads = n_threads };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 6, 6)), *y = x;
  CleaveProgram *program;

  for (guint i = 0; i < n_convs; i++)
    {
      x = run_unary (graph, "Relu", run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW));
      y = run_conv (graph, y, 8, 3, CLEAVE_LAYOUT_NCHW);
    }
  run_output (graph, run_binary (graph, "Add", x, y));
  program = cleave_program_new (graph, &options, NULL);
  ck_assert_ptr_nonnull (program);
  return program;
}

static gboolean
covers (const CleaveFootprints *footprints, guint step, gconstpointer memory)
{
  const char *at = memory;

  for (gsize i = footprints->first[step]; i < footprints->first[step + 1]; i++)
    {
      const CleaveMemoryLines *lines = &g_array_index (footprints->lines, CleaveMemoryLines, i);

      if (at >= lines->begin && at < lines->begin + lines->n * CLEAVE_CACHE_LINE)
        return TRUE;
    }
  return FALSE;
}

static gboolean
does_anything (const CleaveTask *task)
{
  return task->kind != CLEAVE_STEP_JOIN && !task->is_fused;
}

/* Asserts that each step of a thread prefetches the footprint of the thread's next step. Joins and
 * fused steps do not count, since a thread does nothing for them. */
static void
check_sequence (const CleaveProgram *program, guint thread)
{
  const CleaveSchedule *schedule = program->schedule;
  const guint *sequence = schedule->sequence[thread];

  for (guint i = 0; i < schedule->n_sequence[thread]; i++)
    {
      guint next = i + 1;

      while (next < schedule->n_sequence[thread] &&
             !does_anything (&program->tasks[sequence[next]]))
        next++;
      ck_assert_uint_eq (program->footprints.next[sequence[i]],
                         sequence[next < schedule->n_sequence[thread] ? next : i]);
    }
}

static void
check_footprint (const CleaveProgram *program, guint step)
{
  const CleaveTask *task = &program->tasks[step];
  const CleaveKernelInstance *instance = &task->instance;

  ck_assert (covers (&program->footprints, step, task));
  ck_assert (instance->operands == NULL || covers (&program->footprints, step, instance->operands));
  ck_assert (instance->results == NULL || covers (&program->footprints, step, instance->results));
  ck_assert (task->state == NULL || task->shares ||
             covers (&program->footprints, step, task->state));
  for (guint i = 0; i < instance->n_fused; i++)
    ck_assert (covers (&program->footprints, step, instance->fused[i].instance->operands));
}

START_TEST (a_step_prefetches_the_lines_of_the_next_one)
{
  g_autoptr (CleaveProgram) program = make_chain (20, _i == 0 ? 1 : 3);

  ck_assert_ptr_nonnull (program->footprints.lines);
  for (guint s = 0; s < program->n_tasks; s++)
    {
      if (does_anything (&program->tasks[s]))
        check_footprint (program, s);
      else
        ck_assert_uint_eq (program->footprints.first[s], program->footprints.first[s + 1]);
    }
  for (guint t = 0; t < program->schedule->n_threads; t++)
    check_sequence (program, t);
}
END_TEST

START_TEST (few_steps_stay_in_the_cache)
{
  g_autoptr (CleaveProgram) program = make_chain (1, 1);

  ck_assert_ptr_null (program->footprints.lines);
}
END_TEST

static gsize
count_lines (const CleaveFootprints *footprints, guint step)
{
  gsize n = 0;

  for (gsize i = footprints->first[step]; i < footprints->first[step + 1]; i++)
    n += g_array_index (footprints->lines, CleaveMemoryLines, i).n;
  return n;
}

/* The footprint of a quantized group has the memory that its kernels read besides values: the
 * states of the kernels, and the memory to which the states point. */
START_TEST (a_group_has_the_footprint_of_its_kernels)
{
  CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (GString) text = g_string_new ("%q0 = Input : uint8 1x8x6x6\n"
                                           "%s = Constant : float32 scalar\n"
                                           "%w = Constant : int8 8x8x3x3\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveProgram) program = NULL;

  for (guint i = 0; i < 12; i++)
    g_string_append_printf (text,
                            "%%x%u = DequantizeLinear %%q%u, %%s\n"
                            "%%w%u = DequantizeLinear %%w, %%s\n"
                            "%%y%u = Conv %%x%u, %%w%u pads=1,1,1,1\n"
                            "%%q%u = QuantizeLinear %%y%u, %%s\n",
                            i, i, i, i, i, i, i + 1, i);
  g_string_append (text, "output %q12\n");
  graph = cleave_graph_parse (text->str, NULL, &error);
  cleave_assert_no_error (error);
  program = cleave_program_new (graph, &options, &error);
  cleave_assert_no_error (error);
  ck_assert_ptr_nonnull (program->footprints.lines);
  for (guint s = 0; s < program->n_tasks; s++)
    if (program->tasks[s].family == &cleave_kernel_quantized_tiles)
      ck_assert_uint_gt (count_lines (&program->footprints, s), 36);
}
END_TEST

/* The kernel keeps two tables for the 12 x 12 pixels. Each table has 8 bytes for each pixel, so
 * both tables have 36 cache lines. Level v4 uses another kernel. */
START_TEST (a_depthwise_convolution_has_the_footprint_of_its_tables)
{
  CleaveProgramOptions options = { .n_threads = 1 };
  g_autoptr (GString) text = g_string_new ("%x = Input : uint8 1x32x12x12\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveProgram) program = NULL;
  guint n_checked = 0;

  for (guint i = 0; i < 40; i++)
    g_string_append_printf (text,
                            "%%w%u = Constant seed=%u : int8 32x1x3x3\n"
                            "%%y%u = ConvInteger %%x, %%w%u group=32 pads=1,1,1,1\noutput %%y%u\n",
                            i, i, i, i, i);
  graph = cleave_graph_parse (text->str, NULL, &error);
  cleave_assert_no_error (error);
  g_setenv ("CLEAVE_LEVEL", "v3", TRUE);
  program = cleave_program_new (graph, &options, &error);
  g_unsetenv ("CLEAVE_LEVEL");
  cleave_assert_no_error (error);
  for (guint s = 0; s < program->n_tasks; s++)
    {
      const CleaveTask *task = &program->tasks[s];

      if (task->kind != CLEAVE_STEP_COMPUTE || task->family == NULL ||
          task->family != cleave_kernel_find_at (&task->instance.call, "v3"))
        continue;
      ck_assert_uint_gt (count_lines (&program->footprints, s), 36);
      n_checked++;
    }
  ck_assert (n_checked == 40 || !cleave_kernel_level_runs ("v3") || g_getenv ("CK_FORK") != NULL);
}
END_TEST

static void
add_state (gconstpointer state, GArray *lines)
{
  cleave_memory_lines_add (lines, *(gconstpointer const *) state, 1024);
}

/* A kernel has the same footprint if it computes its result in scratch first. */
START_TEST (a_kernel_that_goes_through_scratch_keeps_its_footprint)
{
  static char table[1024];
  gconstpointer state = table;
  const CleaveKernelFamily family = { .n_state = sizeof state, .add_memory = add_state };
  CleaveView result = { .type = CLEAVE_TYPE (CLEAVE_FLOAT32, 4) };
  CleaveTask task = { .family = &family, .state = &state, .instance = { .results = &result } };
  g_autoptr (GArray) lines = g_array_new (FALSE, FALSE, sizeof (CleaveMemoryLines));
  gsize n_scratch = 0;

  cleave_task_go_through_scratch (&task, &n_scratch);
  cleave_kernel_add_memory (task.family, task.state, lines);
  ck_assert_uint_eq (lines->len, 3);
  ck_assert_uint_ge (g_array_index (lines, CleaveMemoryLines, 2).n, 1024 / CLEAVE_CACHE_LINE);
  task.family->free (task.state);
}
END_TEST

/* A family refuses a node after it has made a part of the kernel's state. The program frees this
 * part and runs the reference kernel, which has no state. */
START_TEST (a_family_may_refuse_with_a_partly_made_state)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_BFLOAT16, 2, 2);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  CleaveEinsumAttrs attrs = { (char *) "ij,jk->ik" };

  run_output (graph, run_add (graph, "Einsum", (CleaveResult *[]){ x, x }, 2, &attrs));
  run_assert_same (graph, 1);
}
END_TEST

/* Six strips of six rows have the same types. The first and the last strip have padding, so the
 * four strips between them share a state. */
START_TEST (equal_pieces_share_a_state)
{
  const CleaveProgramOptions options = { .n_threads = 1 };
  const gint64 n_strips = 6;
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks ("2", &n_strips, 1);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (CleaveProgram) program = NULL;
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 8, 36, 6));
  CleaveResult *y = run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW);
  guint n_pieces = 0, n_sharing = 0;

  run_output (graph, y);
  report = cleave_split_node (y->node, tiling, NULL, NULL);
  program = cleave_program_new (graph, &options, NULL);
  for (guint s = 0; s < program->n_tasks; s++)
    {
      n_pieces += program->tasks[s].state != NULL ? 1 : 0;
      n_sharing += program->tasks[s].shares ? 1 : 0;
    }
  ck_assert_uint_eq (n_pieces, 6);
  ck_assert_uint_eq (n_sharing, 3);
  run_assert_same (graph, 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *steps = tcase_create ("steps");

  cleave_add_case (suite, "lines", adjacent_lines_are_merged, equal_pieces_share_a_state,
                   few_steps_stay_in_the_cache, a_group_has_the_footprint_of_its_kernels,
                   a_depthwise_convolution_has_the_footprint_of_its_tables,
                   a_kernel_that_goes_through_scratch_keeps_its_footprint,
                   a_family_may_refuse_with_a_partly_made_state, NULL);
  tcase_add_loop_test (steps, a_step_prefetches_the_lines_of_the_next_one, 0, 2);
  suite_add_tcase (suite, steps);
}

CLEAVE_TEST_SUITE ("footprints", add_tests)
