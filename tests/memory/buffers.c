/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The assignment of values to buffers: views, values in place, joins and loads. */

#include "stored.h"

START_TEST (views_share_the_memory_of_their_operand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (6, 10)));
  CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (1, 2),
                             .ends = CLEAVE_INTS (6, 9),
                             .steps = CLEAVE_INTS (2, 3) };
  CleaveInts perm = CLEAVE_INTS (1, 0);
  g_autoptr (GError) error = NULL;
  CleaveResult *s = cleave_graph_add_slice (graph, NULL, x, &attrs, &error);
  CleaveResult *t = cleave_graph_add_transpose (graph, NULL, s, &perm, &error);
  g_autoptr (CleaveStorage) storage = NULL;

  cleave_assert_no_error (error);
  run_output (graph, run_unary (graph, "Neg", t));
  storage = make_storage (graph);
  ck_assert_uint_eq (place_of (storage, t)->root, place_of (storage, x)->root);
  ck_assert_int_eq (place_of (storage, t)->offset, 12);
  ck_assert_int_eq (place_of (storage, t)->stride[0], 3);
  ck_assert_int_eq (place_of (storage, t)->stride[1], 20);
  ck_assert_int_eq (place_of (storage, s)->stride[0], 20);
}
END_TEST

static CleaveResult *
run_expand (CleaveGraph *graph, CleaveResult *x, CleaveInts shape)
{
  return run_add (graph, "Expand", &x, 1, &(CleaveReshapeAttrs){ .shape = shape });
}

/* A broadcast stays a view unless a reader needs the value in memory: a Softmax, or an output of
 * the graph. */
START_TEST (broadcast_has_strides_of_0)
{
  for (guint other = 0; other < 4; other++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (4, 1)));
      CleaveResult *e = run_expand (graph, x, CLEAVE_INTS (3, 4, 5));
      CleaveResult *t = run_add (graph, "Transpose", &e, 1,
                                 &(CleaveTransposeAttrs){ .perm = CLEAVE_INTS (0, 2, 1) });
      g_autoptr (CleaveStorage) storage = NULL;

      run_output (graph, run_unary (graph, "Neg", e));
      run_output (graph, run_unary (graph, other == 3 ? "Softmax" : "Neg", t));
      if (other == 1)
        run_output (graph, run_unary (graph, "Softmax", e));
      else if (other == 2)
        run_output (graph, e);
      storage = make_storage (graph);
      ck_assert_int_eq (place_of (storage, e)->root == place_of (storage, x)->root, other == 0);
      ck_assert_int_eq (place_of (storage, t)->root == place_of (storage, x)->root, other == 0);
      if (other == 0)
        {
          static const gint64 want[3] = { 0, 1, 0 }, turned[3] = { 0, 0, 1 };

          ck_assert_mem_eq (place_of (storage, e)->stride, want, sizeof want);
          ck_assert_mem_eq (place_of (storage, t)->stride, turned, sizeof turned);
        }
      run_assert_same (graph, other);
    }
}
END_TEST

/* A Tile along a dimension of extent 1 is a view with stride 0. A Tile along any other dimension
 * copies elements. */
START_TEST (tile_of_ones_has_strides_of_0)
{
  for (gint64 n = 1; n <= 2; n++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (n, 4)));
      CleaveResult *y =
          run_add (graph, "Tile", &x, 1, &(CleaveTileAttrs){ .repeats = CLEAVE_INTS (3, 1) });
      g_autoptr (CleaveStorage) storage = NULL;

      run_output (graph, run_unary (graph, "Neg", y));
      storage = make_storage (graph);
      ck_assert_int_eq (place_of (storage, y)->root == place_of (storage, x)->root, n == 1);
      run_assert_same (graph, (guint32) n);
    }
}
END_TEST

