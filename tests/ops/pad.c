/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Pad in all modes, and the pads of its pieces. */

#include "graphs.h"
#include "op-case.h"

#include <string.h>

#include "../../lib/ir/graph-private.h"

static const struct
{
  CleavePadAttrs attrs;
  const char *result, *values; /* type of the result and its elements as text, for an operand with
                                  the elements 1 2 3 */
} cases[] = {
  { { CLEAVE_PAD_CONSTANT, { 2, { 1, 2 } }, 9 }, "float32 6", "9 1 2 3 9 9" },
  { { CLEAVE_PAD_CONSTANT, { 0 }, 9 }, "float32 3", "1 2 3" },
  { { CLEAVE_PAD_CONSTANT, { 2, { -1, 1 } }, 0.5 }, "float32 3", "2 3 0.5" },
  { { CLEAVE_PAD_CONSTANT, { 2, { -2, -1 } }, 0 }, "float32 0", "" },
  { { CLEAVE_PAD_CONSTANT, { 2, { -5, 4 } }, 7 }, "float32 2", "7 7" },
  { { CLEAVE_PAD_EDGE, { 2, { 2, 1 } }, 0 }, "float32 6", "1 1 1 2 3 3" },
  { { CLEAVE_PAD_REFLECT, { 2, { 2, 2 } }, 0 }, "float32 7", "3 2 1 2 3 2 1" },
  { { CLEAVE_PAD_REFLECT, { 2, { 0, 6 } }, 0 }, "float32 9", "1 2 3 2 1 2 3 2 1" },
  { { CLEAVE_PAD_REFLECT, { 2, { -1, 1 } }, 0 }, "float32 3", "2 3 2" },
  { { CLEAVE_PAD_CONSTANT, { 1, { 1 } }, 0 },
    "Pad 'p': pads has 1 entries, not 2 for rank 1",
    NULL },
  { { CLEAVE_PAD_CONSTANT, { 2, { -2, -2 } }, 0 },
    "Pad 'p': pads -2 and -2 remove more than the 3 elements of dimension 0",
    NULL },
  { { CLEAVE_PAD_CONSTANT, { 2, { G_MAXINT64, 0 } }, 0 },
    "Pad 'p': dimension 0 with its pads does not fit 64 bits",
    NULL },
  { { (CleavePadMode) 3, { 2, { 0, 0 } }, 0 }, "Pad 'p': mode has no value 3", NULL },
};

START_TEST (positive_pads_extend_and_negative_ones_crop)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (3), 1, 1);
      CleaveResult *y =
          cleave_test_add (graph, "Pad", "p", (CleaveResult *[]){ x }, 1, &cases[i].attrs, &error);

      cleave_assert_infers (y, &error, cases[i].result);
      if (cases[i].values != NULL)
        cleave_assert_values (y, cases[i].values);
    }
}
END_TEST

START_TEST (an_empty_dimension_cannot_be_repeated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (0));
  CleavePadAttrs a = { CLEAVE_PAD_EDGE, CLEAVE_INTS (0, 2), 0 };

  cleave_assert_infers (
      cleave_test_add (graph, "Pad", "p", (CleaveResult *[]){ x }, 1, &a, &error), &error,
      "Pad 'p': dimension 0 is empty: there is nothing that mode edge could repeat");
  a.mode = CLEAVE_PAD_CONSTANT;
  cleave_assert_infers (cleave_test_add (graph, "Pad", "p", (CleaveResult *[]){ x }, 1, &a, &error),
                        &error, "float32 2");
}
END_TEST

