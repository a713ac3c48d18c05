/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of Resize, compared with the reference kernel. A tap is an element that a result
 * element reads. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (1200)

/* Tries a random Resize in 1 or 2 dimensions, in every mode, with integer and other factors, to
 * larger and smaller extents. */
static void
try_resize (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint rank = (guint) draw (rand, 3, 4);
  CleaveResizeAttrs attrs = {
    .mode = (CleaveResizeMode) draw (rand, 0, 2),
    .coordinate_transformation_mode = (CleaveResizeCoordinates) draw (rand, 0, 3),
    .nearest_mode = (CleaveResizeNearest) draw (rand, 0, 3),
    .cubic_coeff_a = -0.75,
    .exclude_outside = g_rand_boolean (rand),
    .sizes = { .n = rank, .v = { draw (rand, 1, 2), draw (rand, 2, 40) } },
  };
  CleaveTrySite instance = { .op = "Resize",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .gap = draw (rand, 0, 2),
                             .special = g_rand_boolean (rand),
                             .seed = seed };
  CleaveShape *x = &instance.operands[0].shape;

  instance.operands[0].element = CLEAVE_FLOAT32;
  x->rank = rank;
  for (guint d = 0; d < rank; d++)
    {
      x->dim[d] = d < 2 ? attrs.sizes.v[d] : draw (rand, 1, 9);
      if (d >= 2)
        attrs.sizes.v[d] =
            g_rand_boolean (rand) ? x->dim[d] * draw (rand, 1, 4) : draw (rand, 1, 12);
    }
  ck_assert (cleave_try_instance (&instance, level));
}

START_TEST (reference_bits)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_resize (seed, NULL);
}
END_TEST

START_TEST (reference_bits_of_the_lowest_level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_resize (seed, nth_level (0));
}
END_TEST

/* A value of rank 1 has only channels. The kernel copies the channels, so that -0 stays -0. */
START_TEST (reference_bits_of_rank_1)
{
  for (guint32 seed = 0; seed < 40; seed++)
    {
      const CleaveResizeAttrs attrs = { .coordinate_transformation_mode =
                                            (CleaveResizeCoordinates) (seed % 4),
                                        .sizes = { .n = 1, .v = { 2 + seed } } };
      CleaveTrySite instance = { .op = "Resize",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 2 + seed) },
                                 .special = TRUE,
                                 .seed = seed };

      ck_assert (cleave_try_instance (&instance, NULL));
    }
}
END_TEST

/* Tries pieces of a Resize. Row 0 of a piece may lie exactly on one row of the operand, and read
 * only this row. Row 1 of the piece may also read the row of the operand before this row. */
static void
try_pieces (const char *level)
{
  for (guint32 seed = 0; seed < 40; seed++)
    {
      gint64 n = 3 + seed % 5, from = 1 + seed % 2;
      const CleaveResizeAttrs attrs = {
        .mode = (CleaveResizeMode) (1 + seed % 2),
        .coordinate_transformation_mode = CLEAVE_RESIZE_ASYMMETRIC,
        .cubic_coeff_a = -0.75,
        .scales = { 2, { 2, 2 } },
        .sizes = { 2, { 2 * (n - from), 1 + seed % 20 } },
        .phase = { 2, { 2 * from, 0 } },
      };
      CleaveTrySite instance = { .op = "Resize",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, n, 1 + seed % 20) },
                                 .seed = seed };

      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (reference_bits_of_pieces) { each_level (try_pieces); }
END_TEST

/* The dimension that is innermost in memory is resized, or there are no channels. So each element
 * of a vector register has other taps. The kernel converts integers to floats. */
START_TEST (reference_bits_without_channels)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT32, CLEAVE_INT8,
                                            CLEAVE_UINT8, CLEAVE_INT32 };

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint rank = (guint) draw (rand, 1, 4);
      CleaveResizeAttrs attrs = {
        .mode = (CleaveResizeMode) draw (rand, 0, 1),
        .coordinate_transformation_mode = (CleaveResizeCoordinates) draw (rand, 0, 3),
        .nearest_mode = (CleaveResizeNearest) draw (rand, 0, 3),
        .sizes = { .n = rank },
      };
      CleaveTrySite instance = { .op = "Resize",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .gap = draw (rand, 0, 2),
                                 .special = g_rand_boolean (rand),
                                 .seed = seed };
      CleaveShape *x = &instance.operands[0].shape;

      instance.operands[0].element = elements[draw (rand, 0, 4)];
      x->rank = rank;
      for (guint d = 0; d < rank; d++)
        {
          x->dim[d] = g_rand_boolean (rand) ? 1 : draw (rand, 1, 7);
          attrs.sizes.v[d] = g_rand_boolean (rand) ? x->dim[d] : draw (rand, 1, 9);
        }
      ck_assert (cleave_try_instance (&instance, seed % 2 == 0 ? NULL : nth_level (0)));
    }
}
END_TEST

/* Runs Resizes with the mode nearest on elements of any size. The memory order is row-major, or has
 * any number of contiguous channels. */
