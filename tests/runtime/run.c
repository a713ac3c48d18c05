/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs of programs, compared with the interpreter: views, joins and memory that is reused. */

#include "random-graph.h"
#include "run-help.h"

/* The tests below run handwritten graphs. */

START_TEST (diamond)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 8, 8));
  CleaveResult *a = run_unary (graph, "Relu", run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW));
  CleaveResult *b = run_conv (graph, a, 4, 3, CLEAVE_LAYOUT_NCHW);

  run_output (graph, run_binary (graph, "Add", run_unary (graph, "Sigmoid", a), b));
  run_output (graph, a);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (outputs_may_be_inputs_constants_or_equal)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 3));

  run_output (graph, x);
  run_output (graph, x);
  run_output (graph, run_constant (graph, &CLEAVE_SHAPE (4), 7));
  run_output (graph, run_slice (graph, x, CLEAVE_RANGE (1, 2, 0, 3)));
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (empty_graph_and_empty_values_run)
{
  g_autoptr (CleaveGraph) empty = cleave_graph_new (NULL), graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 0)), *y = run_unary (graph, "Relu", x);

  run_assert_same (empty, 1);
  run_output (graph,
              run_concat (graph, (CleaveResult *[]){ y, run_unary (graph, "Neg", y) }, 2, 0));
  run_assert_same (graph, 1);
}
END_TEST

/* The sum reads its first operand, a view, at other positions than the positions that it writes. So
 * the sum does not overwrite this operand. */
START_TEST (view_of_an_operand_is_not_overwritten_while_read)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (4, 4)));
  CleaveInts perm = CLEAVE_INTS (1, 0);
  g_autoptr (GError) error = NULL;
  CleaveResult *t = cleave_graph_add_transpose (graph, NULL, x, &perm, &error);

  cleave_assert_no_error (error);
  run_output (graph, run_binary (graph, "Sub", x, t));
  run_output (graph, run_binary (graph, "Add", run_slice (graph, x, CLEAVE_RANGE (1, 2, 0, 4)), x));
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (a_slice_with_a_negative_step_is_no_view)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (2, 5)));
  CleaveSliceAttrs back = { CLEAVE_INTS (-1), CLEAVE_INTS (G_MININT64), CLEAVE_INTS (1),
                            CLEAVE_INTS (-2) };

  run_output (graph, run_unary (graph, "Neg", run_add (graph, "Slice", &x, 1, &back)));
  run_assert_same (graph, 1);
}
END_TEST

/* If a part is read after the memory of the whole value was overwritten, the part must be in other
 * memory. */
START_TEST (a_part_may_outlive_the_whole)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 4));
  CleaveResult *a = run_unary (graph, "Relu", x), *b = run_unary (graph, "Neg", x);
  CleaveResult *c = run_concat (graph, (CleaveResult *[]){ a, b }, 2, 0);
  CleaveResult *d = run_unary (graph, "Sigmoid", c);

  run_output (graph, run_binary (graph, "Add", run_slice (graph, d, CLEAVE_RANGE (0, 2, 0, 4)), a));
  run_output (graph, d);
  run_assert_same (graph, 1);
}
END_TEST

/* A join is an operand of a later join, and could be in the memory of the later join. But a node
 * reads the first join after another value has overwritten the later join. */
START_TEST (a_nested_join_may_outlive_the_outer_one)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 4));
  CleaveResult *parts[3] = { run_unary (graph, "Relu", x), run_unary (graph, "Neg", x) };
  CleaveResult *inner = run_concat (graph, parts, 2, 0);

  parts[2] = run_unary (graph, "Exp", inner);
  run_output (graph, run_unary (graph, "Sigmoid", run_concat (graph, parts, 3, 0)));
  run_output (graph, inner); /* an output, so not in the memory of the outer Concat */
  run_assert_same (graph, 1);
}
END_TEST

/* Computes y = Conv (Concat (a, one row of b)), and then a + y. Only the row of b is copied into
 * the buffer of the Concat, since `a` is computed there. If `a` had a buffer of its own, the sum
 * could overwrite `a`, but all of `a` would have to be copied. */
START_TEST (a_part_is_not_copied_to_free_its_memory)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (1, 3, 4, 8)));
  CleaveResult *b = run_unary (graph, "Neg", run_input (graph, &CLEAVE_SHAPE (1, 3, 4, 8)));
  CleaveResult *row = run_slice (graph, b, CLEAVE_RANGE (0, 1, 0, 3, 0, 1, 0, 8));
  CleaveResult *x = run_concat (graph, (CleaveResult *[]){ a, row }, 2, 2);
  CleaveResult *y = run_conv (graph, x, 3, 3, CLEAVE_LAYOUT_NCHW);

  y = run_slice (graph, y, CLEAVE_RANGE (0, 1, 0, 3, 0, 4, 0, 8));
  run_output (graph, run_unary (graph, "Relu", run_binary (graph, "Add", a, y)));
  run_output (graph, b);
  run_assert_same (graph, 1);
  ck_assert_int_eq (run_get_stats (graph, 1).copied_bytes, 3 * 8 * 4);
}
END_TEST

