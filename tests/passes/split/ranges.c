/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tilings of several dimensions: the names of dimensions, the order of the ranges, and ranges that
 * the caller gives. */

#include "test.h"

#include <float.h>

/* Returns the ranges in several dimensions, or the error. */
static char *
print_ranges (CleaveTiling *split, const CleaveShape *shape, const char *letters)
{
  g_autoptr (CleaveTiling) owned = split;
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GArray) ranges = cleave_tiling_get_ranges (owned, shape, letters, &error);

  if (ranges == NULL)
    return g_strdup (error->message);
  for (guint i = 0; i < ranges->len; i++)
    {
      g_autofree char *text = cleave_range_to_string (&g_array_index (ranges, CleaveRange, i));

      g_string_append_printf (out, "%s%s", i == 0 ? "" : " ", text);
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static void
check_dims (const char *dims, const char *letters, guint n_counts, const char *expected)
{
  const gint64 counts[] = { 2, 2, 2 };
  CleaveShape shape = CLEAVE_SHAPE (1, 4, 6, 2);
  g_autofree char *got =
      print_ranges (cleave_tiling_by_num_chunks (dims, counts, n_counts), &shape, letters);

  ck_assert_str_eq (got, expected);
}

/* Weights are finite, but their sum may be infinite. */
START_TEST (large_weights_determine_the_sizes)
{
  const double huge[] = { 1e308, 1e308 }, most[] = { DBL_MAX, DBL_MAX, DBL_MAX / 2 };
  const double *const lists[] = { huge, most };
  const guint lengths[] = { 2, 3 };
  CleaveShape shape = CLEAVE_SHAPE (10, 10);
  g_autofree char *got =
      print_ranges (cleave_tiling_by_chunk_weights ("0,1", lists, lengths, 2), &shape, NULL);

  ck_assert_str_eq (got, "0:5,0:4 0:5,4:8 0:5,8:10 5:10,0:4 5:10,4:8 5:10,8:10");
}
END_TEST

START_TEST (dimensions_are_letters_or_indices)
{
  const char *h = "0:1,0:2,0:6,0:2 0:1,2:4,0:6,0:2";
  const char *wh = "0:1,0:2,0:3,0:2 0:1,2:4,0:3,0:2 0:1,0:2,3:6,0:2 0:1,2:4,3:6,0:2";
  const char *hw = "0:1,0:2,0:3,0:2 0:1,0:2,3:6,0:2 0:1,2:4,0:3,0:2 0:1,2:4,3:6,0:2";

  check_dims ("H", "NHWC", 1, h);
  check_dims ("1", NULL, 1, h);
  check_dims ("-3", "NHWC", 1, h);
  check_dims (" H , W ", "NHWC", 2, hw);
  check_dims ("W,H", "NHWC", 2, wh);
  check_dims ("2,H", "NHWC", 2, wh);
}
END_TEST

START_TEST (wrong_dimensions_are_errors)
{
  const gint64 ones[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  const CleaveShape scalar = { 0 }, eight = CLEAVE_SHAPE (1, 1, 1, 1, 1, 1, 1, 1);
  g_autofree char *none = print_ranges (cleave_tiling_by_num_chunks ("H", ones, 1), &scalar, NULL);
  g_autofree char *nine =
      print_ranges (cleave_tiling_by_num_chunks ("0,1,2,3,4,5,6,7,7", ones, 9), &eight, NULL);

  ck_assert_str_eq (none, "a scalar has no dimension 'H'");
  ck_assert_str_eq (nine, "more than 8 dimensions are listed");
  check_dims ("H", NULL, 1,
              "dimension must be between -4 and 3, not 'H'; its layout is not known, so a number "
              "must name a dimension");
  check_dims ("h", "NHWC", 1,
              "dimension must be between -4 and 3 or a letter of NHWC, not 'h'; did you mean 'H'?");
  check_dims ("X", "NHWC", 1, "dimension must be between -4 and 3 or a letter of NHWC, not 'X'");
  check_dims ("4", NULL, 1, "dimension must be between -4 and 3, not '4'");
  check_dims ("-5", NULL, 1, "dimension must be between -4 and 3, not '-5'");
  check_dims ("", NULL, 1, "no dimension is listed");
  check_dims (NULL, NULL, 1, "no dimension is listed");
  check_dims ("1,,2", NULL, 3, "dimension must be between -4 and 3, not ''");
  check_dims ("H,H", "NHWC", 2, "H is listed twice in 'H,H'");
  check_dims ("1,-3", NULL, 2, "dimension 1 is listed twice in '1,-3'");
  check_dims ("H,W", "NHWC", 1, "'H,W' lists 2 dimensions, but numbers of chunks are given for 1");
}
END_TEST

static void
check_given (const CleaveRange *ranges, guint n, const CleaveShape *shape, const char *expected)
{
  g_autofree char *got = print_ranges (cleave_tiling_by_slice_ranges (ranges, n), shape, NULL);

  ck_assert_str_eq (got, expected);
}

#define CHECK_RANGES(expected, shape, ...)                                                         \
  do                                                                                               \
    {                                                                                              \
      const CleaveRange list[] = { __VA_ARGS__ };                                                  \
      const CleaveShape extent = shape;                                                            \
      check_given (list, G_N_ELEMENTS (list), &extent, expected);                                  \
    }                                                                                              \
  while (FALSE)

/* If the rank of a range is too large, the check must read only the rank, since the range has no
 * more dimensions. */
START_TEST (a_range_of_too_many_dimensions_is_an_error)
{
  const CleaveShape five = CLEAVE_SHAPE (5);
  CleaveRange huge = { .rank = CLEAVE_MAX_RANK + 1 };

  CHECK_RANGES ("range 0 has rank 9, but the result has rank 1", five, huge);
  huge.rank = G_MAXUINT;
  CHECK_RANGES ("range 0 has rank 4294967295, but the result has rank 1", five, huge);
}
END_TEST

START_TEST (given_ranges_must_cover)
{
  const CleaveShape five = CLEAVE_SHAPE (5);

  CHECK_RANGES ("0:3 3:5", five, CLEAVE_RANGE (0, 3), CLEAVE_RANGE (3, 5));
  CHECK_RANGES ("0:4 2:5", five, CLEAVE_RANGE (0, 4), CLEAVE_RANGE (2, 5));
  CHECK_RANGES ("3:5 0:3", five, CLEAVE_RANGE (3, 5), CLEAVE_RANGE (0, 3));
  CHECK_RANGES ("the ranges must cover 0:5, but none covers 2:3", five, CLEAVE_RANGE (0, 2),
                CLEAVE_RANGE (3, 5));
  CHECK_RANGES ("range 1, 3:3, is empty", five, CLEAVE_RANGE (0, 5), CLEAVE_RANGE (3, 3));
  CHECK_RANGES ("range 0, 4:2, is empty", five, CLEAVE_RANGE (4, 2));
  CHECK_RANGES ("range 0, 0:6, must lie inside 0:5", five, CLEAVE_RANGE (0, 6));
  CHECK_RANGES ("range 0, -1:5, must lie inside 0:5", five, CLEAVE_RANGE (-1, 5));
  CHECK_RANGES ("range 0, 0:5,0:1, has rank 2, but the result has rank 1", five,
                CLEAVE_RANGE (0, 5, 0, 1));
  check_given (NULL, 0, &five, "no range is given; together they must cover 0:5");
}
END_TEST

START_TEST (too_many_chunks_are_an_error)
{
  const gint64 counts[] = { 2000, 2000 };
  CleaveShape shape = CLEAVE_SHAPE (2000, 2000);
  g_autofree char *got =
      print_ranges (cleave_tiling_by_num_chunks ("0,1", counts, 2), &shape, NULL);

  ck_assert_str_eq (got, "the split would make more than 1048576 chunks");
}
END_TEST

/* Each dimension has an alignment of its own, or all dimensions have the same alignment. */
START_TEST (each_dimension_has_its_alignment)
{
  const gint64 counts[] = { 2, 2 }, wrong[] = { 1, 2, 3 };
  const CleaveRange halves[] = { CLEAVE_RANGE (0, 3, 0, 8), CLEAVE_RANGE (3, 5, 0, 8) };
  CleaveShape shape = CLEAVE_SHAPE (5, 8);
  CleaveTiling *split = cleave_tiling_by_num_chunks ("0,1", counts, 2);
  g_autofree char *aligned = NULL, *refused = NULL, *given = NULL;

  cleave_tiling_set_alignments (split, (const gint64[]){ 1, 6 }, 2);
  cleave_tiling_set_min_chunks (split, (const gint64[]){ 2, 1 }, 2);
  aligned = print_ranges (split, &shape, NULL);
  ck_assert_str_eq (aligned, "0:3,0:6 0:3,6:8 3:5,0:6 3:5,6:8");
  split = cleave_tiling_by_num_chunks ("0,1", counts, 2);
  cleave_tiling_set_alignments (split, wrong, 3);
  refused = print_ranges (split, &shape, NULL);
  ck_assert_str_eq (refused, "3 values of alignment are given for 2 dimensions");
  split = cleave_tiling_by_slice_ranges (halves, 2);
  cleave_tiling_set_alignments (split, (const gint64[]){ 3, 8 }, 2);
  given = print_ranges (split, &shape, NULL);
  ck_assert_str_eq (given, "0:3,0:8 3:5,0:8");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "dims", dimensions_are_letters_or_indices, wrong_dimensions_are_errors,
                   large_weights_determine_the_sizes, NULL);
  cleave_add_case (suite, "ranges", each_dimension_has_its_alignment, given_ranges_must_cover,
                   a_range_of_too_many_dimensions_is_an_error, too_many_chunks_are_an_error, NULL);
}

CLEAVE_TEST_SUITE ("split-ranges", add_tests)
