/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-search.h"

#include "split-constraint.h"
#include "split-cuts.h"

#include <string.h>

/* The smallest split that meets a constraint.  Combinations of the cuts of each dimension are tried
 * from few pieces to many, those of as many pieces by the bytes of the largest.  One that fits by
 * its factors is judged by one chunk of each kind, since a grid of thousands has few kinds. */

#define MAX_TRIES 1000u
#define MAX_PIECES (1 << 20)

/* A cut of each dimension, as an index into its cuts. */
typedef struct
{
  gint64 n_bytes;
  guint at[CLEAVE_MAX_RANK];
} Combination;

typedef struct
{
  CleaveCuts cuts;
  const CleaveConstraint *constraint;
  gboolean all;     /* look at spare cuts, too */
  gint64 more_than; /* so many pieces will not do */
  gint64 fewest;    /* of those that may fit */
  GArray *found;    /* Combination: those of as many pieces */
  guint at[CLEAVE_MAX_RANK];
  gint64 *taken[CLEAVE_MAX_RANK + 1]; /* of each value, by the cuts before a dimension */
  gint64 *least[CLEAVE_MAX_RANK + 1]; /* at least, by those from there on */
  guint n_tries;
} Search;

/* Bounds. */

static gboolean
fits (const Search *search, gint64 n_bytes)
{
  gint64 limit = search->constraint->max_memory;

  return limit == 0 || n_bytes <= limit;
}

/* Bytes of a value in the largest chunk, if what is not yet cut is cut as fine as can be. */
static gint64
value_bytes (const Search *search, guint d, guint v)
{
  return search->taken[d][v] * search->least[d][v];
}

static gint64
chunk_bytes (const Search *search, guint d)
{
  gint64 n = 0;

  for (guint v = 0; v < search->cuts.n_values; v++)
    n += value_bytes (search, d, v);
  return n;
}

static void
init_bounds (Search *search)
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

/* Says that not even the finest cut will do, and which operand takes most of it. */
static void
explain_impossible (const Search *search, GString *why)
{
  guint most = 0;

  for (guint v = 1; v < search->cuts.n_values; v++)
    if (value_bytes (search, 0, v) > value_bytes (search, 0, most))
      most = v;
  g_string_append_printf (why,
                          "the smallest piece needs %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT
                          " of them for %s; the limit is %" G_GINT64_FORMAT,
                          chunk_bytes (search, 0), value_bytes (search, 0, most),
                          search->cuts.values[most].name, MAX (search->constraint->max_memory, 0));
}

/* Combinations. */

static void
add_found (Search *search, gint64 n)
{
  Combination combination = { .n_bytes = chunk_bytes (search, search->cuts.shape.rank) };

  if (n < search->fewest)
    g_array_set_size (search->found, 0);
  search->fewest = n;
  memcpy (combination.at, search->at, sizeof combination.at);
  g_array_append_val (search->found, combination);
}

/* All combinations of the cuts of the dimensions from `d` on, that together with those chosen make
 * no more pieces than the fewest yet, and may fit.  As deep as the rank. */
static void
try_dimension (Search *search, guint d, gint64 n)
{
  const CleaveCuts *cuts = &search->cuts;

  if (d == cuts->shape.rank)
    {
      if (n > search->more_than)
        add_found (search, n);
      return;
    }
  for (guint i = 0; i < cuts->cuts[d]->len; i++)
    {
      const CleaveCut *cut = cleave_cuts_get (cuts, d, i);

      if (cut->n > search->fewest / n)
        break;
      if (cut->is_refused || (cut->is_spare && !search->all))
        continue;
      for (guint v = 0; v < cuts->n_values; v++)
        search->taken[d + 1][v] = search->taken[d][v] * cut->low[v];
      search->at[d] = i;
      if (fits (search, chunk_bytes (search, d + 1)))
        try_dimension (search, d + 1, n * cut->n);
    }
}

/* Few bytes first; of as many, the outermost dimensions are cut rather than the innermost. */
static int
compare_combinations (gconstpointer a, gconstpointer b)
{
  const Combination *c = a, *e = b;

  if (c->n_bytes != e->n_bytes)
    return c->n_bytes < e->n_bytes ? -1 : 1;
  for (guint d = 0; d < CLEAVE_MAX_RANK; d++)
    if (c->at[d] != e->at[d])
      return c->at[d] > e->at[d] ? -1 : 1;
  return 0;
}

/* Finds the combinations of the next number of pieces.  First without the spare cuts: that is soon
 * done, and says how many pieces are enough. */
static gboolean
find_next (Search *search)
{
  guint limit = search->constraint->max_pieces;
  gboolean all = search->all;

  g_array_set_size (search->found, 0);
  search->fewest = limit > 0 ? MIN (limit, MAX_PIECES) : MAX_PIECES;
  search->all = FALSE;
  try_dimension (search, 0, 1);
  search->all = all;
  if (all)
    {
      g_array_set_size (search->found, 0);
      try_dimension (search, 0, 1);
    }
  g_array_sort (search->found, compare_combinations);
  return search->found->len > 0;
}

/* Judging. */

/* One chunk of each kind, and how many there are of it; of cuts without kinds, all chunks. */
static void
list_kinds (const Search *search, const Combination *combination, GArray *ranges, GArray *counts)
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

static gint64
graph_macs (const CleaveGraph *graph)
{
  gint64 macs = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    macs += cleave_node_get_macs (node);
  return macs;
}

static gboolean
allows_macs (const Search *search, const CleavePlan *plan, const GArray *counts, GString *why)
{
  const CleaveNode *node = search->cuts.node;
  gint64 added = -cleave_node_get_macs (node);

  if (search->constraint->max_added_macs == 0)
    return TRUE;
  for (guint i = 0; i < counts->len; i++)
    added += cleave_plan_get_macs (plan, i) * g_array_index (counts, gint64, i);
  return cleave_constraint_allows_macs (search->constraint, graph_macs (node->graph), added, why);
}

