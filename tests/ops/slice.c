/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Slice, with steps of either sign. */

#include "op-case.h"
#include "run-help.h"

typedef struct
{
  CleaveSliceAttrs attrs;
  const char *node;    /* the node as it is printed; NULL: the Slice is an error */
  const char *message; /* error message; NULL: no error */
} Case;

static const Case cases[] = {
  { { .starts = { 0 } }, "0:6,0:4 : float32 6x4", NULL },
  { { { 1, { 1 } }, { 1, { 3 } }, { 0 }, { 0 } }, "1:3,0:4 : float32 2x4", NULL },
  { { { 1, { -3 } }, { 1, { -1 } }, { 1, { -1 } }, { 0 } }, "0:6,1:3 : float32 6x2", NULL },
  { { { 1, { 0 } }, { 1, { G_MAXINT64 } }, { 0 }, { 1, { 2 } } }, "0:5:2,0:4 : float32 3x4", NULL },
  { { { 2, { 1, 0 } }, { 2, { 6, 4 } }, { 2, { 0, 1 } }, { 2, { 3, 9 } } },
    "1:5:3,0:1 : float32 2x1",
    NULL },
  { { { 1, { 9 } }, { 1, { 20 } }, { 0 }, { 0 } }, "6:6,0:4 : float32 0x4", NULL },
  { { { 1, { 4 } }, { 1, { 2 } }, { 0 }, { 0 } }, "4:4,0:4 : float32 0x4", NULL },
  { { { 1, { -1 } }, { 1, { G_MININT64 } }, { 0 }, { 1, { -2 } } },
    "5:0:-2,0:4 : float32 3x4",
    NULL },
  { { { 1, { -1 } }, { 1, { G_MININT64 } }, { 0 }, { 1, { -1 } } },
    "5:-7:-1,0:4 : float32 6x4",
    NULL },
  { { { 1, { 5 } }, { 1, { 0 } }, { 0 }, { 1, { G_MININT64 } } }, "5:6,0:4 : float32 1x4", NULL },
  { { { 1, { 0 } }, { 1, { 5 } }, { 0 }, { 1, { -1 } } }, "0:0,0:4 : float32 0x4", NULL },
  { { { 1, { 0 } }, { 0 }, { 0 }, { 0 } }, NULL, "Slice 's': 1 starts, but 0 ends" },
  { { { 1, { 0 } }, { 1, { 1 } }, { 2, { 0, 1 } }, { 0 } },
    NULL,
    "Slice 's': 1 starts, but 2 axes" },
  { { { 1, { 0 } }, { 1, { 1 } }, { 0 }, { 2, { 1, 1 } } },
    NULL,
    "Slice 's': 1 starts, but 2 steps" },
  { { { 3, { 0 } }, { 3, { 1 } }, { 0 }, { 0 } }, NULL, "Slice 's': 3 starts for rank 2" },
  { { { 1, { 0 } }, { 1, { 1 } }, { 0 }, { 1, { 0 } } }, NULL, "Slice 's': step 0 is 0" },
  { { { 1, { 0 } }, { 1, { 1 } }, { 1, { 2 } }, { 0 } },
    NULL,
    "Slice 's': axes must be between -2 and 1 for rank 2, not 2" },
  { { { 2, { 0 } }, { 2, { 1 } }, { 2, { 1, -1 } }, { 0 } },
    NULL,
    "Slice 's': axis 1 is given twice" },
};

START_TEST (slices_are_normalized_to_one_entry_per_dimension)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
      g_autoptr (GError) error = NULL;
      CleaveResult *x =
          cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 6, 4), NULL);
      CleaveResult *y = cleave_graph_add_slice (graph, "s", x, &cases[i].attrs, &error);
      g_autofree char *dump = g_strdup_printf (
          "%%0 = Input : float32 6x4  # x\n%%1 = Slice %%0 %s  # s", cases[i].node);

      if (cases[i].node == NULL)
        {
          ck_assert_ptr_null (y);
          cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE, cases[i].message);
          continue;
        }
      cleave_assert_no_error (error);
      cleave_assert_dump (graph, dump);
      ck_assert (cleave_graph_validate (graph, &error));
    }
}
END_TEST

