/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the split of one node with the fewest pieces that meets a constraint. Tries combinations of
 * the cuts of all dimensions, from few pieces to many. Among combinations with equally many pieces,
 * tries first the combination whose largest piece is the smallest. Plans one chunk of each kind,
 * since a grid of thousands of chunks has few kinds. If no combination meets the constraint, finds
 * the combination whose largest piece is the smallest of all, and reports the size of this piece.
 *
 * Over 400 lines: this file has the search, and the bounds that keep the search short. */

#include "search-state.h"

#include "constraint.h"

#include <string.h>

/* The search for the fewest pieces plans at most this many combinations. */
#define MAX_TRIES 1000u

/* Number of combinations whose comparison with the limits counts as one unit of work. Planning one
 * chunk takes as long, and is one unit, too. */
#define PER_UNIT 64u

static gboolean
is_over (const CleaveSearch *search)
{
  return search->work->done >= search->work_end;
}

static void
count_combination (CleaveSearch *search)
{
  if (++search->n_looks % PER_UNIT == 0)
    cleave_work_add (search->work, 1);
}

static void
init_bounds (CleaveSearch *search)
{
  const CleaveCuts *cuts = &search->cuts;
  guint rank = cuts->shape.rank;

  for (guint d = 0; d <= rank; d++)
    {
      search->taken[d] = g_new (gint64, cuts->n_values + 1);
      search->least[d] = g_new (gint64, cuts->n_values + 1);
    }
  for (guint v = 0; v < cuts->n_values; v++)
    {
      search->taken[0][v] = cuts->values[v].fixed;
      search->least[rank][v] = 1;
      for (guint d = rank; d-- > 0;)
        search->least[d][v] = search->least[d + 1][v] * cuts->least[d][v];
    }
}

static void
add_found (CleaveSearch *search, gint64 n)
{
  CleaveCombination combination = { .n_bytes = cleave_search_chunk_bytes (
                                        search, search->cuts.shape.rank) };

  if (n < search->fewest)
    g_array_set_size (search->found, 0);
  search->fewest = n;
  memcpy (combination.at, search->at, sizeof combination.at);
  g_array_append_val (search->found, combination);
}

/* Adds to `found` the combinations that may meet the limits, and that have more than `more_than`
 * and at most `fewest` pieces. The caller has chosen the cuts of the dimensions before `d`, which
 * make `n` pieces. Calls itself for dimension d + 1. */
static void
try_dimension (CleaveSearch *search, guint d, gint64 n)
{
  const CleaveCuts *cuts = &search->cuts;

  if (d == cuts->shape.rank)
    {
      if (n > search->more_than)
        add_found (search, n);
      return;
    }
  for (guint i = 0; i < cuts->cuts[d]->len && !is_over (search); i++)
    {
      const CleaveCut *cut = cleave_cuts_get (cuts, d, i);

      if (cut->n > search->fewest / n)
        break;
      count_combination (search);
      if (cut->is_refused || (cut->is_dominated && !search->all))
        continue;
      for (guint v = 0; v < cuts->n_values; v++)
        search->taken[d + 1][v] = search->taken[d][v] * cut->low[v];
      search->at[d] = i;
      if (cleave_search_fits (search, cleave_search_chunk_bytes (search, d + 1)))
        try_dimension (search, d + 1, n * cut->n);
    }
}

/* Compares two combinations: fewer bytes come first. At equal bytes, cuts of outer dimensions come
 * before cuts of inner dimensions. */
static int
compare_combinations (gconstpointer a, gconstpointer b)
{
  const CleaveCombination *c = a, *e = b;

  if (c->n_bytes != e->n_bytes)
    return c->n_bytes < e->n_bytes ? -1 : 1;
  for (guint d = 0; d < CLEAVE_MAX_RANK; d++)
    if (c->at[d] != e->at[d])
      return c->at[d] > e->at[d] ? -1 : 1;
  return 0;
}

