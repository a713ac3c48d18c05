/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests that the search finds the cheapest path over segment candidates, by comparison with all
 * paths. */

#include "../../../passes/fit/path.h"

#include <math.h>

#include "test.h"

#define N_STEPS 6

typedef struct
{
  gint64 live[N_STEPS];
  guint first[N_STEPS + 2];
  CleaveFitSteps steps;
  CleaveFitCandidates candidates;
} Problem;

static void
problem_clear (Problem *problem)
{
  g_clear_pointer (&problem->candidates.candidates, g_array_unref);
  g_clear_pointer (&problem->candidates.least_bytes, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Problem, problem_clear)

static void
make_problem (Problem *problem, GRand *rand)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));

  *problem = (Problem){ 0 };
  for (guint s = 0; s < N_STEPS; s++)
    problem->live[s] = g_rand_int_range (rand, 10, 30);
  for (guint end = 1; end <= N_STEPS; end++)
    {
      problem->first[end] = candidates->len;
      for (guint i = 0; i < 3; i++)
        {
          CleaveFitCandidate candidate = { .begin = (guint) g_rand_int_range (rand, 0, (gint) end),
                                           .end = end,
                                           .n_strips = 2 + i,
                                           .n_columns = i == 2 ? 2 : 1,
                                           .n_bytes = g_rand_int_range (rand, 8, 30),
                                           .macs = g_rand_int_range (rand, 0, 3),
                                           .work = g_rand_int_range (rand, 1, 50) };

          if (g_rand_boolean (rand))
            candidate.overlay = (CleaveFitOverlay){ .operand = g_rand_int_range (rand, 3, 8),
                                                    .result = g_rand_int_range (rand, 3, 8),
                                                    .shift = g_rand_int_range (rand, 0, 4),
                                                    .last = (guint) g_rand_int_range (
                                                        rand, (gint) end, N_STEPS + 1) };
          g_array_append_val (candidates, candidate);
        }
    }
  problem->first[N_STEPS + 1] = candidates->len;
  problem->steps = (CleaveFitSteps){ .n_steps = N_STEPS, .live = problem->live };
  problem->candidates = (CleaveFitCandidates){ .steps = &problem->steps,
                                               .candidates = candidates,
                                               .first = problem->first,
                                               .least_bytes = g_new (gint64, candidates->len) };
  for (guint i = 0; i < candidates->len; i++)
    problem->candidates.least_bytes[i] =
        cleave_fit_candidate_get_least (&g_array_index (candidates, CleaveFitCandidate, i));
}

/* The state at the last step of a path. `drift`: the sum of the shifts of overlays on each other.
 * `until`: the last step that reads the result of the last overlay. */
typedef struct
{
  gint64 drift;
  guint until;
} End;

/* Returns the least cost of a path that continues at step `begin`, by trying all paths. */
static double
try_all (
    const Problem *problem, const CleaveFitPathQuery *query, guint begin, End before, double cost)
{
  double best = INFINITY;
  const gint64 drift = before.until >= begin ? before.drift : 0;

  if (begin == N_STEPS)
    return cost;
  if (problem->live[begin] + drift <= query->max_bytes)
    best = try_all (problem, query, begin + 1, (End){ drift, before.until }, cost);
  for (guint i = 0; i < problem->candidates.candidates->len; i++)
    {
      const CleaveFitCandidate *segment = cleave_fit_candidate (&problem->candidates, i);
      const CleaveFitOverlay *overlay = &segment->overlay;
      const double next = cost + segment->work + query->mac_price * segment->macs;
      const gint64 lapped = segment->n_bytes - overlay->operand - overlay->result +
                            MAX (overlay->result, overlay->shift + overlay->operand);

      if (segment->begin != begin)
        continue;
      if (segment->n_bytes + drift <= query->max_bytes)
        best =
            MIN (best, try_all (problem, query, segment->end, (End){ drift, before.until }, next));
      if (overlay->result > 0 &&
          (double) overlay->shift <=
              query->max_ahead * (double) MIN (overlay->operand, overlay->result) &&
          lapped + drift <= query->max_bytes)
        best = MIN (best, try_all (problem, query, segment->end,
                                   (End){ drift + overlay->shift, overlay->last }, next));
    }
  return best;
}

