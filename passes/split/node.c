/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The functions that split nodes: cleave_split_node() and its variants. All of them call run(),
 * which finds the ranges of the requested nodes (roots.h), plans and builds the pieces (region.h,
 * apply.h), and fills a report. */

#include "../../lib/ir/node-queries.h"
#include "apply.h"
#include "limit-report.h"
#include "options.h"
#include "report.h"
#include "roots.h"

#include <cleave/cleave-languages.h>

/* Splits a copy of the graph at all roots. If the copy does not meet the limits on the graph,
 * leaves all roots whole. Returns the peaks of the copy. If the copy does not meet the limits and
 * an earlier trial came nearer to the limits, returns the peaks of that trial. */
static CleavePeaks
judge_whole (const CleaveTrial *tried, GArray *roots)
{
  g_auto (CleaveTrial) trial = *tried;
  gboolean is_met;

  trial.has_best = FALSE;
  trial.which = trial.why = NULL;
  is_met = cleave_trial_run (&trial, (const CleaveRoot *) roots->data, roots->len);
  if (trial.is_too_many)
    return trial.best; /* too many pieces: the caller reports this error when it plans the split */
  for (guint i = 0; i < roots->len && !is_met; i++)
    {
      CleaveRoot *root = &g_array_index (roots, CleaveRoot, i);

      if (root->ranges != NULL)
        cleave_root_keep_whole (root, CLEAVE_NOT_SPLIT_CONSTRAINT, trial.why);
    }
  return !is_met && tried->has_best &&
                 cleave_constraint_prefers (&trial.limits, tried->best, trial.best)
             ? tried->best
             : trial.best;
}

static guint
count_searches (const CleaveSplitRequest *requests, guint n_requests)
{
  guint n = 0;

  for (guint i = 0; i < n_requests; i++)
    n += requests[i].tiling == NULL || requests[i].tiling->is_search ? 1 : 0;
  return n;
}

static gboolean
check_call (const CleaveSplitRequest *requests,
            guint n_requests,
            const CleaveRecursion *recursion,
            GError **error)
{
  if (recursion->depth < 1)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "depth must be at least 1, not %u",
                        recursion->depth);
  if ((guint) recursion->halo > CLEAVE_HALO_CARRY_NARROW)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "halo has no value %d", (int) recursion->halo);
  for (guint i = 0; i < n_requests; i++)
    if (requests[i].node == NULL)
      return cleave_fail (error, CLEAVE_ERROR_OPTION,
                          "the node to split is NULL: look it up by its exact name");
    else if (requests[i].node->graph == NULL)
      return cleave_fail (error, CLEAVE_ERROR_OPTION, "'%s' was removed from its graph",
                          requests[i].node->name);
  return TRUE;
}

static CleaveSplitReport *
run (CleaveGraph *graph,
     const CleaveSplitRequest *requests,
     guint n_requests,
     const CleaveRecursion *recursion,
     gboolean lenient,
     GError **error)
{
  CleaveWork work = cleave_work_init (graph, requests, n_requests);
  g_auto (CleaveTrial) trial = { 0 };
  g_autoptr (GHashTable) letters = g_hash_table_new (NULL, NULL);
  CleavePolicy policy = { recursion, lenient, &work, count_searches (requests, n_requests),
                          &trial,    letters, { 0 } };
  g_autoptr (GArray) roots = NULL;
  g_autoptr (CleaveRegion) region = NULL;
  CleaveLimitReport limit_report = { 0 };
  CleaveSplitReport *report;

  policy.made = cleave_work_made_limit (policy.n_searches == n_requests ? &work : NULL, graph);
  cleave_trial_init (&trial, graph, requests, n_requests, recursion, &work);
  trial.made = policy.made;
  roots = cleave_roots_new (graph, requests, n_requests, &policy, error);
  if (roots == NULL || cleave_work_is_cancelled (&work, error))
    return NULL;
  cleave_limit_report_add_roots (&limit_report, roots);
  if (cleave_trial_is_asked (&trial))
    cleave_limit_report_add_peaks (&limit_report, &trial.limits, judge_whole (&trial, roots));
  region = cleave_region_plan_within (graph, (const CleaveRoot *) roots->data, roots->len,
                                      recursion, policy.made, error);
  if (region == NULL || cleave_work_is_cancelled (&work, error))
    return NULL;
  report = cleave_split_report_new (graph);
  cleave_region_apply (region);
  cleave_split_report_add (report, region, (const CleaveRoot *) roots->data, roots->len);
  g_clear_pointer (&region, cleave_region_free); /* frees memory before the peak is measured */
  cleave_split_report_finish (report, graph);
  cleave_split_report_add_work (report, &work);
  cleave_limit_report_add_to (&limit_report, report);
  return report;
}

