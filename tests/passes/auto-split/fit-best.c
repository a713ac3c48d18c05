/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "../../../passes/auto-split/fit-best.h"

#include "test.h"

#define N_EDGES 400
#define N_BEGINS 5

/* Of no two the numbers are equal, but for those of edges that lie over nothing. */
static GArray *
make_edges (GRand *rand, gboolean has_laps)
{
  GArray *edges = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));

  for (guint i = 0; i < N_EDGES; i++)
    {
      const gint64 n_bytes = N_EDGES * (gint64) g_rand_int_range (rand, 1, 1000) + i;
      CleaveFitEdge edge = { .begin = (guint) g_rand_int_range (rand, 0, N_BEGINS),
                             .end = N_BEGINS,
                             .halo = g_rand_int_range (rand, 0, 4) == 0 ? CLEAVE_HALO_CARRY_NARROW
                                                                        : CLEAVE_HALO_CARRY,
                             .apart = n_bytes,
                             .lapped = n_bytes,
                             .bold = n_bytes,
                             .is_thin = g_rand_boolean (rand),
                             .macs = g_rand_double (rand),
                             .again = g_rand_double (rand),
                             .work = g_rand_double (rand) };

      if (has_laps && g_rand_boolean (rand))
        {
          edge.lapped -= N_EDGES * (gint64) g_rand_int_range (rand, 0, 500);
          edge.bold = edge.lapped - N_EDGES * (gint64) g_rand_int_range (rand, 0, 500);
        }
      g_array_append_val (edges, edge);
    }
  return edges;
}

/* The next by bytes, of one begin; NULL: there is none. */
static const CleaveFitEdge *
find_next (const GArray *edges, guint begin, CleaveFitLaps laps, gint64 after)
{
  const CleaveFitEdge *next = NULL;

  for (guint i = 0; i < edges->len; i++)
    {
      const CleaveFitEdge *edge = &g_array_index (edges, CleaveFitEdge, i);
      const gint64 n_bytes = cleave_fit_get_foreseen (edge, laps);

      if (edge->begin == begin && n_bytes > after &&
          (next == NULL || n_bytes < cleave_fit_get_foreseen (next, laps)))
        next = edge;
    }
  return next;
}

/* Whether it is told to be one of the best. */
static gboolean
is_told (const GArray *best, const CleaveFitEdge *edge, CleaveFitLaps laps)
{
  for (guint i = 0; i < best->len; i++)
    {
      const CleaveFitEdge *other = &g_array_index (best, CleaveFitEdge, i);

      if (other->apart == edge->apart)
        return (other->best_of & 1U << laps) != 0;
    }
  return FALSE;
}

/* Each that costs less, in some way, than the last of those that need less. */
static void
check_best (const GArray *edges, const GArray *best, guint begin, CleaveFitLaps laps)
{
  const CleaveFitEdge *last = NULL, *edge = NULL;

  while ((edge = find_next (edges, begin, laps,
                            edge == NULL ? G_MININT64 : cleave_fit_get_foreseen (edge, laps))))
    {
      const gboolean is_allowed = laps >= CLEAVE_FIT_NARROW || edge->halo == CLEAVE_HALO_CARRY;
      const gboolean is_best =
          is_allowed && (last == NULL || edge->work < last->work || edge->macs < last->macs ||
                         edge->work + edge->again < last->work + last->again ||
                         (last->is_thin && !edge->is_thin));

      ck_assert_int_eq (is_told (best, edge, laps), is_best);
      if (is_best)
        last = edge;
    }
  ck_assert_ptr_nonnull (last);
}

START_TEST (best_edges_are_told_for_all_laps)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (guint i = 0; i < 20; i++)
    {
      const gboolean is_fine = i % 4 == 3;
      g_autoptr (GArray) edges = make_edges (rand, i % 2 == 0);
      g_autoptr (GArray) found = g_array_copy (edges);
      g_autoptr (GArray) best = cleave_fit_list_best (found, N_BEGINS, is_fine);

      ck_assert_uint_lt (best->len, edges->len);
      for (guint begin = 0; begin < N_BEGINS; begin++)
        for (CleaveFitLaps laps = 0; laps <= CLEAVE_FIT_FINE; laps++)
          if ((laps == CLEAVE_FIT_FINE) == is_fine)
            check_best (edges, best, begin, laps);
      for (guint e = 1; e < best->len; e++)
        {
          const CleaveFitEdge *x = &g_array_index (best, CleaveFitEdge, e - 1), *y = x + 1;

          ck_assert (x->begin < y->begin || (x->begin == y->begin && x->apart < y->apart));
        }
    }
}
END_TEST

START_TEST (of_no_edges_none_is_best)
{
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));
  g_autoptr (GArray) best = cleave_fit_list_best (none, 3, FALSE);

  ck_assert_uint_eq (best->len, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "best", best_edges_are_told_for_all_laps, of_no_edges_none_is_best, NULL);
}

CLEAVE_TEST_SUITE ("fit-best", add_tests)
