/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Conv. A chunk is a range of the result, and a slice is the range of an operand that a
 * chunk reads. */

#include "op-case.h"

#include "../../lib/ir/graph-private.h"

/* Adds a convolution of `x` and `w`. If `b` is not 0, the convolution has a bias of length `b`. */
static CleaveResult *
add_conv (CleaveGraph *graph,
          CleaveShape x,
          CleaveShape w,
          gint64 b,
          const CleaveConvAttrs *attrs,
          GError **error)
{
  return cleave_graph_add_conv (
      graph, "conv", cleave_case_input (graph, "x", x), cleave_case_input (graph, "w", w),
      b == 0 ? NULL : cleave_case_input (graph, "b", CLEAVE_SHAPE (b)), attrs, error);
}

#define INTS(...)                                                                                  \
  {                                                                                                \
    CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ }                                           \
  }
#define NHWC .layout = CLEAVE_LAYOUT_NHWC

START_TEST (shapes_are_inferred_or_an_error_gives_the_reason)
{
  static const struct
  {
    CleaveShape x, w;
    gint64 b;
    CleaveConvAttrs attrs;
    const char *expected;
  } cases[] = {
    { INTS (1, 3, 8, 8), INTS (4, 3, 3, 3), 4, { 0 }, "float32 1x4x6x6" },
    { INTS (1, 3, 8, 8), INTS (4, 3, 3, 3), 0, { .pads = INTS (1, 1, 1, 1) }, "float32 1x4x8x8" },
    { INTS (1, 8, 7, 3),
      INTS (4, 3, 3, 3),
      0,
      { NHWC, .pads = INTS (1, 0, 1, 0) },
      "float32 1x8x5x4" },
    { INTS (2, 3, 9), INTS (4, 3, 3), 0, { .strides = INTS (2) }, "float32 2x4x4" },
    { INTS (2, 3, 9), INTS (4, 3, 3), 0, { .dilations = INTS (3) }, "float32 2x4x3" },
    { INTS (1, 4, 5, 6, 7), INTS (4, 1, 1, 2, 3), 0, { .group = 4 }, "float32 1x4x5x5x5" },
    { INTS (1, 1, 2, 2, 2, 2, 2, 2),
      INTS (1, 1, 1, 1, 1, 1, 1, 2),
      0,
      { 0 },
      "float32 1x1x2x2x2x2x2x1" },
    { INTS (1, 3), INTS (4, 3), 0, { 0 }, "Conv 'conv': X must have rank 3 to 8, not 2" },
    { INTS (1, 3, 8, 8), INTS (4, 3, 3), 0, { 0 }, "Conv 'conv': W must have rank 4, not 3" },
    { INTS (1, 4, 8),
      INTS (4, 3, 3),
      0,
      { 0 },
      "Conv 'conv': W expects 3 channels in each of 1 groups, X has 4" },
    { INTS (1, 4, 8),
      INTS (5, 2, 3),
      0,
      { .group = 2 },
      "Conv 'conv': W has 5 output channels, not a multiple of group 2" },
    { INTS (1, 4, 8), INTS (0, 4, 3), 0, { 0 }, "Conv 'conv': W has no channels" },
    { INTS (1, 4, 8),
      INTS (3, 4, 3),
      4,
      { 0 },
      "Conv 'conv': B has 4 elements, but W has 3 output channels" },
    { INTS (1, 4, 8),
      INTS (3, 4, 0),
      0,
      { 0 },
      "Conv 'conv': the kernel has extent 0 in spatial dimension 0" },
    { INTS (1, 4, 2),
      INTS (3, 4, 3),
      0,
      { .dilations = INTS (2), .pads = INTS (1, 1) },
      "Conv 'conv': the window reaches over 5 elements of spatial dimension 0, which has 4 with "
      "its padding" },
    { INTS (1, 4, 8),
      INTS (3, 4, 3),
      0,
      { .strides = INTS (0) },
      "Conv 'conv': strides must be at least 1, not 0" },
    { INTS (1, 4, 8),
      INTS (3, 4, 3),
      0,
      { .strides = INTS (2, 2) },
      "Conv 'conv': strides has 2 entries, but must have 1" },
    { INTS (1, 4, 8),
      INTS (3, 4, 3),
      0,
      { .pads = INTS (1) },
      "Conv 'conv': pads has 1 entries, but must have 2" },
    { INTS (1, 4, 8),
      INTS (3, 4, 3),
      0,
      { .pads = INTS (1, -1) },
      "Conv 'conv': pads must be at least 0, not -1" },
    { INTS (1, 4, 8),
      INTS (3, 4, 3),
      0,
      { .pads = INTS (1, G_MAXINT64) },
      "Conv 'conv': pads has 9223372036854775807, more than 2147483647" },
    { INTS (1, 4, 8),
      INTS (3, 4, 3),
      0,
      { .group = -1 },
      "Conv 'conv': group must be at least 1, not -1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      GError *error = NULL;
      CleaveResult *y =
          add_conv (graph, cases[i].x, cases[i].w, cases[i].b, &cases[i].attrs, &error);

      cleave_assert_infers (y, &error, cases[i].expected);
    }
}
END_TEST

START_TEST (element_types_must_be_floats_and_agree)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType ints = CLEAVE_TYPE (CLEAVE_INT32, 1, 1, 4),
                   halves = CLEAVE_TYPE (CLEAVE_FLOAT16, 1, 1, 2);
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (1, 1, 4));
  CleaveResult *w = cleave_graph_add_input (graph, "w", &halves, NULL);
  CleaveResult *i = cleave_graph_add_input (graph, "i", &ints, NULL);
  GError *error = NULL;

  ck_assert_ptr_null (cleave_graph_add_conv (graph, "conv", x, w, NULL, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ELEMENT_TYPE,
                       "Conv 'conv': X is float32, but W is float16");
  ck_assert_ptr_null (cleave_graph_add_conv (graph, "conv", i, w, NULL, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ELEMENT_TYPE, "Conv 'conv': X cannot be int32");
}
END_TEST

/* Each case has a chunk along W, and the slices that the chunk reads. The operand and the result
 * have one channel. */
START_TEST (a_chunk_reads_its_windows_and_clipped_amounts_become_pads)
{
  static const struct
  {
    gint64 extent, kernel;
    CleaveConvAttrs attrs;
    const char *chunk, *expected;
  } cases[] = {
    { 8, 3, { .pads = INTS (1, 1) }, "0:1,0:1,0:4", "0:1,0:1,0:5 0:1,0:1,0:3 pads=1,0" },
    { 8, 3, { .pads = INTS (1, 1) }, "0:1,0:1,4:8", "0:1,0:1,3:8 0:1,0:1,0:3 pads=0,1" },
    { 8,
      3,
      { .strides = INTS (2), .pads = INTS (1, 1) },
      "0:1,0:1,0:2",
      "0:1,0:1,0:4 0:1,0:1,0:3 strides=2 pads=1,0" },
    { 8,
      3,
      { .strides = INTS (2), .pads = INTS (1, 1) },
      "0:1,0:1,2:4",
      "0:1,0:1,3:8 0:1,0:1,0:3 strides=2" },
    { 8,
      2,
      { .dilations = INTS (2), .pads = INTS (2, 3) },
      "0:1,0:1,0:4",
      "0:1,0:1,0:4 0:1,0:1,0:2 dilations=2 pads=2,0" },
    { 8,
      2,
      { .dilations = INTS (2), .pads = INTS (2, 3) },
      "0:1,0:1,4:8",
      "0:1,0:1,2:8 0:1,0:1,0:2 dilations=2" },
    { 8,
      2,
      { .dilations = INTS (2), .pads = INTS (2, 3) },
      "0:1,0:1,8:11",
      "0:1,0:1,6:8 0:1,0:1,0:2 dilations=2 pads=0,3" },
    { 16,
      2,
      { .strides = INTS (2), .pads = INTS (1, 0) },
      "0:1,0:1,0:3",
      "0:1,0:1,0:5 0:1,0:1,0:2 strides=2 pads=1,0" },
    { 16,
      2,
      { .strides = INTS (2), .pads = INTS (1, 0) },
      "0:1,0:1,3:6",
      "0:1,0:1,5:11 0:1,0:1,0:2 strides=2" },
    { 16,
      2,
      { .strides = INTS (2), .pads = INTS (1, 0) },
      "0:1,0:1,6:8",
      "0:1,0:1,11:15 0:1,0:1,0:2 strides=2" },
    { 4,
      2,
      { .pads = INTS (2, 3) },
      "0:1,0:1,0:1",
      "refused: chunk W [0,1) reads padding only; the first chunk would have to reach 2" },
    { 4,
      2,
      { .pads = INTS (2, 3) },
      "0:1,0:1,6:7",
      "refused: chunk W [6,7) reads padding only; it would have to begin at 5" },
    { 4,
      2,
      { .pads = INTS (2, 3) },
      "0:1,0:1,7:8",
      "refused: chunk W [7,8) reads padding only; the last chunk would have to begin at 5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *y = add_conv (graph, CLEAVE_SHAPE (1, 1, cases[i].extent),
                                  CLEAVE_SHAPE (1, 1, cases[i].kernel), 0, &cases[i].attrs, NULL);

      cleave_assert_chunk (y, cases[i].chunk, cases[i].expected);
    }
}
END_TEST

START_TEST (a_chunk_of_channels_is_inside_a_group_or_made_of_whole_ones)
{
  static const struct
  {
    gint64 outputs, inputs, group;
    const char *chunk, *expected;
  } cases[] = {
    { 8, 8, 4, "0:1,0:4,0:1", "0:1,0:4,0:1 0:4,0:2,0:1 0:4 group=2" },
    { 8, 8, 4, "0:1,4:8,0:1", "0:1,4:8,0:1 4:8,0:2,0:1 4:8 group=2" },
    { 8, 8, 2, "0:1,2:4,0:1", "0:1,0:4,0:1 2:4,0:4,0:1 2:4" },
    { 8, 8, 2, "0:1,4:6,0:1", "0:1,4:8,0:1 4:6,0:4,0:1 4:6" },
    { 8, 8, 2, "0:1,4:8,0:1", "0:1,4:8,0:1 4:8,0:4,0:1 4:8" },
    { 8, 8, 1, "0:1,3:5,0:1", "0:1,0:8,0:1 3:5,0:8,0:1 3:5" },
    { 8, 8, 8, "0:1,3:6,0:1", "0:1,3:6,0:1 3:6,0:1,0:1 3:6 group=3" },
    { 8, 8, 2, "0:1,3:6,0:1",
      "refused: chunk [3,6) straddles groups of 4 channels: it must lie inside one, or be made of "
      "whole ones" },
    /* a piece of channels 3 to 8 with group=3 would have the right shapes, but wrong numbers */
    { 12, 12, 3, "0:1,3:9,0:1",
      "refused: chunk [3,9) straddles groups of 4 channels: it must lie inside one, or be made of "
      "whole ones" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveConvAttrs attrs = { .group = cases[i].group };
      CleaveResult *y =
          add_conv (graph, CLEAVE_SHAPE (1, cases[i].inputs, 1),
                    CLEAVE_SHAPE (cases[i].outputs, cases[i].inputs / cases[i].group, 1),
                    cases[i].outputs, &attrs, NULL);

      cleave_assert_chunk (y, cases[i].chunk, cases[i].expected);
    }
}
END_TEST

START_TEST (chunks_of_both_layouts_are_the_same)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveConvAttrs nchw = { .pads = INTS (1, 0, 1, 0) }, nhwc = { NHWC, .pads = INTS (1, 0, 1, 0) };
  CleaveResult *w = cleave_case_input (graph, "w", CLEAVE_SHAPE (4, 2, 3, 1));
  CleaveResult *a = cleave_case_input (graph, "a", CLEAVE_SHAPE (1, 2, 8, 5));
  CleaveResult *b = cleave_case_input (graph, "b", CLEAVE_SHAPE (1, 8, 5, 2));

  cleave_assert_chunk (cleave_graph_add_conv (graph, "n", a, w, NULL, &nchw, NULL),
                       "0:1,1:3,0:4,2:5", "0:1,0:2,0:5,2:5 1:3,0:2,0:3,0:1 pads=1,0,0,0");
  cleave_assert_chunk (cleave_graph_add_conv (graph, "n", b, w, NULL, &nhwc, NULL),
                       "0:1,0:4,2:5,1:3",
                       "0:1,0:5,2:5,0:2 1:3,0:2,0:3,0:1 layout=NHWC pads=1,0,0,0");
}
END_TEST

START_TEST (values_are_those_computed_by_hand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 2, 4), 0,
                                       1); /* x has the channels 0 1 2 3 and 4 5 6 7 */
  CleaveResult *w = cleave_case_steps (graph, CLEAVE_SHAPE (1, 2, 2), 1, 1); /* 1 2, 3 4 */
  CleaveResult *b = cleave_case_steps (graph, CLEAVE_SHAPE (1), 100, 0);
  CleaveResult *depthwise = cleave_case_steps (graph, CLEAVE_SHAPE (2, 1, 1), 2, 8); /* 2, 10 */
  CleaveConvAttrs padded = { .strides = INTS (2), .pads = INTS (1, 0) }, groups = { .group = 2 };

  cleave_assert_values (cleave_graph_add_conv (graph, "n", x, w, b, NULL, NULL), "134 144 154");
  cleave_assert_values (cleave_graph_add_conv (graph, "n", x, w, NULL, &padded, NULL), "16 44");
  cleave_assert_values (cleave_graph_add_conv (graph, "n", x, depthwise, NULL, &groups, NULL),
                        "0 2 4 6 40 50 60 70");
}
END_TEST

