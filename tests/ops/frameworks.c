/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the Split operators whose axis and sizes are attributes. */

#include "framework-case.h"

/* The tests below check the Split of oneDNN Graph. */

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

/* The tests below check the Split operators of TensorFlow. */

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

/* The tests below check the Split of PyTorch. */

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
  { { 1, { 13 } }, { .split_size = AT (3) }, { 3, 3, 3, 3, 1 }, 5, NULL }, /* torch.chunk (x, 6) has
                                                                            * these sizes */
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

/* The tests below check the Split of ONNX. */

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
    "ONNX Split: dimension 0 has 5: with num_outputs 4, pieces of 2, the last piece would have "
    "less than 0" },
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

/* The attributes that a constructor returns are accepted by a node. */
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
                   attributes_make_a_node, NULL);
}

CLEAVE_TEST_SUITE ("frameworks", add_tests)