/**
 * cleave_split_node:
 * @node: the node to split
 * @tiling: (nullable): how to split; %NULL for the smallest split that meets the constraint
 * @constraint: (nullable): limits to meet; not %NULL if @tiling is
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits one node into pieces that compute the chunks of its result 0. One Assemble for each used
 * result joins the pieces and takes the result's name. The node itself is removed. If the node
 * cannot be split, the graph does not change, and the report states the reason. O(graph + pieces).
 *
 * Fails with %CLEAVE_ERROR_OPTION if the request is wrong, and with %CLEAVE_ERROR_CYCLE if the
 * graph has a cycle. Fails with %CLEAVE_ERROR_LIMIT, before any piece is made, if the split would
 * make more than 2^20 new nodes plus 64 for each node of the graph. A search may make fewer nodes,
 * depending on its budget. After an error, the graph is unchanged.
 *
 * Returns: (transfer full) (nullable): the report on the node
 *
 * Since: 0.1
 */
CleaveSplitReport *
cleave_split_node (CleaveNode *node,
                   const CleaveTiling *tiling,
                   const CleaveConstraint *constraint,
                   GError **error)
{
  const CleaveSplitRequest request = { node, tiling, constraint };
  const CleaveRecursion alone = { .depth = 1 };

  if (!check_call (&request, 1, &alone, error))
    return NULL;
  return run (node->graph, &request, 1, &alone, FALSE, error);
}

/**
 * cleave_split_nodes:
 * @graph: the graph
 * @requests: (array length=n_requests): nodes of the graph, each once, and how to split them
 * @n_requests: number of @requests
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits several nodes, each one alone. Pieces of consecutive nodes read each other directly.
 *
 * Fails as `cleave_split_node()` does if any request is wrong. After an error, no node is split.
 *
 * Returns: (transfer full) (nullable): the report on these nodes
 *
 * Since: 0.1
 */
CleaveSplitReport *
cleave_split_nodes (CleaveGraph *graph,
                    const CleaveSplitRequest *requests,
                    guint n_requests,
                    GError **error)
{
  g_return_val_if_fail (graph != NULL && (requests != NULL || n_requests == 0), NULL);

  const CleaveRecursion alone = { .depth = 1 };

  if (!check_call (requests, n_requests, &alone, error))
    return NULL;
  return run (graph, requests, n_requests, &alone, FALSE, error);
}

/**
 * cleave_split_all_nodes:
 * @graph: the graph
 * @tiling: (nullable): how to split; %NULL for the smallest split of each node that meets the
 * constraint
 * @constraint: (nullable): limits to meet; not %NULL if @tiling is
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits every node that the tiling fits, each one alone. For each other node, the report states
 * why the node stays whole.
 *
 * Fails with %CLEAVE_ERROR_OPTION if there is neither a tiling nor a constraint, or if the tiling
 * fits no node. Also fails as `cleave_split_node()` does. After an error, the graph is unchanged.
 *
 * Returns: (transfer full) (nullable): the report on these nodes
 *
 * Since: 0.1
 */
CleaveSplitReport *
cleave_split_all_nodes (CleaveGraph *graph,
                        const CleaveTiling *tiling,
                        const CleaveConstraint *constraint,
                        GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);

  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (CleaveSplitRequest));
  const CleaveRecursion alone = { .depth = 1 };

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (!cleave_node_is_source (node))
      {
        CleaveSplitRequest request = { node, tiling, constraint };

        g_array_append_val (requests, request);
      }
  return run (graph, (const CleaveSplitRequest *) requests->data, requests->len, &alone, TRUE,
              error);
}

