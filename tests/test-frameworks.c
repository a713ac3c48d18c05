/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Every row of the tables of the seven frameworks, and every mistake that is an error. */

#include "test.h"

#include <string.h>

#define AT(...) ((const gint64[]){ __VA_ARGS__ })
#define LIST(...) AT (__VA_ARGS__), CLEAVE_COUNT_ (gint64, __VA_ARGS__)

/* What a call gives: sizes, or a message.  Fails with `what`. */
static void
check (const char *what,
       CleaveSplitAttrs *attrs,
       GError *error,
       gint64 axis,
       const gint64 *sizes,
       guint n_sizes,
       const char *message)
{
  if (message != NULL)
    {
      ck_assert_msg (attrs == NULL && error != NULL, "%s: no error, but expected: %s", what,
                     message);
      ck_assert_str_eq (error->message, message);
      g_error_free (error);
      return;
    }
  ck_assert_msg (attrs != NULL, "%s: %s", what, error == NULL ? "no error" : error->message);
  ck_assert_int_eq (attrs->axis, axis);
  ck_assert_msg (attrs->sizes->len == n_sizes, "%s: %u sizes", what, attrs->sizes->len);
  for (guint i = 0; i < n_sizes; i++)
    ck_assert_msg (g_array_index (attrs->sizes, gint64, i) == sizes[i], "%s: size %u is %d", what,
                   i, (int) g_array_index (attrs->sizes, gint64, i));
  cleave_split_attrs_free (attrs);
}

/* oneDNN Graph */

static const struct
{
  CleaveTensorType src;
  CleaveSplitOnednn call;
  gint64 axis;
  gint64 sizes[4];
  guint n_sizes;
  const char *message;
} onednn[] = {
  { { CLEAVE_FLOAT32, { 4, { 1, 6, 4, 4 } } },
    { .axis = 1, .num_splits = AT (3) },
    1,
    { 2, 2, 2 },
    3,
    NULL },
  { { CLEAVE_FLOAT32, { 4, { 1, 7, 4, 4 } } },
    { .axis = 1, .num_splits = AT (3) },
    0,
    { 0 },
    0,
    "oneDNN Split: dimension 1 has 7, which does not divide by num_splits 3" },
  { { CLEAVE_FLOAT32, { 4, { 1, 7, 4, 4 } } },
    { .axis = 1, .size_split = AT (3) },
    1,
    { 3, 3, 1 },
    3,
    NULL },
  { { CLEAVE_FLOAT32, { 4, { 1, 7, 4, 4 } } },
    { 1, NULL, NULL, LIST (1, 2, 4) },
    1,
    { 1, 2, 4 },
    3,
    NULL },
  { { CLEAVE_FLOAT32, { 4, { 1, 6, 4, 4 } } },
    { 1, AT (2), AT (5), LIST (9) },
    1,
    { 3, 3 },
    2,
    NULL },
  { { CLEAVE_FLOAT32, { 4, { 1, 6, 4, 4 } } },
    { 1, NULL, AT (4), LIST (9) },
    1,
    { 4, 2 },
    2,
    NULL },
  { { CLEAVE_INT8, { 2, { 6, 4 } } }, { .axis = -2, .num_splits = AT (1) }, 0, { 6 }, 1, NULL },
  { { CLEAVE_BOOL, { 1, { 5 } } }, { .axis = 0, .size_split = AT (9) }, 0, { 5 }, 1, NULL },
  { { CLEAVE_BFLOAT16, { 1, { 0 } } }, { .axis = 0, .size_split = AT (2) }, 0, { 0 }, 1, NULL },
  { { CLEAVE_FLOAT16, { 1, { 5 } } }, { 0, NULL, NULL, LIST (0, 5, 0) }, 0, { 0, 5, 0 }, 3, NULL },
  { { CLEAVE_FLOAT32, { 1, { 5 } } },
    { .axis = 0 },
    0,
    { 0 },
    0,
    "oneDNN Split: one of num_splits, size_split and sections_split is needed" },
  { { CLEAVE_FLOAT32, { 1, { 5 } } },
    { .axis = 1, .num_splits = AT (1) },
    0,
    { 0 },
    0,
    "oneDNN Split: axis must be between -1 and 0 for rank 1, not 1" },
  { { CLEAVE_FLOAT32, { 1, { 5 } } },
    { .axis = -2, .num_splits = AT (1) },
    0,
    { 0 },
    0,
    "oneDNN Split: axis must be between -1 and 0 for rank 1, not -2" },
  { { CLEAVE_FLOAT32, { 0, { 0 } } },
    { .axis = 0, .num_splits = AT (1) },
    0,
    { 0 },
    0,
    "oneDNN Split: a scalar has no dimension to split" },
  { { CLEAVE_FLOAT32, { 1, { 5 } } },
    { .axis = 0, .num_splits = AT (0) },
    0,
    { 0 },
    0,
    "oneDNN Split: num_splits must be at least 1, not 0" },
  { { CLEAVE_FLOAT32, { 1, { 5 } } },
    { .axis = 0, .size_split = AT (-3) },
    0,
    { 0 },
    0,
    "oneDNN Split: size_split must be at least 1, not -3" },
  { { CLEAVE_FLOAT32, { 1, { 5 } } },
    { 0, NULL, NULL, LIST (6, -1) },
    0,
    { 0 },
    0,
    "oneDNN Split: entry 1 of sections_split must be at least 0, not -1" },
  { { CLEAVE_FLOAT32, { 1, { 6 } } },
    { 0, NULL, NULL, LIST (1, 2, 2) },
    0,
    { 0 },
    0,
    "oneDNN Split: sections_split 1, 2, 2 add up to 5, dimension 0 has 6" },
  { { CLEAVE_FLOAT32, { 1, { 6 } } },
    { 0, NULL, NULL, AT (0), 0 },
    0,
    { 0 },
    0,
    "oneDNN Split: at least one result is needed, sections_split is empty" },
  { { CLEAVE_FLOAT32, { 1, { 6 } } },
    { 0, NULL, NULL, LIST (1, G_MAXINT64, 1) },
    0,
    { 0 },
    0,
    "oneDNN Split: the sum of sections_split does not fit 64 bits at entry 1" },
  { { CLEAVE_FLOAT32, { 1, { G_GINT64_CONSTANT (1) << 40 } } },
    { .axis = 0, .size_split = AT (1) },
    0,
    { 0 },
    0,
    "oneDNN Split: dimension 0 would have 1099511627776 pieces, more than 1048576" },
};

