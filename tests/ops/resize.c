/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op Resize. A piece has the attributes `phase`, `begin`, `extents` and `lengths`, which give
 * its position in the unsplit Resize. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

#include "../../lib/ir/chunk.h"
#include "../../lib/ops/resize-taps.h"

#define SCALES(...) .scales = CLEAVE_DOUBLES (__VA_ARGS__)

static const struct
{
  CleaveResizeAttrs attrs;
  const char *result, *values; /* type and elements of the result; the operand has 1 2 3 4 */
} lines[] = {
  { { .mode = CLEAVE_RESIZE_NEAREST, .scales = { 1, { 2 } } }, "float32 8", "1 1 2 2 3 3 4 4" },
  { { .mode = CLEAVE_RESIZE_NEAREST, .sizes = { 1, { 8 } } }, "float32 8", "1 1 2 2 3 3 4 4" },
  { { .mode = CLEAVE_RESIZE_NEAREST, .scales = { 1, { 0.5 } } }, "float32 2", "1 3" },
  { { .mode = CLEAVE_RESIZE_NEAREST,
      .nearest_mode = CLEAVE_RESIZE_ROUND_PREFER_CEIL,
      .scales = { 1, { 0.5 } } },
    "float32 2",
    "2 4" },
  { { .mode = CLEAVE_RESIZE_NEAREST, .nearest_mode = CLEAVE_RESIZE_FLOOR, .scales = { 1, { 2 } } },
    "float32 8",
    "1 1 1 2 2 3 3 4" },
  { { .mode = CLEAVE_RESIZE_NEAREST, .nearest_mode = CLEAVE_RESIZE_CEIL, .scales = { 1, { 2 } } },
    "float32 8",
    "1 2 2 3 3 4 4 4" },
  { { .mode = CLEAVE_RESIZE_NEAREST,
      .coordinate_transformation_mode = CLEAVE_RESIZE_ASYMMETRIC,
      .nearest_mode = CLEAVE_RESIZE_FLOOR,
      .scales = { 1, { 3 } } },
    "float32 12",
    "1 1 1 2 2 2 3 3 3 4 4 4" },
  { { .mode = CLEAVE_RESIZE_NEAREST,
      .coordinate_transformation_mode = CLEAVE_RESIZE_ASYMMETRIC,
      .nearest_mode = CLEAVE_RESIZE_CEIL,
      .scales = { 1, { 2 } } },
    "float32 8",
    "1 2 2 3 3 4 4 4" },
  { { .mode = CLEAVE_RESIZE_LINEAR, .scales = { 1, { 2 } } },
    "float32 8",
    "1 1.25 1.75 2.25 2.75 3.25 3.75 4" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_ASYMMETRIC,
      .scales = { 1, { 2 } } },
    "float32 8",
    "1 1.5 2 2.5 3 3.5 4 4" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_ALIGN_CORNERS,
      .sizes = { 1, { 7 } } },
    "float32 7",
    "1 1.5 2 2.5 3 3.5 4" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_PYTORCH_HALF_PIXEL,
      .sizes = { 1, { 1 } } },
    "float32 1",
    "1" },
  { { .mode = CLEAVE_RESIZE_LINEAR, .sizes = { 1, { 1 } } }, "float32 1", "2.5" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_TF_CROP_AND_RESIZE,
      .roi = { 2, { 0, 0.5 } },
      .sizes = { 1, { 4 } } },
    "float32 4",
    "1 1.5 2 2.5" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_TF_CROP_AND_RESIZE,
      .roi = { 2, { 0.5, 1.5 } },
      .sizes = { 1, { 3 } },
      .extrapolation_value = 9 },
    "float32 3",
    "2.5 4 9" },
  { { .mode = CLEAVE_RESIZE_CUBIC, .cubic_coeff_a = -0.75, .scales = { 1, { 1 } } },
    "float32 4",
    "1 2 3 4" },
  { { .mode = CLEAVE_RESIZE_CUBIC,
      .cubic_coeff_a = -0.5,
      .coordinate_transformation_mode = CLEAVE_RESIZE_ASYMMETRIC,
      .scales = { 1, { 2 } } },
    "float32 8",
    "1 1.4375 2 2.5 3 3.5625 4 4.0625" },
  { { .mode = CLEAVE_RESIZE_NEAREST, .scales = { 1, { 0.7 } } }, "float32 2", NULL },
  { { .mode = CLEAVE_RESIZE_NEAREST }, "Resize 'r': scales or sizes is needed", NULL },
  { { .mode = CLEAVE_RESIZE_NEAREST, .scales = { 1, { 2 } }, .sizes = { 1, { 8 } } },
    "Resize 'r': scales and sizes are both given, only one may be",
    NULL },
  { { .mode = CLEAVE_RESIZE_NEAREST, .scales = { 2, { 2, 2 } } },
    "Resize 'r': scales has 2 entries, not 1",
    NULL },
  { { .mode = CLEAVE_RESIZE_NEAREST, .scales = { 1, { 0 } } },
    "Resize 'r': scale 0 must be a number above 0, not 0",
    NULL },
  { { .mode = CLEAVE_RESIZE_NEAREST, .scales = { 1, { 1e300 } } },
    "Resize 'r': dimension 0 times 1e+300 does not fit 64 bits",
    NULL },
  { { .mode = CLEAVE_RESIZE_NEAREST, .sizes = { 1, { -1 } } },
    "Resize 'r': sizes must be at least 0, not -1",
    NULL },
  { { .mode = CLEAVE_RESIZE_NEAREST, .scales = { 1, { 2 } }, .phase = { 1, { 1 } } },
    "Resize 'r': phase needs scales and sizes",
    NULL },
  { { .scales = { 1, { 2 } }, .sizes = { 1, { 8 } }, .phase = { 1, { 1 } }, .begin = { 1, { 1 } } },
    "Resize 'r': begin needs extents and lengths",
    NULL },
  { { .scales = { 1, { 1.5 } },
      .sizes = { 1, { 6 } },
      .phase = { 1, { 0 } },
      .begin = { 1, { 3 } },
      .extents = { 1, { 6 } },
      .lengths = { 1, { 9 } } },
    "Resize 'r': dimension 0 is not a part of a dimension of 6 that is resized to 9",
    NULL },
  { { .coordinate_transformation_mode = CLEAVE_RESIZE_TF_CROP_AND_RESIZE, .sizes = { 1, { 3 } } },
    "Resize 'r': tf_crop_and_resize needs roi",
    NULL },
};

