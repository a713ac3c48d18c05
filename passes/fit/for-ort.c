/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds plans for ONNX Runtime. In ONNX Runtime, strips save memory only if they become iterations
 * of a Loop. Therefore, the search may leave out some segments of a plan, and the nodes of these
 * segments stay whole. A form of a plan is the plan with all or some of its segments. */

#include "candidates.h"
#include "order.h"
#include "plan.h"

#include <cleave/cleave-onnx.h>
#include <gio/gio.h>

static gboolean
has_iteration (const CleaveSplitNode *split, GHashTable *iterations)
{
  for (guint p = 0; p < split->n_pieces; p++)
    if (g_hash_table_contains (iterations, split->piece_names[p]))
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

/* Returns the set of names of split nodes with a piece in a Loop. `iterations` has the names of all
 * nodes in Loops, and ends with NULL. */
static GHashTable *
find_nodes (const CleaveSplitReport *report, char **iterations)
{
  GHashTable *nodes = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (char **name = iterations; *name != NULL; name++)
    g_hash_table_add (names, *name);
  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *split = cleave_split_report_get_split (report, i);

      if (has_iteration (split, names))
        g_hash_table_add (nodes, (gpointer) split->name);
    }
  return nodes;
}

/* Returns whether a segment has fewer strips than a Loop needs. Only a segment whose pieces read
 * different weights may have fewer strips. ONNX Runtime seldom copies values if there are few
 * pieces. Therefore, the estimate of the memory without a Loop is accurate for few pieces. */
static gboolean
has_few_pieces (const CleaveFitPlan *plan, guint segment)
{
  return cleave_fit_plan_get_segment (plan, segment)->n_strips < CLEAVE_FIT_MIN_EVEN_STRIPS;
}

/* Bytes that ONNX Runtime may need for a Loop in addition to values: kernels that only the Loop
 * loads, and many small allocations. */
#define LOOP_BYTES (1 << 20)

/* A form of a plan: the plan with all or some of its segments. */
typedef struct
{
  CleaveFitPlan *plan;
  GArray *missing; /* guint: indices of the segments that do not become Loops */
  gint64 n_bytes;  /* estimated memory of ONNX Runtime, in bytes */
} Form;

static void
form_clear (Form *form)
{
  g_clear_pointer (&form->plan, cleave_fit_plan_unref);
  g_clear_pointer (&form->missing, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Form, form_clear)

/* Sets `missing` to the indices of the segments that do not become Loops. `split` is the split
 * graph, and `report` describes its pieces. Returns FALSE and sets the error if the graph cannot be
 * written as an ONNX file. */
static gboolean
list_missing (Form *form, const CleaveGraph *split, const CleaveSplitReport *report, GError **error)
{
  g_auto (GStrv) iterations = cleave_onnx_list_iterations (split, error);
  g_autoptr (GHashTable) nodes = NULL;

  if (iterations == NULL)
    return FALSE;
  nodes = find_nodes (report, iterations);
  form->missing = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (form->plan); i++)
    if (!has_node (cleave_fit_plan_get_segment (form->plan, i), nodes))
      g_array_append_val (form->missing, i);
  return TRUE;
}

/* Splits a copy of the graph as the plan says, and estimates the memory of ONNX Runtime. Takes
 * ownership of the plan. Returns FALSE if the plan is NULL, with the error set already, or if the
 * split graph cannot be written as an ONNX file. */
static gboolean
form_init (Form *form, CleaveFitPlan *plan, const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveGraph) copy = plan == NULL ? NULL : cleave_graph_copy (graph);
  g_autoptr (CleaveSplitReport) report =
      plan == NULL ? NULL : cleave_fit_plan_apply (plan, copy, error);

  form_clear (form);
  *form = (Form){ .plan = plan };
  if (report == NULL)
    return FALSE;
  cleave_onnx_set_loops (copy, TRUE);
  if (!list_missing (form, copy, report, error))
    return FALSE;
  form->n_bytes = cleave_onnx_estimate_bytes (copy, error);
  return form->n_bytes >= 0;
}

static void
form_take (Form *form, Form *other)
{
  form_clear (form);
  *form = *other;
  *other = (Form){ 0 };
}

/* Chooses the segments that the plan leaves out. Moves these segments to the front of `missing`,
 * and returns their number. If `few_stay` is FALSE, chooses all segments in `missing`. If
 * `few_stay` is TRUE, chooses only the segments of many pieces (see has_few_pieces()). */
