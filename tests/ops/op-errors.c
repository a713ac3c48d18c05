/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests illegal operands and attributes that no suite of a single op covers: extents near 2^63,
 * missing elements, lists of a wrong length. */

#include "test.h"

#define MOST G_MAXINT64 /* the largest extent that a shape can have */
#define MAX_TYPES 3
#define BYTES(...) CLEAVE_TYPE (CLEAVE_UINT8, __VA_ARGS__)
#define F32(...) CLEAVE_TYPE (CLEAVE_FLOAT32, __VA_ARGS__)
#define I64(...) CLEAVE_TYPE (CLEAVE_INT64, __VA_ARGS__)

/* Adds an op of this name to a graph with inputs of these types, and asserts the error. */
static void
assert_wrong (const char *op,
              const CleaveTensorType *types,
              guint n,
              gpointer attrs,
              CleaveError code,
              const char *message)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *operands[MAX_TYPES];
  g_autofree char *expected = g_strdup_printf ("%s 'n': %s", op, message);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("i%u", i);

      operands[i] = cleave_graph_add_input (graph, name, &types[i], &error);
      cleave_assert_no_error (error);
    }
  ck_assert_ptr_null (
      cleave_graph_add (graph, cleave_op_lookup (op), "n", operands, n, 1, attrs, &error));
  cleave_assert_error (&error, code, expected);
  ck_assert_uint_eq (cleave_graph_get_n_nodes (graph), n);
}

#define WRONG(op, types, attrs, code, message)                                                     \
  assert_wrong (op, (const CleaveTensorType[]) types,                                              \
                sizeof ((const CleaveTensorType[]) types) / sizeof (CleaveTensorType), attrs,      \
                CLEAVE_ERROR_##code, message)
#define LIST(...)                                                                                  \
  {                                                                                                \
    __VA_ARGS__                                                                                    \
  }

START_TEST (extents_must_fit_into_64_bits)
{
  CleaveAxisAttrs concat = { .axis = 0 };
  CleaveConvTransposeAttrs transpose = { .strides = CLEAVE_INTS (G_MAXINT32) };
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (1) };

  WRONG ("Concat", LIST (BYTES (MOST), BYTES (MOST)), &concat, SHAPE,
         "the sum of dimension 0 does not fit 64 bits at operand 1");
  WRONG ("ConvTranspose", LIST (F32 (1, 1, (gint64) 1 << 40), F32 (1, 1, 1)), &transpose, SHAPE,
         "the extent of spatial dimension 0 does not fit 64 bits");
  WRONG ("MaxPool", LIST (BYTES (1, 1, MOST)), &pool, SHAPE, "spatial dimension 0 is too long");
}
END_TEST

START_TEST (required_elements_must_exist)
{
  CleaveConvTransposeAttrs transpose = { 0 };
  CleaveGridSampleAttrs grid = { 0 };
  CleaveRoiAlignAttrs roi = { .output_height = 1, .output_width = 1, .spatial_scale = 1 };

  WRONG ("ConvTranspose", LIST (F32 (1, 0, 4), F32 (0, 1, 3)), &transpose, SHAPE,
         "W has no channels, or too many");
  WRONG ("ConvTranspose", LIST (F32 (1, 1, 4), F32 (1, 1, 0)), &transpose, SHAPE,
         "the kernel has extent 0 in spatial dimension 0");
  WRONG ("GridSample", LIST (F32 (1, 1, 0, 4), F32 (1, 2, 2, 2)), &grid, SHAPE,
         "dimension 2 of X is empty");
  WRONG ("RoiAlign", LIST (F32 (1, 1, 0, 4), F32 (2, 4), I64 (2)), &roi, SHAPE,
         "X has no images, no rows or no columns");
}
END_TEST

