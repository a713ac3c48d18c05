/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The memory timeline of a program: its buffers, and the steps at which they are in use. */

#include "../../lib/ir/graph-private.h"
#include "random-graph.h"
#include "run-help.h"

/* Asserts that buffers in use at the same step do not overlap, and are inside the arena. */
static void
check_places (const CleaveMemoryTimeline *timeline)
{
  for (guint i = 0; i < timeline->n_buffers; i++)
    {
      const CleaveBufferLifetime *a = &timeline->buffers[i];

      ck_assert_uint_le (a->first, a->last);
      ck_assert_uint_lt (a->last, timeline->n_steps);
      ck_assert (a->offset >= 0 && a->offset + a->n_bytes <= timeline->arena_bytes);
      for (guint j = i + 1; j < timeline->n_buffers; j++)
        {
          const CleaveBufferLifetime *b = &timeline->buffers[j];

          ck_assert_uint_le (a->first, b->first);
          ck_assert (a->last < b->first || a->offset + a->n_bytes <= b->offset ||
                     b->offset + b->n_bytes <= a->offset);
        }
    }
}

static void
check_sums (const CleaveMemoryTimeline *timeline)
{
  gint64 most = 0;

  for (guint s = 0; s < timeline->n_steps; s++)
    {
      gint64 live = 0;

      for (guint i = 0; i < timeline->n_buffers; i++)
        if (timeline->buffers[i].first <= s && s <= timeline->buffers[i].last)
          live += timeline->buffers[i].n_bytes;
      ck_assert_int_eq (timeline->steps[s].live_bytes, live);
      ck_assert_ptr_nonnull (timeline->steps[s].name);
      most = MAX (most, live);
    }
  ck_assert_int_eq (timeline->peak_bytes, most);
  ck_assert_int_eq (timeline->steps[timeline->peak_step].live_bytes, most);
}

START_TEST (timeline_is_that_of_a_program)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (40); seed++)
    for (guint n_threads = 1; n_threads <= 3; n_threads++)
      {
        g_autoptr (CleaveGraph) graph = random_graph (seed, 40);
        CleaveProgramStats stats = run_get_stats (graph, n_threads);
        g_autoptr (GError) error = NULL;
        g_autoptr (CleaveMemoryTimeline) timeline =
            cleave_memory_timeline_new (graph, n_threads, &error);

        cleave_assert_no_error (error);
        ck_assert_int_eq (timeline->peak_bytes, stats.peak_activation_bytes);
        ck_assert_int_eq (timeline->arena_bytes, stats.arena_bytes);
        check_sums (timeline);
        check_places (timeline);
      }
}
END_TEST

START_TEST (steps_and_buffers_have_names)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 4, 4));
  g_autoptr (CleaveMemoryTimeline) timeline = NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  run_output (graph, run_unary (graph, "Relu", run_conv (graph, x, 3, 3, CLEAVE_LAYOUT_NCHW)));
  timeline = cleave_memory_timeline_new (graph, 1, NULL);
  for (guint i = 0; i < timeline->n_steps; i++)
    g_string_append_printf (text, "%s %s %" G_GINT64_FORMAT "\n", timeline->steps[i].op,
                            timeline->steps[i].name, timeline->steps[i].live_bytes);
  for (guint i = 0; i < timeline->n_buffers; i++)
    g_string_append_printf (text, "%s %" G_GINT64_FORMAT ": %u to %u\n", timeline->buffers[i].name,
                            timeline->buffers[i].n_bytes, timeline->buffers[i].first,
                            timeline->buffers[i].last);
  ck_assert_str_eq (text->str, "load x0 128\n"
                               "Conv conv 320\n"
                               "Relu relu 192\n"
                               "store y0 192\n"
                               "x0 128: 0 to 1\n"
                               "relu 192: 1 to 3\n");
}
END_TEST

START_TEST (a_graph_without_steps_has_an_empty_timeline)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  g_autoptr (CleaveMemoryTimeline) timeline = cleave_memory_timeline_new (graph, 1, NULL);

  ck_assert_uint_eq (timeline->n_steps, 0);
  ck_assert_uint_eq (timeline->n_buffers, 0);
  ck_assert_int_eq (timeline->peak_bytes, 0);
}
END_TEST

START_TEST (too_many_threads_are_an_error)
{
  g_autoptr (CleaveGraph) graph = random_graph (1, 3);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_memory_timeline_new (graph, 5000, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "number of threads must be at most 1024, not 5000");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "timeline", timeline_is_that_of_a_program, steps_and_buffers_have_names,
                   a_graph_without_steps_has_an_empty_timeline, too_many_threads_are_an_error,
                   NULL);
}

CLEAVE_TEST_SUITE ("memory-timeline", add_tests)
