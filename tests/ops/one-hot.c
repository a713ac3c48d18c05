/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the op OneHot: values, slices and errors. The depth is the number of classes, and an index
 * selects a class. */

#include "apply.h"
#include "op-case.h"

static CleaveTensor *
apply (CleaveElement element, const double *indices, const CleaveOneHotAttrs *a)
{
  static const double values[] = { 1, 5 };
  g_autoptr (CleaveTensor) i = cleave_apply_tensor (element, CLEAVE_SHAPE (3), indices);
  g_autoptr (CleaveTensor) v = cleave_apply_tensor (CLEAVE_INT8, CLEAVE_SHAPE (2), values);

  return cleave_apply ("OneHot", (CleaveTensor *[]){ i, v }, 2, a);
}

START_TEST (indices_of_any_type_are_encoded)
{
  static const double i[] = { 1, 0, 4 };
  static const double rows[] = { 1, 5, 1, 1, 5, 1, 1, 1, 1, 1, 1, 1 };
  static const double columns[] = { 1, 5, 1, 5, 1, 1, 1, 1, 1, 1, 1, 1 };
  CleaveOneHotAttrs last = { .depth = 4, .axis = -1 }, first = { .depth = 4 };

  for (CleaveElement element = CLEAVE_FLOAT32; element < CLEAVE_BOOL; element++)
    {
      g_autoptr (CleaveTensor) x = apply (element, i, &last);
      g_autoptr (CleaveTensor) y = apply (element, i, &first);

      cleave_apply_check ("rows", x, rows, 0);
      cleave_apply_check ("columns", y, columns, 0);
    }
}
END_TEST

START_TEST (negative_indices_count_from_the_end_and_others_select_nothing)
{
  static const double i[] = { -1, -3.5, 1e30 }, y[] = { 1, 1, 1, 5, 1, 5, 1, 1, 1, 1, 1, 1 };
  static const double part[] = { 1, 5, 1, 1, 1, 1 };
  CleaveOneHotAttrs a = { .depth = 4, .axis = -1 };
  g_autoptr (CleaveTensor) whole = apply (CLEAVE_FLOAT32, i, &a);
  g_autoptr (CleaveTensor) end = NULL;

  cleave_apply_check ("whole", whole, y, 0);
  a.part = CLEAVE_INTS (2, 4);
  end = apply (CLEAVE_FLOAT32, i, &a);
  cleave_apply_check ("the last two", end, part, 0);
}
END_TEST

static CleaveResult *
add (CleaveGraph *graph, const CleaveOneHotAttrs *a, gint64 n_values, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%u", cleave_graph_get_n_inputs (graph));
  g_autofree char *v = g_strconcat ("v", name, NULL);
  CleaveResult *operands[] = { cleave_case_input (graph, name, CLEAVE_SHAPE (4, 5)),
                               cleave_case_input (graph, v, CLEAVE_SHAPE (n_values)) };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("OneHot"), "o", operands, 2, 1, a, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (a_chunk_keeps_the_offset_of_its_classes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveOneHotAttrs a = { .depth = 9, .axis = 1 };
  CleaveResult *y = add (graph, &a, 2, NULL);

  cleave_assert_chunk (y, "1:2,0:9,2:5", "1:2,2:5 0:2 depth=9 axis=1");
  cleave_assert_chunk (y, "0:4,3:9,0:5", "0:4,0:5 0:2 depth=9 axis=1 part=3,9");
  a.part = CLEAVE_INTS (3, 8);
  cleave_assert_chunk (add (graph, &a, 2, NULL), "0:4,1:3,0:5",
                       "0:4,0:5 0:2 depth=9 axis=1 part=4,6");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  static const struct
  {
    CleaveOneHotAttrs attrs;
    gint64 n_values;
    const char *message;
  } cases[] = {
    { { .depth = 3, .axis = 3 }, 2, "OneHot 'o': axis must be between -3 and 2, not 3" },
    { { .depth = -1 }, 2, "OneHot 'o': depth must be at least 0, not -1" },
    { { .depth = 3, .part = { 1, { 2 } } }, 2, "OneHot 'o': part has 1 entries, not 2" },
    { { .depth = 3, .part = { 2, { 2, 4 } } }, 2, "OneHot 'o': part lies outside the depth" },
    { { .depth = 3 }, 3, "OneHot 'o': values must have 2 elements, not 3" },
    { { .depth = 3 }, 2, "float32 3x4x5" },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;

      cleave_assert_infers (add (graph, &cases[k].attrs, cases[k].n_values, &error), &error,
                            cases[k].message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "one-hot", indices_of_any_type_are_encoded,
                   negative_indices_count_from_the_end_and_others_select_nothing,
                   a_chunk_keeps_the_offset_of_its_classes, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("one-hot", add_tests)
