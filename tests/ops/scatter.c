/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the ops ScatterElements and ScatterND. */

#include "apply.h"
#include "op-case.h"

static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_FLOAT16,
                                          CLEAVE_INT8,    CLEAVE_INT64,   CLEAVE_UINT16 };

/* One element gets two updates. The last index is negative. */
START_TEST (elements_are_scattered_by_their_indices)
{
  static const double x[] = { 1, 2, 3, 4, 5, 6 }, i[] = { 1, 1, -1 }, u[] = { 2, 3, 7 };
  static const double y[][6] = { { 1, 3, 7, 4, 5, 6 },
                                 { 1, 7, 10, 4, 5, 6 },
                                 { 1, 12, 21, 4, 5, 6 },
                                 { 1, 3, 7, 4, 5, 6 },
                                 { 1, 2, 3, 4, 5, 6 } };

  for (guint r = 0; r < G_N_ELEMENTS (y); r++)
    for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
      {
        g_autoptr (CleaveTensor) data = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (2, 3), x);
        g_autoptr (CleaveTensor) where = cleave_apply_tensor (CLEAVE_INT32, CLEAVE_SHAPE (1, 3), i);
        g_autoptr (CleaveTensor) updates =
            cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 3), u);
        CleaveScatterAttrs a = { 1, (CleaveScatterReduction) r };
        g_autoptr (CleaveTensor) got =
            cleave_apply ("ScatterElements", (CleaveTensor *[]){ data, where, updates }, 3, &a);

        cleave_apply_check ("ScatterElements", got, y[r], 0);
      }
}
END_TEST

#define LONG 300

/* The updates have two rows, longer than the kernel processes at once. If `other` is 0, all indices
 * are 1, so both rows of updates are reduced into row 1. If `other` is 1, one index in the middle
 * of the first row is 0. */
START_TEST (lines_with_a_single_index_are_reduced)
{
  double x[2 * LONG], i[2 * LONG], u[2 * LONG], y[2 * LONG];

  for (guint other = 0; other < 2; other++)
    for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
      for (guint r = CLEAVE_SCATTER_ADD; r <= CLEAVE_SCATTER_MIN; r++)
        {
          g_autoptr (CleaveTensor) data = NULL, where = NULL, updates = NULL, got = NULL;
          CleaveScatterAttrs a = { 0, (CleaveScatterReduction) r };

          for (guint k = 0; k < 2 * LONG; k++)
            {
              x[k] = y[k] = k % 5;
              u[k] = k % 3;
              i[k] = other == 1 && k == LONG / 2 ? 0 : 1;
            }
          for (guint k = 0; k < 2 * LONG; k++)
            {
              double *to = &y[(guint) i[k] * LONG + k % LONG];

              *to = r == CLEAVE_SCATTER_ADD   ? *to + u[k]
                    : r == CLEAVE_SCATTER_MUL ? *to * u[k]
                    : r == CLEAVE_SCATTER_MAX ? MAX (*to, u[k])
                                              : MIN (*to, u[k]);
            }
          data = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (2, LONG), x);
          where = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (2, LONG), i);
          updates = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (2, LONG), u);
          got = cleave_apply ("ScatterElements", (CleaveTensor *[]){ data, where, updates }, 3, &a);
          cleave_apply_check ("ScatterElements", got, y, 0);
        }
}
END_TEST

START_TEST (slices_are_scattered_by_their_tuples)
{
  static const double x[] = { 1, 2, 3, 4, 5, 6 }, i[] = { 2, 0, -1 }, u[] = { 1, 2, 3, 4, 5, 6 };
  static const double y[][6] = { { 3, 4, 3, 4, 5, 6 },
                                 { 4, 6, 3, 4, 11, 14 },
                                 { 3, 8, 3, 4, 25, 72 },
                                 { 3, 4, 3, 4, 5, 6 },
                                 { 1, 2, 3, 4, 1, 2 } };

  for (guint r = 0; r < G_N_ELEMENTS (y); r++)
    for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
      {
        g_autoptr (CleaveTensor) data = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (3, 2), x);
        g_autoptr (CleaveTensor) where = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (3, 1), i);
        g_autoptr (CleaveTensor) updates =
            cleave_apply_tensor (elements[e], CLEAVE_SHAPE (3, 2), u);
        CleaveScatterAttrs a = { .reduction = (CleaveScatterReduction) r };
        g_autoptr (CleaveTensor) got =
            cleave_apply ("ScatterND", (CleaveTensor *[]){ data, where, updates }, 3, &a);

        cleave_apply_check ("ScatterND", got, y[r], 0);
      }
}
END_TEST