static guint
sort_missing (const Form *form, gboolean few_stay)
{
  GArray *missing = form->missing;
  guint n = 0;

  for (guint i = 0; i < missing->len; i++)
    {
      guint segment = g_array_index (missing, guint, i);

      if (few_stay && has_few_pieces (form->plan, segment))
        continue;
      g_array_index (missing, guint, i) = g_array_index (missing, guint, n);
      g_array_index (missing, guint, n++) = segment;
    }
  return n;
}

/* Sets `kept` to the plan without the segments that do not become Loops. If `few_stay` is TRUE, the
 * plan keeps segments of few pieces (has_few_pieces()), even if they do not become Loops. After the
 * removal of a segment, another segment may no longer become a Loop. Therefore, repeats the removal
 * until all remaining segments may stay. Returns FALSE and sets the error on failure. */
static gboolean
keep_loops (
    Form *kept, const Form *all, const CleaveGraph *graph, gboolean few_stay, GError **error)
{
  const Form *form = all;
  guint n;

  while ((n = sort_missing (form, few_stay)) > 0)
    {
      if (!form_init (kept,
                      cleave_fit_plan_new_without (form->plan, graph, n,
                                                   (const guint *) (gpointer) form->missing->data,
                                                   error),
                      graph, error))
        return FALSE;
      form = kept;
    }
  if (form == all)
    *kept = (Form){ cleave_fit_plan_ref (all->plan), g_array_ref (all->missing), all->n_bytes };
  return TRUE;
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

/* The search for the best plan. Before the search compares a plan, weigh() chooses the segments of
 * the plan that stay whole. */
typedef struct
{
  const CleaveGraph *graph;
  CleaveFitOptions options;
  CleaveFitPlan *best;
  CleaveFitLoops loops; /* numbers of Loops, and bytes in ONNX Runtime, of the best plan */
} Search;

static gint64
get_arena (const CleaveFitPlan *plan)
{
  return plan == NULL ? G_MAXINT64 : cleave_fit_plan_get_totals (plan)->arena_after;
}

/* Returns whether a plan is better than the best plan so far. The search offers plans in the order
 * of falling arenas and rising cost. With a limit (`asked` > 0), the first plan whose arena is
 * within the limit is the best. If no arena is within the limit, the plan with the smallest arena
 * is the best. Without a limit, the plan with the smallest estimate (`estimated`) is the best.
 * Among plans with equal estimates, the plan with the smallest arena is the best. */
static gboolean
is_better (const Search *search, const CleaveFitPlan *plan, gint64 estimated, gint64 asked)
{
  const gint64 arena = get_arena (plan);
  const gint64 best = search->best == NULL ? 0 : get_arena (search->best);

  if (search->best == NULL)
    return TRUE;
  if (asked > 0)
    return best > asked && arena < best;
  return estimated < search->loops.bytes_after ||
         (estimated == search->loops.bytes_after && arena < best);
}

/* A segment is split into pieces without a Loop only if that saves much of the estimated memory.
 * The estimate must be less than PIECES_PART of the estimate with Loops alone, and smaller by more
 * than PIECES_BYTES. ONNX Runtime copies pieces more often than is estimated. For example, a U-Net
 * of 4.7 MB, estimated at 2.8 MB in pieces, needed a fifth more memory than unsplit. */
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

/* Sets `best` to the form of a plan that Cleave writes to a file: the plan with all or some of its
 * segments. Returns FALSE and sets the error on failure. If all segments become Loops, the form has
 * all segments. If not, the function chooses one of three forms:
 *
 * - If gains_by_pieces() returns TRUE, the form has all segments.
 * - If not, and if splitting also the segments of few pieces saves more than LOOP_BYTES bytes, the
 *   form has these segments and the segments that become Loops.
 * - In all other cases, the form has only the segments that become Loops. */
static gboolean
find_form (Form *best, const CleaveFitPlan *plan, const CleaveGraph *graph, GError **error)
{
  g_auto (Form) all = { 0 }, few = { 0 };

  if (!form_init (&all, cleave_fit_plan_ref ((CleaveFitPlan *) plan), graph, error))
    return FALSE;
  if (all.missing->len == 0)
    {
      form_take (best, &all);
      return TRUE;
    }
  if (!keep_loops (best, &all, graph, FALSE, error))
    return FALSE;
  if (has_few (plan))
    {
      if (!keep_loops (&few, &all, graph, TRUE, error))
        return FALSE;
      if (few.n_bytes + LOOP_BYTES < best->n_bytes)
        form_take (best, &few);
    }
  if (gains_by_pieces (all.n_bytes, best->n_bytes))
    form_take (best, &all);
  return TRUE;
}

/* Returns the form of `plan` that find_form() chooses: `plan` with all or some of its segments. If
 * this form is estimated to save at most LOOP_BYTES, returns a plan that splits no segment. Sets
 * the numbers of Loops and the estimated bytes in `loops`. Returns NULL and sets the error on
 * failure. */
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
  loops->n_pieces = best.missing->len;
  loops->n_loops = cleave_fit_plan_get_n_segments (best.plan) - loops->n_pieces;
  loops->n_whole = n - loops->n_loops - loops->n_pieces;
  loops->bytes_after = best.n_bytes;
  return g_steal_pointer (&best.plan);
}

