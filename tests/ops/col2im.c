/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Col2Im, which adds overlapping blocks of columns to an image. */

#include "apply.h"
#include "op-case.h"

static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_FLOAT16,
                                          CLEAVE_INT8,    CLEAVE_INT64,   CLEAVE_UINT16 };

/* Adds two blocks of 2x2 into an image of 2x3 pixels. The blocks overlap in the middle column. */
START_TEST (blocks_are_added_at_their_positions)
{
  static const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, y[] = { 1, 5, 4, 5, 13, 8 };
  static const double lines[] = { 1, 2, 3, 4, 5, 6 };
  static const double padded[] = { 6, 0, 8, 0, 6 };
  static const CleaveCol2ImAttrs plain = { .image_shape = { 2, { 2, 3 } },
                                           .block_shape = { 2, { 2, 2 } } };
  static const CleaveCol2ImAttrs more = { .image_shape = { 1, { 5 } },
                                          .block_shape = { 1, { 2 } },
                                          .dilations = { 1, { 2 } },
                                          .pads = { 2, { 2, 1 } },
                                          .strides = { 1, { 2 } } };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 4, 2), x);
      g_autoptr (CleaveTensor) b = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 2, 3), lines);
      g_autoptr (CleaveTensor) c = cleave_apply ("Col2Im", &a, 1, &plain);
      g_autoptr (CleaveTensor) d = cleave_apply ("Col2Im", &b, 1, &more);

      cleave_apply_check ("2x3", c, y, 0);
      cleave_apply_check ("5", d, padded, 0);
    }
}
END_TEST

static CleaveResult *
add (CleaveGraph *graph, CleaveShape x, const CleaveCol2ImAttrs *attrs, GError **error)
{
  CleaveResult *operand = cleave_case_input (graph, "x", x);
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("Col2Im"), "c", &operand, 1, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

/* Cuts the image into chunks of rows and of columns. The operand has the blocks in row-major order.
 * Therefore, a chunk of rows reads a contiguous range of blocks, and a chunk of columns reads all
 * blocks. */
START_TEST (chunks_of_rows_read_their_blocks)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL), other = cleave_graph_new (NULL);
  CleaveCol2ImAttrs attrs = { .image_shape = CLEAVE_INTS (6, 5),
                              .block_shape = CLEAVE_INTS (3, 3),
                              .pads = CLEAVE_INTS (1, 1, 1, 1),
                              .strides = CLEAVE_INTS (2, 1) };
  CleaveCol2ImAttrs one = { .image_shape = CLEAVE_INTS (3, 6), .block_shape = CLEAVE_INTS (3, 2) };
  CleaveResult *y = add (graph, CLEAVE_SHAPE (2, 18, 15), &attrs, NULL);

  cleave_assert_chunk (y, "1:2,1:2,0:6,0:5",
                       "1:2,9:18,0:15 image_shape=6,5 block_shape=3,3 pads=1,1,0,1 "
                       "strides=2,1");
  cleave_assert_chunk (y, "0:2,0:2,3:6,0:5",
                       "0:2,0:18,5:15 image_shape=3,5 block_shape=3,3 pads=2,1,0,1 "
                       "strides=2,1");
  cleave_assert_chunk (y, "0:2,0:2,0:6,1:3",
                       "0:2,0:18,0:15 image_shape=6,2 block_shape=3,3 pads=1,2,0,3 "
                       "strides=2,1");
  y = add (other, CLEAVE_SHAPE (1, 6, 5), &one, NULL);
  cleave_assert_chunk (y, "0:1,0:1,1:2,2:6",
                       "0:1,0:6,1:5 image_shape=1,4 block_shape=3,2 pads=1,1,1,0");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  static const struct
  {
    CleaveShape x;
    CleaveCol2ImAttrs attrs;
    CleaveError code;
    const char *message;
  } cases[] = {
    { { 3, { 1, 4, 2 } },
      { .image_shape = { 2, { 2, 4 } }, .block_shape = { 2, { 2, 2 } } },
      CLEAVE_ERROR_SHAPE,
      "dimension 2 is 2, but the image has 3 blocks" },
    { { 3, { 1, 5, 2 } },
      { .image_shape = { 2, { 2, 3 } }, .block_shape = { 2, { 2, 2 } } },
      CLEAVE_ERROR_SHAPE,
      "dimension 1 is 5, no multiple of the 4 elements of a block" },
    { { 3, { 1, 4, 2 } },
      { .image_shape = { 2, { 2, 3 } }, .block_shape = { 1, { 4 } } },
      CLEAVE_ERROR_ATTRIBUTE,
      "block_shape has 1 entries, but must have 2" },
    { { 3, { 1, 4, 2 } },
      { .image_shape = { 0 }, .block_shape = { 0 } },
      CLEAVE_ERROR_ATTRIBUTE,
      "image_shape has 0 entries, but must have 1 to 6" },
    { { 2, { 4, 2 } },
      { .image_shape = { 2, { 2, 3 } }, .block_shape = { 2, { 2, 2 } } },
      CLEAVE_ERROR_SHAPE,
      "input must have rank 3, not 2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autofree char *message = g_strdup_printf ("Col2Im 'c': %s", cases[i].message);
      GError *error = NULL;

      ck_assert_ptr_null (add (graph, cases[i].x, &cases[i].attrs, &error));
      cleave_assert_error (&error, cases[i].code, message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "col2im", blocks_are_added_at_their_positions,
                   chunks_of_rows_read_their_blocks, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("col2im", add_tests)