/* A node that reads a value and its broadcast does not overwrite the value. */
START_TEST (a_broadcast_value_is_not_overwritten)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (4, 1)));
  CleaveResult *e = run_expand (graph, x, CLEAVE_INTS (4, 1));
  CleaveResult *y = run_binary (graph, "Sub", x, e);
  g_autoptr (CleaveStorage) storage = NULL;

  run_output (graph, y);
  storage = make_storage (graph);
  ck_assert_uint_eq (place_of (storage, e)->root, place_of (storage, x)->root);
  ck_assert_uint_ne (place_of (storage, y)->root, place_of (storage, x)->root);
  run_assert_same (graph, 1);
}
END_TEST

/* The sum overwrites its second operand, since no later node reads the operand. The operand is in
 * the memory of the Concat, so the sum is also in the memory of the Concat. */
START_TEST (a_sum_overwrites_an_operand_that_dies)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 4, 4));
  CleaveResult *a = run_conv (graph, x, 4, 3, CLEAVE_LAYOUT_NCHW),
               *b = run_conv (graph, a, 4, 3, CLEAVE_LAYOUT_NCHW);
  CleaveResult *sum = run_binary (graph, "Add", a, b), *last = run_unary (graph, "Relu", sum);
  CleaveResult *both = run_concat (graph, (CleaveResult *[]){ a, last }, 2, 1);
  g_autoptr (CleaveStorage) storage = NULL;

  run_output (graph, both);
  storage = make_storage (graph);
  ck_assert_uint_eq (place_of (storage, b)->root, place_of (storage, both)->root);
  ck_assert_uint_eq (place_of (storage, a)->root, place_of (storage, both)->root);
  ck_assert_int_eq (place_of (storage, b)->offset, 4);
  ck_assert_int_eq (place_of (storage, sum)->offset, 4);
  ck_assert_uint_eq (storage->buffers->len, 2);
  ck_assert_int_eq (storage->copied_bytes, 0);
}
END_TEST

/* x is an operand of a much larger join and has other readers, so it gets a buffer of its own. If x
 * were in the join's buffer, the join's buffer would be in use as soon as x is computed. */
START_TEST (a_value_with_other_readers_is_not_placed_in_a_much_larger_join)
{
  for (gint64 n = 4; n <= 28; n += 24)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x =
          run_conv (graph, run_input (graph, &CLEAVE_SHAPE (1, 4, 4, 4)), 4, 3, CLEAVE_LAYOUT_NCHW);
      CleaveResult *parts[] = { run_conv (graph, x, n, 3, CLEAVE_LAYOUT_NCHW),
                                run_unary (graph, "Relu", x) };
      CleaveResult *both = run_concat (graph, parts, 2, 1);
      g_autoptr (CleaveStorage) storage = NULL;

      run_output (graph, both);
      storage = make_storage (graph);
      ck_assert_uint_eq (place_of (storage, parts[1])->root, place_of (storage, both)->root);
      ck_assert_int_eq (place_of (storage, x)->root == place_of (storage, both)->root, n == 4);
      ck_assert_int_eq (storage->copied_bytes, 0);
      run_assert_same (graph, (guint32) n);
    }
}
END_TEST

/* A normalization computes sums over groups of elements. It reads all elements of a group before it
 * writes one of them, so its result overwrites the operand. */
START_TEST (a_normalization_overwrites_its_operand)
{
  static const char *const norms[] = { "InstanceNormalization", "LayerNormalization",
                                       "MeanVarianceNormalization", "Softmax" };

  for (guint i = 0; i < G_N_ELEMENTS (norms); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_unary (graph, "Exp", run_input (graph, &CLEAVE_SHAPE (2, 3, 5, 4)));
      gint64 n = i == 0 ? 3 : 4;
      CleaveResult *operands[] = { x, run_constant (graph, &CLEAVE_SHAPE (n), 1),
                                   run_constant (graph, &CLEAVE_SHAPE (n), 2) };
      CleaveResult *y = run_add (graph, norms[i], operands, i < 2 ? 3 : 1, NULL);
      g_autoptr (CleaveStorage) storage = NULL;

      run_output (graph, run_unary (graph, "Neg", y));
      storage = make_storage (graph);
      ck_assert_uint_eq (place_of (storage, y)->root, place_of (storage, x)->root);
      run_assert_same (graph, i);
    }
}
END_TEST