START_TEST (operand_twice_and_constant_are_copied)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (2, 4)));
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (2, 4), 3);
  CleaveProgramStats stats;

  run_output (graph, run_concat (graph, (CleaveResult *[]){ x, w, x }, 3, 1));
  stats = run_get_stats (graph, 1);
  ck_assert_int_eq (stats.copied_bytes, 2 * 2 * 4 * 4);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (overlapping_parts_are_joined)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (10, 4)));
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 6, 0, 4), CLEAVE_RANGE (4, 8, 0, 4),
                           CLEAVE_RANGE (6, 10, 0, 4) };
  CleaveResult *parts[3];
  CleaveProgramStats stats;

  for (guint i = 0; i < 3; i++)
    parts[i] = run_unary (graph, "Neg", run_unary (graph, "Exp", run_slice (graph, x, ranges[i])));
  run_output (graph, run_assemble (graph, parts, ranges, 3));
  stats = run_get_stats (graph, 1);
  /* the rows of operand 1 are also rows of operand 0 or operand 2, so operand 1 is not copied */
  ck_assert_int_eq (stats.copied_bytes, 0);
  run_assert_same (graph, 1);
}
END_TEST

/* The tests below run graphs that must copy nothing. */

START_TEST (split_relu_concat_copies_nothing)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x =
      run_conv (graph, run_input (graph, &CLEAVE_SHAPE (1, 2, 4, 4)), 6, 3, CLEAVE_LAYOUT_NCHW);
  const gint64 sizes[] = { 1, 2, 3 };
  g_autoptr (GError) error = NULL;
  CleaveNode *split = cleave_graph_add_split (graph, NULL, x, 1, sizes, 3, &error);
  CleaveResult *parts[3];
  CleaveProgramStats stats;

  cleave_assert_no_error (error);
  for (guint i = 0; i < 3; i++)
    parts[2 - i] = run_unary (graph, "Relu", cleave_node_get_result (split, i));
  run_output (graph, run_concat (graph, parts, 3, 1));
  stats = run_get_stats (graph, 1);
  ck_assert_int_eq (stats.copied_bytes, 0);
  ck_assert_uint_eq (stats.n_steps, 1 + 1 + 3 + 1);
  run_assert_same (graph, 1);
}
END_TEST

/* Asserts that a dense block copies nothing. Each Concat reads the previous Concat or, if `flat`,
 * all previous layers. */
static void
check_dense_block (gboolean flat)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *layers[6], *all;
  CleaveProgramStats stats;

  layers[0] =
      run_conv (graph, run_input (graph, &CLEAVE_SHAPE (1, 3, 6, 6)), 4, 3, CLEAVE_LAYOUT_NCHW);
  all = layers[0];
  for (guint i = 1; i < 6; i++)
    {
      layers[i] = run_conv (graph, run_unary (graph, "Relu", all), 2, 3, CLEAVE_LAYOUT_NCHW);
      all = flat ? run_concat (graph, layers, i + 1, 1)
                 : run_concat (graph, (CleaveResult *[]){ all, layers[i] }, 2, 1);
    }
  run_output (graph, run_unary (graph, "Relu", all));
  stats = run_get_stats (graph, 1);
  ck_assert_int_eq (stats.copied_bytes, 0);
  run_assert_same (graph, 1);
}

START_TEST (dense_block_copies_nothing)
{
  check_dense_block (FALSE);
  check_dense_block (TRUE);
}
END_TEST

/* Adds two convolutions that are cut into n x n chunks with halos, as in a split graph. */
static CleaveResult *
add_grid (CleaveGraph *graph, CleaveResult *x, gint64 n, gint64 size)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  CleaveResult *w[2] = { run_constant (graph, &CLEAVE_SHAPE (5, 3, 3, 3), 1),
                         run_constant (graph, &CLEAVE_SHAPE (4, 5, 3, 3), 2) };
  gint64 extent = n * size;

  for (gint64 i = 0; i < n * n; i++)
    {
      CleaveSpan h = { i / n * size, i / n * size + size },
                 v = { i % n * size, i % n * size + size };
      CleaveRange range = CLEAVE_RANGE (0, 1, 0, 4, h.begin, h.end, v.begin, v.end);
      CleaveRange need = CLEAVE_RANGE (0, 1, 0, 3, MAX (h.begin - 2, 0), MIN (h.end + 2, extent),
                                       MAX (v.begin - 2, 0), MIN (v.end + 2, extent));
      CleaveResult *y = run_slice (graph, x, need);

      for (guint c = 0; c < 2; c++)
        {
          gint64 left = 1 - (gint64) c;
          CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (h.begin - left <= 0, v.begin - left <= 0,
                                                         h.end + left >= extent,
                                                         v.end + left >= extent) };
          CleaveResult *operands[] = { y, w[c] };

          y = run_unary (graph, "Relu", run_add (graph, "Conv", operands, 2, &attrs));
        }
      g_ptr_array_add (parts, y);
      g_array_append_val (ranges, range);
    }
  return run_assemble (graph, (CleaveResult *const *) parts->pdata,
                       (const CleaveRange *) (gpointer) ranges->data, parts->len);
}

