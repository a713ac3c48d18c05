/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The poolings MaxPool, AveragePool and LpPool. The attributes `whole` and `begin` of a piece give
 * its position in the unsplit operand. */

#include "apply.h"
#include "op-case.h"

#include "../../lib/ir/graph-private.h"

#include <math.h>

#define INTS(...)                                                                                  \
  {                                                                                                \
    CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ }                                           \
  }
#define NHWC .layout = CLEAVE_LAYOUT_NHWC

typedef struct
{
  CleaveShape x;
  CleavePoolAttrs attrs;
  const char *expected;
} InferCase;

static void
assert_infers (const InferCase *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      GError *error = NULL;
      CleaveResult *x = cleave_case_input (graph, "x", cases[i].x);

      cleave_assert_infers (
          cleave_graph_add_pool (graph, "MaxPool", "pool", x, &cases[i].attrs, &error), &error,
          cases[i].expected);
    }
}

START_TEST (shapes_are_inferred)
{
  static const InferCase cases[] = {
    { INTS (1, 3, 8, 8), { .kernel_shape = INTS (3, 2) }, "float32 1x3x6x7" },
    { INTS (1, 8, 8, 3), { NHWC, .kernel_shape = INTS (3, 2) }, "float32 1x6x7x3" },
    { INTS (1, 3, 7), { .kernel_shape = INTS (2), .strides = INTS (2) }, "float32 1x3x3" },
    { INTS (1, 3, 7),
      { .kernel_shape = INTS (2), .strides = INTS (2), .ceil_mode = TRUE },
      "float32 1x3x4" },
    /* the result has no fourth element: its window would begin in the padding after the data */
    { INTS (1, 3, 6),
      { .kernel_shape = INTS (2), .strides = INTS (2), .pads = INTS (0, 1), .ceil_mode = TRUE },
      "float32 1x3x3" },
    { INTS (1, 1, 4, 4, 4),
      { .kernel_shape = INTS (2, 2, 2), .dilations = INTS (1, 2, 3) },
      "float32 1x1x3x2x1" },
  };

  assert_infers (cases, G_N_ELEMENTS (cases));
}
END_TEST

START_TEST (errors_give_the_reason)
{
  static const InferCase cases[] = {
    { INTS (1, 3, 8), { 0 }, "MaxPool 'pool': kernel_shape has 0 entries, but must have 1" },
    { INTS (1, 3, 8),
      { .kernel_shape = INTS (0) },
      "MaxPool 'pool': kernel_shape must be at least 1, not 0" },
    { INTS (1, 3, 8),
      { .kernel_shape = INTS (9) },
      "MaxPool 'pool': the window reaches over 9 elements of spatial dimension 0, which has 8 with "
      "its "
      "padding" },
    { INTS (1, 3), { .kernel_shape = INTS (1) }, "MaxPool 'pool': X must have rank 3 to 8, not 2" },
    { INTS (1, 3, 8),
      { .kernel_shape = INTS (1), .storage_order = 2 },
      "MaxPool 'pool': storage_order must be 0 or 1, not 2" },
  };

  assert_infers (cases, G_N_ELEMENTS (cases));
}
END_TEST

START_TEST (only_max_pool_serves_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT8, 1, 1, 4);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  CleavePoolAttrs attrs = { .kernel_shape = INTS (2) };
  GError *error = NULL;

  ck_assert_ptr_nonnull (cleave_graph_add_pool (graph, "MaxPool", "m", x, &attrs, NULL));
  ck_assert_ptr_null (cleave_graph_add_pool (graph, "AveragePool", "a", x, &attrs, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ELEMENT_TYPE, "AveragePool 'a': X cannot be uint8");
}
END_TEST

/* A pooling of one channel along W, and a chunk of its result. */
typedef struct
{
  gint64 extent;
  CleavePoolAttrs attrs;
  const char *chunk, *expected;
} ChunkCase;