/**
 * cleave_split_node_recursively:
 * @node: the node to begin with
 * @tiling: (nullable): how to split; %NULL for the smallest split of the node that meets the
 * constraint
 * @constraint: (nullable): limits that each node must meet; the split does not extend beyond a node
 * that does not meet them. %NULL for none
 * @recursion: how far the split extends to producers, and the halo policy
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a node and the nodes that it reads, towards the inputs, so that pieces become parallel
 * subgraphs. Each producer is cut once, into the ranges that its readers in the region need.
 * Readers outside the region read the joined pieces.
 *
 * Fails as `cleave_split_node()` does.
 *
 * Returns: (transfer full) (nullable): the report on all nodes reached
 *
 * Since: 0.1
 */
CleaveSplitReport *
cleave_split_node_recursively (CleaveNode *node,
                               const CleaveTiling *tiling,
                               const CleaveConstraint *constraint,
                               const CleaveRecursion *recursion,
                               GError **error)
{
  g_return_val_if_fail (recursion != NULL, NULL);

  const CleaveSplitRequest request = { node, tiling, constraint };

  if (!check_call (&request, 1, recursion, error))
    return NULL;
  return run (node->graph, &request, 1, recursion, FALSE, error);
}

/**
 * cleave_split_nodes_recursively:
 * @graph: the graph
 * @requests: (array length=n_requests): nodes of the graph, each once, and how to split them;
 * chunks with the same number belong to the same parallel subgraph
 * @n_requests: number of @requests
 * @recursion: how far the split extends to producers, and the halo policy
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a region that ends in several nodes, like `cleave_split_node_recursively()` for one node.
 *
 * Fails as `cleave_split_nodes()` does.
 *
 * Returns: (transfer full) (nullable): the report on all nodes reached
 *
 * Since: 0.1
 */
CleaveSplitReport *
cleave_split_nodes_recursively (CleaveGraph *graph,
                                const CleaveSplitRequest *requests,
                                guint n_requests,
                                const CleaveRecursion *recursion,
                                GError **error)
{
  g_return_val_if_fail (graph != NULL && recursion != NULL, NULL);
  g_return_val_if_fail (requests != NULL || n_requests == 0, NULL);

  if (!check_call (requests, n_requests, recursion, error))
    return NULL;
  return run (graph, requests, n_requests, recursion, FALSE, error);
}

/**
 * cleave_split_nodes_by_name:
 * @graph: the graph
 * @names: (array zero-terminated=1): names of nodes, each once
 * @tiling: (nullable): how to split; %NULL for the smallest split of each node that meets the
 * constraint
 * @constraint: (nullable): limits to meet; not %NULL if @tiling is
 * @recursion: (nullable): how far the split extends to producers; %NULL to split only these nodes
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits several nodes in one way, as [func@Cleave.split_nodes_recursively] does.
 *
 * Fails as [func@Cleave.split_nodes_recursively] does, and as [method@Cleave.Graph.select_node]
 * does if a name is not the name of one node. After an error, no node is split.
 *
 * Returns: (transfer full) (nullable): the report on these nodes
 *
 * Since: 0.1
 */
CleaveSplitReport *
cleave_split_nodes_by_name (CleaveGraph *graph,
                            const char *const *names,
                            const CleaveTiling *tiling,
                            const CleaveConstraint *constraint,
                            const CleaveRecursion *recursion,
                            GError **error)
{
  g_return_val_if_fail (graph != NULL && names != NULL, NULL);

  g_autoptr (GArray) requests = g_array_new (FALSE, FALSE, sizeof (CleaveSplitRequest));
  const CleaveRecursion alone = { .depth = 1 };
  const CleaveSplitRequest *data;

  for (guint i = 0; names[i] != NULL; i++)
    {
      CleaveSplitRequest request = { cleave_graph_select_node (graph, names[i], error), tiling,
                                     constraint };

      if (request.node == NULL)
        return NULL;
      g_array_append_val (requests, request);
    }
  data = (const CleaveSplitRequest *) (gpointer) requests->data;
  if (recursion == NULL || recursion->depth == 1)
    recursion = &alone;
  if (!check_call (data, requests->len, recursion, error))
    return NULL;
  return run (graph, data, requests->len, recursion, FALSE, error);
}
