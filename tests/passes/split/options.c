/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Four ways to give a tiling of one dimension: numbers of chunks, sizes, lists of sizes, and
 * weights. */

#include "test.h"

#include <math.h>
#include <string.h>

/* Returns the sizes of the chunks of one dimension, such as "4 3 3", or the error. */
static char *
sizes (CleaveTiling *split, gint64 extent)
{
  g_autoptr (CleaveTiling) owned = split;
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  CleaveShape shape = CLEAVE_SHAPE (extent);
  g_autoptr (GArray) ranges = cleave_tiling_get_ranges (owned, &shape, NULL, &error);
  gint64 end = 0;

  if (ranges == NULL)
    {
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
      return g_strdup (error->message);
    }
  for (guint i = 0; i < ranges->len; i++)
    {
      CleaveSpan span = g_array_index (ranges, CleaveRange, i).dim[0];

      ck_assert_int_eq (span.begin, end);
      end = span.end;
      g_string_append_printf (out, "%s%d", i == 0 ? "" : " ", (int) (span.end - span.begin));
    }
  ck_assert_int_eq (end, extent);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

typedef enum { COUNT, SIZE } Kind;

typedef struct
{
  Kind kind;
  gint64 extent, number;
  gboolean small_first;
  gint64 alignment, min_chunk;
  const char *sizes;
} Row;

/* clang-format off */
static const Row rows[] = {
  /* cases from Glow's own tests */
  { COUNT, 10, 3, FALSE, 0, 0, "4 3 3" },
  { COUNT, 10, 3, TRUE, 0, 0, "3 3 4" },
  { COUNT, 10, 4, FALSE, 0, 0, "3 3 2 2" },
  { COUNT, 10, 4, TRUE, 0, 0, "2 2 3 3" },
  { SIZE, 10, 3, FALSE, 0, 0, "3 3 3 1" },
  { SIZE, 10, 3, TRUE, 0, 0, "1 3 3 3" },
  { SIZE, 10, 6, FALSE, 0, 0, "6 4" },
  { SIZE, 10, 6, TRUE, 0, 0, "4 6" },
  /* the smallest and the largest possible number of chunks, and numbers that are too small or too
   * large */
  { COUNT, 10, 1, FALSE, 0, 0, "10" },
  { COUNT, 10, 10, FALSE, 0, 0, "1 1 1 1 1 1 1 1 1 1" },
  { COUNT, 10, 0, FALSE, 0, 0, "dimension 0: number of chunks must be between 1 and 10, not 0" },
  { COUNT, 10, 11, FALSE, 0, 0, "dimension 0: number of chunks must be between 1 and 10, not 11" },
  { COUNT, 10, -1, FALSE, 0, 0, "dimension 0: number of chunks must be between 1 and 10, not -1" },
  { SIZE, 10, 10, FALSE, 0, 0, "10" },
  { SIZE, 10, 0, FALSE, 0, 0, "dimension 0: chunk size must be between 1 and 10, not 0" },
  { SIZE, 10, 11, FALSE, 0, 0, "dimension 0: chunk size must be between 1 and 10, not 11" },
  { COUNT, 1, 2, FALSE, 0, 0, "dimension 0: 2 chunks are not possible: the extent is 1" },
  /* chunks with an alignment or a minimum */
  { COUNT, 30, 2, FALSE, 8, 0, "16 14" },
  { COUNT, 30, 3, FALSE, 8, 0, "16 8 6" },
  { COUNT, 30, 3, TRUE, 8, 0, "8 8 14" },
  { COUNT, 30, 5, FALSE, 8, 0, "dimension 0: number of chunks must be between 1 and 4, not 5: the extent is 30, with align 8" },
  { COUNT, 30, 3, FALSE, 8, 8, "8 8 14" },
  { COUNT, 30, 4, FALSE, 8, 8, "dimension 0: number of chunks must be between 1 and 3, not 4: the extent is 30, with align 8 and min-chunk 8" },
  { COUNT, 30, 1, FALSE, 64, 100, "30" },
  { COUNT, 30, 2, FALSE, 0, 100, "dimension 0: 2 chunks are not possible: the extent is 30, with min-chunk 100" },
  { COUNT, 30, 1, FALSE, G_MAXINT64, G_MAXINT64, "30" },
  { COUNT, 10, 4, FALSE, 0, 3, "dimension 0: number of chunks must be between 1 and 3, not 4: the extent is 10, with min-chunk 3" },
  { SIZE, 30, 10, FALSE, 8, 0, "8 8 8 6" },
  { SIZE, 30, 3, FALSE, 8, 0, "8 8 8 6" },
  { SIZE, 10, 3, FALSE, 0, 2, "3 3 4" },
  { SIZE, 10, 3, TRUE, 0, 2, "4 3 3" },
  { SIZE, 30, 12, FALSE, 8, 10, "16 14" },
  { SIZE, 30, 16, FALSE, 8, 15, "30" },
  { SIZE, 38, 16, TRUE, 8, 7, "8 16 14" },
  { SIZE, 30, 30, FALSE, 0, 100, "30" },
  { SIZE, 30, 20, FALSE, 0, 100, "dimension 0: chunk size must be between 30 and 30, not 20: the extent is 30, with min-chunk 100" },
  { SIZE, 10, 2, FALSE, 0, 3, "dimension 0: chunk size must be between 3 and 10, not 2: the extent is 10, with min-chunk 3" },
  { COUNT, 10, 2, FALSE, -8, 0, "alignment must be at least 1, not -8" },
  { COUNT, 10, 2, FALSE, 0, -2, "minimum chunk must be at least 1, not -2" },
};
/* clang-format on */

START_TEST (numbers_and_sizes_become_chunks)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Row *row = &rows[i];
      CleaveTiling *split =
          (row->kind == COUNT ? cleave_tiling_by_num_chunks
                              : cleave_tiling_by_chunk_size) ("0", &row->number, 1);
      g_autofree char *got = NULL;

      cleave_tiling_set_small_first (split, row->small_first);
      if (row->alignment != 0)
        cleave_tiling_set_alignment (split, row->alignment);
      if (row->min_chunk != 0)
        cleave_tiling_set_min_chunk (split, row->min_chunk);
      got = sizes (split, row->extent);
      ck_assert_msg (strcmp (got, row->sizes) == 0, "row %u: %s, not %s", i, got, row->sizes);
    }
}
END_TEST