START_TEST (onednn_graph)
{
  for (guint i = 0; i < G_N_ELEMENTS (onednn); i++)
    {
      GError *error = NULL;
      CleaveSplitAttrs *attrs =
          cleave_split_op_from_onednn (&onednn[i].src, &onednn[i].call, &error);
      g_autofree char *what = g_strdup_printf ("row %u", i);

      check (what, attrs, error, onednn[i].axis, onednn[i].sizes, onednn[i].n_sizes,
             onednn[i].message);
    }
}
END_TEST

/* TensorFlow */

static const struct
{
  gint64 extent;
  CleaveSplitTensorflow call;
  gint64 sizes[6];
  guint n_sizes;
  const char *message;
} tensorflow[] = {
  { 6, { .num_splits = AT (3) }, { 2, 2, 2 }, 3, NULL },
  { 6, { .num_splits = AT (6) }, { 1, 1, 1, 1, 1, 1 }, 6, NULL },
  { 6, { .size_splits = AT (6), .n_size_splits = 1 }, { 6 }, 1, NULL },
  { 6, { .size_splits = AT (1, -1, 2), .n_size_splits = 3 }, { 1, 3, 2 }, 3, NULL },
  { 6, { .size_splits = AT (4, -1, 2), .n_size_splits = 3 }, { 4, 0, 2 }, 3, NULL },
  { 6, { .size_splits = AT (4, 0, 2), .n_size_splits = 3, .num = AT (3) }, { 4, 0, 2 }, 3, NULL },
  { 6, { .num_splits = AT (2), .num = AT (7) }, { 3, 3 }, 2, NULL },
  { 6, { .axis = -1, .num_splits = AT (2) }, { 3, 3 }, 2, NULL },
  { 7,
    { .num_splits = AT (3) },
    { 0 },
    0,
    "TensorFlow split: dimension 0 has 7, which does not divide by num_splits 3" },
  { 6,
    { .size_splits = AT (4, 2), .n_size_splits = 2, .num = AT (3) },
    { 0 },
    0,
    "TensorFlow split: num is 3, but size_splits has 2 entries" },
  { 6, { .axis = 0 }, { 0 }, 0, "TensorFlow split: num_splits or size_splits is needed" },
  { 6,
    { .num_splits = AT (2), .size_splits = AT (6), .n_size_splits = 1 },
    { 0 },
    0,
    "TensorFlow split: num_splits and size_splits are both given, only one may be" },
  { 6,
    { .size_splits = AT (-1, 2, -1), .n_size_splits = 3 },
    { 0 },
    0,
    "TensorFlow split: entries 0 and 2 of size_splits are both -1" },
  { 6,
    { .size_splits = AT (4, -1, 3), .n_size_splits = 3 },
    { 0 },
    0,
    "TensorFlow split: nothing is left for the -1 of size_splits: the others add up to 7, "
    "dimension 0 has 6" },
  { 6,
    { .size_splits = AT (4, -2), .n_size_splits = 2 },
    { 0 },
    0,
    "TensorFlow split: entry 1 of size_splits must be at least -1, not -2" },
  { 6,
    { .size_splits = AT (4, 3), .n_size_splits = 2 },
    { 0 },
    0,
    "TensorFlow split: size_splits 4, 3 add up to 7, dimension 0 has 6" },
  { 6,
    { .size_splits = AT (4), .n_size_splits = 0 },
    { 0 },
    0,
    "TensorFlow split: at least one result is needed, size_splits is empty" },
  { 6,
    { .size_splits = AT (-1, G_MAXINT64, 1), .n_size_splits = 3 },
    { 0 },
    0,
    "TensorFlow split: the sum of size_splits does not fit 64 bits at entry 2" },
  { 6,
    { .axis = 1, .num_splits = AT (2) },
    { 0 },
    0,
    "TensorFlow split: axis must be between -1 and 0 for rank 1, not 1" },
};

