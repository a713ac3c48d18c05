/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The layouts of values in memory: the order of their dimensions, and the memory that joins share
 * with their operands. */

#include "stored.h"

START_TEST (an_image_has_channels_innermost)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 3, 4, 5));
  CleaveResult *r = run_unary (graph, "Relu", x),
               *y = run_conv (graph, r, 7, 3, CLEAVE_LAYOUT_NCHW);
  CleaveResult *z = run_unary (graph, "Neg", run_input (graph, &CLEAVE_SHAPE (2, 3, 4, 5)));
  g_autoptr (CleaveStorage) storage = NULL;
  static const gint64 want[2][4] = { { 60, 1, 15, 3 }, { 140, 1, 35, 7 } },
                      rows[4] = { 60, 20, 5, 1 };

  run_output (graph, y);
  run_output (graph, z);
  storage = make_storage (graph);
  ck_assert_mem_eq (place_of (storage, x)->stride, want[0], sizeof want[0]);
  ck_assert_mem_eq (place_of (storage, r)->stride, want[0], sizeof want[0]);
  ck_assert_mem_eq (place_of (storage, y)->stride, want[1], sizeof want[1]);
  ck_assert_mem_eq (place_of (storage, z)->stride, rows, sizeof rows);
}
END_TEST

static CleaveResult *
add_reshape (CleaveGraph *graph, CleaveResult *x, CleaveInts shape)
{
  return run_add (graph, "Reshape", &x, 1, &(CleaveReshapeAttrs){ .shape = shape });
}

/* In a stack of images, the new dimension is outermost, so each image is contiguous. */
START_TEST (stacked_images_have_the_layout_of_each_image)
{
  static const gint64 want[] = { 140, 1, 280, 35, 7 };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 3, 4, 5)), *images[2], *stack;
  g_autoptr (CleaveStorage) storage = NULL;

  for (guint i = 0; i < 2; i++)
    images[i] = add_reshape (graph, run_conv (graph, x, 7, 3, CLEAVE_LAYOUT_NCHW),
                             CLEAVE_INTS (2, 7, 1, 4, 5));
  stack = run_add (graph, "Concat", images, 2, &(CleaveAxisAttrs){ .axis = 2 });
  run_output (graph, run_unary (graph, "Neg", stack));
  storage = make_storage (graph);
  ck_assert_mem_eq (place_of (storage, stack)->stride, want, sizeof want);
  run_assert_same (graph, 1);
}
END_TEST

/* Adds a table with a row for each position of an image, as for the boxes of a detector. The values
 * of a position are contiguous. */
static CleaveResult *
add_table (CleaveGraph *graph, CleaveResult *image)
{
  const CleaveShape *shape = &cleave_result_get_type (image)->shape;
  CleaveTransposeAttrs attrs = { .perm = CLEAVE_INTS (0, 2, 3, 1) };

  return add_reshape (graph, run_add (graph, "Transpose", &image, 1, &attrs),
                      CLEAVE_INTS (1, shape->dim[2] * shape->dim[3], shape->dim[1]));
}

/* Two convolutions compute images, which become tables with one row for each pixel. The Concat of
 * the tables copies nothing: each convolution writes directly into the joined table. */
START_TEST (reshaped_operands_of_a_join_share_its_memory)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 4, 5)), *image[2], *table[2], *joined;
  g_autoptr (CleaveStorage) storage = NULL;

  for (guint i = 0; i < 2; i++)
    {
      image[i] = run_conv (graph, x, 7, 3, CLEAVE_LAYOUT_NCHW);
      table[i] = add_table (graph, image[i]);
    }
  joined = run_concat (graph, table, 2, 1);
  run_output (graph, joined);
  storage = make_storage (graph);
  ck_assert_int_eq (storage->copied_bytes, 0);
  for (guint i = 0; i < 2; i++)
    {
      ck_assert_uint_eq (place_of (storage, image[i])->root, place_of (storage, joined)->root);
      ck_assert_int_eq (place_of (storage, image[i])->offset, i * 140);
    }
  run_assert_same (graph, 1);
}
END_TEST

/* Makes Concats whose operands are Reshapes of images. If the columns of a Concat are strided, a
 * convolution cannot write its result into the Concat, so the result is copied. A value that two
 * Concats read is in the memory of one Concat, and is copied into the other Concat. */
