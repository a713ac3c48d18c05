/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Split operators whose arguments are given as texts. Other suites test the rules of each
 * framework. */

#include "framework-case.h"

static const struct
{
  const char *operator_name;
  CleaveTensorType operand;
  const char *arguments; /* arguments NAME=TEXT, separated by spaces */
  gint64 axis;
  gint64 sizes[4];
  guint n_sizes;
  const char *message;
} cases[] = {
  { "onednn",
    { CLEAVE_FLOAT32, { 4, { 1, 6, 4, 4 } } },
    "axis=1 num_splits=3",
    1,
    { 2, 2, 2 },
    3,
    NULL },
  { "onednn",
    { CLEAVE_FLOAT32, { 4, { 1, 7, 4, 4 } } },
    "axis=1 size_split=3",
    1,
    { 3, 3, 1 },
    3,
    NULL },
  { "onednn",
    { CLEAVE_FLOAT32, { 4, { 1, 7, 4, 4 } } },
    "axis=1 sections_split=1,2,4",
    1,
    { 1, 2, 4 },
    3,
    NULL },
  { "onednn",
    { CLEAVE_FLOAT32, { 4, { 1, 7, 4, 4 } } },
    "num_splits=3",
    0,
    { 0 },
    0,
    "oneDNN Split: axis is needed" },
  { "onednn",
    { CLEAVE_FLOAT32, { 1, { 6 } } },
    "axis=0 sections_split=",
    0,
    { 0 },
    0,
    "oneDNN Split: at least one result is needed, sections_split is empty" },
  { "onednn",
    { CLEAVE_FLOAT32, { 1, { 6 } } },
    "axis=0 num_split=2",
    0,
    { 0 },
    0,
    "onednn has no argument 'num_split'; its arguments are axis, num_splits, size_split, "
    "sections_split" },
  { "tensorflow", { CLEAVE_FLOAT32, { 2, { 6, 3 } } }, "num_splits=3", 0, { 2, 2, 2 }, 3, NULL },
  { "tensorflow",
    { CLEAVE_FLOAT32, { 2, { 6, 3 } } },
    "size_splits=1,-1 num=2",
    0,
    { 1, 5 },
    2,
    NULL },
  { "tensorflow", { CLEAVE_FLOAT32, { 1, { 6 } } }, "size_splits=[6]", 0, { 6 }, 1, NULL },
  { "tensorflow", { CLEAVE_FLOAT32, { 1, { 6 } } }, "size_splits=[2,4]", 0, { 2, 4 }, 2, NULL },
  { "tensorflow",
    { CLEAVE_FLOAT32, { 1, { 6 } } },
    "size_splits=6",
    0,
    { 0 },
    0,
    "TensorFlow split: size_splits expects a list such as [3,4] or [6], not '6'" },
  { "tensorflow",
    { CLEAVE_FLOAT32, { 1, { 6 } } },
    "num_splits=[6]",
    0,
    { 0 },
    0,
    "TensorFlow split: num_splits expects a whole number from -9223372036854775808 to "
    "9223372036854775807, not '[6]'" },
  { "pytorch",
    { CLEAVE_FLOAT32, { 2, { 5, -2 } } },
    "split_size=2",
    0,
    { 0 },
    0,
    "PyTorch split: dimension 1 must be at least 0, not -2" },
  { "openvino-split",
    { CLEAVE_FLOAT32, { 1, { -6 } } },
    "axis=0 num_splits=2",
    0,
    { 0 },
    0,
    "OpenVINO Split: dimension 0 must be at least 0, not -6" },
  { "directml",
    { CLEAVE_FLOAT32, { 1, { -6 } } },
    "axis=0 outputs=6",
    0,
    { 0 },
    0,
    "DirectML Split: dimension 0 must be at least 0, not -6" },
  { "xla",
    { CLEAVE_FLOAT32, { 1, { -6 } } },
    "start_indices=0 limit_indices=-6 strides=1",
    0,
    { 0 },
    0,
    "XLA Slice: dimension 0 must be at least 0, not -6" },
  { "pytorch", { CLEAVE_FLOAT32, { 2, { 5, 2 } } }, "split_size=2", 0, { 2, 2, 1 }, 3, NULL },
  { "pytorch", { CLEAVE_FLOAT32, { 2, { 5, 2 } } }, "dim=0 sections=1,4", 0, { 1, 4 }, 2, NULL },
  { "pytorch",
    { CLEAVE_FLOAT32, { 2, { 5, 2 } } },
    "split_size=two",
    0,
    { 0 },
    0,
    "PyTorch split: split_size expects a whole number from -9223372036854775808 to "
    "9223372036854775807, not 'two'" },
  { "onnx",
    { CLEAVE_FLOAT32, { 1, { 7 } } },
    "opset=18 n_outputs=3 num_outputs=3",
    0,
    { 3, 3, 1 },
    3,
    NULL },
  { "onnx",
    { CLEAVE_FLOAT32, { 1, { 7 } } },
    "opset=13 n_outputs=2 axis=-1 split=3,4",
    0,
    { 3, 4 },
    2,
    NULL },
  { "onnx",
    { CLEAVE_FLOAT32, { 1, { 7 } } },
    "opset=13",
    0,
    { 0 },
    0,
    "ONNX Split: n_outputs is needed" },
  { "openvino-split",
    { CLEAVE_FLOAT32, { 4, { 6, 12, 10, 24 } } },
    "axis=1 num_splits=3",
    1,
    { 4, 4, 4 },
    3,
    NULL },
  { "openvino-variadic-split",
    { CLEAVE_FLOAT32, { 4, { 6, 12, 10, 24 } } },
    "axis=0 split_lengths=-1,2",
    0,
    { 4, 2 },
    2,
    NULL },
  { "openvino-variadic-split",
    { CLEAVE_FLOAT32, { 4, { 6, 12, 10, 24 } } },
    "axis=0",
    0,
    { 0 },
    0,
    "OpenVINO VariadicSplit: split_lengths is needed" },
  { "directml",
    { CLEAVE_INT8, { 4, { 1, 1, 6, 2 } } },
    "axis=2 outputs=1,1,2,2/1,1,1,2/1,1,3,2",
    2,
    { 2, 1, 3 },
    3,
    NULL },
  { "directml",
    { CLEAVE_INT8, { 4, { 1, 1, 6, 2 } } },
    "outputs=1,1,2,2",
    0,
    { 0 },
    0,
    "DirectML Split: axis is needed" },
  { "xla",
    { CLEAVE_FLOAT32, { 2, { 6, 3 } } },
    "start_indices=0,0/1,0 limit_indices=1,3/6,3 strides=1,1/1,1",
    0,
    { 1, 5 },
    2,
    NULL },
  { "xla",
    { CLEAVE_FLOAT32, { 2, { 6, 3 } } },
    "start_indices=0,0/1,0 limit_indices=1,3 strides=1,1/1,1",
    0,
    { 0 },
    0,
    "XLA Slice: limit_indices has 1 slices, start_indices has 2" },
  { "xla",
    { CLEAVE_FLOAT32, { 2, { 6, 3 } } },
    "start_indices=0,0/1,0,0 limit_indices=1,3/6,3 strides=1,1/1,1",
    0,
    { 0 },
    0,
    "XLA Slice: slice 1: start_indices has 3 numbers for 2 dimensions" },
  { "caffe",
    { CLEAVE_FLOAT32, { 1, { 6 } } },
    "axis=0",
    0,
    { 0 },
    0,
    "there is no split operator 'caffe'; expected onednn, tensorflow, pytorch, onnx, "
    "openvino-split, openvino-variadic-split, directml or xla" },
};

START_TEST (texts_give_the_sizes_of_each_framework_or_an_error)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GHashTable) arguments = g_hash_table_new (g_str_hash, g_str_equal);
      g_auto (GStrv) words = g_strsplit (cases[i].arguments, " ", -1);
      GError *error = NULL;
      CleaveSplitAttrs *attrs;

      for (guint j = 0; words[j] != NULL; j++)
        {
          char *equals = strchr (words[j], '=');

          *equals = '\0';
          g_hash_table_insert (arguments, words[j], equals + 1);
        }
      attrs =
          cleave_split_op_from_texts (cases[i].operator_name, &cases[i].operand, arguments, &error);
      check (cases[i].arguments, attrs, error, cases[i].axis, cases[i].sizes, cases[i].n_sizes,
             cases[i].message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "texts", texts_give_the_sizes_of_each_framework_or_an_error, NULL);
}

CLEAVE_TEST_SUITE ("frameworks-texts", add_tests)
