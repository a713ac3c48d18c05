/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The layout of a drawing in layers: edges go down, and vertices do not overlap. */

#include "../../lib/dot/layers.h"

#include "test.h"

#include <math.h>
#include <string.h>

static const double gap[2] = { 10, 20 };

static int
compare_places (gconstpointer a, gconstpointer b, gpointer data)
{
  const double *centers = data, *p = centers + 2 * *(const guint *) a,
               *q = centers + 2 * *(const guint *) b;

  return p[1] != q[1] ? (p[1] < q[1] ? -1 : 1) : p[0] < q[0] ? -1 : p[0] > q[0];
}

/* Asserts that neighbors in a layer are at least the gap apart, and that all vertices are inside of
 * the rectangle. */
static void
assert_gaps (const double *sizes, guint n, const double *centers, const double *extent)
{
  g_autofree guint *order = g_new (guint, n);

  for (guint i = 0; i < n; i++)
    {
      order[i] = i;
      for (guint j = 0; j < 2; j++)
        {
          ck_assert (centers[2 * i + j] - sizes[2 * i + j] / 2 > -1e-6);
          ck_assert (centers[2 * i + j] + sizes[2 * i + j] / 2 < extent[j] + 1e-6);
        }
    }
  g_qsort_with_data (order, (int) n, sizeof (guint), compare_places, (gpointer) centers);
  for (guint i = 1; i < n; i++)
    {
      guint a = order[i - 1], b = order[i];
      double y = centers[2 * b + 1] - centers[2 * a + 1];

      if (y == 0)
        ck_assert (centers[2 * b] - centers[2 * a] >
                   (sizes[2 * a] + sizes[2 * b]) / 2 + gap[0] - 1e-6);
      else
        ck_assert (y > (sizes[2 * a + 1] + sizes[2 * b + 1]) / 2 + gap[1] - 1e-6);
    }
}

START_TEST (edges_go_down_and_boxes_do_not_overlap)
{
  enum { N = 1500, EDGES = 4000 };
  static double sizes[2 * N], centers[2 * N];
  static guint edges[2 * EDGES];
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  double extent[2];

  for (guint i = 0; i < 2 * N; i++)
    sizes[i] = g_rand_int_range (rand, 5, 100);
  for (guint i = 0; i < EDGES; i++)
    {
      edges[2 * i] = (guint) g_rand_int_range (rand, 0, N - 1);
      edges[2 * i + 1] = (guint) g_rand_int_range (rand, (gint32) edges[2 * i] + 1,
                                                   MIN ((gint32) edges[2 * i] + 60, N));
    }
  cleave_layers_place (sizes, N, edges, EDGES, gap, centers, extent);
  assert_gaps (sizes, N, centers, extent);
  for (guint i = 0; i < EDGES; i++)
    ck_assert (centers[2 * edges[2 * i] + 1] < centers[2 * edges[2 * i + 1] + 1]);
}
END_TEST

START_TEST (a_chain_is_a_column)
{
  const double sizes[] = { 40, 20, 60, 20, 20, 20 };
  const guint edges[] = { 0, 1, 1, 2 };
  double centers[6], extent[2];

  cleave_layers_place (sizes, 3, edges, 2, gap, centers, extent);
  for (guint i = 0; i < 3; i++)
    {
      ck_assert (fabs (centers[2 * i] - 30) < 1e-6);
      ck_assert (fabs (centers[2 * i + 1] - (10 + 40.0 * i)) < 1e-6);
    }
  ck_assert (fabs (extent[0] - 60) < 1e-6 && fabs (extent[1] - 100) < 1e-6);
}
END_TEST

/* The layout moves vertices without predecessors down. Without this move, a vertex without
 * predecessors would be in the first layer, far above its reader. */
START_TEST (a_vertex_without_predecessors_is_just_above_its_reader)
{
  const double sizes[] = { 9, 9, 9, 9, 9, 9, 9, 9 };
  const guint edges[] = { 0, 1, 1, 2, 3, 2 };
  double centers[8], extent[2];

  cleave_layers_place (sizes, 4, edges, 3, gap, centers, extent);
  ck_assert (centers[7] == centers[3]);
}
END_TEST

START_TEST (cycles_have_a_layout_too)
{
  const double sizes[] = { 9, 9, 9, 9, 9, 9 };
  const guint edges[] = { 0, 1, 1, 2, 2, 0, 1, 1 };
  double centers[6], extent[2];

  cleave_layers_place (sizes, 3, edges, 4, gap, centers, extent);
  assert_gaps (sizes, 3, centers, extent);
  ck_assert (centers[1] < centers[3] && centers[3] < centers[5]);
  cleave_layers_place (sizes, 0, NULL, 0, gap, centers, extent);
  ck_assert (extent[0] == 0 && extent[1] == 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *test = tcase_create ("random");

  tcase_add_loop_test (test, edges_go_down_and_boxes_do_not_overlap, 0, 5);
  suite_add_tcase (suite, test);
  cleave_add_case (suite, "small", a_chain_is_a_column,
                   a_vertex_without_predecessors_is_just_above_its_reader, cycles_have_a_layout_too,
                   NULL);
}

CLEAVE_TEST_SUITE ("layers", add_tests)
