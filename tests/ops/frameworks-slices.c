/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the conversion of a split from and to other frameworks. For a split, DirectML lists the
 * types of the results, and XLA has one Slice with a range for each result. */

#include "framework-case.h"

/* The tests below check the Split and the Join of DirectML. */

static const struct
{
  CleaveTensorType input;
  CleaveTensorType outputs[3];
  guint n_outputs, axis;
  CleaveError code;
  const char *message; /* NULL: the Split and the Join succeed */
} directml[] = {
  { { CLEAVE_FLOAT32, { 4, { 1, 1, 6, 2 } } },
    { { CLEAVE_FLOAT32, { 4, { 1, 1, 2, 2 } } },
      { CLEAVE_FLOAT32, { 4, { 1, 1, 1, 2 } } },
      { CLEAVE_FLOAT32, { 4, { 1, 1, 3, 2 } } } },
    3,
    2,
    0,
    NULL },
  { { CLEAVE_FLOAT32, { 4, { 1, 1, 6, 2 } } },
    { { CLEAVE_FLOAT32, { 4, { 1, 1, 6, 1 } } }, { CLEAVE_FLOAT32, { 4, { 1, 1, 6, 1 } } } },
    2,
    3,
    0,
    NULL },
  { { CLEAVE_INT8, { 1, { 3 } } }, { { CLEAVE_INT8, { 1, { 3 } } } }, 1, 0, 0, NULL },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_INT8, { 1, { 1 } } }, { CLEAVE_INT8, { 1, { 1 } } }, { CLEAVE_INT8, { 1, { 1 } } } },
    3,
    0,
    0,
    NULL },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_INT8, { 1, { 1 } } }, { CLEAVE_INT8, { 1, { 2 } } } },
    2,
    0,
    0,
    NULL },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_INT8, { 1, { 2 } } }, { CLEAVE_INT8, { 1, { 1 } } } },
    2,
    0,
    0,
    NULL },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_INT8, { 1, { 3 } } }, { CLEAVE_INT8, { 1, { 0 } } } },
    2,
    0,
    CLEAVE_ERROR_SHAPE,
    "put 1 must have at least 1 in dimension 0, not 0" },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_INT8, { 1, { 2 } } }, { CLEAVE_INT8, { 1, { 2 } } } },
    2,
    0,
    CLEAVE_ERROR_ATTRIBUTE,
    "sizes 2, 2 add up to 4, dimension 0 has 3" },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_UINT8, { 1, { 3 } } } },
    1,
    0,
    CLEAVE_ERROR_ELEMENT_TYPE,
    "put 0 must be of int8, not uint8" },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_INT8, { 2, { 3, 1 } } } },
    1,
    0,
    CLEAVE_ERROR_SHAPE,
    "put 0 must have 1 dimensions, not 2" },
  { { CLEAVE_INT8, { 2, { 3, 4 } } },
    { { CLEAVE_INT8, { 2, { 3, 5 } } } },
    1,
    0,
    CLEAVE_ERROR_SHAPE,
    "put 0 must have 4 in dimension 1, not 5" },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_INT8, { 1, { 3 } } } },
    0,
    0,
    CLEAVE_ERROR_ATTRIBUTE,
    "put is needed, not 0" },
  { { CLEAVE_INT8, { 1, { 3 } } },
    { { CLEAVE_INT8, { 1, { 3 } } } },
    1,
    1,
    CLEAVE_ERROR_ATTRIBUTE,
    "Axis must be between 0 and 0 for 1 dimensions, not 1" },
  { { CLEAVE_INT8, { 0, { 0 } } },
    { { CLEAVE_INT8, { 0, { 0 } } } },
    1,
    0,
    CLEAVE_ERROR_SHAPE,
    "a scalar has no dimension to split" },
};

