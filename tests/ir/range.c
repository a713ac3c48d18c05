/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Arithmetic of spans, ranges and dimension maps, compared with tables and with a look at each
 * element. */

#include "test.h"

#include "../../lib/ir/range.h"

static const struct
{
  CleaveDimMap map;
  CleaveSpan result, slice;
  gint64 extent, clip_begin, clip_end;
} slices[] = {
  /* 3x3 convolutions of 8 rows with pad 1: two chunks with stride 1, and two chunks with stride 2
   */
  { { 0, 0, 1, 1, -1, 3, 1 }, { 0, 4 }, { 0, 5 }, 8, 1, 0 },
  { { 0, 0, 1, 1, -1, 3, 1 }, { 4, 8 }, { 3, 8 }, 8, 0, 1 },
  { { 0, 0, 1, 2, -1, 3, 1 }, { 0, 2 }, { 0, 4 }, 8, 1, 0 },
  { { 0, 0, 1, 2, -1, 3, 1 }, { 2, 4 }, { 3, 8 }, 8, 0, 0 },
  /* a convolution with dilation 2, kernel 2, pads 2 and 3, and 11 result rows from 8 rows */
  { { 0, 0, 1, 1, -2, 3, 1 }, { 0, 4 }, { 0, 4 }, 8, 2, 0 },
  { { 0, 0, 1, 1, -2, 3, 1 }, { 4, 8 }, { 2, 8 }, 8, 0, 0 },
  { { 0, 0, 1, 1, -2, 3, 1 }, { 8, 11 }, { 6, 8 }, 8, 0, 3 },
  /* windows that read only padding */
  { { 0, 0, 1, 1, -2, 2, 1 }, { 0, 1 }, { 0, 0 }, 4, 2, 0 },
  /* two groups: 4 result channels of a group are computed from 2 channels of the operand */
  { { 0, 0, 4, 2, 0, 2, 1 }, { 0, 4 }, { 0, 2 }, 4, 0, 0 },
  { { 0, 0, 4, 2, 0, 2, 1 }, { 3, 5 }, { 0, 4 }, 4, 0, 0 },
  /* a transposed convolution with stride 2, pad 1 and window 1: the map divides a negative number
     and rounds down */
  { { 0, 1, 2, 1, -1, 2, 1 }, { 0, 1 }, { 0, 1 }, 4, 1, 0 },
  /* a Resize of 6 elements to 12 with aligned corners, and one of 6 elements to 4 with half-pixel
   * centers */
  { { 0, 0, 11, 1, 0, 2, 5 }, { 8, 12 }, { 3, 6 }, 6, 0, 1 },
  { { 0, 2, 8, 1, 0, 2, 12 }, { 1, 3 }, { 1, 5 }, 6, 0, 0 },
  /* a Slice with a negative step, which reads the elements 7, 5, 3 and 1 */
  { { 0, 0, 1, -2, 7, 1, 1 }, { 0, 4 }, { 1, 8 }, 9, 0, 0 },
  { { 0, 0, 1, -2, 7, 1, 1 }, { 1, 3 }, { 3, 6 }, 9, 0, 0 },
  { { 0, 0, 1, -2, 7, 1, 1 }, { 2, 2 }, { 5, 5 }, 9, 0, 0 },
  /* each element of the result reads the whole dimension */
  { { 0, 0, 1, 0, 0, 7, 1 }, { 2, 3 }, { 0, 7 }, 7, 0, 0 },
};

START_TEST (a_map_gives_the_slice_and_the_clipped_amounts)
{
  CleaveRange chunk = { .rank = 1, .dim = { slices[_i].result } };
  CleaveShape operand = CLEAVE_SHAPE (slices[_i].extent);
  CleaveSlice slice = cleave_slice_map (&slices[_i].map, &chunk, &operand);

  ck_assert_int_eq (slice.range.dim[0].begin, slices[_i].slice.begin);
  ck_assert_int_eq (slice.range.dim[0].end, slices[_i].slice.end);
  if (slices[_i].slice.begin < slices[_i].slice.end)
    {
      ck_assert_int_eq (slice.clip_begin[0], slices[_i].clip_begin);
      ck_assert_int_eq (slice.clip_end[0], slices[_i].clip_end);
    }
}
END_TEST

START_TEST (division_rounds_down)
{
  ck_assert_int_eq (cleave_floor_div (7, 2), 3);
  ck_assert_int_eq (cleave_floor_div (-7, 2), -4);
  ck_assert_int_eq (cleave_floor_div (-8, 2), -4);
  ck_assert_int_eq (cleave_floor_div (-1, 3), -1);
}
END_TEST

/* Returns whether the ranges cover `whole`, by a look at each element. */
static gboolean
covered_by_counting (const CleaveRange *ranges, guint n, const CleaveRange *whole)
{
  for (gint64 i = whole->dim[0].begin; i < whole->dim[0].end; i++)
    for (gint64 j = whole->dim[1].begin; j < whole->dim[1].end; j++)
      {
        CleaveRange element = CLEAVE_RANGE (i, i + 1, j, j + 1);
        gboolean found = FALSE;

        for (guint k = 0; k < n; k++)
          found = found || cleave_range_contains (&ranges[k], &element);
        if (!found)
          return FALSE;
      }
  return TRUE;
}