static void
assert_chunks (const ChunkCase *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (1, 1, cases[i].extent));

      cleave_assert_chunk (cleave_graph_add_pool (graph, "MaxPool", "n", x, &cases[i].attrs, NULL),
                           cases[i].chunk, cases[i].expected);
      cleave_assert_chunk (
          cleave_graph_add_pool (graph, "AveragePool", "n", x, &cases[i].attrs, NULL),
          cases[i].chunk, cases[i].expected);
    }
}

START_TEST (a_chunk_reads_its_windows)
{
  static const ChunkCase cases[] = {
    { 8,
      { .kernel_shape = INTS (3), .strides = INTS (2), .pads = INTS (1, 1) },
      "0:1,0:1,0:2",
      "0:1,0:1,0:4 kernel_shape=3 strides=2 pads=1,0" },
    { 8,
      { .kernel_shape = INTS (3), .strides = INTS (2), .pads = INTS (1, 1) },
      "0:1,0:1,2:4",
      "0:1,0:1,3:8 kernel_shape=3 strides=2" },
    { 4,
      { .kernel_shape = INTS (2), .pads = INTS (2, 3) },
      "0:1,0:1,0:1",
      "refused: chunk W [0,1) reads padding only; the first chunk would have to reach 2" },
  };

  assert_chunks (cases, G_N_ELEMENTS (cases));
}
END_TEST

START_TEST (a_chunk_keeps_ceil_mode_if_it_needs_it)
{
  static const ChunkCase cases[] = {
    { 7,
      { .kernel_shape = INTS (2), .strides = INTS (2), .ceil_mode = TRUE },
      "0:1,0:1,0:3",
      "0:1,0:1,0:6 kernel_shape=2 strides=2" },
    { 7,
      { .kernel_shape = INTS (2), .strides = INTS (2), .ceil_mode = TRUE },
      "0:1,0:1,3:4",
      "0:1,0:1,6:7 kernel_shape=2 strides=2 ceil_mode=1" },
    { 6,
      { .kernel_shape = INTS (4), .strides = INTS (3), .pads = INTS (1, 1), .ceil_mode = TRUE },
      "0:1,0:1,1:3",
      "0:1,0:1,2:6 kernel_shape=4 strides=3 pads=0,1 ceil_mode=1" },
  };

  assert_chunks (cases, G_N_ELEMENTS (cases));
}
END_TEST

/* The pooling is the pooling of the example graph of Glow's documentation: 8 rows, kernel 3, stride
 * 2, pads 1. */
START_TEST (both_layouts_read_the_same_rows)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs nchw = { .kernel_shape = INTS (3, 3),
                           .strides = INTS (2, 2),
                           .pads = INTS (1, 1, 1, 1) };
  CleavePoolAttrs nhwc = nchw;
  CleaveResult *a = cleave_case_input (graph, "a", CLEAVE_SHAPE (5, 16, 8, 8));
  CleaveResult *b = cleave_case_input (graph, "b", CLEAVE_SHAPE (5, 8, 8, 16));

  nhwc.layout = CLEAVE_LAYOUT_NHWC;
  cleave_assert_chunk (cleave_graph_add_pool (graph, "MaxPool", "n", a, &nchw, NULL),
                       "0:5,0:16,2:4,0:4",
                       "0:5,0:16,3:8,0:8 kernel_shape=3,3 strides=2,2 pads=0,1,0,0");
  cleave_assert_chunk (cleave_graph_add_pool (graph, "MaxPool", "n", b, &nhwc, NULL),
                       "0:5,0:2,0:4,0:16",
                       "0:5,0:4,0:8,0:16 layout=NHWC kernel_shape=3,3 strides=2,2 pads=1,1,0,0");
}
END_TEST

static CleaveResult *
add_max_with_indices (CleaveGraph *graph, CleaveResult *x, const CleavePoolAttrs *attrs)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", &x, 1, 2, attrs, NULL);

  return cleave_node_get_result (node, 1);
}

