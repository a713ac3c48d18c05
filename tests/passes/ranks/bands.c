/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The placement by bands: a piece is on the same rank as the pieces of the next layer that read its
 * rows.
 */

#include "../../../passes/ranks/bands.h"

#include "../../../lib/ir/topology.h"
#include "test.h"

static CleaveGraph *
make (const char *text, const char *pipeline)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);
  g_autoptr (CleavePipeline) passes = cleave_pipeline_parse (pipeline, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_pipeline_run (passes, graph, NULL, NULL, NULL, &error));
  return graph;
}

/* Asserts the bands of the nodes that are named `name`, a dot, and a number: node i has band
 * expected[i].
 */
static void
assert_bands (CleaveGraph *graph, guint n_bands, const char *name, const gint *expected, guint n)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  g_autofree gint *bands = cleave_bands_find (graph, order, n_bands);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *piece = n == 1 ? g_strdup (name) : g_strdup_printf ("%s.%u", name, i);
      const CleaveNode *node = cleave_graph_find_node (graph, piece);

      ck_assert_msg (node != NULL, "no %s", piece);
      ck_assert_msg (bands[node->id] == expected[i], "%s is in band %d", piece, bands[node->id]);
    }
}

#define IMAGE                                                                                      \
  "graph g\n%x = Input : float32 1x8x64x32\n%w = Constant seed=1 : float32 16x8x3x3\n"             \
  "%v = Constant seed=2 : float32 32x16x5x5\n%u = Constant seed=3 : float32 32x48x1x1\n"           \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = MaxPool %a kernel_shape=2,2 strides=2,2\n"                  \
  "%c = Conv %b, %v pads=2,2,2,2\n%d = Concat %b, %c axis=1\n%e = Conv %d, %u\noutput %e\n"

START_TEST (rows_stay_in_their_band)
{
  static const gint fours[] = { 0, 0, 1, 1 }, threes[] = { 0, 1, 2 }, one[] = { CLEAVE_NO_BAND };
  g_autoptr (CleaveGraph) whole = make (IMAGE, "clean-up");
  g_autoptr (CleaveGraph) four = make (IMAGE, "split{all dims=2 num-chunks=4},clean-up");
  g_autoptr (CleaveGraph) uneven =
      make (IMAGE, "split{node=a node=c node=e dims=H num-chunks=3},clean-up");

  for (const char *name = "abcde"; *name != '\0'; name++)
    {
      const char text[] = { *name, '\0' };

      assert_bands (whole, 4, text, one, 1);
      if (*name != 'd')
        assert_bands (four, 2, text, fours, 4);
    }
  assert_bands (uneven, 3, "a", threes, 3);
  assert_bands (uneven, 3, "b", one, 1);
  assert_bands (uneven, 3, "c", threes, 3);
  assert_bands (uneven, 3, "e", threes, 3);
}
END_TEST

START_TEST (channels_are_divided_into_bands)
{
  static const gint fours[] = { 0, 1, 2, 3 }, one[] = { CLEAVE_NO_BAND };
  g_autoptr (CleaveGraph) graph =
      make (IMAGE, "split{node=a node=b node=c dims=C num-chunks=4},clean-up");

  assert_bands (graph, 4, "a", fours, 4);
  assert_bands (graph, 4, "b", fours, 4);
  assert_bands (graph, 4, "c", fours, 4);
  assert_bands (graph, 4, "e", one, 1);
}
END_TEST

#define ENLARGED                                                                                   \
  "graph g\n%x = Input : float32 1x8x32x32\n%w = Constant seed=1 : float32 8x8x3x3\n"              \
  "%v = Constant seed=2 : float32 8x8x2x2\n%a = Conv %x, %w pads=1,1,1,1\n"                        \
  "%b = Resize %a scales=1,1,2,2 coordinate_transformation_mode=asymmetric nearest_mode=floor\n"   \
  "%c = ConvTranspose %a, %v strides=2,2\n%d = Concat %b, %c axis=1\noutput %d\n"

/* Each row of an upsampled value is on the rank of the row from which it is computed. */
START_TEST (upsampled_rows_stay_in_their_band)
{
  static const gint fours[] = { 0, 0, 1, 1 };
  g_autoptr (CleaveGraph) graph = make (ENLARGED, "split{all dims=2 num-chunks=4},clean-up");

  assert_bands (graph, 2, "b", fours, 4);
  assert_bands (graph, 2, "c", fours, 4);
}
END_TEST

#define LAYERS                                                                                     \
  "graph g\n%x = Input : float32 1x64x56x56\n%w = Constant seed=1 : float32 64x64x3x3\n"           \
  "%a = Conv %x, %w pads=1,1,1,1\n%b = Conv %a, %w pads=1,1,1,1\n"                                 \
  "%c = Conv %b, %w pads=1,1,1,1\n%d = Conv %c, %w pads=1,1,1,1\noutput %d\n"

/* The simulated run on two ranks takes less than 0.62 times as long as on one rank. That is
 * possible only if each rank sends its border row before it continues with the next layer. */
START_TEST (bands_do_not_wait_for_their_neighbors)
{
  const CleaveNetwork network = { 2, 1, 1.25e9, 1e-5 }, alone = { 1, 1, 1.25e9, 1e-5 };
  g_autoptr (CleaveGraph) graph = make (LAYERS, "split{all dims=2 num-chunks=2},clean-up");
  g_autoptr (CleavePlacement) one = cleave_placement_new (graph, &alone, NULL);
  g_autoptr (CleavePlacement) two = cleave_placement_new (graph, &network, NULL);
  gint64 n_bytes = 0;

  for (guint i = 0; i < cleave_placement_get_n_messages (two); i++)
    n_bytes += cleave_placement_get_message (two, i)->n_bytes;
  ck_assert_double_lt (cleave_placement_simulate (two, &network),
                       0.62 * cleave_placement_simulate (one, &alone));
  /* The messages contain 29 rows of the input (half of the rows and one more) and 28 rows of the
   * output (half of the rows). They also contain two rows of each of the three values between input
   * and output. */
  ck_assert_int_eq (n_bytes, 64 * 56 * 4 * (29 + 28 + 3 * 2));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "bands", rows_stay_in_their_band, channels_are_divided_into_bands,
                   upsampled_rows_stay_in_their_band, bands_do_not_wait_for_their_neighbors, NULL);
}

CLEAVE_TEST_SUITE ("bands", add_tests)