static const struct
{
  CleavePadMode mode;
  CleaveInts pads;
  const char *chunk, *expected; /* a chunk of the result, and the range that it reads of an operand
                                   with 6 elements */
} chunks[] = {
  { CLEAVE_PAD_CONSTANT, { 2, { 2, 3 } }, "0:4", "0:2 pads=2,0" },
  { CLEAVE_PAD_CONSTANT, { 2, { 2, 3 } }, "3:7", "1:5 pads=0,0" },
  { CLEAVE_PAD_CONSTANT, { 2, { 2, 3 } }, "6:10", "4:6 pads=0,2" },
  { CLEAVE_PAD_CONSTANT, { 2, { -2, 3 } }, "1:5", "3:6 pads=0,1" },
  { CLEAVE_PAD_REFLECT, { 2, { 2, 3 } }, "0:5", "mode=reflect: 0:3 pads=2,0" },
  { CLEAVE_PAD_REFLECT,
    { 2, { 2, 3 } },
    "0:4",
    "refused: in dimension 0 it reflects 2 elements, but has 2: it must have more" },
  { CLEAVE_PAD_REFLECT, { 2, { 2, 3 } }, "0:11", "mode=reflect: 0:6 pads=2,3" },
  { CLEAVE_PAD_REFLECT, { 2, { 2, 9 } }, "2:17", "mode=reflect: 0:6 pads=0,9" },
  { CLEAVE_PAD_EDGE, { 2, { 2, 3 } }, "0:3", "mode=edge: 0:1 pads=2,0" },
  /* the chunk has only padding: the piece reads the element that is nearest to the chunk, and a
   * negative pad removes this element */
  { CLEAVE_PAD_CONSTANT, { 2, { 2, 3 } }, "0:2", "0:1 pads=2,-1" },
  { CLEAVE_PAD_CONSTANT, { 2, { 2, 3 } }, "0:1", "0:1 pads=2,-2" },
  { CLEAVE_PAD_CONSTANT, { 2, { 2, 3 } }, "9:11", "5:6 pads=-2,3" },
  { CLEAVE_PAD_EDGE, { 2, { 2, 3 } }, "0:2", "mode=edge: 0:1 pads=2,-1" },
  { CLEAVE_PAD_REFLECT,
    { 2, { 2, 3 } },
    "0:2",
    "refused: in dimension 0 it reflects 2 elements, but has 1: it must have more" },
};

START_TEST (clipped_amounts_become_pads)
{
  for (guint i = 0; i < G_N_ELEMENTS (chunks); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (6));
      CleavePadAttrs a = { chunks[i].mode, chunks[i].pads, 0 };
      g_auto (GStrv) words = g_strsplit (chunks[i].expected, ": ", 2);
      g_autofree char *expected =
          g_str_has_prefix (words[0], "mode=") ? NULL : g_strdup (chunks[i].expected);

      if (expected == NULL) /* `expected` is "mode=...: RANGE ATTRIBUTES", but cleave_assert_chunk()
                               expects "RANGE mode=... ATTRIBUTES" */
        {
          g_auto (GStrv) range = g_strsplit (words[1], " ", 2);

          expected = g_strdup_printf ("%s %s %s", range[0], words[0], range[1]);
        }
      cleave_assert_chunk (
          cleave_test_add (graph, "Pad", NULL, (CleaveResult *[]){ x }, 1, &a, NULL),
          chunks[i].chunk, expected);
    }
}
END_TEST

START_TEST (an_empty_operand_has_no_nearest_element)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (0));
  CleavePadAttrs a = { CLEAVE_PAD_CONSTANT, CLEAVE_INTS (2, 3), 0 };

  cleave_assert_chunk (cleave_test_add (graph, "Pad", NULL, (CleaveResult *[]){ x }, 1, &a, NULL),
                       "0:2", "refused: it would read nothing of data");
}
END_TEST

/* The op rounds constant_value to the element type and clamps the number to the range of the
 * type. */