START_TEST (indices_of_a_piece_refer_to_the_whole)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .kernel_shape = INTS (2, 2), .strides = INTS (2, 1) }, columns;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4, 3));
  CleaveResult *indices = add_max_with_indices (graph, x, &attrs);
  CleaveResult *part = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 2, 3), 0, 1);

  cleave_assert_infers (indices, NULL, "int64 2x3x2x2");
  cleave_assert_chunk (indices, "1:2,1:2,1:2,0:2",
                       "1:2,1:2,2:4,0:3 kernel_shape=2,2 strides=2,1 whole=2,3,4,3 begin=1,1,2,0");
  attrs.whole = CLEAVE_INTS (2, 3, 4, 3);
  attrs.begin = CLEAVE_INTS (1, 1, 2, 0);
  cleave_assert_values (
      add_max_with_indices (graph, part, &attrs),
      "58 59"); /* the operand is the part of the whole value that begins at
                 * element 48 + 6; the maxima are 4 and 5 elements after its begin */
  columns = attrs;
  columns.storage_order = 1;
  cleave_assert_values (add_max_with_indices (graph, part, &columns), "55 59");
  /* A piece of the piece: its attribute `begin` says where its operand begins in the whole value.
   */
  cleave_assert_chunk (add_max_with_indices (graph, part, &attrs), "0:1,0:1,0:1,1:2",
                       "0:1,0:1,0:2,1:3 kernel_shape=2,2 strides=2,1 whole=2,3,4,3 begin=1,1,2,1");
}
END_TEST

START_TEST (the_offset_of_a_piece_must_be_inside_the_whole)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (1, 1, 4));
  static const struct
  {
    CleaveInts whole, begin;
    CleaveError code;
    const char *message;
  } cases[] = {
    { INTS (1, 1), INTS (0, 0, 1), CLEAVE_ERROR_ATTRIBUTE,
      "MaxPool 'pool': whole and begin must have 3 entries" },
    { INTS (1, 1, 5), INTS (0, 0, 2), CLEAVE_ERROR_ATTRIBUTE,
      "MaxPool 'pool': dimension 2 of X, 4 from 2 on, is not a part of a whole of 5" },
    { { 0 },
      INTS (0, 0, 1),
      CLEAVE_ERROR_ATTRIBUTE,
      "MaxPool 'pool': dimension 2 of X, 4 from 1 on, is not a part of a whole of 4" },
    { INTS (1, 0, 5),
      { 0 },
      CLEAVE_ERROR_ATTRIBUTE,
      "MaxPool 'pool': whole must be at least 1, not 0" },
    { INTS (G_MAXINT64, 2, 5),
      { 0 },
      CLEAVE_ERROR_SHAPE,
      "MaxPool 'pool': int64 9223372036854775807x2x5 has more bytes than 64 bits can count" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CleavePoolAttrs attrs = { .kernel_shape = INTS (2),
                                .whole = cases[i].whole,
                                .begin = cases[i].begin };
      GError *error = NULL;

      ck_assert (cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), "pool", &x, 1, 2, &attrs,
                                   &error) == NULL);
      cleave_assert_error (&error, cases[i].code, cases[i].message);
    }
}
END_TEST

START_TEST (indices_refer_to_the_operand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs rows = { .kernel_shape = INTS (2, 2), .strides = INTS (2, 1) }, columns = rows,
                  nhwc = rows;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 2, 2, 3), 0, 1);
  CleaveResult *y = cleave_case_steps (graph, CLEAVE_SHAPE (1, 2, 3, 2), 0, 1);

  columns.storage_order = 1;
  nhwc.layout = CLEAVE_LAYOUT_NHWC;
  cleave_assert_values (add_max_with_indices (graph, x, &rows), "4 5 10 11");
  cleave_assert_values (add_max_with_indices (graph, x, &columns), "3 5 9 11");
  cleave_assert_values (add_max_with_indices (graph, y, &nhwc), "8 9 10 11");
}
END_TEST

static CleaveResult *
add_values (CleaveGraph *graph, const float *values, gint64 n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1, n);
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, values, NULL);

  return cleave_graph_add_constant (graph, "c", tensor);
}

