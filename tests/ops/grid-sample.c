/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op GridSample, which reads an image or a volume at the positions of a grid. */

#include "op-case.h"

static CleaveResult *
add (CleaveGraph *graph,
     CleaveResult *x,
     CleaveResult *grid,
     const CleaveGridSampleAttrs *attrs,
     GError **error)
{
  CleaveResult *operands[] = { x, grid };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("GridSample"), "g", operands, 2, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

/* Samples an image of 2x2 at one position, with each mode and each padding. */
START_TEST (samples)
{
  static const struct
  {
    CleaveGridSampleAttrs attrs;
    float column, row;
    const char *expected;
  } places[] = {
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_ZEROS, FALSE }, 0, 0, "2.5" },
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_ZEROS, TRUE }, 1, 1, "4" },
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_ZEROS, FALSE },
      1,
      1,
      "1" }, /* three of the four taps are outside the image */
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_BORDER, FALSE }, 1, 1, "4" },
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_BORDER, FALSE }, -9, 0, "2" },
    { { CLEAVE_GRID_NEAREST, CLEAVE_GRID_ZEROS, FALSE }, 5, 0, "0" },
    { { CLEAVE_GRID_NEAREST, CLEAVE_GRID_REFLECTION, FALSE }, 2.5f, -0.5f, "1" },
    { { CLEAVE_GRID_BICUBIC, CLEAVE_GRID_BORDER, FALSE }, 0, 0, "2.5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 2, 2), 1, 1);
      CleaveResult *grid = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 1, 2), places[i].column,
                                              places[i].row - places[i].column);

      cleave_assert_values (add (graph, x, grid, &places[i].attrs, &error), places[i].expected);
    }
}
END_TEST

START_TEST (grid_splits)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6, 5, 4));
  CleaveResult *grid = cleave_case_input (graph, "grid", CLEAVE_SHAPE (2, 7, 8, 2));

  cleave_assert_infers (add (graph, x, grid, NULL, &error), &error, "float32 2x6x7x8");
  cleave_assert_chunk (add (graph, x, grid, NULL, &error), "1:2,2:4,3:7,0:8",
                       "1:2,2:4,0:5,0:4 1:2,3:7,0:8,0:2");
  cleave_assert_infers (add (graph, grid, x, NULL, &error), &error,
                        "GridSample 'g': grid must be 2x…x2, not 2x…x4");
}
END_TEST

/* Samples volumes at positions that lie between layers, between rows and between columns. Each
 * position in the grid is (column, row, layer). */
START_TEST (volumes_are_sampled)
{
  static const struct
  {
    CleaveGridSampleAttrs attrs;
    float column, row, layer;
    const char *expected;
  } places[] = {
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_ZEROS, TRUE }, 1, -1, -1, "2" },
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_ZEROS, TRUE }, -1, -1, 1, "5" },
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_ZEROS, TRUE }, 0, 0, 0, "4.5" },
    { { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_ZEROS, FALSE },
      1,
      1,
      1,
      "1" }, /* seven of the eight taps are outside the volume */
    { { CLEAVE_GRID_NEAREST, CLEAVE_GRID_BORDER, FALSE }, 0.6f, -0.6f, 7, "6" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      const float at[] = { places[i].column, places[i].row, places[i].layer };
      CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1, 1, 1, 3);
      g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, at, NULL);
      CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 2, 2, 2), 1, 1);
      CleaveResult *grid = cleave_graph_add_constant (graph, "grid", tensor);

      cleave_assert_values (add (graph, x, grid, &places[i].attrs, &error), places[i].expected);
    }
}
END_TEST

START_TEST (volumes_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveGridSampleAttrs cubic = { .mode = CLEAVE_GRID_BICUBIC };
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6, 3, 5, 4));
  CleaveResult *grid = cleave_case_input (graph, "grid", CLEAVE_SHAPE (2, 9, 7, 8, 3));

  cleave_assert_infers (add (graph, x, grid, NULL, &error), &error, "float32 2x6x9x7x8");
  cleave_assert_chunk (add (graph, x, grid, NULL, &error), "1:2,2:4,3:7,0:7,4:8",
                       "1:2,2:4,0:3,0:5,0:4 1:2,3:7,0:7,4:8,0:3");
  cleave_assert_infers (add (graph, x, grid, &cubic, &error), &error,
                        "GridSample 'g': mode bicubic needs 2 spatial dimensions, not 3");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "grid-sample", samples, grid_splits, volumes_are_sampled, volumes_split,
                   NULL);
}

CLEAVE_TEST_SUITE ("grid-sample", add_tests)