START_TEST (element_types_must_be_valid)
{
  CleaveCastAttrs none = { CLEAVE_NONE }, past = { CLEAVE_N_ELEMENTS };

  WRONG ("Cast", LIST (F32 (1)), &none, ATTRIBUTE, "to has no value 0");
  WRONG ("Cast", LIST (F32 (1)), &past, ATTRIBUTE, "to has no value 14");
}
END_TEST

START_TEST (lists_must_have_the_right_length)
{
  CleaveMaxUnpoolAttrs output = { .kernel_shape = CLEAVE_INTS (2),
                                  .output_shape = CLEAVE_INTS (1) };
  CleaveMaxUnpoolAttrs small = { .kernel_shape = CLEAVE_INTS (1), .pads = CLEAVE_INTS (4, 0) };
  CleaveMaxUnpoolAttrs plain = { .kernel_shape = CLEAVE_INTS (2) };
  CleaveGatherNdAttrs gather = { 0 };

  WRONG ("MaxUnpool", LIST (F32 (1, 1, 4), I64 (1, 1, 4)), &output, ATTRIBUTE,
         "output_shape has 1 entries, not 3");
  WRONG ("MaxUnpool", LIST (F32 (1, 1, 4), I64 (1, 1, 4)), &small, SHAPE,
         "dimension 2, 4, cannot be a result of this pooling");
  WRONG ("MaxUnpool", LIST (F32 (1, 1, 4), I64 (1, 1, 5)), &plain, SHAPE,
         "X and I have different shapes");
  WRONG ("GatherND", LIST (F32 (1, 1, 1, 1, 1, 1), I64 (1, 1, 1, 1, 1)), &gather, SHAPE,
         "the result would have rank 9, more than 8");
}
END_TEST

START_TEST (attributes_of_a_range_have_one_type)
{
  CleaveTensorType one = CLEAVE_SCALAR (CLEAVE_FLOAT32), two = F32 (2);
  g_autoptr (CleaveTensor) number = cleave_tensor_new (&one, NULL);
  g_autoptr (CleaveTensor) numbers = cleave_tensor_new (&two, NULL);
  g_autoptr (CleaveTensor) integer = cleave_tensor_new (&CLEAVE_SCALAR (CLEAVE_INT64), NULL);
  CleaveRangeAttrs missing = { .start = number, .limit = number };
  CleaveRangeAttrs several = { .start = number, .limit = numbers, .delta = number };
  CleaveRangeAttrs mixed = { .start = number, .limit = number, .delta = integer };
  CleaveFillAttrs deep = { .shape = { .n = 9 } };

  assert_wrong ("Range", NULL, 0, &missing, CLEAVE_ERROR_ATTRIBUTE, "delta is missing");
  assert_wrong ("Range", NULL, 0, &several, CLEAVE_ERROR_ATTRIBUTE,
                "limit must have one element, not 2");
  assert_wrong ("Range", NULL, 0, &mixed, CLEAVE_ERROR_ELEMENT_TYPE,
                "delta must be float32 as start is, not int64");
  assert_wrong ("ConstantOfShape", NULL, 0, &deep, CLEAVE_ERROR_ATTRIBUTE,
                "shape has rank 9, more than 8");
}
END_TEST

START_TEST (names_of_ops_and_modes_must_be_known)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResizeAttrs resize = { .coordinate_transformation_mode = CLEAVE_RESIZE_TF_CROP_AND_RESIZE,
                               .scales = { .n = 1, .v = { 2 } },
                               .roi = { .n = 2, .v = { 0, (double) INFINITY } } };

  WRONG ("Resize", LIST (F32 (4)), &resize, ATTRIBUTE, "entry 1 of roi is inf");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "errors", extents_must_fit_into_64_bits, required_elements_must_exist,
                   element_types_must_be_valid, lists_must_have_the_right_length,
                   attributes_of_a_range_have_one_type, names_of_ops_and_modes_must_be_known, NULL);
}

CLEAVE_TEST_SUITE ("op-errors", add_tests)