START_TEST (tensorflow_split)
{
  for (guint i = 0; i < G_N_ELEMENTS (tensorflow); i++)
    {
      GError *error = NULL;
      CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT32, tensorflow[i].extent);
      CleaveSplitAttrs *attrs =
          cleave_split_op_from_tensorflow (&type, &tensorflow[i].call, &error);
      g_autofree char *what = g_strdup_printf ("row %u", i);

      check (what, attrs, error, 0, tensorflow[i].sizes, tensorflow[i].n_sizes,
             tensorflow[i].message);
    }
}
END_TEST

/* PyTorch */

static const struct
{
  CleaveShape shape;
  CleaveSplitPytorch call;
  gint64 sizes[5];
  guint n_sizes;
  const char *message;
} pytorch[] = {
  { { 2, { 5, 2 } }, { .split_size = AT (2) }, { 2, 2, 1 }, 3, NULL },
  { { 2, { 5, 2 } }, { .sections = AT (1, 4), .n_sections = 2 }, { 1, 4 }, 2, NULL },
  { { 1, { 5 } }, { .dim = -1, .split_size = AT (7) }, { 5 }, 1, NULL },
  { { 1, { 13 } }, { .split_size = AT (3) }, { 3, 3, 3, 3, 1 }, 5, NULL }, /* chunk (6) */
  { { 1, { 0 } }, { .split_size = AT (0) }, { 0 }, 1, NULL },
  { { 1, { 0 } }, { .split_size = AT (3) }, { 0 }, 1, NULL },
  { { 1, { 0 } }, { .sections = AT (0, 0), .n_sections = 2 }, { 0, 0 }, 2, NULL },
  { { 1, { 5 } },
    { .split_size = AT (0) },
    { 0 },
    0,
    "PyTorch split: split_size must be at least 1, not 0" },
  { { 1, { 0 } },
    { .split_size = AT (-1) },
    { 0 },
    0,
    "PyTorch split: split_size must be at least 0, not -1" },
  { { 1, { 5 } },
    { .sections = AT (6, -1), .n_sections = 2 },
    { 0 },
    0,
    "PyTorch split: entry 1 of sections must be at least 0, not -1" },
  { { 1, { 5 } },
    { .sections = AT (1, 3), .n_sections = 2 },
    { 0 },
    0,
    "PyTorch split: sections 1, 3 add up to 4, dimension 0 has 5" },
  { { 1, { 5 } }, { .dim = 0 }, { 0 }, 0, "PyTorch split: split_size or sections is needed" },
  { { 1, { 5 } },
    { .split_size = AT (1), .sections = AT (5), .n_sections = 1 },
    { 0 },
    0,
    "PyTorch split: split_size and sections are both given, only one may be" },
  { { 0, { 0 } },
    { .split_size = AT (1) },
    { 0 },
    0,
    "PyTorch split: a scalar has no dimension to split" },
};