/* Replaces the best plan of the search if the form that weigh() returns for `plan` is better.
 * Returns FALSE and sets the error if the search was cancelled or weigh() fails. */
static gboolean
offer (Search *search, const CleaveFitPlan *plan, gint64 asked, GError **error)
{
  CleaveFitLoops loops = { .bytes_before = search->loops.bytes_before };
  g_autoptr (CleaveFitPlan) kept = NULL;

  if (g_cancellable_set_error_if_cancelled (search->options.cancellable, error))
    return FALSE;
  kept = weigh (search, plan, &loops, error);
  if (kept == NULL)
    return FALSE;
  if (is_better (search, kept, loops.bytes_after, asked))
    {
      g_clear_pointer (&search->best, cleave_fit_plan_unref);
      search->best = g_steal_pointer (&kept);
      search->loops = loops;
    }
  return TRUE;
}

/* Sets the best plan of the search: compares the forms of all plans on the frontier. Returns FALSE
 * and sets the error on failure. */
static gboolean
find_best (Search *search, gint64 asked, GError **error)
{
  g_autoptr (CleaveGraph) before = cleave_graph_copy (search->graph);
  g_autoptr (GPtrArray) plans = NULL;

  cleave_onnx_set_loops (before, TRUE);
  search->loops.bytes_before = cleave_onnx_estimate_bytes (before, error);
  if (search->loops.bytes_before < 0)
    return FALSE;
  plans = cleave_fit_plan_new_frontier (search->graph, &search->options, error);
  for (guint i = 0; plans != NULL && i < plans->len; i++)
    if (!offer (search, plans->pdata[i], asked, error))
      return FALSE;
  return plans != NULL;
}

/**
 * cleave_fit_plan_new_for_ort:
 * @graph: a graph
 * @options: the limits of the plan; strips are even for any value of @even_strips
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds a plan for ONNX Runtime. ONNX Runtime needs little memory for the strips of a segment only
 * if the strips are iterations of a `Loop`. A segment that cannot become a `Loop` is usually not
 * split. If no split is estimated to reduce the memory of ONNX Runtime, no segment is split.
 *
 * @max_memory limits the arena of the plan. If @max_memory is 0, the plan has the least estimated
 * memory in ONNX Runtime. [method@Cleave.FitPlan.get_loops] returns the estimate.
 * [method@Cleave.FitPlan.apply] marks the graph to be written with `Loop`s, as
 * [func@Cleave.onnx_set_loops] does.
 *
 * Fails with %CLEAVE_ERROR_LIMIT if no plan meets the limits.
 *
 * Returns: (transfer full) (nullable): the plan, or %NULL on error
 *
 * Since: 0.2
 */
CleaveFitPlan *
cleave_fit_plan_new_for_ort (const CleaveGraph *graph,
                             const CleaveFitOptions *options,
                             GError **error)
{
  g_autoptr (CleaveFitPlan) best = NULL;
  Search search = { .graph = graph };
  gint64 asked;
  gboolean good;

  g_return_val_if_fail (graph != NULL && options != NULL, NULL);
  asked = options->max_memory;
  search.options = *options;
  search.options.even_strips = TRUE;
  good = find_best (&search, asked, error);
  best = search.best;
  if (!good)
    return NULL;
  if (asked == 0 || get_arena (best) <= asked)
    {
      cleave_fit_plan_set_loops (best, &search.loops);
      return g_steal_pointer (&best);
    }
  g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT,
               "the budget is %" G_GINT64_FORMAT " bytes, the smallest that a plan meets is "
               "%" G_GINT64_FORMAT " bytes; a smaller budget is limited by %s",
               asked, get_arena (best), cleave_fit_plan_get_peak (best));
  return NULL;
}