static gboolean
allows_kinds (Search *search, const Combination *combination, GString *why)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (CleavePlan) plan = NULL;
  CleaveCuts *cuts = &search->cuts;

  for (guint d = 0; d < cuts->shape.rank; d++)
    if (!cleave_cut_find_kinds (cuts, d, cleave_cuts_get (cuts, d, combination->at[d]), why))
      return FALSE;
  list_kinds (search, combination, ranges, counts);
  plan = cleave_plan_new (cuts->node, (const CleaveRange *) ranges->data, ranges->len, why);
  if (plan == NULL)
    return FALSE;
  if (!fits (search, cleave_plan_get_most_bytes (plan)))
    return cleave_refuse (
        why,
        "the largest piece would need %" G_GINT64_FORMAT " bytes, the limit is %" G_GINT64_FORMAT,
        cleave_plan_get_most_bytes (plan), MAX (search->constraint->max_memory, 0));
  return allows_macs (search, plan, counts, why);
}

/* The grid of a combination, the first dimension outermost. */
static GArray *
grid_ranges (const Search *search, const Combination *combination)
{
  const CleaveCuts *cuts = &search->cuts;
  guint n = (guint) search->fewest, inner = n;
  GArray *ranges = g_array_sized_new (FALSE, FALSE, sizeof (CleaveRange), n);

  g_array_set_size (ranges, n);
  for (guint i = 0; i < n; i++)
    g_array_index (ranges, CleaveRange, i).rank = cuts->shape.rank;
  for (guint d = 0; d < cuts->shape.rank; d++)
    {
      const CleaveCut *cut = cleave_cuts_get (cuts, d, combination->at[d]);

      inner /= (guint) cut->n;
      for (guint i = 0; i < n; i++)
        g_array_index (ranges, CleaveRange, i).dim[d] =
            cleave_cut_span (cut, cuts->shape.dim[d], i / inner % cut->n);
    }
  return ranges;
}

/* A predicate is asked about all the chunks. */
static gboolean
allows_plan (const Search *search, const GArray *ranges, GString *why)
{
  g_autoptr (CleavePlan) plan = NULL;

  if (search->constraint->predicate == NULL)
    return TRUE;
  plan = cleave_plan_new (search->cuts.node, (const CleaveRange *) ranges->data, ranges->len, why);
  return plan != NULL && cleave_constraint_allows (search->constraint, plan, why);
}

static GArray *
try_combination (Search *search, const Combination *combination, GString *why)
{
  g_autoptr (GArray) ranges = NULL;

  search->n_tries++;
  g_string_truncate (why, 0);
  if (!allows_kinds (search, combination, why))
    return NULL;
  ranges = grid_ranges (search, combination);
  return allows_plan (search, ranges, why) ? g_steal_pointer (&ranges) : NULL;
}

/* Bytes of a value, whole. */
static gint64
whole_bytes (const Search *search, guint v)
{
  gint64 n = search->taken[0][v];

  for (guint d = 0; d < search->cuts.shape.rank; d++)
    n *= cleave_cuts_get (&search->cuts, d, 0)->low[v];
  return n;
}

/* Says that nothing was worth a try, and which operand is too large for so few pieces. */
static GString *
explain_too_few (const Search *search)
{
  GString *why = g_string_new ("no number of pieces that is allowed will do");
  gint64 sum = 0;
  guint most = 0;

  if (search->constraint->max_memory == 0 || search->cuts.n_values == 0)
    return why;
  for (guint v = 0; v < search->cuts.n_values; v++)
    {
      sum += whole_bytes (search, v);
      if (whole_bytes (search, v) > whole_bytes (search, most))
        most = v;
    }
  g_string_append_printf (why,
                          "; whole, it needs %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT
                          " of them for %s; the limit is %" G_GINT64_FORMAT,
                          sum, whole_bytes (search, most), search->cuts.values[most].name,
                          MAX (search->constraint->max_memory, 0));
  return why;
}

static GArray *
find_ranges (Search *search, GString *why)
{
  g_autoptr (GString) last = explain_too_few (search);

  if (search->cuts.n_values > 0 && !fits (search, chunk_bytes (search, 0)))
    {
      explain_impossible (search, why);
      return NULL;
    }
  for (; search->n_tries < MAX_TRIES && find_next (search); search->more_than = search->fewest)
    for (guint i = 0; i < search->found->len && search->n_tries < MAX_TRIES; i++)
      {
        GArray *ranges =
            try_combination (search, &g_array_index (search->found, Combination, i), last);

        if (ranges != NULL)
          return ranges;
      }
  g_string_append (why, last->str);
  if (search->n_tries == MAX_TRIES)
    g_string_append_printf (why, "; no more than %u splits are tried", MAX_TRIES);
  return NULL;
}

GArray *
cleave_search_ranges (CleaveNode *node,
                      const CleaveSpace *space,
                      const CleaveConstraint *constraint,
                      GString *why)
{
  Search search = { .constraint = constraint, .all = constraint->predicate != NULL };
  GArray *ranges;

  search.found = g_array_new (FALSE, FALSE, sizeof (Combination));
  cleave_cuts_init (&search.cuts, node, space, search.all);
  init_bounds (&search);
  ranges = find_ranges (&search, why);
  for (guint d = 0; d <= search.cuts.shape.rank; d++)
    {
      g_free (search.taken[d]);
      g_free (search.least[d]);
    }
  g_array_unref (search.found);
  cleave_cuts_clear (&search.cuts);
  return ranges;
}