START_TEST (resizes_a_line)
{
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (4), 1, 1);
      CleaveResult *y = cleave_test_add (graph, "Resize", "r", (CleaveResult *[]){ x }, 1,
                                         &lines[i].attrs, &error);

      cleave_assert_infers (y, &error, lines[i].result);
      ck_assert (cleave_graph_validate (graph, NULL));
      if (lines[i].values != NULL)
        cleave_assert_values (y, lines[i].values);
    }
}
END_TEST

START_TEST (resizes_a_plane)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResizeAttrs a = { .mode = CLEAVE_RESIZE_LINEAR,
                          .coordinate_transformation_mode = CLEAVE_RESIZE_ALIGN_CORNERS,
                          .sizes = CLEAVE_INTS (1, 1, 3, 3) };
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 2, 2), 1, 1);

  cleave_assert_values (
      cleave_test_add (graph, "Resize", NULL, (CleaveResult *[]){ x }, 1, &a, NULL),
      "1 1.5 2 2 2.5 3 3 3.5 4");
}
END_TEST

/* The operand `roi` has a start and an end for each dimension, up to rank 8. */
START_TEST (crops_eight_dimensions)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResizeAttrs a = {
    .mode = CLEAVE_RESIZE_LINEAR,
    .coordinate_transformation_mode = CLEAVE_RESIZE_TF_CROP_AND_RESIZE,
    .roi = CLEAVE_DOUBLES (0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0.5),
    .sizes = CLEAVE_INTS (1, 1, 1, 1, 1, 1, 1, 4),
  };
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 1, 1, 1, 1, 1, 4), 1, 1);
  CleaveResult *y = cleave_test_add (graph, "Resize", "r", (CleaveResult *[]){ x }, 1, &a, &error);

  cleave_assert_infers (y, &error, "float32 1x1x1x1x1x1x1x4");
  cleave_assert_values (y, "1 1.5 2 2.5");
}
END_TEST

/* Linear interpolation turns -3 4 into -3 -1.25 2.25 4, of which integers keep the whole part. */
START_TEST (integers_are_truncated)
{
  static const CleaveElement elements[] = { CLEAVE_INT8, CLEAVE_INT32, CLEAVE_INT64 };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autoptr (GError) error = NULL;
      CleaveResizeAttrs a = { .mode = CLEAVE_RESIZE_LINEAR, .sizes = CLEAVE_INTS (4) };
      static const double values[] = { -3, 4 };
      g_autoptr (CleaveTensor) tensor = cleave_apply_tensor (elements[i], CLEAVE_SHAPE (2), values);
      CleaveResult *x = cleave_graph_add_constant (graph, "x", tensor);

      x = cleave_test_add (graph, "Resize", "r", (CleaveResult *[]){ x }, 1, &a, &error);
      cleave_assert_values (x, "-3 -1 2 4");
    }
}
END_TEST

