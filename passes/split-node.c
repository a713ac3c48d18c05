/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-apply.h"
#include "split-bound.h"
#include "split-constraint.h"
#include "split-letters.h"
#include "split-options.h"
#include "split-report.h"
#include "split-search.h"

#include <math.h>

/* Requests. */

static gboolean
check_constraint (const CleaveConstraint *constraint, GError **error)
{
  if (constraint != NULL && isnan (constraint->max_added_macs))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "the limit on added MACs is not a number");
  return TRUE;
}

static gboolean
is_search (const CleaveSplitRequest *request)
{
  return request->split == NULL || request->split->is_search;
}

static gboolean
check_request (const CleaveGraph *graph,
               const CleaveSplitRequest *request,
               GHashTable *seen,
               GError **error)
{
  g_autofree char *label = NULL;

  if (request->node == NULL || request->node->graph != graph)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "a node to split is not of this graph");
  label = cleave_node_dup_label (request->node);
  if (!g_hash_table_add (seen, request->node))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s is to be split twice", label);
  if (is_search (request) && request->constraint == NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "%s: neither an option nor a constraint says how to split it", label);
  if (check_constraint (request->constraint, error))
    return TRUE;
  g_prefix_error (error, "%s: ", label);
  return FALSE;
}

static void
start_clear (gpointer data)
{
  CleaveStart *start = data;

  g_clear_pointer (&start->ranges, g_array_unref);
  g_clear_pointer (&start->message, g_free);
}

static void
stay_whole (CleaveStart *start, CleaveNotSplit reason, char *message)
{
  start->reason = reason;
  start->message = message;
}

/* Whether the graph would meet what is asked of it as a whole: tried on a copy. */
static gboolean
try_on_copy (const CleaveGraph *graph,
             const CleaveStart *starts,
             guint n_starts,
             const CleaveRecursion *recursion,
             GString *why)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autofree CleaveStart *there = g_memdup2 (starts, n_starts * sizeof *starts);
  g_autoptr (CleaveRegion) region = NULL;

  for (guint i = 0; i < n_starts; i++)
    there[i].node = cleave_graph_find_node (copy, starts[i].node->name);
  region = cleave_region_plan (copy, there, n_starts, recursion, NULL);
  if (region == NULL)
    return TRUE; /* a cycle, which the original has, too */
  cleave_region_apply (region);
  for (guint i = 0; i < n_starts; i++)
    if (starts[i].ranges != NULL &&
        !cleave_constraint_allows_graph (starts[i].constraint, copy, why))
      return FALSE;
  return TRUE;
}

/* What a search asks of each plan: that the graph it leads to is allowed. */
typedef struct
{
  const CleaveConstraint *constraint;
  const CleaveRecursion *recursion;
} Trial;

static gboolean
leads_to_allowed (const CleavePlan *plan, gpointer data, GString *why)
{
  const Trial *trial = data;
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  const CleaveStart start = { .node = plan->node,
                              .ranges = ranges,
                              .constraint = trial->constraint };

  if (trial->constraint->predicate != NULL &&
      !trial->constraint->predicate (plan, trial->constraint->data, why))
    return FALSE;
  for (guint i = 0; i < cleave_plan_get_n_chunks (plan); i++)
    g_array_append_vals (ranges, cleave_plan_get_range (plan, i), 1);
  return try_on_copy (plan->node->graph, &start, 1, trial->recursion, why);
}

static GArray *
search (const CleaveSplitRequest *request,
        const CleaveSpace *space,
        const CleaveRecursion *recursion,
        GString *why)
{
  CleaveConstraint constraint = *request->constraint;
  Trial trial = { request->constraint, recursion };

  if (constraint.max_schedule_memory != 0 &&
      !cleave_bound_allows (request->node, recursion->depth,
                            MAX (constraint.max_schedule_memory, 0), why))
    return NULL;
  if (cleave_constraint_is_of_graph (request->constraint))
    {
      constraint.predicate = leads_to_allowed;
      constraint.data = &trial;
    }
  return cleave_search_ranges (request->node, space, &constraint, why);
}

/* Finds the smallest split that meets the constraint. */
static gboolean
search_start (const CleaveSplitRequest *request,
              const CleaveRecursion *recursion,
              const char *letters,
              CleaveStart *start,
              GError **error)
{
  g_autoptr (GString) why = g_string_new (NULL);
  CleaveSpace space;

  if (!cleave_split_get_space (request->split, &request->node->results[0].type.shape, letters,
                               &space, error))
    return FALSE;
  start->ranges = search (request, &space, recursion, why);
  if (start->ranges == NULL)
    stay_whole (start, CLEAVE_NOT_SPLIT_CONSTRAINT, g_strdup (why->str));
  else if (start->ranges->len == 1)
    {
      g_clear_pointer (&start->ranges, g_array_unref);
      stay_whole (start, CLEAVE_NOT_SPLIT_ONE_PIECE, g_strdup ("it meets the constraint as it is"));
    }
  return TRUE;
}