static void
check_sizes (const gint64 *list, guint n, gint64 alignment, gint64 min_chunk, const char *expected)
{
  CleaveTiling *split = cleave_tiling_by_chunk_sizes ("0", &list, &n, 1);
  g_autofree char *got = NULL;

  cleave_tiling_set_alignment (split, alignment);
  cleave_tiling_set_min_chunk (split, min_chunk);
  got = sizes (split, 10);
  ck_assert_str_eq (got, expected);
}

#define CHECK_SIZES(expected, alignment, min_chunk, ...)                                           \
  check_sizes ((const gint64[]){ __VA_ARGS__ }, CLEAVE_COUNT_ (gint64, __VA_ARGS__), alignment,    \
               min_chunk, expected)

START_TEST (given_sizes_are_kept_or_refused)
{
  CHECK_SIZES ("3 4 3", 1, 1, 3, 4, 3);
  CHECK_SIZES ("3 3 4", 1, 1, 3, -1, 4);
  CHECK_SIZES ("10", 1, 1, -1);
  CHECK_SIZES ("4 4 2", 4, 1, 4, 4, 2);
  CHECK_SIZES ("dimension 0: chunk sizes add up to 11, not to 10", 1, 1, 3, 4, 4);
  CHECK_SIZES ("dimension 0: chunk size 1 must be at least 1, not 0", 1, 1, 5, 0, 5);
  CHECK_SIZES ("dimension 0: chunk sizes 0 and 2 are both -1: only one can be the remainder", 1, 1,
               -1, 4, -1);
  CHECK_SIZES ("dimension 0: the other chunk sizes add up to 10 of 10: nothing is left for the -1",
               1, 1, 5, -1, 5);
  CHECK_SIZES ("dimension 0: chunk sizes up to 1 add up to more than 64 bits", 1, 1, G_MAXINT64, 1);
  CHECK_SIZES ("dimension 0: 0:3 does not begin and end at multiples of the alignment 4", 4, 1, 3,
               7);
  CHECK_SIZES ("dimension 0: 8:10 is smaller than the minimum of 3", 1, 3, 8, 2);
}
END_TEST