START_TEST (bools_need_nearest_and_empty_dimensions_stay_empty)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_BOOL, 2), none = CLEAVE_TYPE (CLEAVE_INT8, 0);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL),
               *e = cleave_graph_add_input (graph, "e", &none, NULL);
  CleaveResizeAttrs a = { .mode = CLEAVE_RESIZE_LINEAR, .sizes = CLEAVE_INTS (4) };

  cleave_assert_infers (
      cleave_test_add (graph, "Resize", "r", (CleaveResult *[]){ x }, 1, &a, &error), &error,
      "Resize 'r': X cannot be bool");
  a.mode = CLEAVE_RESIZE_NEAREST;
  cleave_assert_infers (
      cleave_test_add (graph, "Resize", "r", (CleaveResult *[]){ x }, 1, &a, &error), &error,
      "bool 4");
  cleave_assert_infers (
      cleave_test_add (graph, "Resize", "r", (CleaveResult *[]){ e }, 1, &a, &error), &error,
      "Resize 'r': dimension 0 is empty and cannot become 4");
}
END_TEST

static const struct
{
  CleaveResizeAttrs attrs;
  const char *chunk, *expected; /* a chunk of the result; the range that it reads of an operand of
                                   2x6, and the attributes of its piece */
} chunks[] = {
  { { .scales = { 2, { 1, 2 } } }, "1:2,4:8", "1:2,2:4 scales=1,2" },
  { { .sizes = { 2, { 2, 12 } } }, "1:2,4:8", "1:2,2:4 sizes=1,4" },
  { { .scales = { 2, { 1, 2 } } }, "0:2,3:8", "0:2,1:4 scales=1,2 sizes=2,5 phase=0,1" },
  { { .mode = CLEAVE_RESIZE_LINEAR, .scales = { 2, { 1, 2 } } },
    "0:2,0:6",
    "0:2,0:4 mode=linear scales=1,2 sizes=2,6 phase=0,0" },
  { { .mode = CLEAVE_RESIZE_LINEAR, .scales = { 2, { 1, 2 } } },
    "0:2,6:12",
    "0:2,2:6 mode=linear scales=1,2 sizes=2,6 phase=0,2" },
  { { .mode = CLEAVE_RESIZE_LINEAR, .sizes = { 2, { 2, 18 } } },
    "0:1,7:8",
    "0:1,2:4 mode=linear scales=1,3 sizes=1,1 phase=0,1" },
  { { .mode = CLEAVE_RESIZE_CUBIC, .scales = { 2, { 1, 2 } } },
    "0:2,6:8",
    "0:2,1:6 mode=cubic cubic_coeff_a=0 scales=1,2 sizes=2,2 phase=0,4" },
  { { .mode = CLEAVE_RESIZE_LINEAR, .scales = { 2, { 1, 1.5 } } },
    "1:2,0:9",
    "1:2,0:6 mode=linear scales=1,1.5" },
  { { .mode = CLEAVE_RESIZE_LINEAR, .scales = { 2, { 1, 1.5 } } },
    "0:2,0:3",
    "0:2,0:3 mode=linear scales=1,1.5 sizes=2,3 phase=0,0 begin=0,0 extents=0,6 lengths=0,9" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_ALIGN_CORNERS,
      .scales = { 2, { 1, 2 } } },
    "1:2,0:12",
    "1:2,0:6 mode=linear coordinate_transformation_mode=align_corners scales=1,2" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_ALIGN_CORNERS,
      .scales = { 2, { 1, 2 } } },
    "1:2,0:4",
    "1:2,0:3 mode=linear coordinate_transformation_mode=align_corners scales=1,2 sizes=1,4 "
    "phase=0,0 begin=0,0 extents=0,6 lengths=0,12" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_ALIGN_CORNERS,
      .sizes = { 2, { 3, 12 } } },
    "0:3,8:12",
    "0:2,3:6 mode=linear coordinate_transformation_mode=align_corners scales=1.5,2 sizes=3,4 "
    "phase=0,8 begin=0,3 extents=0,6 lengths=0,12" },
  { { .mode = CLEAVE_RESIZE_LINEAR,
      .coordinate_transformation_mode = CLEAVE_RESIZE_TF_CROP_AND_RESIZE,
      .roi = { 4, { 0, 0.25, 1, 1 } },
      .sizes = { 2, { 2, 4 } } },
    "0:2,0:2",
    "refused: dimension 1, resized by 0.666667 with tf_crop_and_resize, cannot be cut: a cut needs "
    "a whole factor, or floats or mode nearest without a roi" },
};

START_TEST (a_piece_has_a_phase)
{
  for (guint i = 0; i < G_N_ELEMENTS (chunks); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6));

      cleave_assert_chunk (cleave_test_add (graph, "Resize", NULL, (CleaveResult *[]){ x }, 1,
                                            &chunks[i].attrs, NULL),
                           chunks[i].chunk, chunks[i].expected);
    }
}
END_TEST

