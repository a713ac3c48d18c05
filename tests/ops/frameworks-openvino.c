/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Split operators whose axis and sizes are tensors. */

#include "framework-case.h"

#include <string.h>

/* Returns a tensor of these numbers; a scalar if `rank` is 0. */
static CleaveTensor *
numbers (CleaveElement element, guint rank, const gint64 *values, guint n)
{
  CleaveTensorType type = { element, { rank, { n, 1 } } };
  CleaveTensor *tensor = cleave_tensor_new (&type, NULL);
  gsize size = cleave_element_size (element);

  for (guint i = 0; i < n; i++)
    memcpy ((char *) cleave_tensor_get_mutable_data (tensor) + i * size, &values[i], size);
  return tensor;
}

static const struct
{
  gint64 axis, num_splits;
  CleaveElement element;
  guint axis_rank;
  gint64 sizes[4];
  guint n_sizes;
  const char *message;
} openvino_split[] = {
  { 1, 3, CLEAVE_INT64, 0, { 4, 4, 4 }, 3, NULL },
  { -3, 3, CLEAVE_INT8, 0, { 4, 4, 4 }, 3, NULL },
  { 1, 1, CLEAVE_UINT64, 0, { 12 }, 1, NULL },
  { 1,
    5,
    CLEAVE_INT32,
    0,
    { 0 },
    0,
    "OpenVINO Split: dimension 1 has 12, which does not divide by num_splits 5" },
  { 1,
    13,
    CLEAVE_INT32,
    0,
    { 0 },
    0,
    "OpenVINO Split: num_splits must be between 1 and 12, the size of dimension 1, not 13" },
  { 1, 0, CLEAVE_INT32, 0, { 0 }, 0, "OpenVINO Split: num_splits must be at least 1, not 0" },
  { 4,
    2,
    CLEAVE_UINT8,
    0,
    { 0 },
    0,
    "OpenVINO Split: axis must be between -4 and 3 for rank 4, not 4" },
  { 1, 3, CLEAVE_INT64, 1, { 0 }, 0, "OpenVINO Split: axis must be a scalar, not of shape [1]" },
  { 1,
    3,
    CLEAVE_FLOAT32,
    0,
    { 0 },
    0,
    "OpenVINO Split: axis must be of an integer type, not float32" },
};

START_TEST (openvino_split_op)
{
  CleaveTensorType data = CLEAVE_TYPE (CLEAVE_BOOL, 6, 12, 10, 24);

  for (guint i = 0; i < G_N_ELEMENTS (openvino_split); i++)
    {
      GError *error = NULL;
      g_autoptr (CleaveTensor) axis = numbers (
          openvino_split[i].element, openvino_split[i].axis_rank, &openvino_split[i].axis, 1);
      CleaveSplitAttrs *attrs =
          cleave_split_op_from_openvino_split (&data, axis, openvino_split[i].num_splits, &error);
      g_autofree char *what = g_strdup_printf ("row %u", i);

      check (what, attrs, error, 1, openvino_split[i].sizes, openvino_split[i].n_sizes,
             openvino_split[i].message);
    }
}
END_TEST

static const struct
{
  guint axis_rank;
  CleaveElement element;
  guint lengths_rank;
  const gint64 *lengths;
  guint n_lengths;
  gint64 sizes[4];
  guint n_sizes;
  const char *message;
} openvino_variadic[] = {
  { 0, CLEAVE_INT64, 1, LIST (1, 2, 3), { 1, 2, 3 }, 3, NULL },
  { 1, CLEAVE_INT32, 1, LIST (-1, 2), { 4, 2 }, 2, NULL },
  { 0, CLEAVE_INT8, 1, LIST (6, 0, -1), { 6, 0, 0 }, 3, NULL },
  { 0, CLEAVE_UINT16, 1, LIST (6), { 6 }, 1, NULL },
  { 0,
    CLEAVE_INT64,
    1,
    LIST (-1, -1),
    { 0 },
    0,
    "OpenVINO VariadicSplit: entries 0 and 1 of split_lengths are both -1" },
  { 0,
    CLEAVE_INT64,
    1,
    LIST (-1, 7),
    { 0 },
    0,
    "OpenVINO VariadicSplit: nothing is left for the -1 of split_lengths: the others add up to 7, "
    "dimension 0 has 6" },
  { 0,
    CLEAVE_INT16,
    1,
    LIST (-2, 8),
    { 0 },
    0,
    "OpenVINO VariadicSplit: entry 0 of split_lengths must be at least -1, not -2" },
  { 0,
    CLEAVE_INT64,
    1,
    LIST (1, 2),
    { 0 },
    0,
    "OpenVINO VariadicSplit: split_lengths 1, 2 add up to 3, dimension 0 has 6" },
  { 0,
    CLEAVE_UINT64,
    1,
    LIST (-1, 2),
    { 0 },
    0,
    "OpenVINO VariadicSplit: the sum of split_lengths does not fit 64 bits at entry 1" },
  { 0,
    CLEAVE_FLOAT64,
    1,
    LIST (6),
    { 0 },
    0,
    "OpenVINO VariadicSplit: axis must be of an integer type, not float64" },
  { 0,
    CLEAVE_INT64,
    0,
    LIST (6),
    { 0 },
    0,
    "OpenVINO VariadicSplit: split_lengths must have 1 dimension, not 0" },
  { 2,
    CLEAVE_INT64,
    1,
    LIST (6),
    { 0 },
    0,
    "OpenVINO VariadicSplit: axis must be a scalar or of shape [1], not of shape [1x1]" },
  { 0,
    CLEAVE_INT64,
    1,
    AT (0),
    0,
    { 0 },
    0,
    "OpenVINO VariadicSplit: at least one result is needed, split_lengths is empty" },
};

START_TEST (openvino_variadic_split)
{
  CleaveTensorType data = CLEAVE_TYPE (CLEAVE_FLOAT16, 6, 12, 10, 24);

  for (guint i = 0; i < G_N_ELEMENTS (openvino_variadic); i++)
    {
      GError *error = NULL;
      g_autoptr (CleaveTensor) axis =
          numbers (openvino_variadic[i].element, openvino_variadic[i].axis_rank, AT (0), 1);
      g_autoptr (CleaveTensor) lengths =
          numbers (openvino_variadic[i].element, openvino_variadic[i].lengths_rank,
                   openvino_variadic[i].lengths, openvino_variadic[i].n_lengths);
      CleaveSplitAttrs *attrs =
          cleave_split_op_from_openvino_variadic (&data, axis, lengths, &error);
      g_autofree char *what = g_strdup_printf ("row %u", i);

      check (what, attrs, error, 0, openvino_variadic[i].sizes, openvino_variadic[i].n_sizes,
             openvino_variadic[i].message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "frameworks", openvino_split_op, openvino_variadic_split, NULL);
}

CLEAVE_TEST_SUITE ("frameworks-openvino", add_tests)