START_TEST (pytorch_split)
{
  for (guint i = 0; i < G_N_ELEMENTS (pytorch); i++)
    {
      GError *error = NULL;
      CleaveTensorType type = { CLEAVE_UINT16, pytorch[i].shape };
      CleaveSplitAttrs *attrs = cleave_split_op_from_pytorch (&type, &pytorch[i].call, &error);
      g_autofree char *what = g_strdup_printf ("row %u", i);

      check (what, attrs, error, 0, pytorch[i].sizes, pytorch[i].n_sizes, pytorch[i].message);
    }
}
END_TEST

/* ONNX */

static const struct
{
  gint64 extent;
  CleaveSplitOnnx call;
  gint64 sizes[4];
  guint n_sizes;
  const char *message;
} onnx[] = {
  { 6, { .opset = 1, .n_outputs = 3 }, { 2, 2, 2 }, 3, NULL },
  { 6, { .opset = 2, .n_outputs = 2, .n_split = 2, .split = AT (2, 4) }, { 2, 4 }, 2, NULL },
  { 6, { .opset = 11, .n_outputs = 2, .axis = AT (-1) }, { 3, 3 }, 2, NULL },
  { 6, { .opset = 13, .n_outputs = 3, .n_split = 3, .split = AT (0, 6, 0) }, { 0, 6, 0 }, 3, NULL },
  { 0, { .opset = 13, .n_outputs = 3, .n_split = 3, .split = AT (0, 0, 0) }, { 0, 0, 0 }, 3, NULL },
  { 6, { .opset = 17, .n_outputs = 1 }, { 6 }, 1, NULL },
  { 7, { .opset = 18, .n_outputs = 3, .num_outputs = AT (3) }, { 3, 3, 1 }, 3, NULL },
  { 9, { .opset = 18, .n_outputs = 4, .num_outputs = AT (4) }, { 3, 3, 3, 0 }, 4, NULL },
  { 6, { .opset = 18, .n_outputs = 2, .n_split = 2, .split = AT (5, 1) }, { 5, 1 }, 2, NULL },
  { 7,
    { .opset = 13, .n_outputs = 3 },
    { 0 },
    0,
    "ONNX Split: dimension 0 has 7, which does not divide by number of outputs 3" },
  { 5,
    { .opset = 18, .n_outputs = 4, .num_outputs = AT (4) },
    { 0 },
    0,
    "ONNX Split: dimension 0 has 5: with num_outputs 4, pieces of 2, less than nothing is left for "
    "the last" },
  { 5, { .opset = 18, .n_outputs = 4 }, { 0 }, 0, "ONNX Split: split or num_outputs is needed" },
  { 5,
    { .opset = 18, .n_outputs = 1, .n_split = 1, .split = AT (5), .num_outputs = AT (1) },
    { 0 },
    0,
    "ONNX Split: split and num_outputs are both given, only one may be" },
  { 5,
    { .opset = 18, .n_outputs = 4, .num_outputs = AT (5) },
    { 0 },
    0,
    "ONNX Split: num_outputs is 5 for 4 outputs" },
  { 5,
    { .opset = 17, .n_outputs = 5, .num_outputs = AT (5) },
    { 0 },
    0,
    "ONNX Split: num_outputs needs opset 18, not 17" },
  { 5,
    { .opset = 13, .n_outputs = 3, .n_split = 2, .split = AT (2, 3) },
    { 0 },
    0,
    "ONNX Split: the length of split is 2 for 3 outputs" },
  { 5,
    { .opset = 13, .n_outputs = 2, .n_split = 2, .split = AT (-1, 6) },
    { 0 },
    0,
    "ONNX Split: entry 0 of split must be at least 0, not -1" },
  { 5,
    { .opset = 13, .n_outputs = 2, .n_split = 2, .split = AT (2, 4) },
    { 0 },
    0,
    "ONNX Split: split 2, 4 add up to 6, dimension 0 has 5" },
  { 5,
    { .opset = 13, .n_outputs = 0 },
    { 0 },
    0,
    "ONNX Split: number of outputs must be at least 1, not 0" },
  { 5, { .opset = 0, .n_outputs = 1 }, { 0 }, 0, "ONNX Split: opset must be at least 1, not 0" },
  { 5,
    { .opset = 13, .n_outputs = 1, .axis = AT (1) },
    { 0 },
    0,
    "ONNX Split: axis must be between -1 and 0 for rank 1, not 1" },
};