/* Asserts that each element of each piece is computed from the same elements, with the same
 * weights, as in the whole. Returns the number of pieces. */
static guint
count_pieces (CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveResizeAxis whole;
  gint64 from = node->operands[0].result->type.shape.dim[0],
         to = node->results[0].type.shape.dim[0];
  guint n = 0;

  cleave_node_call_init (&call, node);
  whole = cleave_resize_axis (node->attrs, 0, from, to);
  for (gint64 begin = 0; begin < to; begin++)
    for (gint64 end = begin + 1; end <= to; end++)
      {
        CleaveRange range = { 1, { { begin, end } } };
        CleaveChunk chunk;
        CleaveResizeAxis axis;
        CleaveSpan slice;

        if (!cleave_chunk_init (&chunk, &call.call, &range, NULL))
          continue;
        slice = chunk.slices[0].range.dim[0];
        axis = cleave_resize_axis (chunk.attrs, 0, slice.end - slice.begin, end - begin);
        for (gint64 i = begin; i < end; i++)
          {
            CleaveResizeTaps a = cleave_resize_taps (&whole, i),
                             b = cleave_resize_taps (&axis, i - begin);

            cleave_assert (a.n == b.n);
            for (guint t = 0; t < a.n; t++)
              {
                cleave_assert (a.at[t] == b.at[t] + slice.begin);
                cleave_assert (a.weight[t] == b.weight[t]);
              }
          }
        cleave_chunk_clear (&chunk, node->op);
        n++;
      }
  return n;
}

START_TEST (every_piece_has_the_positions_of_the_whole)
{
  const gint64 froms[] = { 1, 2, 5, 8 }, tos[] = { 1, 2, 7, 12 };

  for (int way = 0; way < 2 * 4 * 3; way++)
    for (guint f = 0; f < G_N_ELEMENTS (froms); f++)
      for (guint t = 0; t < G_N_ELEMENTS (tos); t++)
        {
          g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
          CleaveResizeAttrs a = { .mode = (CleaveResizeMode) (way % 3),
                                  .coordinate_transformation_mode =
                                      (CleaveResizeCoordinates) (way / 3 % 4),
                                  .nearest_mode = (CleaveResizeNearest) (f % 4),
                                  .cubic_coeff_a = -0.5,
                                  .exclude_outside = t % 2 == 0 };
          CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (froms[f])), *y;
          gint64 n;

          if (way / 12 == 0)
            a.sizes = CLEAVE_INTS (tos[t]);
          else
            a.scales = CLEAVE_DOUBLES (0.3 + 0.37 * (double) tos[t]);
          y = cleave_test_add (graph, "Resize", NULL, (CleaveResult *[]){ x }, 1, &a, NULL);
          n = y->type.shape.dim[0];
          ck_assert_int_eq (count_pieces (y->node), n * (n + 1) / 2);
        }
}
END_TEST

/* A piece of a Resize has the attribute `phase`, the index of its first element in the whole
 * result. A piece of a piece adds both phases. */
START_TEST (a_piece_can_be_cut_again)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResizeAttrs a = {
    .mode = CLEAVE_RESIZE_LINEAR, SCALES (2), .sizes = CLEAVE_INTS (6), .phase = CLEAVE_INTS (3)
  };
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (5), 1, 1);
  CleaveResult *y = cleave_test_add (graph, "Resize", NULL, (CleaveResult *[]){ x }, 1, &a, NULL);

  cleave_assert_values (y, "2.25 2.75 3.25 3.75 4.25 4.75");
  cleave_assert_chunk (y, "2:4", "2:4 mode=linear scales=2 sizes=2 phase=1");
  a = (CleaveResizeAttrs){ .mode = CLEAVE_RESIZE_LINEAR,
                           SCALES (1.5),
                           .sizes = CLEAVE_INTS (4),
                           .phase = CLEAVE_INTS (4),
                           .begin = CLEAVE_INTS (2),
                           .extents = CLEAVE_INTS (8),
                           .lengths = CLEAVE_INTS (12) };
  y = cleave_test_add (graph, "Resize", NULL, (CleaveResult *[]){ x }, 1, &a, NULL);
  cleave_assert_chunk (y, "2:4",
                       "1:4 mode=linear scales=1.5 sizes=2 phase=6 begin=3 extents=8 lengths=12");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "resize", resizes_a_line, resizes_a_plane, crops_eight_dimensions,
                   integers_are_truncated, bools_need_nearest_and_empty_dimensions_stay_empty,
                   a_piece_has_a_phase, every_piece_has_the_positions_of_the_whole,
                   a_piece_can_be_cut_again, NULL);
}

CLEAVE_TEST_SUITE ("resize", add_tests)