START_TEST (output_is_never_overwritten)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (16))),
               *b = run_unary (graph, "Neg", a);
  g_autoptr (CleaveStorage) storage = NULL;

  run_output (graph, a);
  run_output (graph, b);
  storage = make_storage (graph);
  ck_assert_uint_ne (place_of (storage, a)->root, place_of (storage, b)->root);
}
END_TEST

/* For each element of the buffer of a join, the number of steps that write it. The test fails if
 * two steps write an element, or if no step writes an element of the join. */
typedef struct
{
  guint *n_writers;
  const CleaveStorage *storage;
} Writers;

static void
count_writer (const Writers *w, const CleaveLocation *location, const CleaveShape *shape)
{
  gint64 n = cleave_shape_n_elements (shape);

  for (gint64 e = 0; e < n; e++)
    {
      gint64 at = location->offset, rest = e;

      for (guint d = shape->rank; d-- > 0; rest /= shape->dim[d])
        at += rest % shape->dim[d] * location->stride[d];
      w->n_writers[at]++;
    }
}

static gboolean
is_copy (const CleaveStorage *storage, guint step, const CleaveNode *join)
{
  const CleaveStep *copy = &g_array_index (storage->steps, CleaveStep, step);

  return copy->kind == CLEAVE_STEP_COPY && copy->node == join;
}

static void
check_join (const CleaveStorage *storage, const CleaveNode *join, guint step)
{
  const CleaveResult *whole = &join->results[0];
  const CleaveLocation *location = place_of (storage, whole);
  gint64 n = cleave_shape_n_elements (&storage->assignments[location->root].result->type.shape);
  g_autofree guint *n_writers = g_new0 (guint, (gsize) n + 1),
                   *needed = g_new0 (guint, (gsize) n + 1);
  g_autofree CleaveRange *ranges = cleave_join_ranges (join);
  Writers w = { n_writers, storage }, need = { needed, storage };
  guint first_copy = step;

  while (first_copy > 0 && is_copy (storage, first_copy - 1, join))
    first_copy--;
  count_writer (&need, location, &whole->type.shape);
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveAssignment *part = cleave_storage_assignment (storage, join->operands[i].result);

      CleaveLocation there = cleave_location_part (location, &ranges[i]);

      if (part->whole ==
              (guint) (cleave_storage_assignment (storage, whole) - storage->assignments) &&
          part->part == i &&
          ((part->flags & CLEAVE_ASSIGNMENT_MOVED) != 0 || part->copied < first_copy))
        count_writer (&w, &there, &part->result->type.shape);
    }
  for (guint s = first_copy; s < step; s++)
    {
      const CleaveStep *copy = &g_array_index (storage->steps, CleaveStep, s);
      CleaveLocation to;
      CleaveShape shape;

      to = cleave_location_part (location, &g_array_index (storage->boxes, CleaveRange, copy->box));
      shape = cleave_range_shape (&g_array_index (storage->boxes, CleaveRange, copy->box));
      count_writer (&w, &to, &shape);
    }
  for (gint64 e = 0; e < n; e++)
    ck_assert_uint_eq (n_writers[e], needed[e]);
}

START_TEST (every_element_of_a_join_has_one_writer)
{
  guint n_joins = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (CleaveGraph) graph = random_graph (seed, 30);
      g_autoptr (CleaveStorage) storage = make_storage (graph);

      for (guint s = 0; s < storage->steps->len; s++)
        {
          const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, s);

          if (step->kind != CLEAVE_STEP_JOIN ||
              (cleave_storage_assignment (storage, &step->node->results[0])->flags &
               CLEAVE_ASSIGNMENT_INNER_JOIN) != 0)
            continue;
          check_join (storage, step->node, s);
          n_joins++;
        }
    }
  ck_assert_uint_gt (n_joins, CLEAVE_TRIALS (200) / 2);
}
END_TEST

