/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests element types and tensor types: sizes, names, bytes, and types that are errors. */

#include "test.h"

START_TEST (elements_have_a_size_and_a_name)
{
  const struct
  {
    CleaveElement element;
    gsize size;
    const char *name;
  } rows[] = {
    { CLEAVE_FLOAT32, 4, "float32" }, { CLEAVE_FLOAT64, 8, "float64" },
    { CLEAVE_FLOAT16, 2, "float16" }, { CLEAVE_BFLOAT16, 2, "bfloat16" },
    { CLEAVE_INT8, 1, "int8" },       { CLEAVE_INT64, 8, "int64" },
    { CLEAVE_UINT16, 2, "uint16" },   { CLEAVE_UINT64, 8, "uint64" },
    { CLEAVE_BOOL, 1, "bool" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      ck_assert_uint_eq (cleave_element_size (rows[i].element), rows[i].size);
      ck_assert_str_eq (cleave_element_get_name (rows[i].element), rows[i].name);
    }
  ck_assert (cleave_element_is_float (CLEAVE_BFLOAT16));
  ck_assert (!cleave_element_is_float (CLEAVE_INT32));
}
END_TEST

START_TEST (bytes_count_the_elements)
{
  CleaveTensorType image = CLEAVE_TYPE (CLEAVE_FLOAT16, 1, 3, 5, 7);
  CleaveTensorType scalar = CLEAVE_SCALAR (CLEAVE_INT64), empty = CLEAVE_TYPE (CLEAVE_INT8, 4, 0);

  ck_assert_int_eq (cleave_tensor_type_n_bytes (&image), 210);
  ck_assert_int_eq (cleave_tensor_type_n_bytes (&scalar), 8);
  ck_assert_int_eq (cleave_tensor_type_n_bytes (&empty), 0);
}
END_TEST

START_TEST (impossible_types_are_errors)
{
  const struct
  {
    CleaveTensorType type;
    CleaveError code;
    const char *message;
  } rows[] = {
    { { CLEAVE_NONE, { 0 } }, CLEAVE_ERROR_ELEMENT_TYPE, "there is no element type 0" },
    { { CLEAVE_INT8, { 9, { 0 } } }, CLEAVE_ERROR_SHAPE, "the rank must be at most 8, not 9" },
    { CLEAVE_TYPE (CLEAVE_INT8, 2, -1), CLEAVE_ERROR_SHAPE,
      "dimension 1 must be at least 0, not -1" },
    { CLEAVE_TYPE (CLEAVE_FLOAT32, G_MAXINT32, G_MAXINT32, 2), CLEAVE_ERROR_SHAPE,
      "float32 2147483647x2147483647x2 has more bytes than 64 bits can count" },
    { CLEAVE_TYPE (CLEAVE_FLOAT32, 0, G_MAXINT64), /* an empty type whose strides would overflow */
      CLEAVE_ERROR_SHAPE, "float32 0x9223372036854775807 has more bytes than 64 bits can count" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      ck_assert (!cleave_tensor_type_check (&rows[i].type, &error));
      cleave_assert_error (&error, rows[i].code, rows[i].message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "types", elements_have_a_size_and_a_name, bytes_count_the_elements,
                   impossible_types_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("type", add_tests)