/* Fills `search->found` with the combinations (CleaveCombination) that have the smallest number of
 * pieces above `search->more_than`. First searches without the dominated cuts, which is fast and
 * gives an upper bound on this number. Returns FALSE if there are no such combinations, or if the
 * budget is used up. */
static gboolean
find_next (CleaveSearch *search)
{
  gboolean all = search->all;

  g_array_set_size (search->found, 0);
  search->fewest = search->max_n;
  search->all = FALSE;
  try_dimension (search, 0, 1);
  search->all = all;
  if (all)
    {
      g_array_set_size (search->found, 0);
      try_dimension (search, 0, 1);
    }
  g_array_sort (search->found, compare_combinations);
  return search->found->len > 0 && !is_over (search);
}

/* Appends one chunk of each kind to `ranges`, and the number of chunks of the kind to `counts`. */
static void
list_kinds (const CleaveSearch *search,
            const CleaveCombination *combination,
            GArray *ranges,
            GArray *counts)
{
  const CleaveCuts *cuts = &search->cuts;
  CleaveRange whole = cleave_range_whole (&cuts->shape);
  gint64 one = 1;

  g_array_append_val (ranges, whole);
  g_array_append_val (counts, one);
  for (guint d = 0; d < cuts->shape.rank; d++)
    {
      const GArray *kinds = cleave_cuts_get (cuts, d, combination->at[d])->kinds;
      guint n = ranges->len;

      g_array_set_size (ranges, n * kinds->len);
      g_array_set_size (counts, n * kinds->len);
      for (guint i = n * kinds->len; i-- > 0;)
        {
          const CleaveKind *kind = &g_array_index (kinds, CleaveKind, i % kinds->len);
          CleaveRange range = g_array_index (ranges, CleaveRange, i / kinds->len);
          gint64 count = g_array_index (counts, gint64, i / kinds->len);

          range.dim[d] = kind->span;
          g_array_index (ranges, CleaveRange, i) = range;
          g_array_index (counts, gint64, i) = count * kind->n;
        }
    }
}

static gboolean
allows_macs (const CleaveSearch *search, const CleavePlan *plan, const GArray *counts, GString *why)
{
  const CleaveNode *node = search->cuts.node;
  gint64 added = -cleave_node_get_macs (node);

  if (search->constraint->max_added_macs == 0)
    return TRUE;
  for (guint i = 0; i < counts->len; i++)
    added = cleave_saturated_add (added, cleave_saturated_mul (cleave_plan_get_macs (plan, i),
                                                               g_array_index (counts, gint64, i)));
  return cleave_constraint_allows_macs (search->constraint, cleave_graph_get_macs (node->graph),
                                        added, why);
}

/* Plans one chunk of each kind. Returns NULL, with the reason in `why`, if a chunk is not legal or
 * if the halo adds too many MACs. */
static CleavePlan *
plan_kinds (CleaveSearch *search, const CleaveCombination *combination)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (CleavePlan) plan = NULL;
  CleaveCuts *cuts = &search->cuts;

  for (guint d = 0; d < cuts->shape.rank; d++)
    {
      CleaveCut *cut = cleave_cuts_get (cuts, d, combination->at[d]);

      cleave_work_add (search->work, cut->kinds == NULL ? cut->n : 0);
      if (!cleave_cut_find_kinds (cuts, d, cut, search->why))
        return NULL;
    }
  list_kinds (search, combination, ranges, counts);
  cleave_work_add (search->work, ranges->len);
  plan = cleave_plan_new (cuts->node, (const CleaveRange *) ranges->data, ranges->len, search->why);
  return plan != NULL && allows_macs (search, plan, counts, search->why) ? g_steal_pointer (&plan)
                                                                         : NULL;
}