START_TEST (onnx_split)
{
  for (guint i = 0; i < G_N_ELEMENTS (onnx); i++)
    {
      GError *error = NULL;
      CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT64, onnx[i].extent);
      CleaveSplitAttrs *attrs = cleave_split_op_from_onnx (&type, &onnx[i].call, &error);
      g_autofree char *what = g_strdup_printf ("row %u", i);

      check (what, attrs, error, 0, onnx[i].sizes, onnx[i].n_sizes, onnx[i].message);
    }
}
END_TEST

/* OpenVINO */

/* A tensor of small numbers; without rank a scalar. */
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

/* DirectML */

static const struct
{
  CleaveTensorType input;
  CleaveTensorType outputs[3];
  guint n_outputs, axis;
  CleaveError code;
  const char *message; /* NULL: it works, and so does the Join */
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

/* XLA */

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
    "XLA Slice: slice 0: start 0 and limit 5 do not lie, in this order, between 0 and the 4 of "
    "dimension 0" },
  { { 1, { 4 } },
    { { { -1 }, { 4 }, { 1 } } },
    1,
    0,
    { 0 },
    "XLA Slice: slice 0: start -1 and limit 4 do not lie, in this order, between 0 and the 4 of "
    "dimension 0" },
  { { 1, { 4 } },
    { { { 3 }, { 2 }, { 1 } } },
    1,
    0,
    { 0 },
    "XLA Slice: slice 0: start 3 and limit 2 do not lie, in this order, between 0 and the 4 of "
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
                       "XLA Slice: slice 0: start 0 and limit 13 do not lie, in this order, "
                       "between 0 and the 12 of dimension 1");
}
END_TEST

/* What comes out of a constructor is what a node takes. */
START_TEST (attributes_make_a_node)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 7, 4, 4);
  CleaveSplitOnednn call = { .axis = 1, .size_split = AT (3) };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  g_autoptr (CleaveSplitAttrs) attrs = cleave_split_op_from_onednn (&type, &call, &error);

  cleave_graph_add (graph, cleave_op_lookup ("Split"), "s", &x, 1, 3, attrs, &error);
  cleave_assert_no_error (error);
  cleave_assert_dump (graph, "%0 = Input : float32 1x7x4x4  # x\n"
                             "%1, %2, %3 = Split %0 axis=1 split=3,3,1 : float32 1x3x4x4, float32 "
                             "1x3x4x4, float32 1x1x4x4  # s");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "frameworks", onednn_graph, tensorflow_split, pytorch_split, onnx_split,
                   openvino_split_op, openvino_variadic_split, directml_split_and_join,
                   xla_slices_are_a_split_and_back, xla_slices_that_are_no_split_are_errors,
                   xla_slice, attributes_make_a_node, NULL);
}

CLEAVE_TEST_MAIN ("frameworks", add_tests)
