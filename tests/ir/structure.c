/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The nodes Input, Constant and Assemble. */

#include "op-case.h"

START_TEST (inputs_and_constants_print_their_type)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);

  cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3));
  cleave_case_steps (graph, CLEAVE_SHAPE (4), 0, 1);
  cleave_assert_dump (graph, "%0 = Input : float32 2x3  # x\n"
                             "%1 = Constant : float32 4  # c\n");
}
END_TEST

START_TEST (an_assemble_prints_its_ranges)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *part = cleave_case_input (graph, "x", CLEAVE_SHAPE (1, 2));
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 1, 0, 2), CLEAVE_RANGE (0, 1, 2, 4) };

  ck_assert_ptr_nonnull (
      cleave_graph_add_assemble (graph, "y", (CleaveResult *[]){ part, part }, ranges, 2, NULL));
  cleave_assert_dump (graph, "%0 = Input : float32 1x2  # x\n"
                             "%1 = Assemble %0, %0 0:1,0:2 0:1,2:4 : float32 1x4  # y\n");
}
END_TEST

/* Each case has an Assemble of two parts of 1x2 at the ranges `a` and `b`, and its type or its
 * error message. */
START_TEST (ranges_must_fit_their_parts_and_cover_the_result)
{
  static const struct
  {
    CleaveRange a, b;
    const char *expected;
  } cases[] = {
    { { 2, { { 0, 1 }, { 0, 2 } } }, { 2, { { 0, 1 }, { 2, 4 } } }, "float32 1x4" },
    { { 2, { { 1, 2 }, { 0, 2 } } }, { 2, { { 0, 1 }, { 0, 2 } } }, "float32 2x2" },
    { { 2, { { 0, 1 }, { 0, 2 } } }, { 2, { { 0, 1 }, { 1, 3 } } }, "float32 1x3" },
    { { 2, { { 0, 1 }, { 0, 2 } } },
      { 2, { { 0, 1 }, { 3, 5 } } },
      "Assemble 'y': no part covers 0:1,2:3" },
    { { 2, { { 0, 1 }, { 0, 2 } } },
      { 2, { { 1, 2 }, { 2, 4 } } },
      "Assemble 'y': no part covers 1:2,0:2" },
    { { 2, { { 0, 1 }, { 0, 2 } } },
      { 2, { { 0, 1 }, { 2, 5 } } },
      "Assemble 'y': part 1 is 1x2, which does not fit its range 0:1,2:5" },
    { { 2, { { 0, 1 }, { 0, 2 } } },
      { 1, { { 2, 4 } } },
      "Assemble 'y': range 1 has rank 1, the first has 2" },
    { { 2, { { 0, 1 }, { -2, 0 } } },
      { 2, { { 0, 1 }, { 0, 2 } } },
      "Assemble 'y': range 0 is 0:1,-2:0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *part = cleave_case_input (graph, "x", CLEAVE_SHAPE (1, 2));
      CleaveRange ranges[] = { cases[i].a, cases[i].b };
      GError *error = NULL;
      CleaveResult *y = cleave_graph_add_assemble (graph, "y", (CleaveResult *[]){ part, part },
                                                   ranges, 2, &error);

      cleave_assert_infers (y, &error, cases[i].expected);
    }
}
END_TEST

START_TEST (parts_of_two_element_types_are_an_error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT32, 2);
  CleaveResult *a = cleave_case_input (graph, "a", CLEAVE_SHAPE (2));
  CleaveResult *b = cleave_graph_add_input (graph, "b", &type, NULL);
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 2), CLEAVE_RANGE (2, 4) };
  GError *error = NULL;

  ck_assert_ptr_null (
      cleave_graph_add_assemble (graph, "y", (CleaveResult *[]){ a, b }, ranges, 2, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ELEMENT_TYPE,
                       "Assemble 'y': part is float32, but part is int32");
}
END_TEST

/* Adds an Assemble of three parts: on the left a column of two rows, on the right two parts, one
 * above the other. */
static CleaveResult *
add_three_parts (CleaveGraph *graph)
{
  CleaveResult *parts[] = { cleave_case_steps (graph, CLEAVE_SHAPE (2, 1), 0, 1),
                            cleave_case_steps (graph, CLEAVE_SHAPE (1, 3), 10, 1),
                            cleave_case_steps (graph, CLEAVE_SHAPE (1, 3), 20, 1) };
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 2, 0, 1), CLEAVE_RANGE (0, 1, 1, 4),
                           CLEAVE_RANGE (1, 2, 1, 4) };

  return cleave_graph_add_assemble (graph, "y", parts, ranges, 3, NULL);
}

START_TEST (parts_are_placed_at_their_ranges)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);

  cleave_assert_values (add_three_parts (graph), "0 10 11 12 1 20 21 22");
}
END_TEST

START_TEST (a_chunk_keeps_the_parts_that_overlap_it)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = add_three_parts (graph);

  cleave_assert_chunk (y, "0:2,0:4", "0:2,0:1 0:1,0:3 0:1,0:3 0:2,0:1 0:1,1:4 1:2,1:4");
  cleave_assert_chunk (y, "0:1,0:3", "0:1,0:1 0:1,0:2 - 0:1,0:1 0:1,1:3");
  cleave_assert_chunk (y, "1:2,2:4", "- - 0:1,1:3 0:1,0:2");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "input and constant", inputs_and_constants_print_their_type, NULL);
  cleave_add_case (suite, "assemble", an_assemble_prints_its_ranges,
                   ranges_must_fit_their_parts_and_cover_the_result,
                   parts_of_two_element_types_are_an_error, parts_are_placed_at_their_ranges,
                   a_chunk_keeps_the_parts_that_overlap_it, NULL);
}

CLEAVE_TEST_SUITE ("structure", add_tests)