/* Two fused multiply-adds keep bits that would be lost if each product were rounded. */
START_TEST (each_step_is_one_fused_multiply_add)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 1), 0x1.000002p0f, 0);
  CleaveResult *w = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 1), 0x1.000002p0f, 0);
  CleaveResult *b = cleave_case_steps (graph, CLEAVE_SHAPE (1), -0x1.000004p0f, 0);

  cleave_assert_values (cleave_graph_add_conv (graph, "n", x, w, b, NULL, NULL), "1.42109e-14");
}
END_TEST

START_TEST (macs_and_kernel_depend_on_the_weights)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleaveGraph) other = cleave_graph_new (NULL);
  g_autoptr (CleaveGraph) third = cleave_graph_new (NULL);
  CleaveConvAttrs same = { .pads = INTS (1, 1, 1, 1) }, groups = { .group = 16 };
  CleaveResult *full =
      add_conv (graph, CLEAVE_SHAPE (1, 64, 56, 56), CLEAVE_SHAPE (64, 64, 3, 3), 0, &same, NULL);
  CleaveResult *depthwise =
      add_conv (other, CLEAVE_SHAPE (1, 16, 4), CLEAVE_SHAPE (16, 1, 3), 0, &groups, NULL);
  CleaveResult *few =
      add_conv (third, CLEAVE_SHAPE (1, 64, 4), CLEAVE_SHAPE (64, 4, 3), 0, &groups, NULL);
  g_auto (CleaveNodeCall) a, b, c;

  ck_assert_int_eq (cleave_node_get_macs (full->node), 64 * 56 * 56 * 64 * 9);
  ck_assert_int_eq (cleave_node_get_macs (depthwise->node), 16 * 2 * 3);
  ck_assert_int_eq (full->node->op->kernel (cleave_node_call_init (&a, full->node)),
                    CLEAVE_KERNEL_CONV);
  ck_assert_int_eq (full->node->op->kernel (cleave_node_call_init (&b, depthwise->node)),
                    CLEAVE_KERNEL_DEPTHWISE);
  ck_assert_int_eq (few->node->op->kernel (cleave_node_call_init (&c, few->node)),
                    CLEAVE_KERNEL_GROUPED_CONV);
}
END_TEST

