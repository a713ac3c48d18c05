/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests of the live bytes of each step: the bytes of a join that no node has written yet are free
 * for other values. */

#include "../../../passes/fit/steps.h"

#include "test.h"

#define MAX_STEPS 16

/* Finds the live bytes of each step of a graph. Returns the number of steps. */
static guint
find_live (const char *text, gint64 live[MAX_STEPS])
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (text, NULL, &error);
  g_auto (CleaveFitSteps) steps = { 0 };

  cleave_assert_no_error (error);
  ck_assert (cleave_fit_steps_init (&steps, graph, &error));
  ck_assert_uint_lt (steps.n_steps, MAX_STEPS);
  for (guint s = 0; s < steps.n_steps; s++)
    live[s] = steps.live[s];
  return steps.n_steps;
}

/* Three convolutions of one input make the parts of a join, one after the other. A part has 1,600
 * bytes. The input has 200 bytes, and its buffer 256. */
#define CONVS                                                                                      \
  "graph parts\n%x = Input : float32 1x2x5x5\n%w = Constant seed=1 : float32 16x2x1x1\n"           \
  "%v = Constant seed=2 : float32 2x16x1x1\n"                                                      \
  "%a = Conv %x, %w\n%b = Conv %x, %w\n%c = Conv %x, %w\n"

START_TEST (parts_are_live_from_their_step_on)
{
  gint64 live[MAX_STEPS];

  ck_assert_uint_eq (find_live (CONVS "%y = Concat %a, %b, %c axis=0\noutput %y\n", live), 4);
  ck_assert_int_eq (live[0], 256 + 1600);
  ck_assert_int_eq (live[1], 256 + 2 * 1600);
  ck_assert_int_eq (live[2], 256 + 3 * 1600);
  ck_assert_int_eq (live[3], 3 * 1600);
}
END_TEST

/* The parts of a join along the last dimension are interleaved. So nearly the whole buffer is live
 * as soon as the first part is written: only the last columns of the last row are not. */
START_TEST (interleaved_parts_are_live_together)
{
  gint64 live[MAX_STEPS];

  ck_assert_uint_eq (find_live (CONVS "%y = Concat %a, %b, %c axis=3\noutput %y\n", live), 4);
  ck_assert_int_ge (live[0], 256 + 3 * 1600 - 2 * 5 * 16 * 4);
  ck_assert_int_eq (live[2], 256 + 3 * 1600);
}
END_TEST

/* If a node reads the join, the whole buffer of the join is live from the first part on. */
START_TEST (parts_of_inner_joins_are_live_together)
{
  gint64 live[MAX_STEPS];

  ck_assert_uint_eq (find_live (CONVS "%y = Concat %a, %b, %c axis=0\n%z = Relu %y\n"
                                      "%s = Conv %z, %v\noutput %s\n",
                                live),
                     6);
  ck_assert_int_eq (live[0], 256 + 3 * 1600);
}
END_TEST

/* A part without elements takes no bytes, and does not change the bytes of other parts. */
START_TEST (empty_parts_take_no_bytes)
{
  gint64 live[MAX_STEPS];
  const guint n =
      find_live ("graph empty\n%x = Input : float32 1x2x5x5\n"
                 "%e = Input : float32 0x2x5x5\n%w = Constant seed=1 : float32 16x2x1x1\n"
                 "%a = Conv %x, %w\n%b = Conv %e, %w\n%c = Conv %x, %w\n"
                 "%y = Concat %a, %b, %c axis=0\noutput %y\n",
                 live);

  ck_assert_uint_eq (n, 4);
  ck_assert_int_eq (live[0], 256 + 1600);
  ck_assert_int_eq (live[1], 256 + 1600);
  ck_assert_int_eq (live[2], 256 + 2 * 1600);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "joins", parts_are_live_from_their_step_on,
                   interleaved_parts_are_live_together, parts_of_inner_joins_are_live_together,
                   empty_parts_take_no_bytes, NULL);
}

CLEAVE_TEST_SUITE ("steps", add_tests)