static gboolean
allows_kinds (CleaveSearch *search, const CleaveCombination *combination)
{
  g_autoptr (CleavePlan) plan = plan_kinds (search, combination);
  gint64 n_bytes;

  if (plan == NULL)
    return FALSE;
  n_bytes = cleave_plan_get_most_bytes (plan);
  return cleave_search_fits (search, n_bytes) ||
         cleave_refuse (search->why,
                        "the largest piece would need %" G_GINT64_FORMAT
                        " bytes, the limit is %" G_GINT64_FORMAT,
                        n_bytes, MAX (search->max_bytes, 0));
}

/* Returns whether the predicate and the trial accept the ranges. The predicate and the trial judge
 * all chunks together. */
static gboolean
allows_all (CleaveSearch *search, GArray *ranges)
{
  const CleaveRoot root = { .node = search->cuts.node,
                            .ranges = ranges,
                            .constraint = search->constraint };

  if (search->constraint->predicate != NULL)
    {
      g_autoptr (CleavePlan) plan = cleave_plan_new (
          search->cuts.node, (const CleaveRange *) ranges->data, ranges->len, search->why);

      cleave_work_add (search->work, ranges->len);
      if (plan == NULL || !cleave_constraint_allows (search->constraint, plan, search->why))
        return FALSE;
    }
  return search->trial == NULL || cleave_trial_run (search->trial, &root, 1);
}

static GArray *
try_combination (CleaveSearch *search, const CleaveCombination *combination)
{
  g_autoptr (GArray) ranges = NULL;

  search->n_tries++;
  g_string_truncate (search->why, 0);
  if (!allows_kinds (search, combination))
    return NULL;
  search->has_fitting = TRUE;
  ranges = cleave_cuts_grid (&search->cuts, combination->at);
  return allows_all (search, ranges) ? g_steal_pointer (&ranges) : NULL;
}

static gboolean
may_go_on (const CleaveSearch *search)
{
  return search->n_tries < MAX_TRIES && !is_over (search) &&
         (search->trial == NULL || !cleave_trial_is_done (search->trial));
}

static GArray *
find_fewest (CleaveSearch *search)
{
  if (!cleave_search_fits (search, cleave_search_chunk_bytes (search, 0)))
    return NULL;
  for (; may_go_on (search) && find_next (search); search->more_than = search->fewest)
    for (guint i = 0; i < search->found->len && may_go_on (search); i++)
      {
        GArray *ranges =
            try_combination (search, &g_array_index (search->found, CleaveCombination, i));

        if (ranges != NULL)
          return ranges;
      }
  if (search->n_tries == MAX_TRIES || is_over (search))
    cleave_work_give_up (search->work);
  return NULL;
}

static void
judge_least (CleaveSearch *search)
{
  CleaveCombination combination = { 0 };
  g_autoptr (CleavePlan) plan = NULL;

  memcpy (combination.at, search->at, sizeof combination.at);
  g_string_truncate (search->why, 0);
  plan = plan_kinds (search, &combination);
  if (plan == NULL || cleave_plan_get_most_bytes (plan) >= search->least_bytes)
    return;
  search->least_bytes = cleave_plan_get_most_bytes (plan);
  search->least_one = combination;
}

/* Finds the combination whose largest piece is the smallest (`least_one`). The caller has chosen
 * the cuts of the dimensions before `d`, which make `n` pieces. Visits fine cuts before coarse
 * cuts, and skips combinations whose largest piece cannot be smaller than the largest piece of
 * `least_one`. Does not read `max_bytes`, so that the result is the same for every limit that the
 * user gives. */
static void
find_least (CleaveSearch *search, guint d, gint64 n)
{
  const CleaveCuts *cuts = &search->cuts;

  if (d == cuts->shape.rank)
    {
      judge_least (search);
      return;
    }
  for (guint i = cuts->cuts[d]->len; i-- > 0 && !is_over (search);)
    {
      const CleaveCut *cut = cleave_cuts_get (cuts, d, i);

      count_combination (search);
      search->is_capped |= cut->n > search->max_n / n;
      if (cut->is_refused || cut->is_dominated || cut->n > search->max_n / n)
        continue;
      for (guint v = 0; v < cuts->n_values; v++)
        search->taken[d + 1][v] = search->taken[d][v] * cut->low[v];
      search->at[d] = i;
      if (cleave_search_chunk_bytes (search, d + 1) < search->least_bytes)
        find_least (search, d + 1, n * cut->n);
    }
}

