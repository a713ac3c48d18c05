/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op ConvTranspose. A chunk is a range of the result, and a slice is the range of an operand
 * that a chunk reads. */

#include "graphs.h"
#include "op-case.h"

#define INTS(...)                                                                                  \
  {                                                                                                \
    CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ }                                           \
  }

static CleaveResult *
add_conv_transpose (CleaveGraph *graph,
                    CleaveShape x,
                    CleaveShape w,
                    gint64 b,
                    const CleaveConvTransposeAttrs *attrs,
                    GError **error)
{
  return cleave_test_add (
      graph, "ConvTranspose", "deconv",
      (CleaveResult *[]){ cleave_case_input (graph, "x", x), cleave_case_input (graph, "w", w),
                          b == 0 ? NULL : cleave_case_input (graph, "b", CLEAVE_SHAPE (b)) },
      3, attrs, error);
}

START_TEST (shapes_are_inferred_or_an_error_gives_the_reason)
{
  static const struct
  {
    CleaveShape x, w;
    gint64 b;
    CleaveConvTransposeAttrs attrs;
    const char *expected;
  } cases[] = {
    { INTS (1, 3, 4, 5), INTS (3, 2, 3, 3), 2, { 0 }, "float32 1x2x6x7" },
    { INTS (1, 4, 5, 3),
      INTS (3, 2, 3, 3),
      0,
      { .layout = CLEAVE_LAYOUT_NHWC },
      "float32 1x6x7x2" },
    { INTS (1, 3, 4),
      INTS (3, 2, 3),
      0,
      { .strides = INTS (2), .pads = INTS (1, 1) },
      "float32 1x2x7" },
    { INTS (1, 3, 4),
      INTS (3, 2, 3),
      0,
      { .strides = INTS (2), .pads = INTS (1, 1), .output_padding = INTS (1) },
      "float32 1x2x8" },
    { INTS (1, 4, 4), INTS (4, 3, 2), 6, { .group = 2, .dilations = INTS (3) }, "float32 1x6x7" },
    { INTS (1, 3, 4),
      INTS (4, 2, 3),
      0,
      { 0 },
      "ConvTranspose 'deconv': W expects 4 channels in 1 groups, X has 3" },
    { INTS (1, 3, 4),
      INTS (3, 2, 3),
      0,
      { .group = 2 },
      "ConvTranspose 'deconv': W expects 3 channels in 2 groups, X has 3" },
    { INTS (1, 4, 4),
      INTS (4, 2, 3),
      2,
      { .group = 2 },
      "ConvTranspose 'deconv': B has 2 elements, but W has 4 output channels" },
    { INTS (1, 1, 2),
      INTS (1, 1, 1),
      0,
      { .pads = INTS (1, 1) },
      "ConvTranspose 'deconv': pads remove all 2 elements of spatial dimension 0" },
    { INTS (1, 1, 2),
      INTS (1, 1, 1),
      0,
      { .strides = INTS (2), .output_padding = INTS (2) },
      "ConvTranspose 'deconv': output_padding must be less than the stride or the dilation, 2, not "
      "2" },
    { INTS (1, 1, 0),
      INTS (1, 1, 1),
      0,
      { 0 },
      "ConvTranspose 'deconv': X is empty in spatial dimension 0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      GError *error = NULL;
      CleaveResult *y =
          add_conv_transpose (graph, cases[i].x, cases[i].w, cases[i].b, &cases[i].attrs, &error);

      cleave_assert_infers (y, &error, cases[i].expected);
    }
}
END_TEST

/* Each case has a chunk along W, and the slices that the chunk reads. The operand has one channel
 * and 5 elements. */
START_TEST (a_chunk_is_selected_by_pads_and_output_padding)
{
  static const struct
  {
    gint64 kernel;
    CleaveConvTransposeAttrs attrs;
    const char *chunk, *expected;
  } cases[] = {
    /* 7 result elements: element o reads the operand elements o - 2 ... o */
    { 3, { 0 }, "0:1,0:1,0:3", "0:1,0:1,0:3 0:1,0:1,0:3 pads=0,2" },
    { 3, { 0 }, "0:1,0:1,3:7", "0:1,0:1,1:5 0:1,0:1,0:3 pads=2,0" },
    /* 11 result elements, stride 2: element o reads the operand elements (o - 2) / 2 ... o / 2 */
    { 3, { .strides = INTS (2) }, "0:1,0:1,4:8", "0:1,0:1,1:4 0:1,0:1,0:3 strides=2 pads=2,1" },
    /* 13 result elements, stride 3, kernel 1: two of three result elements read nothing */
    { 1,
      { .strides = INTS (3) },
      "0:1,0:1,3:6",
      "0:1,0:1,1:2 0:1,0:1,0:1 strides=3 output_padding=2" },
    { 1,
      { .strides = INTS (3) },
      "0:1,0:1,4:6",
      "0:1,0:1,1:2 0:1,0:1,0:1 strides=3 pads=1,0 output_padding=2" },
    { 3,
      { .strides = INTS (2), .pads = INTS (1, 1), .output_padding = INTS (1) },
      "0:1,0:1,8:10",
      "0:1,0:1,3:5 0:1,0:1,0:3 strides=2 pads=3,0" },
    /* with a pad of 1, result element 1 reads the operand elements 0 and 1, and result element 7
     * reads 3 and 4 */
    { 3,
      { .strides = INTS (2), .pads = INTS (1, 1) },
      "0:1,0:1,0:2",
      "0:1,0:1,0:2 0:1,0:1,0:3 strides=2 pads=1,2" },
    { 3,
      { .strides = INTS (2), .pads = INTS (1, 1) },
      "0:1,0:1,7:9",
      "0:1,0:1,3:5 0:1,0:1,0:3 strides=2 pads=2,1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *y =
          add_conv_transpose (graph, CLEAVE_SHAPE (1, 1, 5), CLEAVE_SHAPE (1, 1, cases[i].kernel),
                              0, &cases[i].attrs, NULL);

      cleave_assert_chunk (y, cases[i].chunk, cases[i].expected);
    }
}
END_TEST

/* For every cut, all pieces are legal, and no two pieces compute the same product. */
START_TEST (pieces_have_the_macs_of_the_whole)
{
  static const CleaveConvTransposeAttrs attrs[] = {
    { 0 },
    { .strides = INTS (2), .pads = INTS (1, 2) },
    { .strides = INTS (3), .pads = INTS (2, 0), .output_padding = INTS (2) },
    { .strides = INTS (2), .dilations = INTS (3), .pads = INTS (3, 1) },
  };
  /* number of products of an operand element and a tap for each entry of `attrs`, counted one by
   * one */
  static const gint64 macs[] = { 336, 300, 312, 300 };

  for (guint i = 0; i < G_N_ELEMENTS (attrs); i++)
    for (gint64 n = 2; n <= 7; n++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveResult *y = add_conv_transpose (graph, CLEAVE_SHAPE (2, 3, 7), CLEAVE_SHAPE (3, 2, 4),
                                              0, &attrs[i], NULL);
        g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("2", &n, 1);
        g_autoptr (CleaveSplitReport) report = NULL;
        const CleaveSplitTotals *totals;

        cleave_graph_add_output (graph, "y", y, NULL);
        report = cleave_split_node (cleave_result_get_node (y), split, NULL, NULL);
        ck_assert_uint_eq (cleave_split_report_get_n_split (report), 1);
        totals = cleave_split_report_get_totals (report);
        ck_assert_int_eq (totals->macs_after, totals->macs_before);
        ck_assert_int_eq (totals->macs_before, macs[i]);
      }
}
END_TEST

START_TEST (channels_are_cut_inside_one_group_or_between_groups)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleaveGraph) other = cleave_graph_new (NULL);
  CleaveConvTransposeAttrs groups = { .group = 3 };
  CleaveResult *one =
      add_conv_transpose (graph, CLEAVE_SHAPE (1, 6, 1), CLEAVE_SHAPE (6, 4, 1), 4, NULL, NULL);
  CleaveResult *three =
      add_conv_transpose (other, CLEAVE_SHAPE (1, 6, 1), CLEAVE_SHAPE (6, 4, 1), 12, &groups, NULL);

  cleave_assert_chunk (one, "0:1,1:3,0:1", "0:1,0:6,0:1 0:6,1:3,0:1 1:3");
  cleave_assert_chunk (three, "0:1,4:12,0:1", "0:1,2:6,0:1 2:6,0:4,0:1 4:12 group=2");
  cleave_assert_chunk (
      three, "0:1,4:6,0:1",
      "refused: chunk [4,6) straddles groups of 4 channels: it must be made of whole ones");
}
END_TEST

