/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops Reshape, Flatten, Squeeze and Unsqueeze. */

#include "graphs.h"
#include "op-case.h"

#include "../../lib/ir/chunk.h"
#include "../../lib/ir/graph-private.h"

static CleaveResult *
add_node (CleaveGraph *graph, const char *op, CleaveResult *x, gconstpointer attrs, GError **error)
{
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup (op), "r", &x, 1, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

static const struct
{
  CleaveShape x;
  CleaveReshapeAttrs attrs;
  const char *result; /* type of the result, or error message */
} reshapes[] = {
  { { 3, { 2, 3, 4 } }, { { 2, { 6, 4 } }, FALSE }, "float32 6x4" },
  { { 3, { 2, 3, 4 } }, { { 2, { 0, -1 } }, FALSE }, "float32 2x12" },
  { { 3, { 2, 3, 4 } }, { { 4, { 0, 0, 2, -1 } }, FALSE }, "float32 2x3x2x2" },
  { { 3, { 2, 3, 4 } }, { { 1, { -1 } }, FALSE }, "float32 24" },
  { { 0, { 0 } }, { { 2, { 1, 1 } }, FALSE }, "float32 1x1" },
  { { 2, { 1, 1 } }, { { 0, { 0 } }, FALSE }, "float32 scalar" },
  { { 2, { 0, 3 } },
    { { 2, { 0, -1 } }, FALSE },
    "Reshape 'r': data is 0x3: its 0 elements do not divide by the 0 that shape leaves for its "
    "-1" },
  { { 2, { 0, 3 } }, { { 2, { 3, -1 } }, FALSE }, "float32 3x0" },
  { { 2, { 0, 3 } }, { { 2, { 7, 0 } }, TRUE }, "float32 7x0" },
  { { 3, { 2, 3, 4 } },
    { { 2, { 5, 5 } }, FALSE },
    "Reshape 'r': data is 2x3x4 with 24 elements, shape has 25" },
  { { 3, { 2, 3, 4 } },
    { { 2, { 5, -1 } }, FALSE },
    "Reshape 'r': data is 2x3x4: its 24 elements do not divide by the 5 that shape leaves for its "
    "-1" },
  { { 3, { 2, 3, 4 } },
    { { 3, { -1, 2, -1 } }, FALSE },
    "Reshape 'r': more than one entry of shape is -1" },
  { { 1, { 24 } },
    { { 2, { 24, 0 } }, FALSE },
    "Reshape 'r': entry 1 of shape is 0, but data has rank 1" },
  { { 1, { 24 } }, { { 2, { -2, 1 } }, FALSE }, "Reshape 'r': shape must be at least -1, not -2" },
  { { 1, { 24 } },
    { { 9, { 24, 1, 1, 1, 1, 1, 1, 1, 1 } }, FALSE },
    "Reshape 'r': shape has rank 9, more than 8" },
  { { 1, { 24 } },
    { { 2, { G_MAXINT64, 3 } }, FALSE },
    "Reshape 'r': the number of elements does not fit 64 bits at entry 1 of shape" },
};

START_TEST (missing_extents_are_inferred)
{
  for (guint i = 0; i < G_N_ELEMENTS (reshapes); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      CleaveResult *x = cleave_case_input (graph, "x", reshapes[i].x);

      cleave_assert_infers (add_node (graph, "Reshape", x, &reshapes[i].attrs, &error), &error,
                            reshapes[i].result);
      ck_assert (cleave_graph_validate (graph, NULL));
    }
}
END_TEST

static const struct
{
  CleaveShape x;
  CleaveInts shape;
  const char *chunk, *expected;
} groups[] = {
  { { 4, { 4, 3, 2, 2 } }, { 2, { 4, 12 } }, "1:3,0:12", "1:3,0:3,0:2,0:2 shape=2,12" },
  { { 4, { 4, 3, 2, 2 } }, { 2, { 4, 12 } }, "0:4,4:12", "0:4,1:3,0:2,0:2 shape=4,8" },
  { { 4, { 4, 3, 2, 2 } },
    { 2, { 4, 12 } },
    "0:4,4:11",
    "refused: it does not begin and end where rows of the operand do: it needs the range "
    "0:4,1:3,0:2,0:2" },
  { { 2, { 4, 12 } }, { 4, { 4, 3, 2, 2 } }, "0:4,1:3,0:2,0:2", "0:4,4:12 shape=4,2,2,2" },
  { { 2, { 4, 12 } },
    { 4, { 4, 3, 2, 2 } },
    "0:4,0:3,0:1,0:2",
    "refused: it does not begin and end where rows of the operand do: it needs the range "
    "0:4,0:12" },
  { { 2, { 6, 4 } },
    { 2, { 8, 3 } },
    "0:4,0:3",
    "refused: it does not begin and end where rows of the operand do: it needs the range 0:6,0:4" },
  { { 3, { 1, 6, 1 } }, { 3, { 2, 1, 3 } }, "1:2,0:1,0:3", "0:1,3:6,0:1 shape=1,1,3" },
  { { 1, { 12 } }, { 2, { 4, 3 } }, "1:3,0:3", "3:9 shape=2,3" },
  { { 2, { 4, 3 } }, { 1, { 12 } }, "3:9", "1:3,0:3 shape=6" },
};

START_TEST (a_chunk_consists_of_whole_rows)
{
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_case_input (graph, "x", groups[i].x);

      cleave_assert_chunk (cleave_graph_add_reshape (graph, NULL, x, &groups[i].shape, NULL),
                           groups[i].chunk, groups[i].expected);
    }
}
END_TEST