START_TEST (reshaped_operands_that_cannot_share_memory_are_copied)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 4, 5)), *image[2], *table[2], *plain[2];
  g_autoptr (CleaveStorage) storage = NULL;

  for (guint i = 0; i < 2; i++)
    {
      image[i] = run_conv (graph, x, 7, 3, CLEAVE_LAYOUT_NCHW);
      table[i] = add_table (graph, image[i]);
      plain[i] = add_reshape (graph, image[i], CLEAVE_INTS (1, 140, 1));
    }
  run_output (graph, run_concat (graph, table, 2, 1));
  run_output (graph, run_concat (graph, table, 2, 2));
  run_output (graph, run_concat (graph, plain, 2, 1));
  storage = make_storage (graph);
  ck_assert_int_ge (storage->copied_bytes, 2 * 2 * 140 * (gint64) sizeof (float));
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (a_broadcast_operand_does_not_decide_the_layout_of_the_result)
{
  static const gint64 rows[] = { 420, 140, 20, 5, 1 };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 3, 4, 5));
  CleaveResult *mask = add_reshape (graph, run_conv (graph, x, 7, 3, CLEAVE_LAYOUT_NCHW),
                                    CLEAVE_INTS (2, 1, 7, 4, 5));
  CleaveResult *all = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (2, 3, 7, 4, 5)));
  CleaveResult *y = run_add (graph, "Mul", (CleaveResult *[]){ mask, all }, 2, NULL);
  g_autoptr (CleaveStorage) storage = NULL;

  run_output (graph, run_unary (graph, "Softmax", y));
  storage = make_storage (graph);
  ck_assert_mem_eq (place_of (storage, y)->stride, rows, sizeof rows);
  run_assert_same (graph, 1);
}
END_TEST

/* Attention: a Transpose and a Reshape put the heads of a token in one row. Nothing is copied,
 * since each product is written in the layout of its reader. */
START_TEST (a_transposed_product_is_written_in_the_layout_of_its_reader)
{
  for (guint n_parts = 1; n_parts <= 2; n_parts++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveInts perm = CLEAVE_INTS (0, 2, 1, 3), rows = CLEAVE_INTS (1, 5, 24);
      CleaveResult *b = run_input (graph, &CLEAVE_SHAPE (1, 1, 7, 6)), *parts[2], *y;
      g_autoptr (CleaveStorage) storage = NULL;
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i < n_parts; i++)
        parts[i] = cleave_graph_add_matmul (
            graph, NULL, run_input (graph, &CLEAVE_SHAPE (1, 4 / n_parts, 5, 7)), b, &error);
      y = n_parts == 1 ? parts[0] : cleave_graph_add_concat (graph, NULL, parts, 2, 1, &error);
      y = cleave_graph_add_transpose (graph, NULL, y, &perm, &error);
      y = cleave_graph_add_reshape (graph, NULL, y, &rows, &error);
      cleave_assert_no_error (error);
      run_output (graph, run_unary (graph, "Relu", y));
      storage = make_storage (graph);
      ck_assert_int_eq (storage->copied_bytes, 0);
      ck_assert_int_eq (place_of (storage, parts[0])->stride[2], 24);
      ck_assert_int_eq (place_of (storage, parts[0])->stride[1], 6);
    }
}
END_TEST

/* The Reshape reads the transposed product. If the product wrote its elements in the order in which
 * the Reshape reads them, adjacent columns of the product would lie far apart in memory. Then the
 * product would be slow. So each row of the product is contiguous, and a copy makes the transposed
 * value. */
START_TEST (a_product_keeps_its_columns_contiguous)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveInts perm = CLEAVE_INTS (1, 0), flat = CLEAVE_INTS (20);
  CleaveResult *x = cleave_graph_add_matmul (graph, NULL, run_input (graph, &CLEAVE_SHAPE (4, 3)),
                                             run_input (graph, &CLEAVE_SHAPE (3, 5)), NULL);
  CleaveResult *y = cleave_graph_add_transpose (graph, NULL, x, &perm, NULL);
  g_autoptr (CleaveStorage) storage = NULL;

  run_output (graph, cleave_graph_add_reshape (graph, NULL, y, &flat, NULL));
  storage = make_storage (graph);
  ck_assert_int_eq (place_of (storage, x)->stride[1], 1);
  ck_assert_int_eq (storage->copied_bytes, 20 * 4);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "layouts", an_image_has_channels_innermost,
                   stacked_images_have_the_layout_of_each_image,
                   reshaped_operands_of_a_join_share_its_memory,
                   reshaped_operands_that_cannot_share_memory_are_copied,
                   a_broadcast_operand_does_not_decide_the_layout_of_the_result,
                   a_transposed_product_is_written_in_the_layout_of_its_reader,
                   a_product_keeps_its_columns_contiguous, NULL);
}

CLEAVE_TEST_SUITE ("layouts", add_tests)