START_TEST (the_value_is_converted_to_the_element_type)
{
  static const struct
  {
    CleaveElement element;
    double value;
    guint64 bits;
  } values[] = {
    { CLEAVE_FLOAT16, 1.5, 0x3e00 },
    { CLEAVE_BFLOAT16, -2, 0xc000 },
    { CLEAVE_FLOAT32, 1, 0x3f800000 },
    { CLEAVE_INT8, -1.9, 0xff },
    { CLEAVE_INT8, 1000, 0x7f },
    { CLEAVE_INT16, -1e9, 0x8000 },
    { CLEAVE_UINT8, -5, 0 },
    { CLEAVE_UINT8, 300, 255 },
    { CLEAVE_UINT32, 4294967295.0, 0xffffffff },
    { CLEAVE_INT64, 1e30, 0x7fffffffffffffff },
    { CLEAVE_INT64, -1e30, 0x8000000000000000 },
    { CLEAVE_UINT64, 1e30, 0xffffffffffffffff },
    { CLEAVE_BOOL, 0.25, 1 },
    { CLEAVE_INT32, -7, 0xfffffff9 },
    { CLEAVE_FLOAT64, 2, 0x4000000000000000 },
    { CLEAVE_UINT16, 7.9, 7 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      CleaveTensorType type = CLEAVE_TYPE (values[i].element, 0),
                       one = CLEAVE_TYPE (values[i].element, 1);
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (CleaveTensor) x = cleave_tensor_new (&type, NULL),
                               y = cleave_tensor_new (&one, NULL);
      CleavePadAttrs a = { CLEAVE_PAD_CONSTANT, CLEAVE_INTS (0, 1), values[i].value };
      CleaveResult *pad = cleave_test_add (
          graph, "Pad", NULL,
          (CleaveResult *[]){ cleave_graph_add_input (graph, "x", &type, NULL) }, 1, &a, NULL);
      CleaveView from = cleave_view_tensor (x), to = cleave_view_tensor (y);
      g_auto (CleaveNodeCall) call = { 0 };
      guint64 got = 0;

      pad->node->op->compute (cleave_node_call_init (&call, pad->node), &from, &to);
      memcpy (&got, cleave_tensor_get_data (y), cleave_element_size (values[i].element));
      ck_assert_msg (got == values[i].bits, "%s of %g is %" G_GINT64_MODIFIER "x",
                     cleave_element_get_name (values[i].element), values[i].value, got);
    }
}
END_TEST

/* Returns the index of the operand's element that position i of the result copies. The dimension
 * has n elements. i counts from the operand's first element, so i may be negative. */
static gint64
find_source (CleavePadMode mode, gint64 i, gint64 n)
{
  while (n > 1 && mode == CLEAVE_PAD_REFLECT && (i < 0 || i >= n))
    i = i < 0 ? -i : 2 * (n - 1) - i;
  return CLAMP (i, 0, n - 1);
}

static float
expect (const CleavePadAttrs *a, const gint64 *n, gint64 row, gint64 column)
{
  gint64 i = row - a->pads.v[0], j = column - a->pads.v[1];

  if (a->mode == CLEAVE_PAD_CONSTANT && (i < 0 || i >= n[0] || j < 0 || j >= n[1]))
    return 77;
  return (float) (find_source (a->mode, i, n[0]) * n[1] + find_source (a->mode, j, n[1]));
}

START_TEST (padding_of_rows_and_columns_combines)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (600); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GString) want = g_string_new (NULL);
      CleavePadAttrs a = { (CleavePadMode) (seed % 3), { 4, { 0 } }, 77 };
      g_autoptr (GError) error = NULL;
      gint64 n[2], extent[2];
      CleaveResult *x, *y;

      for (guint d = 0; d < 2; d++)
        {
          gint32 least = seed % 2 == 0 ? 0 : -4;

          n[d] = g_rand_int_range (rand, 1, 7);
          a.pads.v[d] = g_rand_int_range (rand, least, 9);
          a.pads.v[2 + d] = g_rand_int_range (rand, least, 9);
          a.pads.v[2 + d] = MAX (a.pads.v[2 + d], -n[d] - a.pads.v[d]);
          extent[d] = n[d] + a.pads.v[d] + a.pads.v[2 + d];
        }
      for (gint64 i = 0; i < extent[0] * extent[1]; i++)
        g_string_append_printf (want, "%s%g", i == 0 ? "" : " ",
                                (double) expect (&a, n, i / extent[1], i % extent[1]));
      x = cleave_case_steps (graph, CLEAVE_SHAPE (n[0], n[1]), 0, 1);
      y = cleave_test_add (graph, "Pad", NULL, (CleaveResult *[]){ x }, 1, &a, &error);
      g_assert_no_error (error);
      cleave_assert_values (y, want->str);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "pad", positive_pads_extend_and_negative_ones_crop,
                   padding_of_rows_and_columns_combines, an_empty_dimension_cannot_be_repeated,
                   clipped_amounts_become_pads, an_empty_operand_has_no_nearest_element,
                   the_value_is_converted_to_the_element_type, NULL);
}

CLEAVE_TEST_SUITE ("pad", add_tests)
