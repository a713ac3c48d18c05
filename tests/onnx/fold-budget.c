/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the work that constant folding may do, with files of some hundred bytes whose constant
 * nodes need much work. An import or a pass that computed these nodes would not finish before the
 * timeout of the suite. */

#include "test.h"

#include "model-node.h"

typedef struct
{
  const char *op;
  const char *operands, *attrs; /* as in the arguments of model_of_node() */
  const char *error; /* error message of the import; NULL: the import succeeds, whether it folds the
                        node or not */
} Hostile;

/* clang-format off */
static const Hostile hostiles[] = {
  { "LRN", "1x262144x1", .attrs = "size=262143" },
  { "AveragePool", "1x1x262144", .attrs = "kernel_shape=131072," },
  { "MaxPool", "1x1x262144", .attrs = "kernel_shape=131072," },
  { "LpPool", "1x1x262144", .attrs = "kernel_shape=131072, p=3" },
  { "MaxPool", "1x1x512x512", .attrs = "kernel_shape=255,255 pads=127,127,127,127" },
  { "AveragePool", "1x1x4", .attrs = "kernel_shape=60000, pads=59999,59999 count_include_pad=1" },
  { "Conv", "1x1x262144 1x1x131072", .attrs = "" },
  { "ConvTranspose", "1x1x131072 1x1x131072", .attrs = "" },
  { "ConvInteger", "u8:1x1x262144 u8:1x1x131072", .attrs = "" },
  { "MatMul", "512x512 512x512", .attrs = "" },
  { "MatMulInteger", "u8:1024x1024 u8:1024x1024", .attrs = "" },
  { "Gemm", "512x512 512x512", .attrs = "transA=1" },
  { "Einsum", "262144 262144 262144", .attrs = "equation=i,j,k->" },
  { "DFT", "1x131072x1", .attrs = "" },
  { "STFT", "1x262144x1 =1 - =131072", .attrs = "" },
  { "Det", "64x64x64", .attrs = "" },
  { "RNN", "8192x1x32 1x128x32 1x128x128", .attrs = "hidden_size=128" },
  { "GRU", "512x16x32 1x384x32 1x384x128", .attrs = "hidden_size=128" },
  { "LSTM", "512x16x32 1x512x32 1x512x128", .attrs = "hidden_size=128" },
  { "RoiAlign", "1x1x8x8 512x4 i64:512", .attrs = "output_height=16 output_width=16 sampling_ratio=4096" },
  { "RoiAlign", "1x1x8x8 512x4 i64:512", .attrs = "output_height=16 output_width=16" },
  { "MaxRoiPool", "1x1x512x512 1024x5", .attrs = "pooled_shape=8,8" },
  { "Resize", "1x1x1x1x1x1x1x8 - ~2,2,2,2,2,2,2,128", .attrs = "mode=cubic" },
  { "TfIdfVectorizer", "i64:131072", .attrs = "mode=TF min_gram_length=2 max_gram_length=2 max_skip_count=131072 "
    "ngram_counts=0,0 ngram_indexes=0, pool_int64s=1,1" },
  { "TopK", "64x4096 =4096", .attrs = "" },
  { "NonMaxSuppression", "1x16384x4 1x1x16384 =16384", .attrs = "",
    .error = "NonMaxSuppression 'n': it takes more work than constant folding may do for a file of this size" },
  { "CumSum", "i64:1099511627776x0 =1", .attrs = "" },
  { "TopK", "1099511627776x0 =0", .attrs = "axis=1" },
  { "Softmax", "1099511627776x0", .attrs = "axis=1" },
  { "Softmax", "0x1099511627776", .attrs = "axis=0" },
  { "Hardmax", "1099511627776x0", .attrs = "axis=1" },
  { "LpNormalization", "1099511627776x0", .attrs = "axis=1" },
  { "InstanceNormalization", "1099511627776x1x0 1 1", .attrs = "" },
  { "LRN", "1099511627776x0x1", .attrs = "size=3" },
  { "Transpose", "1099511627776x0", .attrs = "perm=1,0" },
  { "Gather", "5x0 i64:1048576", .attrs = "axis=0" },
  { "GatherElements", "1099511627776x0 i64:1099511627776x0", .attrs = "axis=0" },
  { "ScatterElements", "1099511627776x0 i64:1099511627776x0 1099511627776x0", .attrs = "axis=1" },
  { "ReverseSequence", "0x1099511627776 i64:1099511627776", .attrs = "" },
  { "Unique", "1099511627776x0", .attrs = "axis=0",
    .error = "Unique 'n': operand 0 has too many elements" },
  { "NonZero", "1099511627776x0", .attrs = "" },
  { "ReduceSum", "1099511627776x0", .attrs = "keepdims=0" },
  { "ReduceL2", "0x1099511627776x0", .attrs = "keepdims=0" },
  { "ReduceMax", "0x1099511627776", .attrs = "axes=0, keepdims=0" },
  { "GlobalAveragePool", "1099511627776x0x4x4", .attrs = "" },
  { "Einsum", "1099511627776x0", .attrs = "equation=ij->" },
  { "MatMul", "0x1099511627776 1099511627776x0", .attrs = "" },
  { "DynamicQuantizeLinear", "1099511627776x0", .attrs = "" },
  { "OneHot", "i64:8 =1099511627776 2", .attrs = "" },
  { "Range", "=0 =1099511627776 =1", .attrs = "" },
  { "Expand", "1 =1099511627776", .attrs = "" },
  { "Tile", "1 =1099511627776", .attrs = "" },
  { "Pad", "1 =0,1099511627776", .attrs = "" },
  { "EyeLike", "262144x262144", .attrs = "" },
};
/* clang-format on */

