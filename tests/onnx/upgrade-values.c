/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops whose result shape depends on values. The import computes an op of this kind if its operands
 * are constant, and refuses the op if not. */

#include "test.h"

#include "models.h"

static Model *
model_of (const char *op, const char *operands, const char *results)
{
  Model *model = model_new (13);

  model_add_input (model, "x", "2x3");
  model_add_node (model, op, "n", operands, results);
  model_add_output (model, "y");
  return model;
}

static void
add_constant (Model *model, const char *name, const CleaveTensorType *type, gconstpointer data)
{
  model_add_initializer (model, name, type, data);
}

/* Returns output `i`, a constant of int64 or bool, as "2x2: 0 1 ...". */
static char *
constant_text (const CleaveGraph *graph, guint i)
{
  const CleaveNode *node =
      cleave_result_get_node (cleave_operand_get_result (cleave_graph_get_output (graph, i)));
  CleaveTensor *tensor = cleave_node_get_constant (node);
  g_autofree char *shape = NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  ck_assert_ptr_nonnull (tensor);
  shape = cleave_shape_to_string (&cleave_tensor_get_type (tensor)->shape);
  g_string_append_printf (text, "%s:", shape);
  for (gint64 k = 0; k < cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape); k++)
    g_string_append_printf (text, " %d",
                            (int) ((const gint64 *) cleave_tensor_get_data (tensor))[k]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
assert_constant (const CleaveGraph *graph, guint i, const char *expected)
{
  g_autofree char *text = constant_text (graph, i);

  ck_assert_str_eq (text, expected);
}

START_TEST (compress_becomes_gather)
{
  static const guint8 condition[] = { FALSE, TRUE, TRUE };
  CleaveTensorType bools = CLEAVE_TYPE (CLEAVE_BOOL, 3);
  g_autoptr (Model) axis = model_of ("Compress", "x c", "y");
  g_autoptr (Model) flat = model_of ("Compress", "x c", "y");

  add_constant (axis, "c", &bools, condition);
  add_constant (flat, "c", &bools, condition);
  node_add_int (axis->graph->node[0], "axis", -1);
  model_assert_dump (axis, "%0 = Input : float32 2x3  # x\n"
                           "%1 = Constant : int64 2  # constant\n"
                           "%2 = Gather %0, %1 axis=1 : float32 2x2  # n\n"
                           "output %2  # y\n");
  model_assert_dump (flat, "%0 = Input : float32 2x3  # x\n"
                           "%1 = Reshape %0 shape=6 : float32 6  # n.flat\n"
                           "%2 = Constant : int64 2  # constant\n"
                           "%3 = Gather %1, %2 : float32 2  # n\n"
                           "output %3  # y\n");
}
END_TEST

START_TEST (non_zero_is_computed_at_import)
{
  static const gint64 numbers[] = { 0, 5, 0, 0, -1, 2 };
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, 2, 3), scalar = CLEAVE_SCALAR (CLEAVE_INT64);
  g_autoptr (Model) model = model_of ("NonZero", "c", "y"), one = model_of ("NonZero", "c", "y");
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL, other = NULL;

  add_constant (model, "c", &type, numbers);
  graph = model_import (model, &error);
  cleave_assert_no_error (error);
  assert_constant (graph, 0, "2x3: 0 1 1 1 1 2");
  add_constant (one, "c", &scalar, numbers + 1);
  other = model_import (one, &error);
  cleave_assert_no_error (error);
  assert_constant (other, 0, "0x1:");
}
END_TEST

static CleaveGraph *
unique (CleaveShape shape, const gint64 *numbers, const gint64 *axis, gboolean sorted)
{
  CleaveTensorType type = { CLEAVE_INT64, shape };
  g_autoptr (Model) model = model_of ("Unique", "c", "y i v n");
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph;

  add_constant (model, "c", &type, numbers);
  model_add_output (model, "i");
  model_add_output (model, "v");
  model_add_output (model, "n");
  node_add_int (model->graph->node[0], "sorted", sorted);
  if (axis != NULL)
    node_add_int (model->graph->node[0], "axis", *axis);
  graph = model_import (model, &error);
  cleave_assert_no_error (error);
  return graph;
}