static gint64
number_of (const CleaveShape *shape, const gint64 *index)
{
  gint64 number = 0;

  for (guint d = 0; d < shape->rank; d++)
    number = number * shape->dim[d] + index[d];
  return number;
}

static void
index_of (const CleaveShape *shape, gint64 number, gint64 *index)
{
  for (guint d = shape->rank; d-- > 0; number /= shape->dim[d])
    index[d] = number % shape->dim[d];
}

/* Looks at each element to check that the slice has all elements that the chunk reads. If the chunk
 * and the slice have the same number of elements, also checks that the slice has no other elements.
 */
static void
check_cover (const CleaveCall *call, const CleaveRange *chunk)
{
  CleaveSlice slice = cleave_call_slice (call, 0, chunk);
  const CleaveShape *x = &call->operands[0].shape, *y = &call->results[0].shape;
  CleaveShape part = cleave_range_shape (chunk), read = cleave_range_shape (&slice.range);
  gboolean piece = cleave_shape_n_elements (&part) == cleave_shape_n_elements (&read);

  for (gint64 n = 0; n < cleave_shape_n_elements (&part); n++)
    {
      gint64 index[CLEAVE_MAX_RANK], at[CLEAVE_MAX_RANK];

      index_of (&part, n, index);
      for (guint d = 0; d < y->rank; d++)
        index[d] += chunk->dim[d].begin;
      index_of (x, number_of (y, index), at);
      for (guint d = 0; d < x->rank; d++)
        {
          at[d] -= slice.range.dim[d].begin;
          ck_assert (at[d] >= 0 && at[d] < read.dim[d]);
        }
      ck_assert (!piece || number_of (&read, at) == n);
    }
}

static const struct
{
  CleaveShape x;
  CleaveInts shape;
} pairs[] = {
  { { 3, { 2, 3, 4 } }, { 2, { 6, 4 } } },    { { 3, { 2, 3, 4 } }, { 2, { 2, 12 } } },
  { { 2, { 6, 4 } }, { 2, { 8, 3 } } },       { { 2, { 6, 4 } }, { 2, { 3, 8 } } },
  { { 2, { 4, 6 } }, { 2, { 2, 12 } } },      { { 1, { 24 } }, { 3, { 2, 3, 4 } } },
  { { 4, { 1, 4, 1, 3 } }, { 2, { 2, 6 } } }, { { 3, { 2, 2, 6 } }, { 4, { 2, 3, 4, 1 } } },
  { { 2, { 5, 1 } }, { 3, { 1, 5, 1 } } },
};