static void
check_weights (const double *list, guint n, gint64 extent, const char *expected)
{
  g_autofree char *got = sizes (cleave_tiling_by_chunk_weights ("0", &list, &n, 1), extent);

  ck_assert_str_eq (got, expected);
}

#define CHECK_WEIGHTS(expected, extent, ...)                                                       \
  check_weights ((const double[]){ __VA_ARGS__ }, CLEAVE_COUNT_ (double, __VA_ARGS__), extent,     \
                 expected)

START_TEST (weights_determine_the_sizes)
{
  CHECK_WEIGHTS ("2 8", 10, 1, 4);
  CHECK_WEIGHTS ("15 15 20 50", 100, 0.15, 0.15, 0.2, 0.5);
  CHECK_WEIGHTS ("1 33 66", 100, 1e-8, 33, 66);
  CHECK_WEIGHTS ("1 1 1 7", 10, 0.1, 0.1, 0.1, 9.7);
  CHECK_WEIGHTS ("dimension 0: chunk weight 1 must be positive and finite, not 0", 10, 1, 0);
  CHECK_WEIGHTS ("dimension 0: chunk weight 1 must be positive and finite, not -2", 10, 1, -2);
  CHECK_WEIGHTS ("dimension 0: chunk weight 1 must be positive and finite, not nan", 10, 1, NAN);
  CHECK_WEIGHTS ("dimension 0: chunk weight 0 must be positive and finite, not inf", 10, INFINITY);
  CHECK_WEIGHTS ("dimension 0: number of weights must be between 1 and 10, not 11", 10, 1, 1, 1, 1,
                 1, 1, 1, 1, 1, 1, 1);
}
END_TEST

/* Returns the largest possible number of chunks: makes each chunk, from the first on, as short as
 * the alignment and the minimum allow. */
static gint64
count_most (gint64 extent, gint64 alignment, gint64 min_chunk)
{
  gint64 most = 1, begin = 0;

  for (gint64 end = alignment; extent - end >= MIN (min_chunk, extent); end += alignment)
    if (end - begin >= min_chunk)
      {
        begin = end;
        most++;
      }
  return most;
}

/* Sets the alignment and the minimum chunk size of a tiling. Asserts that the tiling has ranges if,
 * and only if, `is_possible`. The chunks must follow each other, and obey the alignment and the
 * minimum size. `n_wanted`: number of chunks; 0: any. */
static void
check_chunk_rules (CleaveTiling *split,
                   gint64 extent,
                   gint64 alignment,
                   gint64 min_chunk,
                   gint64 n_wanted,
                   gboolean is_possible)
{
  g_autoptr (CleaveTiling) owned = split;
  CleaveShape shape = CLEAVE_SHAPE (extent);
  g_autoptr (GArray) ranges = NULL;
  gint64 end = 0;

  cleave_tiling_set_alignment (split, alignment);
  cleave_tiling_set_min_chunk (split, min_chunk);
  ranges = cleave_tiling_get_ranges (split, &shape, NULL, NULL);
  if ((ranges != NULL) != is_possible)
    ck_abort_msg ("extent %d, alignment %d, minimum %d, %d wanted", (int) extent, (int) alignment,
                  (int) min_chunk, (int) n_wanted);
  for (guint i = 0; ranges != NULL && i < ranges->len; i++)
    {
      CleaveSpan span = g_array_index (ranges, CleaveRange, i).dim[0];

      cleave_assert (span.begin == end);
      end = span.end;
      cleave_assert (end == extent || end % alignment == 0);
      cleave_assert (end - span.begin >= MIN (min_chunk, extent));
    }
  cleave_assert (ranges == NULL || end == extent);
  cleave_assert (ranges == NULL || n_wanted == 0 || ranges->len == n_wanted);
}