START_TEST (grid_copies_nothing)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveProgramStats stats;

  run_output (graph, add_grid (graph, run_input (graph, &CLEAVE_SHAPE (1, 3, 24, 24)), 3, 8));
  stats = run_get_stats (graph, 1);
  ck_assert_int_eq (stats.copied_bytes, 0);
  ck_assert_int_eq (stats.peak_activation_bytes, stats.arena_bytes);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (the_memory_order_is_changed_only_if_needed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 4, 4));
  CleaveResult *y = run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW);
  g_autoptr (GError) error = NULL;
  CleaveProgramStats stats;

  run_output (graph, cleave_graph_add_flatten (graph, NULL, y, 1, &error));
  stats = run_get_stats (graph, 1);
  ck_assert_int_eq (stats.copied_bytes, 8 * 4 * 4 * 4);
  run_assert_same (graph, 1);
}
END_TEST

static CleaveResult *
add_cast (CleaveGraph *graph, CleaveResult *x, CleaveElement to)
{
  return run_add (graph, "Cast", &x, 1, &(CleaveCastAttrs){ to });
}

/* Casts between all types of one size, in contiguous and strided views. Some of these casts are
 * plain copies. */
START_TEST (casts_of_one_size_equal_the_interpreter)
{
  for (CleaveElement from = CLEAVE_FLOAT32; from < CLEAVE_N_ELEMENTS; from++)
    for (CleaveElement to = CLEAVE_FLOAT32; to < CLEAVE_N_ELEMENTS; to++)
      {
        g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
        CleaveResult *x, *y, *part;

        if (cleave_element_size (from) != cleave_element_size (to))
          continue;
        x = run_input (graph, &CLEAVE_SHAPE (3, 70));
        y = add_cast (graph, add_cast (graph, run_unary (graph, "Abs", x), from), to);
        part = add_cast (graph, add_cast (graph, run_unary (graph, "Neg", x), from), to);
        run_output (graph, y);
        run_output (graph, run_concat (graph, (CleaveResult *[]){ part, y }, 2, 1));
        run_assert_same (graph, from);
      }
}
END_TEST

START_TEST (a_cast_overwrites_its_operand)
{
  g_autoptr (CleaveGraph) plain = cleave_graph_new (NULL), graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (plain, &CLEAVE_SHAPE (3, 64)), *y;

  run_output (plain, run_unary (plain, "Neg", run_unary (plain, "Abs", x)));
  x = run_input (graph, &CLEAVE_SHAPE (3, 64));
  y = add_cast (graph, run_unary (graph, "Abs", x), CLEAVE_INT32);
  run_output (graph, run_unary (graph, "Neg", add_cast (graph, y, CLEAVE_FLOAT32)));
  ck_assert_int_eq (run_get_stats (graph, 1).arena_bytes, run_get_stats (plain, 1).arena_bytes);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (a_single_pixel_needs_no_layout_change)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (2, 3, 1, 1));
  CleaveResult *y = run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW);
  g_autoptr (GError) error = NULL;
  CleaveProgramStats stats;

  run_output (graph, cleave_graph_add_flatten (graph, NULL, y, 1, &error));
  stats = run_get_stats (graph, 1);
  ck_assert_int_eq (stats.copied_bytes, 0);
  run_assert_same (graph, 1);
}
END_TEST

START_TEST (random_graphs_equal_the_interpreter)
{
  guint n_copied = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (400); seed++)
    {
      g_autoptr (CleaveGraph) graph = random_graph (seed, 4 + seed % 40);

      n_copied += run_get_stats (graph, 1).copied_bytes > 0;
      run_assert_same (graph, seed);
    }
  ck_assert_uint_gt (n_copied, CLEAVE_TRIALS (400) / 20);
  ck_assert_uint_lt (n_copied, CLEAVE_TRIALS (400) - CLEAVE_TRIALS (400) / 20);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "by hand", diamond, outputs_may_be_inputs_constants_or_equal,
                   empty_graph_and_empty_values_run,
                   view_of_an_operand_is_not_overwritten_while_read,
                   a_slice_with_a_negative_step_is_no_view, a_part_may_outlive_the_whole,
                   a_nested_join_may_outlive_the_outer_one, a_part_is_not_copied_to_free_its_memory,
                   operand_twice_and_constant_are_copied, overlapping_parts_are_joined, NULL);
  cleave_add_case (suite, "copies", split_relu_concat_copies_nothing, dense_block_copies_nothing,
                   grid_copies_nothing, the_memory_order_is_changed_only_if_needed,
                   a_single_pixel_needs_no_layout_change, casts_of_one_size_equal_the_interpreter,
                   a_cast_overwrites_its_operand, NULL);
  cleave_add_case (suite, "random", random_graphs_equal_the_interpreter, NULL);
}

CLEAVE_TEST_SUITE ("run", add_tests)