/* If several elements are the maximum, the result has the index of the first. If several elements
 * are NaNs, the result has the index of the last. */
START_TEST (the_maximum_has_an_order)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs two = { .kernel_shape = INTS (2) };
  const float values[] = { -0.0f, 0.0f, -0.0f, NAN, NAN, 1, -INFINITY, -INFINITY };
  CleaveResult *indices = add_max_with_indices (graph, add_values (graph, values, 8), &two);

  cleave_assert_values (cleave_node_get_result (indices->node, 0), "-0 0 nan nan nan 1 -inf");
  cleave_assert_values (indices, "0 1 3 4 4 5 6");
}
END_TEST

START_TEST (windows_of_padding_only_have_a_defined_result)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .kernel_shape = INTS (1), .pads = INTS (1, 0) };
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 2), 5, 1);
  CleaveResult *indices = add_max_with_indices (graph, x, &attrs);

  cleave_assert_values (cleave_node_get_result (indices->node, 0), "-inf 5 6");
  cleave_assert_values (indices, "-1 0 1");
  cleave_assert_values (cleave_graph_add_pool (graph, "AveragePool", "n", x, &attrs, NULL),
                        "0 5 6");
}
END_TEST

/* The operand has the elements 3 6 9 12. */
START_TEST (attributes_select_what_averages_count)
{
  static const struct
  {
    CleavePoolAttrs attrs;
    const char *expected;
  } cases[] = {
    { { .kernel_shape = INTS (2) }, "4.5 7.5 10.5" },
    { { .kernel_shape = INTS (2), .dilations = INTS (2) }, "6 9" },
    { { .kernel_shape = INTS (3), .strides = INTS (3), .pads = INTS (1, 1) }, "4.5 10.5" },
    { { .kernel_shape = INTS (3),
        .strides = INTS (3),
        .pads = INTS (1, 1),
        .count_include_pad = TRUE },
      "3 7" },
    /* the last window has one element, one pad, and one position that ceil_mode adds; averages do
     * not count this position */
    { { .kernel_shape = INTS (3), .strides = INTS (2), .pads = INTS (1, 1), .ceil_mode = TRUE },
      "4.5 9 12" },
    { { .kernel_shape = INTS (3),
        .strides = INTS (2),
        .pads = INTS (1, 1),
        .ceil_mode = TRUE,
        .count_include_pad = TRUE },
      "3 9 6" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 4), 3, 3);

      cleave_assert_values (
          cleave_graph_add_pool (graph, "AveragePool", "n", x, &cases[i].attrs, NULL),
          cases[i].expected);
    }
}
END_TEST

/* The average of 16384 equal values differs from the value by at most 2^-20 of the value. If the
 * values were added one after the other, all roundings would have one direction, and the error
 * would be 1.7e-4 of the value. */
START_TEST (averages_of_large_windows_are_near_the_exact_mean)
{
  enum { SIDE = 128 };
  CleavePoolAttrs attrs = { .kernel_shape = INTS (SIDE, SIDE) };
  g_autofree double *values = g_new (double, SIDE *SIDE);
  g_autoptr (CleaveTensor) x = NULL, y = NULL;

  for (gint64 i = 0; i < SIDE * SIDE; i++)
    values[i] = (double) 1.1f;
  x = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (1, 1, SIDE, SIDE), values);
  y = cleave_apply ("AveragePool", &x, 1, &attrs);
  cleave_apply_check ("AveragePool", y, values, 0x1p-20);
}
END_TEST

START_TEST (norms_are_those_computed_by_hand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs one = { .kernel_shape = INTS (2), .p = 1 }, two = { .kernel_shape = INTS (2) },
                  three = { .kernel_shape = INTS (1), .p = 3 };
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 2), -3, 7); /* -3 4 */

  cleave_assert_values (cleave_graph_add_pool (graph, "LpPool", "n", x, &one, NULL), "7");
  cleave_assert_values (cleave_graph_add_pool (graph, "LpPool", "n", x, &two, NULL), "5");
  cleave_assert_values (cleave_graph_add_pool (graph, "LpPool", "n", x, &three, NULL), "3 4");
}
END_TEST