START_TEST (alignment_and_minimum_are_kept_if_possible)
{
  const double weights[] = { 3, 1, 0.1, 7, 1e-3, 1, 1, 1, 1, 1 };
  const double *const lists[] = { weights };

  for (gint64 extent = 1; extent <= 33; extent++)
    for (gint64 a = 1; a <= 9; a++)
      for (gint64 m = 1; m <= 12; m++)
        {
          gint64 most = count_most (extent, a, m);

          for (gint64 n = 1; n <= 10; n++)
            for (gboolean small_first = FALSE; small_first <= TRUE; small_first++)
              {
                CleaveTiling *number = cleave_tiling_by_num_chunks ("0", &n, 1);
                CleaveTiling *size = cleave_tiling_by_chunk_size ("0", &n, 1);
                guint k = (guint) n;

                cleave_tiling_set_small_first (number, small_first);
                cleave_tiling_set_small_first (size, small_first);
                check_chunk_rules (number, extent, a, m, n, n <= most);
                check_chunk_rules (size, extent, a, m, 0, n <= extent && n >= MIN (m, extent));
                check_chunk_rules (cleave_tiling_by_chunk_weights ("0", lists, &k, 1), extent, a, m,
                                   n, n <= most);
              }
        }
}
END_TEST

/* Computes sizes by Glow's rule: each chunk gets one element, and then each further element goes to
 * the chunk that is furthest below its share. */
static void
share_greedily (const double *weight, guint k, gint64 n, gint64 *size)
{
  double sum = 0;

  for (guint i = 0; i < k; i++)
    {
      sum += weight[i];
      size[i] = 1;
    }
  for (gint64 unit = k; unit < n; unit++)
    {
      guint most = 0;
      double lack = -INFINITY;

      for (guint i = 0; i < k; i++)
        if (weight[i] - (double) size[i] / (double) n * sum > lack)
          {
            lack = weight[i] - (double) size[i] / (double) n * sum;
            most = i;
          }
      size[most]++;
    }
}

START_TEST (weights_follow_the_greedy_rule)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (guint seed = 0; seed < CLEAVE_TRIALS (3000); seed++)
    {
      guint k = (guint) g_rand_int_range (rand, 1, 12);
      gint64 n = (gint64) k + g_rand_int_range (rand, 0, seed % 10 == 0 ? 3000 : 60);
      double weight[12];
      const double *list = weight;
      gint64 size[12];
      g_autoptr (GString) expected = g_string_new (NULL);
      g_autofree char *got = NULL;

      for (guint i = 0; i < k; i++)
        weight[i] = seed % 2 == 0 ? g_rand_int_range (rand, 1, 6)
                                  : pow (10, g_rand_double_range (rand, -3, 3));
      share_greedily (weight, k, n, size);
      for (guint i = 0; i < k; i++)
        g_string_append_printf (expected, "%s%d", i == 0 ? "" : " ", (int) size[i]);
      got = sizes (cleave_tiling_by_chunk_weights ("0", &list, &k, 1), n);
      ck_assert_msg (strcmp (got, expected->str) == 0, "seed %u: %s, not %s", seed, got,
                     expected->str);
    }
}
END_TEST

START_TEST (a_large_extent_is_divided_quickly)
{
  CHECK_WEIGHTS ("250000000 750000000", 1000000000, 1, 3);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "sizes", numbers_and_sizes_become_chunks, given_sizes_are_kept_or_refused,
                   alignment_and_minimum_are_kept_if_possible, weights_determine_the_sizes,
                   weights_follow_the_greedy_rule, a_large_extent_is_divided_quickly, NULL);
}

CLEAVE_TEST_SUITE ("split-options", add_tests)