/* How requests are taken. */
typedef struct
{
  const CleaveRecursion *recursion;
  gboolean lenient; /* an option that does not fit a node is no error */
} Manner;

/* Finds the ranges that a request asks for.  `known` has the letters of nodes. */
static gboolean
make_start (const CleaveSplitRequest *request,
            const Manner *manner,
            GHashTable *known,
            CleaveStart *start,
            GError **error)
{
  CleaveNode *node = request->node;
  g_autoptr (GError) wrong = NULL;
  g_autofree char *label = cleave_node_dup_label (node);
  const char *letters =
      node->op->maps == NULL ? NULL : cleave_letters_find (known, node, G_MAXUINT);

  *start = (CleaveStart){ .node = node, .constraint = request->constraint };
  if (node->op->maps == NULL)
    stay_whole (start, CLEAVE_NOT_SPLIT_UNSUPPORTED,
                g_strdup_printf ("%s cannot be split", node->op->name));
  else if (is_search (request))
    search_start (request, manner->recursion, letters, start, &wrong);
  else
    start->ranges =
        cleave_split_ranges (request->split, &node->results[0].type.shape, letters, &wrong);
  if (wrong == NULL)
    return TRUE;
  if (!manner->lenient)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&wrong), "%s: ", label);
      return FALSE;
    }
  stay_whole (start, CLEAVE_NOT_SPLIT_REFUSED, g_strdup (wrong->message));
  return TRUE;
}

/* An option that fits no node at all is a mistake in the request, and not a reason of each of them.
 */
static gboolean
check_some_fit (const GArray *starts, GError **error)
{
  const CleaveStart *misfit = NULL;
  g_autofree char *label = NULL;

  for (guint i = 0; i < starts->len; i++)
    {
      const CleaveStart *start = &g_array_index (starts, CleaveStart, i);

      if (start->ranges != NULL || (start->reason != CLEAVE_NOT_SPLIT_REFUSED &&
                                    start->reason != CLEAVE_NOT_SPLIT_UNSUPPORTED))
        return TRUE;
      if (start->reason == CLEAVE_NOT_SPLIT_REFUSED)
        misfit = start;
    }
  if (misfit == NULL)
    return TRUE;
  label = cleave_node_dup_label (misfit->node);
  return cleave_fail (error, CLEAVE_ERROR_OPTION, "no node can take the option; %s: %s", label,
                      misfit->message);
}

static GArray *
make_starts (const CleaveGraph *graph,
             const CleaveSplitRequest *requests,
             guint n_requests,
             const Manner *manner,
             GError **error)
{
  g_autoptr (GArray) starts = g_array_sized_new (FALSE, TRUE, sizeof (CleaveStart), n_requests);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);

  g_array_set_clear_func (starts, start_clear);
  for (guint i = 0; i < n_requests; i++)
    {
      CleaveStart start;

      if (!check_request (graph, &requests[i], seen, error) ||
          !make_start (&requests[i], manner, known, &start, error))
        return NULL;
      g_array_append_val (starts, start);
    }
  if (manner->lenient && !check_some_fit (starts, error))
    return NULL;
  return g_steal_pointer (&starts);
}

/* Running them. */

/* If the graph as a whole would not meet what is asked of it, none of the starts is split. */
static void
judge_whole (const CleaveGraph *graph, GArray *starts, const CleaveRecursion *recursion)
{
  g_autoptr (GString) why = g_string_new (NULL);
  gboolean asked = FALSE;

  for (guint i = 0; i < starts->len; i++)
    asked |= cleave_constraint_is_of_graph (g_array_index (starts, CleaveStart, i).constraint);
  if (!asked ||
      try_on_copy (graph, (const CleaveStart *) starts->data, starts->len, recursion, why))
    return;
  for (guint i = 0; i < starts->len; i++)
    {
      CleaveStart *start = &g_array_index (starts, CleaveStart, i);

      if (start->ranges == NULL)
        continue;
      g_clear_pointer (&start->ranges, g_array_unref);
      stay_whole (start, CLEAVE_NOT_SPLIT_CONSTRAINT, g_strdup (why->str));
    }
}

static CleaveSplitReport *
run (CleaveGraph *graph,
     const CleaveSplitRequest *requests,
     guint n_requests,
     const Manner *manner,
     GError **error)
{
  g_autoptr (GArray) starts = NULL;
  g_autoptr (CleaveRegion) region = NULL;
  CleaveSplitReport *report;

  if (manner->recursion->depth < 1)
    {
      cleave_fail (error, CLEAVE_ERROR_OPTION, "depth must be at least 1, not %u",
                   manner->recursion->depth);
      return NULL;
    }
  starts = make_starts (graph, requests, n_requests, manner, error);
  if (starts == NULL)
    return NULL;
  judge_whole (graph, starts, manner->recursion);
  region = cleave_region_plan (graph, (const CleaveStart *) starts->data, starts->len,
                               manner->recursion, error);
  if (region == NULL)
    return NULL;
  report = cleave_split_report_new (graph);
  cleave_region_apply (region);
  cleave_split_report_add (report, region, (const CleaveStart *) starts->data, starts->len);
  g_clear_pointer (&region, cleave_region_free); /* room for what counts the peak */
  cleave_split_report_finish (report, graph);
  return report;
}