START_TEST (the_slice_covers_the_elements_read)
{
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_case_input (graph, "x", pairs[i].x);
      CleaveResult *y = cleave_graph_add_reshape (graph, NULL, x, &pairs[i].shape, NULL);
      CleaveRange whole = cleave_range_whole (&y->type.shape), chunk = whole;
      g_auto (CleaveNodeCall) call = { 0 };

      cleave_node_call_init (&call, y->node);
      for (guint d = 0; d < whole.rank; d++, chunk = whole)
        for (chunk.dim[d].begin = 0; chunk.dim[d].begin < whole.dim[d].end; chunk.dim[d].begin++)
          for (chunk.dim[d].end = chunk.dim[d].begin + 1; chunk.dim[d].end <= whole.dim[d].end;
               chunk.dim[d].end++)
            check_cover (&call.call, &chunk);
    }
}
END_TEST

START_TEST (flatten_has_two_dimensions)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4));
  CleaveResult *s = cleave_graph_add_input (graph, "s", &CLEAVE_SCALAR (CLEAVE_FLOAT32), NULL);

  cleave_assert_infers (cleave_graph_add_flatten (graph, "f", x, 1, &error), &error,
                        "float32 2x12");
  cleave_assert_infers (cleave_graph_add_flatten (graph, "f", x, 0, &error), &error,
                        "float32 1x24");
  cleave_assert_infers (cleave_graph_add_flatten (graph, "f", x, 3, &error), &error,
                        "float32 24x1");
  cleave_assert_infers (cleave_graph_add_flatten (graph, "f", x, -1, &error), &error,
                        "float32 6x4");
  cleave_assert_infers (cleave_graph_add_flatten (graph, "f", s, 0, &error), &error, "float32 1x1");
  cleave_assert_infers (cleave_graph_add_flatten (graph, "f", x, 4, &error), &error,
                        "Flatten 'f': axis must be between -3 and 3 for rank 3, not 4");
  cleave_assert_infers (add_node (graph, "Flatten", x, NULL, &error), &error, "float32 2x12");
  cleave_assert_chunk (cleave_graph_add_flatten (graph, "f", x, 2, &error), "3:6,0:4",
                       "1:2,0:3,0:4 axis=2");
  cleave_assert_chunk (cleave_graph_add_flatten (graph, "f", x, 2, &error), "2:6,0:4",
                       "refused: it does not begin and end where rows of the operand do: it needs "
                       "the range 0:2,0:3,0:4");
}
END_TEST

START_TEST (a_product_beyond_64_bits_is_an_error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveTensorType type =
      CLEAVE_TYPE (CLEAVE_INT8, 0, G_GINT64_CONSTANT (1) << 40, G_GINT64_CONSTANT (1) << 40);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);

  if (x != NULL)
    cleave_assert_infers (
        cleave_graph_add_flatten (graph, "f", x, 1, &error), &error,
        "Flatten 'f': the product of the dimensions does not fit 64 bits at dimension 2");
}
END_TEST