START_TEST (reference_bits_of_moved_elements)
{
  static const CleaveElement elements[] = { CLEAVE_UINT8, CLEAVE_BOOL,  CLEAVE_FLOAT16,
                                            CLEAVE_INT32, CLEAVE_INT64, CLEAVE_FLOAT64 };

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint rank = (guint) draw (rand, 1, 5);
      CleaveResizeAttrs attrs = {
        .coordinate_transformation_mode = (CleaveResizeCoordinates) draw (rand, 0, 3),
        .nearest_mode = (CleaveResizeNearest) draw (rand, 0, 3),
        .sizes = { .n = rank },
      };
      CleaveTrySite instance = { .op = "Resize",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .gap = draw (rand, 0, 2) / 2,
                                 .y_row_major = g_rand_boolean (rand),
                                 .seed = seed };
      CleaveShape *x = &instance.operands[0].shape;

      instance.row_major = instance.y_row_major ? 1 : 0;
      instance.operands[0].element = elements[draw (rand, 0, G_N_ELEMENTS (elements) - 1)];
      x->rank = rank;
      for (guint d = 0; d < rank; d++)
        {
          gboolean is_image = rank > 2 && d >= 2;

          x->dim[d] = draw (rand, 1, is_image || d == 0 ? 6 : 70);
          attrs.sizes.v[d] = is_image ? x->dim[d] * draw (rand, 1, 4) : x->dim[d];
          if (draw (rand, 0, 3) == 0)
            attrs.sizes.v[d] = draw (rand, 1, 12);
        }
      ck_assert (cleave_try_instance (&instance, seed % 2 == 0 ? NULL : nth_level (0)));
    }
}
END_TEST

/* Tries rows that are longer than the kernel processes at once, and several interpolated
 * dimensions. */
static void
try_long_lines (const char *level)
{
  static const gint64 sizes[][10] = {
    { 1, 2, 3, 5, 7, 1, 2, 6, 10, 14 },     { 1, 40, 2, 3, 9, 1, 40, 5, 4, 18 },
    { 1, 1, 1, 3, 1500, 1, 1, 1, 6, 3000 }, { 1, 300, 1, 3, 9, 1, 300, 1, 6, 20 },
    { 1, 3, 1, 3, 900, 1, 3, 1, 5, 2100 },  { 1, 2, 1, 7, 2900, 1, 2, 1, 3, 1100 },
  };

  for (guint32 seed = 0; seed < 72; seed++)
    {
      CleaveResizeAttrs attrs = { .mode =
                                      seed % 2 == 0 ? CLEAVE_RESIZE_LINEAR : CLEAVE_RESIZE_CUBIC,
                                  .cubic_coeff_a = -0.5,
                                  .exclude_outside = seed % 4 == 1,
                                  .coordinate_transformation_mode =
                                      (CleaveResizeCoordinates) (seed / 4 % 3),
                                  .sizes = { .n = 5 } };
      CleaveTrySite instance = { .op = "Resize",
                                 .attrs = &attrs,
                                 .n_operands = 1,
                                 .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1, 1, 1, 1) },
                                 .row_major = seed / 2 % 2,
                                 .y_row_major = seed / 2 % 2,
                                 .special = TRUE,
                                 .seed = seed };

      for (guint d = 0; d < 5; d++)
        {
          instance.operands[0].shape.dim[d] = sizes[seed % 6][d];
          attrs.sizes.v[d] = sizes[seed % 6][5 + d];
        }
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (reference_bits_of_long_lines) { each_level (try_long_lines); }
END_TEST

/* The taps of a row of the result are the rows of the operand that it reads. The operand has only
 * the rows 0 and 1. Row 0 of the result is exactly on row 1 of the operand, which is its only tap.
 * Row 1 of the result is at position 1.5 of the operand. Its four taps would be rows 0 to 3, but
 * the operand has only rows 0 and 1. So the first tap is row 1 for row 0 of the result, and goes
 * back to row 0 for row 1 of the result. */
START_TEST (reference_bits_where_taps_go_back)
{
  const CleaveResizeAttrs attrs = { .mode = CLEAVE_RESIZE_CUBIC,
                                    .coordinate_transformation_mode = CLEAVE_RESIZE_ASYMMETRIC,
                                    .cubic_coeff_a = -0.75,
                                    .exclude_outside = TRUE,
                                    .scales = { .n = 4, .v = { 1, 1, 2, 1.5 } },
                                    .sizes = CLEAVE_INTS (1, 1, 2, 3),
                                    .phase = CLEAVE_INTS (0, 0, 2, 0) };
  CleaveTrySite instance = { .op = "Resize",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1, 2, 2) } };

  ck_assert (cleave_try_instance (&instance, NULL));
  ck_assert (cleave_try_instance (&instance, nth_level (0)));
}
END_TEST

/* The fast kernel does not serve a Resize of float64. The reference kernel runs instead. */
START_TEST (not_served)
{
  CleaveResizeAttrs attrs = { .mode = CLEAVE_RESIZE_LINEAR, .sizes = CLEAVE_INTS (1, 6, 8) };
  CleaveTrySite instance = { .op = "Resize",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT64, 1, 3, 8) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "all", reference_bits, reference_bits_of_the_lowest_level, reference_bits_of_rank_1,
      reference_bits_of_pieces, reference_bits_without_channels, reference_bits_of_moved_elements,
      reference_bits_of_long_lines, reference_bits_where_taps_go_back, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-resize", add_tests)