static double
count_cost (const CleaveFitPath *path, double mac_price)
{
  return path == NULL ? INFINITY : path->work + mac_price * path->macs;
}

/* No path is cheaper than the path that the search finds. */
START_TEST (no_path_is_cheaper)
{
  static const CleaveFitPathQuery asks[] = { { .max_ahead = -1 },
                                             { .max_ahead = -1, .mac_price = 30 },
                                             { .max_ahead = 0.25 },
                                             { .max_ahead = 1, .mac_price = 1e6 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint n_found = 0, n_none = 0;

  for (guint trial = 0; trial < 400; trial++)
    {
      g_auto (Problem) problem = { 0 };
      CleaveFitPathQuery query = asks[trial % G_N_ELEMENTS (asks)];
      g_autoptr (CleaveFitPath) path = NULL;
      double best;

      make_problem (&problem, rand);
      query.max_bytes = g_rand_int_range (rand, 12, 30);
      path = cleave_fit_path_find (&problem.candidates, &query);
      best = try_all (&problem, &query, 0, (End){ 0 }, 0);
      if (path == NULL)
        {
          ck_assert (isinf (best));
          n_none++;
          continue;
        }
      ck_assert_double_eq_tol (count_cost (path, query.mac_price), best, 1e-6);
      ck_assert_int_le (path->n_bytes, query.max_bytes);
      n_found++;
    }
  ck_assert_uint_gt (n_found, 100);
  ck_assert_uint_gt (n_none, 20);
}
END_TEST

START_TEST (no_path_needs_less_than_the_bound)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  for (guint trial = 0; trial < 300; trial++)
    for (guint i = 0; i < 2; i++)
      {
        g_auto (Problem) problem = { 0 };
        CleaveFitPathQuery query = { .mac_price = 1, .max_ahead = i == 0 ? -1 : 1 };
        g_autoptr (CleaveFitPath) at = NULL, below = NULL;

        make_problem (&problem, rand);
        query.max_bytes = cleave_fit_path_bound (&problem.candidates, i == 1);
        at = cleave_fit_path_find (&problem.candidates, &query);
        query.max_bytes--;
        below = cleave_fit_path_find (&problem.candidates, &query);
        ck_assert_ptr_null (below);
        if (i == 0) /* without overlays, the bound is exact: the path that was found needs as many
                       bytes */
          ck_assert_int_eq (at->n_bytes, query.max_bytes + 1);
      }
}
END_TEST

START_TEST (paths_are_equal_if_their_segments_are)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_auto (Problem) problem = { 0 };
  const CleaveFitPathQuery few = { .max_bytes = 18, .max_ahead = 1 };
  const CleaveFitPathQuery many = { .max_bytes = 40, .max_ahead = 1 };
  g_autoptr (CleaveFitPath) a = NULL, b = NULL, c = NULL;

  do
    {
      problem_clear (&problem);
      make_problem (&problem, rand);
      g_clear_pointer (&a, cleave_fit_path_free);
      a = cleave_fit_path_find (&problem.candidates, &few);
    }
  while (a == NULL || a->segments->len == 0);
  b = cleave_fit_path_find (&problem.candidates, &few);
  c = cleave_fit_path_find (&problem.candidates, &many);
  ck_assert (cleave_fit_path_equal (a, b));
  ck_assert_uint_eq (c->segments->len, 0);
  ck_assert (!cleave_fit_path_equal (a, c));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "path", no_path_is_cheaper, no_path_needs_less_than_the_bound,
                   paths_are_equal_if_their_segments_are, NULL);
}

CLEAVE_TEST_SUITE ("fit-path", add_tests)