/* Each element of an input is loaded exactly once. If the input is large, several steps share the
 * load. The test tries many shapes. */
START_TEST (a_large_input_is_loaded_in_parts)
{
  const struct
  {
    CleaveShape shape;
    guint n_loads;
  } cases[] = {
    { { .rank = 0 }, 1 },
    { CLEAVE_SHAPE (0, 5), 1 },
    { CLEAVE_SHAPE (1, 3, 100, 100), 1 },
    { CLEAVE_SHAPE (1, 3, 150, 151), 2 },
    { CLEAVE_SHAPE (1, 3, 401, 301), 8 },
    { CLEAVE_SHAPE (9, 1 << 17), 8 },
    { CLEAVE_SHAPE (3, 5, 1 << 16), 8 },
    { CLEAVE_SHAPE (3, 5, 3, 5, 3, 5, 3, 40), 8 },
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &cases[c].shape);
      g_autoptr (CleaveStorage) storage = NULL;
      gint64 n_elements = 0;
      guint s = 0;

      run_output (graph, run_unary (graph, "Relu", x));
      storage = make_storage (graph);
      for (; g_array_index (storage->steps, CleaveStep, s).kind == CLEAVE_STEP_LOAD; s++)
        n_elements += cleave_range_n_elements (&g_array_index (
            storage->boxes, CleaveRange, g_array_index (storage->steps, CleaveStep, s).box));
      ck_assert_uint_eq (s, cases[c].n_loads);
      ck_assert_int_eq (n_elements, cleave_shape_n_elements (&cases[c].shape));
      ck_assert_uint_eq (cleave_storage_assignment (storage, x)->ready, s - (s == 1));
      run_assert_same (graph, c);
    }
}
END_TEST

/* A join of pieces of a Reshape is a view if the pieces follow each other in memory. */
START_TEST (a_join_of_adjacent_pieces_is_a_view)
{
  for (guint swapped = 0; swapped < 2; swapped++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_unary (graph, "Relu", run_input (graph, &CLEAVE_SHAPE (6, 10)));
      CleaveInts heads = CLEAVE_INTS (3, 2, 5);
      CleaveResult *parts[2], *y;
      g_autoptr (CleaveStorage) storage = NULL;
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i < 2; i++)
        {
          const CleaveRange range = CLEAVE_RANGE (3 * i, 3 * i + 3, 0, 10);
          CleaveResult *part = cleave_graph_add_slice_range (graph, NULL, x, &range, &error);

          parts[i ^ swapped] = cleave_graph_add_reshape (graph, NULL, part, &heads, &error);
        }
      y = cleave_graph_add_concat (graph, NULL, parts, 2, 0, &error);
      cleave_assert_no_error (error);
      run_output (graph, run_unary (graph, "Neg", y));
      storage = make_storage (graph);
      ck_assert_int_eq (storage->copied_bytes, swapped ? 60 * 4 : 0);
      ck_assert ((place_of (storage, y)->root == place_of (storage, x)->root) != swapped);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "places", broadcast_has_strides_of_0, tile_of_ones_has_strides_of_0,
                   a_broadcast_value_is_not_overwritten, views_share_the_memory_of_their_operand,
                   a_sum_overwrites_an_operand_that_dies, a_normalization_overwrites_its_operand,
                   a_value_with_other_readers_is_not_placed_in_a_much_larger_join,
                   output_is_never_overwritten, every_element_of_a_join_has_one_writer,
                   a_large_input_is_loaded_in_parts, a_join_of_adjacent_pieces_is_a_view, NULL);
}

CLEAVE_TEST_SUITE ("storage", add_tests)