START_TEST (directml_split_and_join)
{
  for (guint i = 0; i < G_N_ELEMENTS (directml); i++)
    {
      g_autoptr (GError) error = NULL, join_error = NULL;
      g_autoptr (CleaveSplitAttrs) split = cleave_split_op_from_directml (
          &directml[i].input, directml[i].outputs, directml[i].n_outputs, directml[i].axis, &error);
      g_autofree CleaveAxisAttrs *join =
          cleave_concat_op_from_directml_join (directml[i].outputs, directml[i].n_outputs,
                                               &directml[i].input, directml[i].axis, &join_error);

      ck_assert_msg ((split == NULL) == (directml[i].message != NULL), "row %u", i);
      ck_assert_msg ((join == NULL) == (directml[i].message != NULL), "row %u", i);
      if (directml[i].message != NULL)
        {
          ck_assert (g_str_has_prefix (error->message, "DirectML Split: "));
          ck_assert (g_str_has_prefix (join_error->message, "DirectML Join: "));
          ck_assert_msg (g_str_has_suffix (error->message, directml[i].message), "row %u: %s", i,
                         error->message);
          ck_assert_msg (g_str_has_suffix (join_error->message, directml[i].message), "row %u: %s",
                         i, join_error->message);
          ck_assert_int_eq (error->code, (int) directml[i].code);
          continue;
        }
      ck_assert_int_eq (join->axis, directml[i].axis);
      for (guint k = 0; k < directml[i].n_outputs; k++)
        ck_assert_int_eq (g_array_index (split->sizes, gint64, k),
                          directml[i].outputs[k].shape.dim[directml[i].axis]);
    }
}
END_TEST

/* The tests below check Slices of XLA. */

static const CleaveSliceXla one_two_three[] = {
  { { 0, 0 }, { 1, 12 }, { 1, 1 } },
  { { 1, 0 }, { 3, 12 }, { 1, 1 } },
  { { 3, 0 }, { 6, 12 }, { 1, 1 } },
};

START_TEST (xla_slices_are_a_split_and_back)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT32, 6, 12);
  GError *error = NULL;
  g_autoptr (CleaveSplitAttrs) split = cleave_split_op_from_xla (&type, one_two_three, 3, &error);
  g_autoptr (GArray) slices = NULL;

  cleave_assert_no_error (error);
  slices = cleave_split_op_to_xla (&type, split);
  ck_assert_uint_eq (slices->len, 3);
  for (guint i = 0; i < 3; i++)
    {
      const CleaveSliceXla *got = &g_array_index (slices, CleaveSliceXla, i);

      ck_assert_mem_eq (got->start_indices, one_two_three[i].start_indices, 2 * sizeof (gint64));
      ck_assert_mem_eq (got->limit_indices, one_two_three[i].limit_indices, 2 * sizeof (gint64));
      ck_assert_mem_eq (got->strides, one_two_three[i].strides, 2 * sizeof (gint64));
    }
  check ("1, 2, 3", g_steal_pointer (&split), NULL, 0, AT (1, 2, 3), 3, NULL);
}
END_TEST