START_TEST (unique_finds_groups)
{
  static const gint64 numbers[] = { 7, 3, 7, -1, 3, 7 }, rows[] = { 2, 1, 1, 5, 2, 1 };
  static const gint64 columns[] = { 4, 1, 4, 5, 2, 5 };
  const gint64 last = -1, first = 0;
  g_autoptr (CleaveGraph) sorted = unique (CLEAVE_SHAPE (2, 3), numbers, NULL, TRUE);
  g_autoptr (CleaveGraph) found = unique (CLEAVE_SHAPE (2, 3), numbers, NULL, FALSE);
  g_autoptr (CleaveGraph) by_rows = unique (CLEAVE_SHAPE (3, 2), rows, &first, TRUE);
  g_autoptr (CleaveGraph) by_columns = unique (CLEAVE_SHAPE (2, 3), columns, &last, FALSE);

  assert_constant (sorted, 0, "3: -1 3 7");
  assert_constant (sorted, 1, "3: 3 1 0");
  assert_constant (sorted, 2, "6: 2 1 2 0 1 2");
  assert_constant (sorted, 3, "3: 1 2 3");
  assert_constant (found, 0, "3: 7 3 -1");
  assert_constant (found, 1, "3: 0 1 3");
  assert_constant (found, 2, "6: 0 1 0 2 1 0");
  assert_constant (found, 3, "3: 3 2 1");
  assert_constant (by_rows, 0, "2x2: 1 5 2 1");
  assert_constant (by_rows, 2, "3: 1 0 1");
  assert_constant (by_columns, 0, "2x2: 4 1 5 2");
  assert_constant (by_columns, 3, "2: 2 1");
}
END_TEST

static Model *
model_with_boxes (const CleaveTensorType *boxes, const char *operands)
{
  static const CleaveTensorType scores = { CLEAVE_FLOAT32, { 3, { 1, 1, 3 } } };
  static const CleaveTensorType scalar = { CLEAVE_INT64, { 0, { 0 } } };
  static const CleaveTensorType number = { CLEAVE_FLOAT32, { 1, { 1 } } };
  static const float corners[] = { 0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 3, 3, 2, 2, 0 };
  Model *model = model_of ("NonMaxSuppression", operands, "y");

  add_constant (model, "boxes", boxes, corners);
  add_constant (model, "scores", &scores, (float[]){ 0.5f, 0.75f, 0.25f });
  add_constant (model, "max", &scalar, (gint64[]){ 3 });
  add_constant (model, "iou", &number, (float[]){ 0.5f });
  add_constant (model, "score", &number, (float[]){ 0.25f });
  return model;
}

START_TEST (boxes_are_selected)
{
  static const CleaveTensorType boxes = { CLEAVE_FLOAT32, { 3, { 1, 3, 4 } } };
  static const CleaveTensorType wrong = { CLEAVE_FLOAT32, { 3, { 1, 4, 3 } } };
  static const struct
  {
    const char *operands, *text;
  } cases[] = {
    { "boxes scores max iou", "2x3: 0 0 1 0 0 2" }, /* the first two boxes overlap by more than the
                                                       limit, so one of them is dropped */
    { "boxes scores max iou score",
      "1x3: 0 0 1" }, /* the score 0.25 is not greater than the limit 0.25, so its box is dropped */
    { "boxes scores", "0x3:" }, /* the maximum number of boxes is absent, so it is 0 */
    { "boxes scores max", "2x3: 0 0 1 0 0 2" }, /* the limit on the overlap is absent, so it is 0 */
  };
  g_autoptr (Model) computed = model_with_boxes (&boxes, "x scores");
  g_autoptr (Model) misshapen = model_with_boxes (&wrong, "boxes scores");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = model_with_boxes (&boxes, cases[i].operands);
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = model_import (model, &error);
      g_autofree char *text = NULL;

      cleave_assert_no_error (error);
      text = constant_text (graph, 0);
      ck_assert_str_eq (text, cases[i].text);
    }
  model_assert_error (
      computed, CLEAVE_ERROR_MODEL,
      "NonMaxSuppression 'n': operand 0 is computed, but must be constant: how many "
      "boxes it selects follows from their values, and shapes are static");
  model_assert_error (
      misshapen, CLEAVE_ERROR_MODEL,
      "NonMaxSuppression 'n': boxes are 1x4x3 and scores 1x1x3, not NxBx4 and NxCxB");
}
END_TEST

START_TEST (computed_values_are_refused)
{
  static const char *const ops[] = { "NonZero", "Unique" };
  g_autoptr (Model) compress = model_of ("Compress", "x x", "y"),
                    axis = model_of ("Unique", "c", "y");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, 2);

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    {
      g_autoptr (Model) model = model_of (ops[i], "x", "y");
      g_autofree char *message = g_strdup_printf (
          "%s 'n': operand 0 is the input 'x', but must be constant: shapes are static (give its "
          "value)",
          ops[i]);

      model_assert_error (model, CLEAVE_ERROR_MODEL, message);
    }
  model_assert_error (
      compress, CLEAVE_ERROR_MODEL,
      "Compress 'n': operand 1 is the input 'x', but must be constant: shapes are static (give its "
      "value)");
  add_constant (axis, "c", &type, NULL);
  node_add_int (axis->graph->node[0], "axis", 1);
  model_assert_error (axis, CLEAVE_ERROR_MODEL, "Unique 'n': axis 1 does not fit rank 1");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "values", compress_becomes_gather, non_zero_is_computed_at_import,
                   unique_finds_groups, boxes_are_selected, computed_values_are_refused, NULL);
}

CLEAVE_TEST_SUITE ("upgrade-values", add_tests)