START_TEST (cover_agrees_with_counting)
{
  guint n_covered = 0, n_not = 0;

  for (guint32 seed = 0; seed < 3000; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveRange whole = CLEAVE_RANGE (0, 4, 0, 3), missing = { 0 };
      CleaveRange ranges[7];
      guint n = (guint) g_rand_int_range (rand, 0, 8);

      for (guint i = 0; i < n; i++)
        {
          gint32 a = g_rand_int_range (rand, 0, 3), b = g_rand_int_range (rand, 0, 2);

          ranges[i] = CLEAVE_RANGE (a, g_rand_int_range (rand, a + 1, 5), b,
                                    g_rand_int_range (rand, b + 1, 4));
        }
      if (covered_by_counting (ranges, n, &whole))
        {
          n_covered++;
          ck_assert_msg (cleave_ranges_cover (ranges, n, &whole, &missing), "seed %u", seed);
          continue;
        }
      n_not++;
      ck_assert_msg (!cleave_ranges_cover (ranges, n, &whole, &missing), "seed %u", seed);
      for (guint i = 0; i < n; i++)
        {
          CleaveRange both = cleave_range_intersect (&ranges[i], &missing);

          ck_assert (cleave_range_is_empty (&both));
        }
      ck_assert (!cleave_range_is_empty (&missing) && cleave_range_contains (&whole, &missing));
    }
  ck_assert_uint_gt (n_covered, 100);
  ck_assert_uint_gt (n_not, 100);
}
END_TEST

START_TEST (a_grid_is_recognized_and_a_repeated_cell_is_no_grid)
{
  CleaveRange whole = CLEAVE_RANGE (0, 300, 0, 300), missing;
  g_autofree CleaveRange *cells = g_new (CleaveRange, 90000);

  for (guint i = 0; i < 90000; i++)
    cells[i] = CLEAVE_RANGE (i / 300, i / 300 + 1, i % 300, i % 300 + 1);
  ck_assert (cleave_ranges_cover (cells, 90000, &whole, &missing));
  whole = CLEAVE_RANGE (0, 1, 0, 300);
  cells[7] = cells[8];
  ck_assert (!cleave_ranges_cover (cells, 300, &whole, &missing));
  ck_assert_int_eq (missing.dim[1].begin, 7);
  ck_assert_int_eq (missing.dim[1].end, 8);
}
END_TEST

START_TEST (a_range_is_made_relative_to_another_and_back)
{
  CleaveRange frame = CLEAVE_RANGE (2, 6, 10, 20), range = CLEAVE_RANGE (3, 5, 10, 12);
  CleaveRange wanted = CLEAVE_RANGE (1, 3, 0, 2);
  CleaveRange relative = cleave_range_relative (&range, &frame);
  CleaveRange absolute = cleave_range_absolute (&relative, &frame);

  ck_assert (cleave_range_equal (&relative, &wanted));
  ck_assert (cleave_range_equal (&absolute, &range));
}
END_TEST

START_TEST (a_difference_and_the_intersection_make_the_whole)
{
  CleaveRange range = CLEAVE_RANGE (0, 4, 0, 5, 0, 6), without = CLEAVE_RANGE (1, 3, 2, 9, 0, 3);
  CleaveRange both = cleave_range_intersect (&range, &without);
  g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  gint64 n = cleave_range_n_elements (&both);

  cleave_range_subtract (&range, &without, rest);
  for (guint i = 0; i < rest->len; i++)
    {
      CleaveRange *part = &g_array_index (rest, CleaveRange, i);

      n += cleave_range_n_elements (part);
      for (guint j = 0; j <= i; j++)
        {
          both = cleave_range_intersect (part,
                                         j < i ? &g_array_index (rest, CleaveRange, j) : &without);
          ck_assert (cleave_range_is_empty (&both));
        }
    }
  ck_assert_int_eq (n, 120);
}
END_TEST

START_TEST (hull_and_intersection)
{
  CleaveRange a = CLEAVE_RANGE (0, 2, 3, 5), b = CLEAVE_RANGE (1, 4, 0, 4),
              none = CLEAVE_RANGE (2, 2, 0, 9);
  CleaveRange hull = cleave_range_hull (&a, &b), both = cleave_range_intersect (&a, &b);
  CleaveRange want_hull = CLEAVE_RANGE (0, 4, 0, 5), want_both = CLEAVE_RANGE (1, 2, 3, 4);

  ck_assert (cleave_range_equal (&hull, &want_hull));
  ck_assert (cleave_range_equal (&both, &want_both));
  hull = cleave_range_hull (&none, &b);
  ck_assert (cleave_range_equal (&hull, &b));
  ck_assert (cleave_range_contains (&a, &none));
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *maps = tcase_create ("maps");

  tcase_add_loop_test (maps, a_map_gives_the_slice_and_the_clipped_amounts, 0,
                       G_N_ELEMENTS (slices));
  tcase_add_test (maps, division_rounds_down);
  suite_add_tcase (suite, maps);
  cleave_add_case (suite, "cover", cover_agrees_with_counting,
                   a_grid_is_recognized_and_a_repeated_cell_is_no_grid,
                   a_difference_and_the_intersection_make_the_whole, hull_and_intersection,
                   a_range_is_made_relative_to_another_and_back, NULL);
}

CLEAVE_TEST_SUITE ("range", add_tests)
