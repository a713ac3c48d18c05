/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-loops.h"

static gboolean
has_turn (const CleaveSplitNode *split, GHashTable *turns)
{
  for (guint p = 0; p < split->n_pieces; p++)
    if (g_hash_table_contains (turns, split->piece_names[p]))
      return TRUE;
  return FALSE;
}

static gboolean
has_node (const CleaveFitSegment *segment, GHashTable *nodes)
{
  for (guint n = 0; n < segment->n_nodes; n++)
    if (g_hash_table_contains (nodes, segment->nodes[n]))
      return TRUE;
  return FALSE;
}

/* Nodes of which a piece is a turn. */
static GHashTable *
find_nodes (const CleaveSplitReport *report, char **turns)
{
  GHashTable *nodes = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (char **name = turns; *name != NULL; name++)
    g_hash_table_add (names, *name);
  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *split = cleave_split_report_get_split (report, i);

      if (has_turn (split, names))
        g_hash_table_add (nodes, (gpointer) split->name);
    }
  return nodes;
}

/* Appends the segments that have no turn. */
static gboolean
list_missing (const CleaveFitPlan *plan, const CleaveGraph *graph, GArray *missing, GError **error)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, copy, error);
  g_autoptr (GHashTable) nodes = NULL;
  g_auto (GStrv) turns = NULL;

  if (report == NULL)
    return FALSE;
  cleave_onnx_set_loops (copy, TRUE);
  turns = cleave_onnx_list_turns (copy, error);
  if (turns == NULL)
    return FALSE;
  nodes = find_nodes (report, turns);
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    if (!has_node (cleave_fit_plan_get_segment (plan, i), nodes))
      g_array_append_val (missing, i);
  return TRUE;
}

/* Strips of rows are no fewer; chunks of an outer dimension may be. */
#define MIN_STRIPS 6

/* Few pieces are few copies: what they need without a Loop is foreseen well. */
static gboolean
has_few_pieces (const CleaveFitPlan *plan, guint segment)
{
  return cleave_fit_plan_get_segment (plan, segment)->n_strips < MIN_STRIPS;
}

/* Of the segments that have no turn, those that are to stay whole come first. */
static guint
sort_missing (const CleaveFitPlan *plan, GArray *missing, gboolean few_stay)
{
  guint n = 0;

  for (guint i = 0; i < missing->len; i++)
    {
      guint segment = g_array_index (missing, guint, i);

      if (few_stay && has_few_pieces (plan, segment))
        continue;
      g_array_index (missing, guint, i) = g_array_index (missing, guint, n);
      g_array_index (missing, guint, n++) = segment;
    }
  return n;
}

/* Without those segments whose strips do not become turns; those of few pieces may stay. */
static CleaveFitPlan *
keep_loops (const CleaveFitPlan *plan, const CleaveGraph *graph, gboolean few_stay, GError **error)
{
  g_autoptr (CleaveFitPlan) kept = cleave_fit_plan_ref ((CleaveFitPlan *) plan);
  g_autoptr (GArray) missing = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n;

  if (!list_missing (kept, graph, missing, error))
    return NULL;
  while ((n = sort_missing (kept, missing, few_stay)) > 0)
    {
      CleaveFitPlan *less = cleave_fit_plan_new_without (
          kept, graph, n, (const guint *) (gpointer) missing->data, error);

      cleave_fit_plan_unref (g_steal_pointer (&kept));
      kept = less;
      g_array_set_size (missing, 0);
      if (kept == NULL || !list_missing (kept, graph, missing, error))
        return NULL;
    }
  return g_steal_pointer (&kept);
}

/* What a Loop adds that is no value: kernels that are else not there, and many small blocks. */
#define LOOP_BYTES (1 << 20)

/* -1: there is no such file. */
static gint64
foresee (const CleaveFitPlan *plan, const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, copy, error);

  if (report == NULL)
    return -1;
  cleave_onnx_set_loops (copy, TRUE);
  return cleave_onnx_foresee_bytes (copy, error);
}