/* Finds the split whose largest piece is the smallest, which the search for the fewest pieces may
 * not have tried. If this split meets the constraint, returns the ranges of the split. If the
 * largest piece exceeds the limit, composes a message with the smallest limit that can be met, and
 * returns NULL. Also returns NULL if no combination is legal. */
static GArray *
cut_for_least_limit (CleaveSearch *search)
{
  gint64 max_bytes = search->max_bytes;

  search->work_end = search->work->budget;
  search->max_bytes = 0;
  find_least (search, 0, 1);
  search->max_bytes = max_bytes;
  if (search->least_bytes == G_MAXINT64)
    return NULL;
  if (cleave_search_fits (search, search->least_bytes))
    return try_combination (search, &search->least_one);
  cleave_search_explain_least (search);
  return NULL;
}

static GArray *
find_ranges (CleaveSearch *search)
{
  GArray *ranges = find_fewest (search);

  if (ranges == NULL && search->max_bytes != 0 && !search->has_fitting)
    ranges = cut_for_least_limit (search);
  if (ranges == NULL)
    cleave_search_explain (search);
  return ranges;
}

/* Searches once, among the listed cuts. Returns the ranges of the split that was found, or NULL. If
 * `exact` is TRUE, checks every chunk of a cut; if not, checks a sample of the chunks. Sets
 * `*is_surprised` to whether a chunk outside the sample was not legal. */
static GArray *
search_once (CleaveSearch *search,
             const CleaveSearchFor *wanted,
             gboolean exact,
             gboolean *is_surprised)
{
  const CleaveCutsToList list = { search->all, search->max_n, exact };
  GArray *ranges;

  search->found = g_array_new (FALSE, FALSE, sizeof (CleaveCombination));
  search->least_bytes = G_MAXINT64;
  cleave_cuts_init (&search->cuts, wanted->node, wanted->space, &list);
  init_bounds (search);
  ranges = find_ranges (search);
  *is_surprised = search->cuts.is_surprised;
  for (guint d = 0; d <= search->cuts.shape.rank; d++)
    {
      g_free (search->taken[d]);
      g_free (search->least[d]);
    }
  g_array_unref (search->found);
  cleave_cuts_clear (&search->cuts);
  return ranges;
}

GArray *
cleave_search_ranges (const CleaveSearchFor *wanted, gint64 *least_bytes, GString *why)
{
  const CleaveConstraint *constraint = wanted->constraint;
  CleaveSearch start = { .constraint = constraint,
                         .trial = wanted->trial,
                         .work = wanted->work,
                         .work_end = wanted->work->budget,
                         .max_bytes = constraint->max_memory,
                         .max_n = cleave_work_max_pieces (wanted->work),
                         .all = constraint->predicate != NULL || wanted->trial != NULL,
                         .why = why };
  CleaveSearch search;
  gboolean is_surprised;
  GArray *ranges;

  /* keep half of the budget for finding the smallest piece, or for further trials on the graph */
  if (constraint->max_memory != 0 || wanted->trial != NULL)
    start.work_end -= start.work_end / 2;
  if (constraint->max_pieces > 0)
    start.max_n = MIN (start.max_n, constraint->max_pieces);
  search = start;
  ranges = search_once (&search, wanted, FALSE, &is_surprised);
  if (is_surprised)
    {
      /* a cut with an illegal chunk may have dominated legal cuts, so search again, and check every
       * chunk */
      g_clear_pointer (&ranges, g_array_unref);
      g_string_truncate (why, 0);
      search = start;
      ranges = search_once (&search, wanted, TRUE, &is_surprised);
    }
  *least_bytes = search.least_bytes == G_MAXINT64 ? 0 : search.least_bytes;
  return ranges;
}
