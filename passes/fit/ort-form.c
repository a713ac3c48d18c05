/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses which segments of a plan for ONNX Runtime stay whole. In ONNX Runtime, strips save memory
 * only if they become iterations of a Loop. A form of a plan is the plan with all or some of its
 * segments. */

#include "ort-form.h"

#include "../../lib/onnx/forecast.h"

#include <cleave/cleave-onnx.h>

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
 * different weights may have fewer strips. If there are few pieces, ONNX Runtime seldom copies
 * values, so the estimate of the memory without a Loop is accurate. */
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

/* Sets `missing` to the indices of the segments that do not become Loops. `iterations` has the
 * names of all nodes in Loops, and ends with NULL. `report` describes the pieces of the split
 * graph. */
static void
list_missing (Form *form, char **iterations, const CleaveSplitReport *report)
{
  g_autoptr (GHashTable) nodes = find_nodes (report, iterations);

  form->missing = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (form->plan); i++)
    if (!has_node (cleave_fit_plan_get_segment (form->plan, i), nodes))
      g_array_append_val (form->missing, i);
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
  g_auto (GStrv) iterations = NULL;

  form_clear (form);
  *form = (Form){ .plan = plan };
  if (report == NULL)
    return FALSE;
  cleave_onnx_set_loops (copy, TRUE);
  form->n_bytes = cleave_onnx_forecast (copy, &iterations, error);
  if (form->n_bytes < 0)
    return FALSE;
  list_missing (form, iterations, report);
  return TRUE;
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

/* A segment is split into pieces without a Loop only if that saves much of the estimated memory.
 * The estimate must be less than PIECES_PART of the estimate with Loops alone, and smaller by more
 * than PIECES_BYTES. ONNX Runtime copies pieces more often than the estimate assumes. For example,
 * a U-Net of 4.7 MB was estimated to need 2.8 MB in pieces. In fact, the pieces needed a fifth more
 * memory than the unsplit U-Net. */
#define PIECES_PART 0.6
#define PIECES_BYTES (1 << 22)

static gboolean
gains_by_pieces (gint64 bytes, gint64 kept_bytes)
{
  return (double) bytes < PIECES_PART * (double) kept_bytes && bytes + PIECES_BYTES < kept_bytes;
}

static gboolean
has_any_few_pieces (const CleaveFitPlan *plan)
{
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    if (has_few_pieces (plan, i))
      return TRUE;
  return FALSE;
}

/* Sets `best` to the form of a plan that Cleave writes to a file: the plan with all or some of its
 * segments. Sets `bytes_of_all` to the estimate of the plan with all segments. Returns FALSE and
 * sets the error on failure. If all segments become Loops, the form has all segments. If not, the
 * function chooses one of three forms:
 *
 * - If gains_by_pieces() returns TRUE, the form has all segments.
 * - If not, and if splitting also the segments of few pieces saves more than LOOP_BYTES bytes, the
 *   form has these segments and the segments that become Loops.
 * - In all other cases, the form has only the segments that become Loops. */
static gboolean
find_form (Form *best,
           gint64 *bytes_of_all,
           const CleaveFitPlan *plan,
           const CleaveGraph *graph,
           GError **error)
{
  g_auto (Form) all = { 0 }, few = { 0 };

  if (!form_init (&all, cleave_fit_plan_ref ((CleaveFitPlan *) plan), graph, error))
    return FALSE;
  *bytes_of_all = all.n_bytes;
  if (all.missing->len == 0)
    {
      form_take (best, &all);
      return TRUE;
    }
  if (!keep_loops (best, &all, graph, FALSE, error))
    return FALSE;
  if (has_any_few_pieces (plan))
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

CleaveFitPlan *
cleave_fit_ort_form (const CleaveFitPlan *plan,
                     const CleaveGraph *graph,
                     CleaveFitLoops *loops,
                     GError **error)
{
  g_auto (Form) best = { 0 };
  guint n = cleave_fit_plan_get_n_segments (plan);
  gint64 bytes_of_all;

  if (!find_form (&best, &bytes_of_all, plan, graph, error))
    return NULL;
  if (best.n_bytes + LOOP_BYTES >= loops->bytes_before && n > 0)
    {
      loops->n_whole = n;
      loops->bytes_after = loops->bytes_before;
      loops->bytes_refused =
          cleave_fit_plan_get_n_segments (best.plan) > 0 ? best.n_bytes : bytes_of_all;
      return keep_whole (plan, graph, error);
    }
  loops->n_pieces = best.missing->len;
  loops->n_loops = cleave_fit_plan_get_n_segments (best.plan) - loops->n_pieces;
  loops->n_whole = n - loops->n_loops - loops->n_pieces;
  loops->bytes_after = best.n_bytes;
  return g_steal_pointer (&best.plan);
}
