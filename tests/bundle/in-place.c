/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Offsets of results that overlay the operand of their layer. */

#include "networks.h"
#include "test.h"

#include "../../lib/bundle/bundle.h"

static CleaveBundle *
make (const CleaveGraph *graph, const CleaveBundleOptions *options)
{
  g_autoptr (GError) error = NULL;
  CleaveBundle *bundle = cleave_bundle_new (graph, options, &error);

  cleave_assert_no_error (error);
  return bundle;
}

/* Counts the results that overlay their operand and whose rows are computed upward, from the last
 * row to the first. Asserts that the result ends at or before the end of the operand, or at least
 * one row after it. With a shorter distance, a kernel would overwrite bytes of the operand row from
 * which it computes the result row. */
static guint
check_upward_ends (const CleaveBundle *bundle)
{
  const GArray *buffers = bundle->layout->buffers;
  guint n = 0;

  for (guint i = 0; i < buffers->len; i++)
    for (guint k = 0; k < buffers->len; k++)
      {
        const CleaveBundleBuffer *end = &g_array_index (buffers, CleaveBundleBuffer, i);
        const CleaveBundleBuffer *value = &g_array_index (buffers, CleaveBundleBuffer, k);
        gint64 gap = end->offset + end->n_used - value->offset - value->n_used;

        if (!end->is_upward || end->over != value->value || end->first != value->last ||
            end->offset >= value->offset + value->n_bytes ||
            value->offset >= end->offset + end->n_bytes)
          continue;
        n++;
        ck_assert_msg (gap <= 0 || gap >= end->row_bytes,
                       "an end lies %" G_GINT64_FORMAT " bytes after a value, less than a row",
                       gap);
      }
  return n;
}

START_TEST (a_row_that_is_computed_upward_in_place_does_not_overlap_the_row_under_it)
{
  guint n = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (200); seed++)
    {
      g_autoptr (CleaveGraph) graph = network_random (seed);
      CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED };
      g_autoptr (CleaveBundle) bundle = make (graph, &o);

      n += check_upward_ends (bundle);
    }
  ck_assert_uint_gt (n, 0);
}
END_TEST

/* Makes a network of vectors, which have one row: element-wise layers, means and joins. A result
 * may overwrite the operand of its layer only if no later layer reads the operand. */
static CleaveGraph *
make_vectors (guint32 seed)
{
  static const char *const unary[] = { "Abs %%v%u", "Exp %%v%u", "ReduceMean %%v%u axes=-1",
                                       "Concat %%v%u, %%v%u axis=-1" };
  static const char *const binary[] = { "Sub %%v%u, %%v%u", "Mul %%v%u, %%v%u" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GString) text = g_string_new ("%v0 = Input : float32 1x1x24\n");
  guint widths[24] = { 24 }, n = (guint) g_rand_int_range (rand, 8, 24);
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph;

  for (guint i = 1; i < n; i++)
    {
      guint a = (guint) g_rand_int_range (rand, MAX ((gint) i - 3, 0), (gint) i);
      guint b = (guint) g_rand_int_range (rand, MAX ((gint) i - 6, 0), (gint) i), kind;
      gboolean is_unary = widths[a] != widths[b] && widths[a] != 1 && widths[b] != 1;

      is_unary |= g_rand_int_range (rand, 0, 3) == 0;
      kind = (guint) g_rand_int_range (rand, 0, is_unary ? 4 : 2);
      g_string_append_printf (text, "%%v%u = ", i);
      g_string_append_printf (text, is_unary ? unary[kind] : binary[kind], a, is_unary ? a : b);
      g_string_append_c (text, '\n');
      widths[i] =
          is_unary ? (kind == 2 ? 1 : widths[a] * (kind == 3 ? 2 : 1)) : MAX (widths[a], widths[b]);
    }
  g_string_append_printf (text, "output %%v%u\n", n - 1);
  graph = cleave_graph_parse (text->str, NULL, &error);
  cleave_assert_no_error (error);
  return graph;
}

/* Returns whether the layer that computes `end` reads `value`. If the layer does not read `value`,
 * `value` is dead before the layer writes `end`. */
static gboolean
reads (const CleaveBundleModel *model, guint end, guint value)
{
  const CleaveBundleStep *step =
      cleave_bundle_step (model, cleave_bundle_value (model, end)->producer);

  for (guint i = 0; i < step->n_operands; i++)
    if (cleave_bundle_value (model, step->operands[i])->base == value)
      return TRUE;
  return FALSE;
}

/* Returns the number of results that are computed in place. Asserts that none of these results
 * begins inside of the operand that it overwrites. */
static guint
check_vectors (const CleaveBundle *bundle)
{
  const GArray *buffers = bundle->layout->buffers;
  guint n = 0;

  for (guint i = 0; i < buffers->len; i++)
    for (guint k = 0; k < buffers->len; k++)
      {
        const CleaveBundleBuffer *end = &g_array_index (buffers, CleaveBundleBuffer, i);
        const CleaveBundleBuffer *value = &g_array_index (buffers, CleaveBundleBuffer, k);

        if (end->over != value->value || end->first != value->last ||
            !reads (bundle->model, end->value, value->value))
          continue;
        n++;
        ck_assert_msg (end->offset <= value->offset || end->offset >= value->offset + value->n_used,
                       "an end at %d lies inside of a value at %d", (int) end->offset,
                       (int) value->offset);
      }
  return n;
}

START_TEST (a_row_that_is_computed_in_place_does_not_begin_inside_the_row_under_it)
{
  guint n = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (300); seed++)
    {
      g_autoptr (CleaveGraph) graph = make_vectors (seed);
      g_autoptr (CleaveBundle) bundle = make (graph, NULL);

      n += check_vectors (bundle);
    }
  ck_assert_uint_gt (n, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "in place",
                   a_row_that_is_computed_upward_in_place_does_not_overlap_the_row_under_it,
                   a_row_that_is_computed_in_place_does_not_begin_inside_the_row_under_it, NULL);
}

CLEAVE_TEST_SUITE ("in place", add_tests)
