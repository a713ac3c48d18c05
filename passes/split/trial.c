/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits a copy of the graph and measures the peaks of the copy. A trial keeps the best peaks so
 * far, and the reason why they miss the limits. If the best peak reaches the lower bound on the
 * peak of any split (bound.h), the search ends. */

#include "trial.h"

#include "apply.h"
#include "bound.h"

/* Work units of a trial for each node of the split graph. A trial takes longer than planning one
 * chunk for each node, since it measures the peak. */
#define PER_NODE_TRIED 8
/* stands for a peak that is not measured; the sum of two does not overflow */
#define NOT_KNOWN (G_MAXINT64 / 4)

/* Returns the lower of two limits, where 0 stands for no limit and a negative limit allows
 * nothing. */
static gint64
lower_limit (gint64 a, gint64 b)
{
  return a == 0 ? b : b == 0 ? a : MIN (a, b);
}

void
cleave_trial_init (CleaveTrial *trial,
                   const CleaveGraph *graph,
                   const CleaveSplitRequest *requests,
                   guint n_requests,
                   const CleaveRecursion *recursion,
                   CleaveWork *work)
{
  *trial = (CleaveTrial){
    .graph = graph, .recursion = recursion, .work = work, .made = { G_MAXINT64, 0 }
  };
  for (guint i = 0; i < n_requests; i++)
    {
      const CleaveConstraint *asked = requests[i].constraint;

      if (asked == NULL)
        continue;
      trial->limits.max_schedule_memory =
          lower_limit (trial->limits.max_schedule_memory, asked->max_schedule_memory);
      trial->limits.max_subgraph_memory =
          lower_limit (trial->limits.max_subgraph_memory, asked->max_subgraph_memory);
    }
}

void
cleave_trial_clear (CleaveTrial *trial)
{
  g_clear_pointer (&trial->which, g_free);
  g_clear_pointer (&trial->why, g_free);
}

gboolean
cleave_trial_is_asked (const CleaveTrial *trial)
{
  return cleave_constraint_is_of_graph (&trial->limits);
}

void
cleave_trial_find_bound (CleaveTrial *trial, const CleaveRoot *roots, guint n_roots)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  for (guint i = 0; i < n_roots; i++)
    g_ptr_array_add (nodes, roots[i].node);
  if (trial->limits.max_schedule_memory != 0)
    trial->bound = cleave_bound_find ((CleaveNode *const *) nodes->pdata, nodes->len,
                                      trial->recursion->depth, &trial->which);
}

/* Returns a copy of the array `roots` for the graph `copy`: each root refers to the node of `copy`
 * that has the name of the original node. */
static CleaveRoot *
copy_roots (const CleaveGraph *copy, const CleaveRoot *roots, guint n_roots)
{
  CleaveRoot *there = g_memdup2 (roots, n_roots * sizeof *roots);

  for (guint i = 0; i < n_roots; i++)
    there[i].node = cleave_graph_find_node (copy, roots[i].node->name);
  return there;
}

/* Records that a split would make too many nodes (`wrong`), and adds the work of planning it.
 * Returns FALSE, since the split does not meet the limits. */
static gboolean
refuse_too_many (CleaveTrial *trial, const GError *wrong)
{
  cleave_work_add (trial->work, trial->made.max);
  trial->is_too_many = TRUE;
  trial->last = (CleavePeaks){ .schedule = NOT_KNOWN, .subgraph = NOT_KNOWN };
  if (!trial->has_best)
    {
      g_free (trial->why);
      trial->why = g_strdup (wrong->message);
    }
  return FALSE;
}

gboolean
cleave_trial_run (CleaveTrial *trial, const CleaveRoot *roots, guint n_roots)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (trial->graph);
  g_autofree CleaveRoot *there = copy_roots (copy, roots, n_roots);
  g_autoptr (GError) wrong = NULL;
  g_autoptr (CleaveRegion) region =
      cleave_region_plan_within (copy, there, n_roots, trial->recursion, trial->made, &wrong);
  g_autoptr (GString) why = g_string_new (NULL);
  CleavePeaks peaks;

  trial->is_too_many = FALSE;
  if (g_error_matches (wrong, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT))
    return refuse_too_many (trial, wrong);
  if (region == NULL)
    return TRUE; /* the graph has a cycle, so the caller fails */
  cleave_region_apply (region);
  cleave_work_add (trial->work, PER_NODE_TRIED * (gint64) copy->n_nodes);
  peaks = trial->last = cleave_constraint_measure (&trial->limits, copy, why);
  if (!trial->has_best || cleave_constraint_prefers (&trial->limits, peaks, trial->best))
    {
      g_free (trial->why);
      trial->why = g_string_free (g_steal_pointer (&why), FALSE);
      trial->best = peaks;
      trial->has_best = TRUE;
    }
  return cleave_constraint_is_met (&trial->limits, peaks);
}

gboolean
cleave_trial_is_done (const CleaveTrial *trial)
{
  return trial->has_best && trial->limits.max_subgraph_memory == 0 && trial->bound > 0 &&
         trial->best.schedule <= trial->bound;
}

void
cleave_trial_explain (const CleaveTrial *trial, GString *why)
{
  gint64 limit = MAX (trial->limits.max_schedule_memory, 0);

  if (trial->bound > limit)
    g_string_append_printf (why, "%s; the limit is %" G_GINT64_FORMAT, trial->which, limit);
  if (trial->bound > limit && trial->has_best)
    g_string_append (why, "; in the tried splits ");
  if (trial->why != NULL && (trial->has_best || trial->bound <= limit))
    g_string_append (why, trial->why);
}