START_TEST (a_small_file_gets_a_small_folding_budget)
{
  const Hostile *hostile = &hostiles[_i];
  g_autoptr (Model) model = model_of_node (17, hostile->op, hostile->operands, hostile->attrs, "y");
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = model_import (model, &error);

  if (hostile->error != NULL)
    {
      ck_assert_msg (graph == NULL, "%s", hostile->op);
      ck_assert_str_eq (error->message, hostile->error);
      return;
    }
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  ck_assert (cleave_pass_fold_constants (graph, NULL, NULL, &error));
}
END_TEST

/* The import needs the value of a node that reads only constants, but the work exceeds the budget.
 */
START_TEST (a_needed_value_beyond_the_budget_is_an_error)
{
  g_autoptr (Model) model = model_new (17);
  CleaveInts shape = CLEAVE_INTS (1, 1, 262144), kernel = CLEAVE_INTS (131072);

  model_add_ints (model, "s", &shape);
  model_add_node (model, "ConstantOfShape", "fill", "s", "x");
  node_add_ints (model_add_node (model, "MaxPool", "pool", "x", "p"), "kernel_shape", &kernel);
  node_add_int (model_add_node (model, "Cast", "cast", "p", "i"), "to", 7);
  model_add_node (model, "Reshape", "n", "x i", "y");
  model_add_output (model, "y");
  model_assert_error (
      model, CLEAVE_ERROR_MODEL,
      "Reshape 'n': shape takes more work than constant folding may do for a file of this size");
}
END_TEST

/* All nodes of a model share one budget for constant folding. The 2000 constant nodes of this model
 * exceed the budget together, so most of them are not folded. */
START_TEST (all_nodes_share_one_budget)
{
  g_autoptr (Model) model = model_new (17);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  CleaveInts shape = CLEAVE_INTS (1, 64, 4096);

  model_add_ints (model, "s", &shape);
  model_add_node (model, "ConstantOfShape", "fill", "s", "x0");
  for (guint i = 0; i < 2000; i++)
    {
      g_autofree char *x = g_strdup_printf ("x%u", i), *y = g_strdup_printf ("x%u", i + 1);

      model_add_node (model, i % 2 == 0 ? "Softmax" : "Erf", y, x, y);
    }
  model_add_output (model, "x2000");
  graph = model_import (model, &error);
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  ck_assert (cleave_pass_fold_constants (graph, NULL, NULL, &error));
  ck_assert_uint_gt (cleave_graph_get_n_nodes (graph), 1000);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *table = tcase_create ("files");

  tcase_add_loop_test (table, a_small_file_gets_a_small_folding_budget, 0, G_N_ELEMENTS (hostiles));
  suite_add_tcase (suite, table);
  cleave_add_case (suite, "budget", a_needed_value_beyond_the_budget_is_an_error,
                   all_nodes_share_one_budget, NULL);
}

CLEAVE_TEST_SUITE ("fold-budget", add_tests)