/* Winograd computes 16-bit floats in float32, and does not accept float64. */
START_TEST (winograd_is_for_floats_of_32_bits_and_less)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT16, CLEAVE_BFLOAT16,
                                            CLEAVE_FLOAT64 };
  const CleaveConvAttrs attrs = { .winograd = CLEAVE_INTS (0, 0) };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      CleaveResult *x =
          cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (elements[i], 1, 2, 4, 4), NULL);
      CleaveResult *w =
          cleave_graph_add_input (graph, "w", &CLEAVE_TYPE (elements[i], 3, 2, 3, 3), NULL);
      CleaveResult *y = cleave_graph_add_conv (graph, "conv", x, w, NULL, &attrs, &error);

      ck_assert_int_eq (y != NULL, elements[i] != CLEAVE_FLOAT64);
      if (y == NULL)
        cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE,
                             "Conv 'conv': winograd is for float32, float16 and bfloat16, two "
                             "spatial dimensions, kernels of 3x3, strides and dilations of 1");
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "infer", shapes_are_inferred_or_an_error_gives_the_reason,
                   element_types_must_be_floats_and_agree,
                   winograd_is_for_floats_of_32_bits_and_less, NULL);
  cleave_add_case (suite, "chunks", a_chunk_reads_its_windows_and_clipped_amounts_become_pads,
                   a_chunk_of_channels_is_inside_a_group_or_made_of_whole_ones,
                   chunks_of_both_layouts_are_the_same, NULL);
  cleave_add_case (suite, "values", values_are_those_computed_by_hand,
                   each_step_is_one_fused_multiply_add, macs_and_kernel_depend_on_the_weights,
                   NULL);
}

CLEAVE_TEST_SUITE ("conv", add_tests)