/* A plan, and what it comes to there. */
typedef struct
{
  CleaveFitPlan *plan;
  guint n_loops, n_pieces; /* segments */
  gint64 n_bytes;
} Form;

static void
form_clear (Form *form)
{
  g_clear_pointer (&form->plan, cleave_fit_plan_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Form, form_clear)

/* Takes the plan, which may be none: then there was an error. */
static gboolean
form_init (Form *form, CleaveFitPlan *plan, const CleaveGraph *graph, GError **error)
{
  g_autoptr (GArray) missing = g_array_new (FALSE, FALSE, sizeof (guint));

  form->plan = plan;
  if (plan == NULL || !list_missing (plan, graph, missing, error))
    return FALSE;
  form->n_pieces = missing->len;
  form->n_loops = cleave_fit_plan_get_n_segments (plan) - missing->len;
  form->n_bytes = foresee (plan, graph, error);
  return form->n_bytes >= 0;
}

static void
form_take (Form *form, Form *other)
{
  form_clear (form);
  *form = *other;
  other->plan = NULL;
}

static CleaveFitPlan *
keep_whole (const CleaveFitPlan *plan, const CleaveGraph *graph, GError **error)
{
  guint n = cleave_fit_plan_get_n_segments (plan);
  g_autofree guint *all = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    all[i] = i;
  return cleave_fit_plan_new_without (plan, graph, n, all, error);
}

/* The best plan so far, with Loops alone. */
typedef struct
{
  const CleaveGraph *graph;
  CleaveFitOptions options;
  CleaveFitPlan *best;
  CleaveFitLoops loops; /* of the best */
} Search;

static gint64
get_arena (const CleaveFitPlan *plan)
{
  return plan == NULL ? G_MAXINT64 : cleave_fit_plan_get_totals (plan)->arena_after;
}

/* Of those that need little enough, what is foreseen to need least there; else what needs least. */
static gboolean
is_better (const Search *search, const CleaveFitPlan *plan, gint64 foreseen, gint64 asked)
{
  gint64 arena = get_arena (plan), best = get_arena (search->best);

  if (asked > 0 || search->best == NULL)
    return arena < best;
  return foreseen < search->loops.bytes_after ||
         (foreseen == search->loops.bytes_after && arena < best);
}

/* Pieces without a Loop are copied more than is foreseen: a U-net of 4.7 MB, of which 2.8 are
 * foreseen in pieces, needed a fifth more than whole. */
#define PIECES_PART 0.6
#define PIECES_BYTES (1 << 22)

static gboolean
gains_by_pieces (gint64 bytes, gint64 kept_bytes)
{
  return (double) bytes < PIECES_PART * (double) kept_bytes && bytes + PIECES_BYTES < kept_bytes;
}

static gboolean
has_few (const CleaveFitPlan *plan)
{
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    if (has_few_pieces (plan, i))
      return TRUE;
  return FALSE;
}

/* Of a plan, what is foreseen to need least there: with those segments alone that become Loops,
 * with those of few pieces as well, or with all. */
static gboolean
find_form (Form *best, const CleaveFitPlan *plan, const CleaveGraph *graph, GError **error)
{
  g_auto (Form) all = { 0 }, few = { 0 };

  if (!form_init (&all, cleave_fit_plan_ref ((CleaveFitPlan *) plan), graph, error))
    return FALSE;
  if (all.n_pieces == 0)
    {
      form_take (best, &all);
      return TRUE;
    }
  if (!form_init (best, keep_loops (plan, graph, FALSE, error), graph, error))
    return FALSE;
  if (has_few (plan))
    {
      if (!form_init (&few, keep_loops (plan, graph, TRUE, error), graph, error))
        return FALSE;
      if (few.n_bytes + LOOP_BYTES < best->n_bytes)
        form_take (best, &few);
    }
  if (gains_by_pieces (all.n_bytes, best->n_bytes))
    form_take (best, &all);
  return TRUE;
}

/* The plan in that form, or whole, where that is foreseen to need no more there. */
static CleaveFitPlan *
weigh (const Search *search, const CleaveFitPlan *plan, CleaveFitLoops *loops, GError **error)
{
  const CleaveGraph *graph = search->graph;
  g_auto (Form) best = { 0 }, whole = { 0 };
  guint n = cleave_fit_plan_get_n_segments (plan);

  if (!find_form (&best, plan, graph, error))
    return NULL;
  if (best.n_bytes + LOOP_BYTES >= loops->bytes_before && n > 0)
    {
      if (!form_init (&whole, keep_whole (plan, graph, error), graph, error))
        return NULL;
      form_take (&best, &whole);
    }
  loops->n_loops = best.n_loops;
  loops->n_pieces = best.n_pieces;
  loops->n_whole = n - best.n_loops - best.n_pieces;
  loops->bytes_after = best.n_bytes;
  return g_steal_pointer (&best.plan);
}

/* Plans for so many bytes, and tells what that took before segments were left whole.  Where none is
 * to be had for that, the search says so. */
static gboolean
try_bytes (
    Search *search, gint64 asked, gint64 max_bytes, gint64 *taken, guint *n_whole, GError **error)
{
  g_autoptr (CleaveFitPlan) plan = NULL, kept = NULL;
  CleaveFitLoops loops = { .bytes_before = search->loops.bytes_before };

  search->options.max_memory = max_bytes;
  plan = cleave_fit_plan_new (search->graph, &search->options, error);
  kept = plan == NULL ? NULL : weigh (search, plan, &loops, error);
  if (kept == NULL)
    return FALSE;
  *taken = get_arena (plan);
  *n_whole = loops.n_whole;
  if (!is_better (search, kept, loops.bytes_after, asked))
    return TRUE;
  g_clear_pointer (&search->best, cleave_fit_plan_unref);
  search->best = g_steal_pointer (&kept);
  search->loops = loops;
  return TRUE;
}

/* What needs least may have strips too small for turns: others are tried up from there. */
#define MAX_TRIES 6
#define MORE 1.25

static gboolean
search_up (Search *search, gint64 enough, GError **error)
{
  gint64 taken = 0, max_bytes = 0;
  guint n_whole = 1;

  for (guint i = 0; i < MAX_TRIES && n_whole > 0 && get_arena (search->best) > enough; i++)
    {
      if (!try_bytes (search, enough, max_bytes, &taken, &n_whole, error))
        return FALSE;
      max_bytes = (gint64) (MORE * (double) MAX (taken, max_bytes));
    }
  return TRUE;
}

/* What is refused for that many bytes may be had for no fewer, which is to be told. */
static gboolean
find_best (Search *search, gint64 asked, GError **error)
{
  g_autoptr (GError) refusal = NULL;
  gint64 taken;
  guint n_whole;

  if (asked > 0 && !try_bytes (search, asked, asked, &taken, &n_whole, &refusal) &&
      !g_error_matches (refusal, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT))
    {
      g_propagate_error (error, g_steal_pointer (&refusal));
      return FALSE;
    }
  return get_arena (search->best) <= asked || search_up (search, asked, error);
}

CleaveFitPlan *
cleave_fit_plan_with_loops (const CleaveGraph *graph,
                            const CleaveFitOptions *options,
                            CleaveFitLoops *loops,
                            GError **error)
{
  Search search = { .graph = graph, .options = *options };
  gint64 asked = options->max_memory;
  g_autoptr (CleaveGraph) before = cleave_graph_copy (graph);
  g_autoptr (CleaveFitPlan) best = NULL;
  gboolean good;

  cleave_onnx_set_loops (before, TRUE);
  search.loops.bytes_before = cleave_onnx_foresee_bytes (before, error);
  good = search.loops.bytes_before >= 0 && find_best (&search, asked, error);
  best = search.best;
  *loops = search.loops;
  if (!good)
    return NULL;
  if (asked == 0 || get_arena (best) <= asked)
    return g_steal_pointer (&best);
  g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT,
               "%" G_GINT64_FORMAT " bytes are too few, the smallest number that can be met "
               "is %" G_GINT64_FORMAT "; against less stand %s",
               asked, get_arena (best), cleave_fit_plan_get_peak (best));
  return NULL;
}