START_TEST (values_are_those_computed_by_hand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 3), 1, 1); /* 1 2 3 */
  CleaveResult *w = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 2), 1, 9); /* 1 10 */
  CleaveResult *b = cleave_case_steps (graph, CLEAVE_SHAPE (1), 100, 0);
  CleaveConvTransposeAttrs strided = { .strides = INTS (3), .output_padding = INTS (1) },
                           padded = { .dilations = INTS (2), .pads = INTS (1, 0) };

  cleave_assert_values (cleave_test_add (graph, "ConvTranspose", "n",
                                         (CleaveResult *[]){ x, w, NULL }, 3, NULL, NULL),
                        "1 12 23 30");
  cleave_assert_values (cleave_test_add (graph, "ConvTranspose", "n", (CleaveResult *[]){ x, w, b },
                                         3, &strided, NULL),
                        "101 110 100 102 120 100 103 130 100");
  cleave_assert_values (cleave_test_add (graph, "ConvTranspose", "n",
                                         (CleaveResult *[]){ x, w, NULL }, 3, &padded, NULL),
                        "2 13 20 30");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "infer", shapes_are_inferred_or_an_error_gives_the_reason, NULL);
  cleave_add_case (suite, "chunks", a_chunk_is_selected_by_pads_and_output_padding,
                   pieces_have_the_macs_of_the_whole,
                   channels_are_cut_inside_one_group_or_between_groups, NULL);
  cleave_add_case (suite, "values", values_are_those_computed_by_hand, NULL);
}

CLEAVE_TEST_SUITE ("conv-transpose", add_tests)