START_TEST (squeeze_and_unsqueeze)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (1, 3, 1, 4));
  CleaveInts first = CLEAVE_INTS (0), last = CLEAVE_INTS (-2), wrong = CLEAVE_INTS (1),
             far = CLEAVE_INTS (4), twice = CLEAVE_INTS (2, -2);
  CleaveInts ends = CLEAVE_INTS (-1, 0), many = CLEAVE_INTS (0, 1, 2, 3, 4);
  CleaveResult *y =
      cleave_test_add (graph, "Squeeze", "s", (CleaveResult *[]){ x }, 1, NULL, &error);

  cleave_assert_infers (y, &error, "float32 3x4");
  cleave_assert_chunk (y, "1:2,0:2", "0:1,1:2,0:1,0:2 axes=0,2");
  cleave_assert_infers (cleave_test_add (graph, "Squeeze", "s", (CleaveResult *[]){ x }, 1,
                                         &(CleaveAxesAttrs){ first }, &error),
                        &error, "float32 3x1x4");
  cleave_assert_infers (cleave_test_add (graph, "Squeeze", "s", (CleaveResult *[]){ x }, 1,
                                         &(CleaveAxesAttrs){ last }, &error),
                        &error, "float32 1x3x4");
  cleave_assert_infers (cleave_test_add (graph, "Squeeze", "s", (CleaveResult *[]){ x }, 1,
                                         &(CleaveAxesAttrs){ wrong }, &error),
                        &error, "Squeeze 's': dimension 1 has 3, only 1 can be squeezed");
  cleave_assert_infers (cleave_test_add (graph, "Squeeze", "s", (CleaveResult *[]){ x }, 1,
                                         &(CleaveAxesAttrs){ far }, &error),
                        &error, "Squeeze 's': axes must be between -4 and 3 for rank 4, not 4");
  cleave_assert_infers (cleave_test_add (graph, "Squeeze", "s", (CleaveResult *[]){ x }, 1,
                                         &(CleaveAxesAttrs){ twice }, &error),
                        &error, "Squeeze 's': axis 2 is given twice");
  y = cleave_test_add (graph, "Unsqueeze", "u", (CleaveResult *[]){ x }, 1,
                       &(CleaveAxesAttrs){ ends }, &error);
  cleave_assert_infers (y, &error, "float32 1x1x3x1x4x1");
  cleave_assert_chunk (y, "0:1,0:1,2:3,0:1,1:4,0:1", "0:1,2:3,0:1,1:4 axes=0,5");
  cleave_assert_infers (cleave_test_add (graph, "Unsqueeze", "u", (CleaveResult *[]){ x }, 1,
                                         &(CleaveAxesAttrs){ many }, &error),
                        &error, "Unsqueeze 'u': the result would have rank 9, more than 8");
  cleave_assert_infers (cleave_test_add (graph, "Unsqueeze", "u", (CleaveResult *[]){ y }, 1,
                                         &(CleaveAxesAttrs){ twice }, &error),
                        &error, "float32 1x1x1x3x1x4x1x1");
}
END_TEST

/* The operand and the result may have gaps. All ways to copy between them give the same result. */
START_TEST (strided_views_are_reshaped)
{
  CleaveTensorType from = CLEAVE_TYPE (CLEAVE_INT16, 4, 6), to = CLEAVE_TYPE (CLEAVE_INT16, 3, 8);
  g_autoptr (CleaveTensor) x = cleave_random_tensor (&from, 7, FALSE);
  CleaveInts shape = CLEAVE_INTS (3, 8);

  for (guint way = 0; way < 4; way++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *in = cleave_graph_add_input (graph, "x", &from, NULL);
      CleaveResult *y = cleave_graph_add_reshape (graph, NULL, in, &shape, NULL);
      gint16 x_copy[4 * 10], y_copy[3 * 10] = { 0 };
      CleaveView operand = cleave_view_tensor (x), result = { y_copy, to, { 10, 1 } };
      CleaveView spread = { x_copy, from, { 10, 1 } };
      g_auto (CleaveNodeCall) call = { 0 };

      cleave_view_copy (&spread, &operand);
      if (way & 1)
        operand = spread;
      if (way & 2)
        result = cleave_view_dense (&to, y_copy);
      y->node->op->compute (cleave_node_call_init (&call, y->node), &operand, &result);
      for (guint i = 0; i < 24; i++)
        ck_assert_int_eq (y_copy[i / 8 * (way & 2 ? 8 : 10) + i % 8],
                          ((const gint16 *) cleave_tensor_get_data (x))[i]);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "reshape", missing_extents_are_inferred, a_chunk_consists_of_whole_rows,
                   the_slice_covers_the_elements_read, strided_views_are_reshaped, NULL);
  cleave_add_case (suite, "others", flatten_has_two_dimensions,
                   a_product_beyond_64_bits_is_an_error, squeeze_and_unsqueeze, NULL);
}

CLEAVE_TEST_SUITE ("reshape", add_tests)
