/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Pieces in exported files: Assembles become Concats, and parts of one constant are stored once. */

#include "exported.h"

/* The tests below check that Assembles become Concats. */

typedef struct
{
  guint n;
  CleaveRange ranges[8];
  const char *nodes; /* expected nodes of the file; NULL: not checked */
} Cover;

static CleaveGraph *
assemble_of (const Cover *cover, const CleaveShape *whole)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveResult *x = add_input (graph, "x", whole);
  CleaveResult *parts[8];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < cover->n; i++)
    {
      g_autofree char *name = g_strdup_printf ("p%u", i);

      parts[i] = cleave_graph_add_slice_range (graph, name, x, &cover->ranges[i], NULL);
      ck_assert_ptr_nonnull (parts[i]);
    }
  cleave_graph_add_output (
      graph, "y", cleave_graph_add_assemble (graph, "a", parts, cover->ranges, cover->n, &error),
      NULL);
  cleave_assert_no_error (error);
  return graph;
}

/* Returns the lines of list_nodes() for an exported graph of assemble_of(), without the lines of
 * the `n_parts` Slices. These Slices take the operands of the Assemble out of the input. */
static char *
list_rest (const CleaveGraph *graph, guint n_parts)
{
  g_autoptr (Model) model = export_model (graph);
  g_autofree char *nodes = list_nodes (model);
  const char *rest = nodes;

  for (guint i = 0; i < n_parts; i++)
    rest = strchr (rest, '\n') + 1;
  return g_strdup (rest);
}

START_TEST (an_assemble_becomes_concats)
{
  static const Cover covers[] = {
    { 3,
      { { 2, { { 0, 2 }, { 0, 6 } } },
        { 2, { { 2, 5 }, { 0, 6 } } },
        { 2, { { 5, 6 }, { 0, 6 } } } },
      "Concat(p0,p1,p2)->y\n" },
    { 4,
      { { 2, { { 0, 2 }, { 0, 3 } } },
        { 2, { { 0, 2 }, { 3, 6 } } },
        { 2, { { 2, 6 }, { 0, 3 } } },
        { 2, { { 2, 6 }, { 3, 6 } } } },
      "Concat(p0,p1)->a.part\nConcat(p2,p3)->a.part_1\nConcat(a.part,a.part_1)->y\n" },
    { 4, /* the parts are listed column by column, so columns are joined first */
      { { 2, { { 0, 2 }, { 0, 3 } } },
        { 2, { { 2, 6 }, { 0, 3 } } },
        { 2, { { 0, 2 }, { 3, 6 } } },
        { 2, { { 2, 6 }, { 3, 6 } } } },
      "Concat(p0,p1)->a.part\nConcat(p2,p3)->a.part_1\nConcat(a.part,a.part_1)->y\n" },
    { 2, /* the parts overlap */
      { { 2, { { 0, 6 }, { 0, 4 } } }, { 2, { { 0, 6 }, { 2, 6 } } } },
      "Slice(p0,starts,ends,axes)->a.slice\nConcat(a.slice,p1)->y\n" },
    { 1, { { 2, { { 0, 6 }, { 0, 6 } } } }, "Identity(p0)->y\n" },
    { 5, /* a pinwheel: no straight cut divides the parts into two groups */
      { { 2, { { 0, 2 }, { 0, 4 } } },
        { 2, { { 0, 4 }, { 4, 6 } } },
        { 2, { { 4, 6 }, { 2, 6 } } },
        { 2, { { 2, 6 }, { 0, 2 } } },
        { 2, { { 2, 4 }, { 2, 4 } } } },
      NULL },
  };
  CleaveShape whole = CLEAVE_SHAPE (6, 6);

  for (guint i = 0; i < G_N_ELEMENTS (covers); i++)
    {
      g_autoptr (CleaveGraph) graph = assemble_of (&covers[i], &whole);
      g_autofree char *rest = list_rest (graph, covers[i].n);

      if (covers[i].nodes != NULL)
        ck_assert_str_eq (rest, covers[i].nodes);
      assert_same_again (graph);
    }
}
END_TEST

/* Exports random covers of a range in three dimensions: cuts the range repeatedly, and enlarges
 * some parts. */