/**
 * cleave_split_node:
 * @node: the node to split
 * @split: (nullable): how; %NULL for the smallest split that meets the constraint
 * @constraint: (nullable): what must be met; not %NULL if @split is
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits one node: pieces that compute the chunks of its result 0, and one Assemble that puts each
 * used result together again under the name it had.  The node itself is gone then.  If it cannot be
 * split, nothing changes and the report says why.  O(graph + pieces).
 *
 * Fails with %CLEAVE_ERROR_OPTION if the request is wrong and with %CLEAVE_ERROR_CYCLE; the graph
 * is then unchanged.
 *
 * Returns: (transfer full) (nullable): what became of it
 */
CleaveSplitReport *
cleave_split_node (CleaveNode *node,
                   const CleaveSplit *split,
                   const CleaveConstraint *constraint,
                   GError **error)
{
  const CleaveSplitRequest request = { node, split, constraint };
  const CleaveRecursion alone = { .depth = 1 };
  const Manner manner = { &alone, FALSE };

  return run (node->graph, &request, 1, &manner, error);
}

/**
 * cleave_split_nodes:
 * @graph: the graph
 * @requests: (array length=n_requests): nodes of the graph, each once, and how to split them
 * @n_requests: how many
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits several nodes, each by itself; pieces of nodes that follow each other meet without a seam.
 *
 * Fails as [func@Cleave.split_node] does if any request is wrong; no node is then split.
 *
 * Returns: (transfer full) (nullable): what became of them
 */
CleaveSplitReport *
cleave_split_nodes (CleaveGraph *graph,
                    const CleaveSplitRequest *requests,
                    guint n_requests,
                    GError **error)
{
  const CleaveRecursion alone = { .depth = 1 };
  const Manner manner = { &alone, FALSE };

  return run (graph, requests, n_requests, &manner, error);
}

/**
 * cleave_split_all_nodes:
 * @graph: the graph
 * @split: (nullable): how; %NULL for the smallest split of each that meets the constraint
 * @constraint: (nullable): what must be met; not %NULL if @split is
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits every node that can take the option, each by itself; of the others the report says why
 * not.
 *
 * Fails with %CLEAVE_ERROR_OPTION if there is neither an option nor a constraint, or an option that
 * fits no node, and with %CLEAVE_ERROR_CYCLE; the graph is then unchanged.
 *
 * Returns: (transfer full) (nullable): what became of them
 */
CleaveSplitReport *
cleave_split_all_nodes (CleaveGraph *graph,
                        const CleaveSplit *split,
                        const CleaveConstraint *constraint,
                        GError **error)
{
  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (CleaveSplitRequest));
  const CleaveRecursion alone = { .depth = 1 };
  const Manner manner = { &alone, TRUE };

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (!cleave_node_is_input (node) && cleave_node_get_constant (node) == NULL)
      {
        CleaveSplitRequest request = { node, split, constraint };

        g_array_append_val (requests, request);
      }
  return run (graph, (const CleaveSplitRequest *) requests->data, requests->len, &manner, error);
}

/**
 * cleave_split_node_recursively:
 * @node: the node to begin with
 * @split: (nullable): how; %NULL for the smallest split of it that meets the constraint
 * @constraint: (nullable): what each node must meet; one that does not ends the recursion
 * @recursion: how far, and what becomes of halos
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a node and, towards the inputs, those that it reads, so that pieces become subgraphs of
 * their own.  A producer is cut once, into what all its readers in the region need; readers outside
 * get it put together.
 *
 * Fails as [func@Cleave.split_node] does.
 *
 * Returns: (transfer full) (nullable): what became of the nodes that it reached
 */
CleaveSplitReport *
cleave_split_node_recursively (CleaveNode *node,
                               const CleaveSplit *split,
                               const CleaveConstraint *constraint,
                               const CleaveRecursion *recursion,
                               GError **error)
{
  const CleaveSplitRequest request = { node, split, constraint };
  const Manner manner = { recursion, FALSE };

  return run (node->graph, &request, 1, &manner, error);
}

/**
 * cleave_split_nodes_recursively:
 * @graph: the graph
 * @requests: (array length=n_requests): nodes of the graph, each once, and how to split them;
 * chunks of the same number go together
 * @n_requests: how many
 * @recursion: how far, and what becomes of halos
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a region that ends in several nodes, as [func@Cleave.split_node_recursively] does one that
 * ends in one.
 *
 * Fails as [func@Cleave.split_nodes] does.
 *
 * Returns: (transfer full) (nullable): what became of the nodes that it reached
 */
CleaveSplitReport *
cleave_split_nodes_recursively (CleaveGraph *graph,
                                const CleaveSplitRequest *requests,
                                guint n_requests,
                                const CleaveRecursion *recursion,
                                GError **error)
{
  const Manner manner = { recursion, FALSE };

  return run (graph, requests, n_requests, &manner, error);
}