static CleaveResult *
add (CleaveGraph *graph,
     const char *op,
     CleaveShape data,
     CleaveShape indices,
     CleaveShape updates,
     GError **error)
{
  CleaveTensorType index = { CLEAVE_INT64, indices };
  CleaveScatterAttrs a = { .axis = -1 };
  g_autofree char *name = g_strdup_printf ("%u", cleave_graph_get_n_inputs (graph));
  g_autofree char *i = g_strconcat ("i", name, NULL), *u = g_strconcat ("u", name, NULL);
  CleaveResult *operands[] = { cleave_case_input (graph, name, data),
                               cleave_graph_add_input (graph, i, &index, NULL),
                               cleave_case_input (graph, u, updates) };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), "s", operands, 3, 1, &a, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (indexed_dimensions_are_not_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = add (graph, "ScatterElements", CLEAVE_SHAPE (4, 5), CLEAVE_SHAPE (3, 7),
                         CLEAVE_SHAPE (3, 7), NULL);

  cleave_assert_chunk (y, "1:4,0:5", "1:4,0:5 1:3,0:7 1:3,0:7 axis=1");
  cleave_assert_chunk (
      y, "0:4,0:2",
      "refused: dimension 1 cannot be cut there: a piece of 2 of output would have 5");
  cleave_assert_chunk (y, "3:4,0:5",
                       "refused: chunk of dimension 0 [3,4) reads padding only; the last chunk "
                       "would have to begin at 2");
  y = add (graph, "ScatterND", CLEAVE_SHAPE (4, 5, 6), CLEAVE_SHAPE (2, 1), CLEAVE_SHAPE (2, 5, 6),
           NULL);
  cleave_assert_chunk (y, "0:4,1:3,2:6", "0:4,1:3,2:6 0:2,0:1 0:2,1:3,2:6");
  cleave_assert_chunk (
      y, "0:2,0:5,0:6",
      "refused: dimension 0 cannot be cut there: a piece of 2 of output would have 4");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  static const struct
  {
    const char *op;
    CleaveShape data, indices, updates;
    const char *message;
  } cases[] = {
    { "ScatterElements",
      { 2, { 3, 3 } },
      { 1, { 3 } },
      { 1, { 3 } },
      "indices must have rank 2, not 1" },
    { "ScatterElements",
      { 2, { 3, 3 } },
      { 2, { 2, 3 } },
      { 2, { 3, 3 } },
      "updates are 3x3, but should be 2x3" },
    { "ScatterElements",
      { 2, { 3, 3 } },
      { 2, { 4, 3 } },
      { 2, { 4, 3 } },
      "indices have 4 in dimension 0, data has 3" },
    { "ScatterElements",
      { 2, { 3, 0 } },
      { 2, { 1, 1 } },
      { 2, { 1, 1 } },
      "dimension 1 of data is empty: there is nothing for the indices to write" },
    { "ScatterND",
      { 2, { 3, 3 } },
      { 2, { 1, 3 } },
      { 1, { 1 } },
      "the last dimension of indices cannot be 3 for data of rank 2" },
    { "ScatterND",
      { 2, { 3, 3 } },
      { 2, { 2, 1 } },
      { 2, { 2, 2 } },
      "updates are 2x2, but should be 2x3" },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autofree char *message = g_strdup_printf ("%s 's': %s", cases[k].op, cases[k].message);
      GError *error = NULL;

      ck_assert_ptr_null (
          add (graph, cases[k].op, cases[k].data, cases[k].indices, cases[k].updates, &error));
      cleave_assert_error (&error, CLEAVE_ERROR_SHAPE, message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "scatter", elements_are_scattered_by_their_indices,
                   lines_with_a_single_index_are_reduced, slices_are_scattered_by_their_tuples,
                   indexed_dimensions_are_not_split, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("scatter", add_tests)