START_TEST (a_range_outside_is_an_error)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_INT8, 6, 4), NULL);

  CleaveRange inside = CLEAVE_RANGE (1, 3, 0, 4), outside = CLEAVE_RANGE (1, 7, 0, 4);

  ck_assert_ptr_nonnull (cleave_graph_add_slice_range (graph, "r", x, &inside, &error));
  ck_assert_ptr_null (cleave_graph_add_slice_range (graph, "r", x, &outside, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_ATTRIBUTE,
                       "Slice 'r': the range 1:7,0:4 does not lie in 0:6,0:4");
  cleave_assert_dump (graph, "%0 = Input : int8 6x4  # x\n%1 = Slice %0 1:3,0:4 : int8 2x4  # r");
}
END_TEST

START_TEST (a_piece_has_the_steps_of_the_slice)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (9), 0, 1);
  CleaveSliceAttrs by_two = { CLEAVE_INTS (1), CLEAVE_INTS (9), { 0 }, CLEAVE_INTS (2) };
  CleaveSliceAttrs back = { CLEAVE_INTS (7), CLEAVE_INTS (0), { 0 }, CLEAVE_INTS (-2) };
  CleaveResult *y = cleave_graph_add_slice (graph, NULL, x, &by_two, NULL);

  cleave_assert_values (y, "1 3 5 7");
  cleave_assert_chunk (y, "1:3", "3:6 0:3:2");
  cleave_assert_chunk (y, "2:3", "5:6 0:1");
  y = cleave_graph_add_slice (graph, NULL, x, &back, NULL);
  cleave_assert_values (y, "7 5 3 1");
  cleave_assert_chunk (y, "0:4", "1:8 6:-8:-2");
  cleave_assert_chunk (y, "1:3", "3:6 2:-4:-2");
  cleave_assert_chunk (y, "3:4", "1:2 0:1");
}
END_TEST

static void
assert_runs_as (const GPtrArray *expected, const CleaveGraph *graph, const GPtrArray *inputs)
{
  g_autoptr (GPtrArray) got = run_graph (graph, inputs, 2);

  ck_assert (cleave_tensor_equal (expected->pdata[0], got->pdata[0]));
}

START_TEST (pieces_with_negative_steps_are_exported)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL), read = NULL;
  const gint64 chunks[] = { 3, 2 };
  g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks ("0,1", chunks, 2);
  CleaveSliceAttrs back = {
    CLEAVE_INTS (-1, 8), CLEAVE_INTS (G_MININT64, 1), { 0 }, CLEAVE_INTS (-1, -3)
  };
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (7, 10));
  CleaveResult *y = cleave_graph_add_slice (graph, NULL, run_unary (graph, "Neg", x), &back, NULL);
  CleaveRecursion recursion = { .depth = 2, .halo = CLEAVE_HALO_CARRY };
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GPtrArray) inputs = NULL, expected = NULL;
  g_autoptr (GBytes) bytes = NULL;

  run_output (graph, y);
  inputs = run_random_inputs (graph, 1);
  expected = run_graph (graph, inputs, 1);
  report =
      cleave_split_node_recursively (cleave_result_get_node (y), split, NULL, &recursion, NULL);
  ck_assert_uint_eq (cleave_split_report_get_n_split (report), 2);
  assert_runs_as (expected, graph, inputs);
  bytes = cleave_onnx_serialize (graph, NULL);
  read = cleave_onnx_parse (bytes, NULL, NULL, NULL);
  assert_runs_as (expected, read, inputs);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "normalize", slices_are_normalized_to_one_entry_per_dimension,
                   a_range_outside_is_an_error, a_piece_has_the_steps_of_the_slice,
                   pieces_with_negative_steps_are_exported, NULL);
}

CLEAVE_TEST_SUITE ("slice", add_tests)