START_TEST (every_cover_can_be_exported)
{
  CleaveShape whole = CLEAVE_SHAPE (6, 5, 7);

  for (guint seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Cover cover = { .n = 1, .ranges = { cleave_range_whole (&whole) } };
      g_autoptr (CleaveGraph) graph = NULL;

      while (cover.n < 7)
        {
          CleaveRange *range = &cover.ranges[g_rand_int_range (rand, 0, (gint32) cover.n)];
          guint d = (guint) g_rand_int_range (rand, 0, 3);
          gint64 at = g_rand_int_range (rand, 0, (gint32) whole.dim[d]);

          if (at <= range->dim[d].begin || at >= range->dim[d].end)
            at = range->dim[d].begin;
          cover.ranges[cover.n] = *range;
          if (at > range->dim[d].begin)
            {
              cover.ranges[cover.n].dim[d].begin = at;
              range->dim[d].end = MIN (at + g_rand_int_range (rand, 0, 2), range->dim[d].end);
            }
          cover.n++;
        }
      graph = assemble_of (&cover, &whole);
      assert_same_again (graph);
    }
}
END_TEST

/* The tests below check that parts of one constant are stored once. */

static gsize
count_initializer_bytes (const Model *model)
{
  gsize n = 0;

  for (size_t i = 0; i < model->graph->n_initializer; i++)
    if (model->graph->initializer[i]->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT)
      n += model->graph->initializer[i]->raw_data.len;
  return n;
}

/* Makes a graph that adds to x a slice of w for each range. The slices share the bytes of w. */
static CleaveGraph *
graph_of_parts (const CleaveRange *ranges, guint n)
{
  CleaveGraph *graph = cleave_graph_new ("g");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 8, 4);
  g_autoptr (CleaveTensor) w = cleave_random_tensor (&type, 1, FALSE);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (CleaveTensor) part = cleave_tensor_new_slice (w, &ranges[i]);
      g_autofree char *name = g_strdup_printf ("w.%u", i);
      g_autofree char *output = g_strdup_printf ("y%u", i);

      cleave_graph_add_output (
          graph, output, relu (graph, NULL, cleave_graph_add_constant (graph, name, part)), NULL);
    }
  return graph;
}

START_TEST (parts_of_one_tensor_are_written_once)
{
  static const struct
  {
    guint n;
    CleaveRange ranges[3];
    gsize n_bytes, n_nodes;
  } cases[] = {
    /* The parts are: two halves, the same half twice, and one column. */
    { 2, { { 2, { { 0, 4 }, { 0, 4 } } }, { 2, { { 4, 8 }, { 0, 4 } } } }, 128, 2 },
    { 2, { { 2, { { 0, 4 }, { 0, 4 } } }, { 2, { { 0, 4 }, { 0, 4 } } } }, 64, 2 },
    { 1, { { 2, { { 0, 8 }, { 1, 2 } } } }, 32, 1 },
    /* These parts overlap, or one part is the whole tensor. The file stores the whole tensor, and
     * each part is a Slice of it. */
    { 2, { { 2, { { 0, 5 }, { 0, 4 } } }, { 2, { { 3, 8 }, { 0, 4 } } } }, 128, 4 },
    { 2, { { 2, { { 0, 8 }, { 0, 4 } } }, { 2, { { 4, 8 }, { 0, 4 } } } }, 128, 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = graph_of_parts (cases[i].ranges, cases[i].n);
      g_autoptr (Model) model = export_model (graph);

      ck_assert_uint_eq (count_initializer_bytes (model), cases[i].n_bytes);
      ck_assert_uint_eq (model->graph->n_node, cases[i].n_nodes);
      assert_same_again (graph);
    }
}
END_TEST

START_TEST (unused_constants_are_left_out)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("g");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 8);
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 1, FALSE);
  g_autoptr (Model) model = NULL;

  cleave_graph_add_constant (graph, "c", tensor);
  cleave_graph_add_output (graph, "y", relu (graph, "r", add_input (graph, "x", &CLEAVE_SHAPE (2))),
                           NULL);
  model = export_model (graph);
  ck_assert_uint_eq (model->graph->n_initializer, 0);
}
END_TEST

START_TEST (the_same_graph_gives_the_same_bytes)
{
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 5, 0, 4), CLEAVE_RANGE (3, 8, 0, 4) };
  g_autoptr (CleaveGraph) one = graph_of_parts (ranges, 2);
  g_autoptr (CleaveGraph) two = graph_of_parts (ranges, 2);
  g_autoptr (GBytes) a = cleave_onnx_serialize (one, NULL);
  g_autoptr (GBytes) b = cleave_onnx_serialize (two, NULL);

  ck_assert (g_bytes_equal (a, b));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "assemble", an_assemble_becomes_concats, every_cover_can_be_exported,
                   NULL);
  cleave_add_case (suite, "constants", parts_of_one_tensor_are_written_once,
                   unused_constants_are_left_out, the_same_graph_gives_the_same_bytes, NULL);
}

CLEAVE_TEST_SUITE ("export-pieces", add_tests)