static const struct
{
  CleaveShape shape;
  CleaveSliceXla slices[2];
  guint n;
  gint64 axis, sizes[2];
  const char *message;
} xla[] = {
  { { 2, { 3, 4 } }, { { { 0, 0 }, { 3, 4 }, { 1, 1 } } }, 1, 0, { 3 }, NULL },
  { { 2, { 3, 4 } },
    { { { 0, 0 }, { 3, 1 }, { 1, 1 } }, { { 0, 1 }, { 3, 4 }, { 1, 1 } } },
    2,
    1,
    { 1, 3 },
    NULL },
  { { 2, { 3, 0 } },
    { { { 0, 0 }, { 3, 0 }, { 1, 1 } }, { { 0, 0 }, { 3, 0 }, { 1, 1 } } },
    2,
    1,
    { 0, 0 },
    NULL },
  { { 1, { 4 } },
    { { { 0 }, { 1 }, { 1 } }, { { 2 }, { 4 }, { 1 } } },
    2,
    0,
    { 0 },
    "XLA Slice: slice 1: dimension 0 starts at 2, but the slice before ends at 1" },
  { { 1, { 4 } },
    { { { 0 }, { 3 }, { 1 } }, { { 2 }, { 4 }, { 1 } } },
    2,
    0,
    { 0 },
    "XLA Slice: slice 1: dimension 0 starts at 2, but the slice before ends at 3" },
  { { 1, { 4 } },
    { { { 0 }, { 3 }, { 1 } } },
    1,
    0,
    { 0 },
    "XLA Slice: sizes 3 add up to 3, dimension 0 has 4" },
  { { 1, { 4 } },
    { { { 0 }, { 4 }, { 2 } } },
    1,
    0,
    { 0 },
    "XLA Slice: slice 0: stride of dimension 0 must be 1 in a split, not 2" },
  { { 1, { 4 } },
    { { { 0 }, { 4 }, { 0 } } },
    1,
    0,
    { 0 },
    "XLA Slice: slice 0: stride of dimension 0 must be at least 1, not 0" },
  { { 1, { 4 } },
    { { { 0 }, { 5 }, { 1 } } },
    1,
    0,
    { 0 },
    "XLA Slice: slice 0: start 0 and limit 5 must lie in this order between 0 and the 4 of "
    "dimension 0" },
  { { 1, { 4 } },
    { { { -1 }, { 4 }, { 1 } } },
    1,
    0,
    { 0 },
    "XLA Slice: slice 0: start -1 and limit 4 must lie in this order between 0 and the 4 of "
    "dimension 0" },
  { { 1, { 4 } },
    { { { 3 }, { 2 }, { 1 } } },
    1,
    0,
    { 0 },
    "XLA Slice: slice 0: start 3 and limit 2 must lie in this order between 0 and the 4 of "
    "dimension 0" },
  { { 2, { 3, 4 } },
    { { { 0, 0 }, { 1, 2 }, { 1, 1 } }, { { 1, 2 }, { 3, 4 }, { 1, 1 } } },
    2,
    0,
    { 0 },
    "XLA Slice: the slices cut dimension 0 and dimension 1, a split cuts one" },
  { { 0, { 0 } },
    { { { 0 }, { 0 }, { 0 } } },
    1,
    0,
    { 0 },
    "XLA Slice: a scalar has no dimension to split" },
  { { 1, { 4 } },
    { { { 0 }, { 0 }, { 0 } } },
    0,
    0,
    { 0 },
    "XLA Slice: at least one result is needed, sizes is empty" },
};

START_TEST (xla_slices_that_are_no_split_are_errors)
{
  for (guint i = 0; i < G_N_ELEMENTS (xla); i++)
    {
      GError *error = NULL;
      CleaveTensorType type = { CLEAVE_INT64, xla[i].shape };
      CleaveSplitAttrs *attrs = cleave_split_op_from_xla (&type, xla[i].slices, xla[i].n, &error);
      g_autofree char *what = g_strdup_printf ("row %u", i);

      check (what, attrs, error, xla[i].axis, xla[i].sizes, xla[i].n, xla[i].message);
    }
}
END_TEST

START_TEST (xla_slice)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 6, 12);
  CleaveSliceXla call = { { 1, 0 }, { 6, 12 }, { 2, 1 } };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree CleaveSliceAttrs *attrs = cleave_slice_op_from_xla (&type, &call, &error);

  cleave_assert_no_error (error);
  cleave_graph_add_slice (graph, "s", x, attrs, &error);
  cleave_assert_dump (
      graph, "%0 = Input : float32 6x12  # x\n%1 = Slice %0 1:6:2,0:12 : float32 3x12  # s");
  call.limit_indices[1] = 13;
  ck_assert_ptr_null (cleave_slice_op_from_xla (&type, &call, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE,
                       "XLA Slice: slice 0: start 0 and limit 13 must lie in this order between 0 "
                       "and the 12 of dimension 1");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "frameworks", directml_split_and_join, xla_slices_are_a_split_and_back,
                   xla_slices_that_are_no_split_are_errors, xla_slice, NULL);
}

CLEAVE_TEST_SUITE ("frameworks-slices", add_tests)