/* The kernel cannot process a whole line at once: a row in layout NCHW, or the channels of a pixel
 * in layout NHWC. Rows have padding at both ends. In both layouts, the result equals the result of
 * a loop over all taps. */
START_TEST (norms_of_long_lines_are_right)
{
  enum { C = 3 + 270, H = 3, W = 529 };
  gboolean nhwc = _i % 2 != 0;
  gint64 p = 1 + _i / 2, c = nhwc ? C : 2, w = nhwc ? 5 : W, stride = 2, dilation = 3, kernel = 2;
  CleavePoolAttrs attrs = { .layout = nhwc ? CLEAVE_LAYOUT_NHWC : CLEAVE_LAYOUT_NCHW,
                            .kernel_shape = INTS (kernel, kernel),
                            .strides = INTS (1, stride),
                            .dilations = INTS (1, dilation),
                            .pads = INTS (1, 2, 0, 1),
                            .p = p };
  gint64 n_rows = H, n_columns = (w + 3 - dilation * (kernel - 1) - 1) / stride + 1;
  g_autofree double *values = g_new (double, (gsize) (c * H * w)), *expected = NULL;
  g_autoptr (CleaveTensor) x = NULL, y = NULL;

  expected = g_new (double, (gsize) (c * n_rows * n_columns));
  for (gint64 i = 0; i < c * H * w; i++)
    values[i] = (double) (i * 7 % 11 - 5);
#define AT(n, width, channel, row, column)                                                         \
  (nhwc ? ((row) * (width) + (column)) * c + (channel)                                             \
        : ((channel) * (n) + (row)) * (width) + (column))
  for (gint64 k = 0; k < c; k++)
    for (gint64 i = 0; i < n_rows; i++)
      for (gint64 j = 0; j < n_columns; j++)
        {
          double sum = 0;

          for (gint64 tap = 0; tap < kernel * kernel; tap++)
            {
              gint64 row = i - 1 + tap / kernel, column = j * stride - 2 + tap % kernel * dilation;

              if (row >= 0 && row < H && column >= 0 && column < w)
                sum += pow (fabs (values[AT (H, w, k, row, column)]), (double) p);
            }
          expected[AT (n_rows, n_columns, k, i, j)] = pow (sum, 1 / (double) p);
        }
#undef AT
  x = cleave_apply_tensor (CLEAVE_FLOAT32,
                           nhwc ? CLEAVE_SHAPE (1, H, w, c) : CLEAVE_SHAPE (1, c, H, w), values);
  y = cleave_apply ("LpPool", &x, 1, &attrs);
  ck_assert_int_eq (cleave_shape_n_elements (&cleave_tensor_get_type (y)->shape),
                    c * n_rows * n_columns);
  cleave_apply_check ("LpPool", y, expected, 0x1p-24);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *many = tcase_create ("many");

  tcase_add_loop_test (many, norms_of_long_lines_are_right, 0, 6);
  suite_add_tcase (suite, many);
  cleave_add_case (suite, "infer", shapes_are_inferred, errors_give_the_reason,
                   only_max_pool_serves_bytes, NULL);
  cleave_add_case (suite, "chunks", a_chunk_reads_its_windows,
                   a_chunk_keeps_ceil_mode_if_it_needs_it, both_layouts_read_the_same_rows,
                   indices_of_a_piece_refer_to_the_whole,
                   the_offset_of_a_piece_must_be_inside_the_whole, NULL);
  cleave_add_case (
      suite, "values", indices_refer_to_the_operand, the_maximum_has_an_order,
      windows_of_padding_only_have_a_defined_result, attributes_select_what_averages_count,
      averages_of_large_windows_are_near_the_exact_mean, norms_are_those_computed_by_hand, NULL);
}

CLEAVE_TEST_SUITE ("pool", add_tests)
