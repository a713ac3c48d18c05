/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Gemm, alpha * A * B + beta * C. */

#include "op-case.h"

#define INTS(...)                                                                                  \
  {                                                                                                \
    CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ }                                           \
  }

START_TEST (shapes_are_inferred_or_an_error_gives_the_reason)
{
  static const struct
  {
    CleaveShape a, b, c;
    CleaveGemmAttrs attrs;
    const char *expected;
  } cases[] = {
    { INTS (2, 3), INTS (3, 4), INTS (4), { 1, 1, FALSE, FALSE }, "float32 2x4" },
    { INTS (3, 2), INTS (3, 4), INTS (2, 1), { 1, 1, TRUE, FALSE }, "float32 2x4" },
    { INTS (3, 2), INTS (4, 3), INTS (1), { 1, 1, TRUE, TRUE }, "float32 2x4" },
    { INTS (2, 3), INTS (4, 3), { 0, { 0 } }, { 1, 1, FALSE, TRUE }, "float32 2x4" },
    { INTS (2, 3),
      INTS (4, 3),
      INTS (1),
      { 1, 1, FALSE, FALSE },
      "Gemm 'y': A and B must have equal inner dimensions, but A has 3 and B has 4" },
    { INTS (2, 3),
      INTS (3, 4),
      INTS (2),
      { 1, 1, FALSE, FALSE },
      "Gemm 'y': C is 2 and cannot be broadcast to 2x4" },
    { INTS (1, 3),
      INTS (3, 4),
      INTS (2, 4),
      { 1, 1, FALSE, FALSE },
      "Gemm 'y': C is 2x4 and cannot be broadcast to 1x4" },
    { INTS (3),
      INTS (3, 4),
      INTS (4),
      { 1, 1, FALSE, FALSE },
      "Gemm 'y': A must have rank 2, not 1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      GError *error = NULL;
      CleaveResult *a = cleave_case_input (graph, "a", cases[i].a);
      CleaveResult *b = cleave_case_input (graph, "b", cases[i].b);
      CleaveResult *c = cleave_case_input (graph, "c", cases[i].c);

      cleave_assert_infers (cleave_graph_add_gemm (graph, "y", a, b, c, &cases[i].attrs, &error),
                            &error, cases[i].expected);
    }
}
END_TEST

START_TEST (integers_take_integer_factors_only)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, 2, 2);
  CleaveResult *a = cleave_graph_add_input (graph, "a", &type, NULL);
  CleaveGemmAttrs half = { 0.5, 1, FALSE, FALSE }, minus = { -1, 2, FALSE, FALSE };
  GError *error = NULL;

  ck_assert_ptr_nonnull (cleave_graph_add_gemm (graph, "y", a, a, NULL, &minus, NULL));
  ck_assert_ptr_null (cleave_graph_add_gemm (graph, "y", a, a, NULL, &half, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE,
                       "Gemm 'y': alpha and beta must be whole numbers for integers");
}
END_TEST

START_TEST (a_chunk_reads_rows_and_columns_and_all_of_k)
{
  static const struct
  {
    CleaveShape a, b, c;
    gboolean trans_a, trans_b;
    const char *expected; /* the ranges that the chunk 1:2,2:4 reads of A, B and C, and the
                             attributes of its piece */
  } cases[] = {
    { INTS (2, 3), INTS (3, 4), INTS (2, 4), FALSE, FALSE, "1:2,0:3 0:3,2:4 1:2,2:4" },
    { INTS (3, 2), INTS (3, 4), INTS (4), TRUE, FALSE, "0:3,1:2 0:3,2:4 2:4 transA=1" },
    { INTS (2, 3), INTS (4, 3), INTS (2, 1), FALSE, TRUE, "1:2,0:3 2:4,0:3 1:2,0:1 transB=1" },
    { INTS (3, 2), INTS (4, 3), INTS (1), TRUE, TRUE, "0:3,1:2 2:4,0:3 0:1 transA=1 transB=1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveGemmAttrs attrs = { 1, 1, cases[i].trans_a, cases[i].trans_b };
      CleaveResult *a = cleave_case_input (graph, "a", cases[i].a);
      CleaveResult *b = cleave_case_input (graph, "b", cases[i].b);
      CleaveResult *c = cleave_case_input (graph, "c", cases[i].c);

      cleave_assert_chunk (cleave_graph_add_gemm (graph, "y", a, b, c, &attrs, NULL), "1:2,2:4",
                           cases[i].expected);
    }
}
END_TEST

START_TEST (values_are_those_computed_by_hand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveGemmAttrs scaled = { 2, 0.5, FALSE, FALSE }, transposed = { 1, 1, TRUE, TRUE };
  CleaveResult *a = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2), 1, 1); /* 1 2, 3 4 */
  CleaveResult *b = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2), 5, 1); /* 5 6, 7 8 */
  CleaveResult *c = cleave_case_steps (graph, CLEAVE_SHAPE (2), 100, 100);

  cleave_assert_values (cleave_graph_add_gemm (graph, "n", a, b, NULL, NULL, NULL), "19 22 43 50");
  cleave_assert_values (cleave_graph_add_gemm (graph, "n", a, b, c, NULL, NULL), "119 222 143 250");
  cleave_assert_values (cleave_graph_add_gemm (graph, "n", a, b, c, &scaled, NULL),
                        "88 144 136 200");
  cleave_assert_values (cleave_graph_add_gemm (graph, "n", a, b, NULL, &transposed, NULL),
                        "23 31 34 46");
}
END_TEST

/* A beta of 0 is not skipped: C is multiplied by 0, so an infinity in C becomes a NaN. */
START_TEST (zero_times_infinity_is_not_a_number)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveGemmAttrs zero = { 1, 0, FALSE, FALSE };
  CleaveResult *a = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1), 1, 0);
  CleaveResult *c = cleave_case_steps (graph, CLEAVE_SHAPE (1), 1.0f / 0.0f, 0);

  cleave_assert_values (cleave_graph_add_gemm (graph, "n", a, a, a, &zero, NULL), "1");
  cleave_assert_values (cleave_graph_add_gemm (graph, "n", a, a, c, &zero, NULL), "nan");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "gemm", shapes_are_inferred_or_an_error_gives_the_reason,
                   integers_take_integer_factors_only, a_chunk_reads_rows_and_columns_and_all_of_k,
                   values_are_those_computed_by_hand, zero_times_infinity_is_not_a_number, NULL);
}

CLEAVE_TEST_SUITE ("gemm", add_tests)
