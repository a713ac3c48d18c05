/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks the requests of a split, and makes a root for each request. The ranges of a root come
 * from the tiling, from a search for one node, or from a search by levels for several nodes
 * (level-search.h). */

#include "roots.h"

#include "dimension-names.h"
#include "level-search.h"
#include "options.h"
#include "search.h"

#include <math.h>

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
  return request->tiling == NULL || request->tiling->is_search;
}

static gboolean
check_request (const CleaveGraph *graph,
               const CleaveSplitRequest *request,
               GHashTable *seen,
               GError **error)
{
  g_autofree char *label = NULL;

  if (request->node == NULL || request->node->graph != graph)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "a node to split belongs to another graph");
  label = cleave_node_dup_label (request->node);
  if (!g_hash_table_add (seen, request->node))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s is listed twice: list each node once",
                        label);
  if (is_search (request) && request->constraint == NULL)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "%s: give a tiling or a constraint to split it",
                        label);
  if (check_constraint (request->constraint, error))
    return TRUE;
  g_prefix_error (error, "%s: ", label);
  return FALSE;
}

static const char *
find_letters (const CleavePolicy *policy, const CleaveNode *node)
{
  return cleave_letters_find (policy->letters, node, G_MAXUINT);
}

/* Returns whether several nodes share one search. The peak of the graph must be limited, and the
 * caller must ask to split several nodes. A search must find the ranges of at least one of these
 * nodes. */
static gboolean
needs_level_search (const CleaveSplitRequest *requests,
                    guint n_requests,
                    const CleavePolicy *policy)
{
  guint n = 0;

  for (guint i = 0; i < n_requests; i++)
    n += is_search (&requests[i]) ? 1 : 0;
  return n > 0 && n_requests > 1 && cleave_trial_is_asked (policy->trial);
}

/* Sets the ranges of a root to the fewest pieces that meet the constraint. If no pieces meet the
 * constraint, the root stays whole. Returns FALSE and sets the error if the request is wrong. */
static gboolean
search_root (const CleaveSplitRequest *request,
             const CleavePolicy *policy,
             CleaveTrial *trial,
             CleaveRoot *root,
             GError **error)
{
  g_autoptr (GString) why = g_string_new (NULL);
  CleaveWork work = cleave_work_share (policy->work, policy->n_searches);
  CleaveSpace space;
  CleaveSearchFor wanted = { request->node, &space, request->constraint, trial, &work };

  if (!cleave_tiling_get_space (request->tiling, &request->node->results[0].type.shape,
                                find_letters (policy, request->node), &space, error))
    return FALSE;
  if (trial != NULL)
    {
      /* cppcheck-suppress autoVariables ; trial->work is reset before `work` goes out of scope */
      trial->work = &work;
      cleave_trial_find_bound (trial, root, 1);
    }
  root->ranges = cleave_search_ranges (&wanted, &root->most_bytes, why);
  if (root->ranges == NULL)
    cleave_root_keep_whole (root, CLEAVE_NOT_SPLIT_CONSTRAINT, why->str);
  else if (root->ranges->len == 1)
    cleave_root_keep_whole (root, CLEAVE_NOT_SPLIT_ONE_PIECE, "it meets the constraint unsplit");
  if (trial != NULL)
    trial->work = policy->work;
  return TRUE;
}

/* Searches for the ranges of a single root by levels (level-search.h). Does nothing unless the
 * search from few pieces to many pieces failed because of the limits on the graph. The search by
 * levels tries cuts of all sizes. */
static void
search_levels (const CleaveSplitRequest *request, const CleavePolicy *policy, GArray *roots)
{
  const CleaveRoot *root = &g_array_index (roots, CleaveRoot, 0);
  g_autoptr (CleaveLevelSearch) search = cleave_level_search_new (policy->trial);
  CleaveSpace space;

  if (root->ranges != NULL || root->reason != CLEAVE_NOT_SPLIT_CONSTRAINT || root->most_bytes > 0)
    return;
  cleave_tiling_get_space (request->tiling, &request->node->results[0].type.shape,
                           find_letters (policy, request->node), &space, NULL);
  cleave_level_search_add (search, request, &space);
  cleave_level_search_run (search, roots);
}

/* Adds a node to the search by levels, unless the limits on the node's own pieces cannot be met.
 * Returns FALSE and sets the error if the request is wrong. */
static gboolean
add_to_level_search (const CleaveSplitRequest *request,
                     const CleavePolicy *policy,
                     CleaveLevelSearch *search,
                     CleaveRoot *root,
                     GError **error)
{
  CleaveSpace space;

  if (!cleave_tiling_get_space (request->tiling, &request->node->results[0].type.shape,
                                find_letters (policy, request->node), &space, error))
    return FALSE;
  if (request->constraint->max_memory != 0 && !search_root (request, policy, NULL, root, error))
    return FALSE;
  if (root->message != NULL && root->reason == CLEAVE_NOT_SPLIT_CONSTRAINT)
    return TRUE;
  cleave_root_keep_whole (root, CLEAVE_NOT_SPLIT_ONE_PIECE, "it meets the constraint unsplit");
  cleave_level_search_add (search, request, &space);
  return TRUE;
}

/* Returns the ranges of a tiling; NULL with the error set if the tiling does not fit the node. A
 * tiling may name dimensions by letters, such as H. First tries to get the ranges without the
 * letters of the node's dimensions, since finding the letters may visit many nodes. */
static GArray *
find_ranges (const CleaveSplitRequest *request, const CleavePolicy *policy, GError **error)
{
  const CleaveShape *shape = &request->node->results[0].type.shape;
  GArray *ranges = cleave_tiling_get_ranges (request->tiling, shape, NULL, NULL);

  return ranges != NULL ? ranges
                        : cleave_tiling_get_ranges (request->tiling, shape,
                                                    find_letters (policy, request->node), error);
}

/* Makes the root of a request. The root gets the ranges of the tiling, or the ranges that a search
 * finds. If an op has no maps, its root stays whole. If the request is wrong and `policy` is
 * lenient, the root stays whole. If `policy` is not lenient, returns FALSE and sets the error. */
static gboolean
make_root (const CleaveSplitRequest *request,
           const CleavePolicy *policy,
           CleaveLevelSearch *search,
           CleaveRoot *root,
           GError **error)
{
  CleaveNode *node = request->node;
  g_autoptr (GError) wrong = NULL;
  g_autofree char *label = cleave_node_dup_label (node);
  CleaveTrial *trial = cleave_trial_is_asked (policy->trial) ? policy->trial : NULL;

  *root = (CleaveRoot){ .node = node, .constraint = request->constraint };
  if (node->op->maps == NULL)
    {
      g_autofree char *message = g_strdup_printf ("%s cannot be split", node->op->name);

      cleave_root_keep_whole (root, CLEAVE_NOT_SPLIT_UNSUPPORTED, message);
    }
  else if (!is_search (request))
    root->ranges = find_ranges (request, policy, &wrong);
  else if (search != NULL)
    add_to_level_search (request, policy, search, root, &wrong);
  else
    search_root (request, policy, trial, root, &wrong);
  if (wrong == NULL)
    return TRUE;
  if (!policy->lenient)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&wrong), "%s: ", label);
      return FALSE;
    }
  cleave_root_keep_whole (root, CLEAVE_NOT_SPLIT_REFUSED, wrong->message);
  return TRUE;
}

/* Returns FALSE and sets the error if the tiling fits no node at all: the request is then wrong. */
static gboolean
check_some_fit (const GArray *roots, GError **error)
{
  const CleaveRoot *misfit = NULL;
  g_autofree char *label = NULL;

  for (guint i = 0; i < roots->len; i++)
    {
      const CleaveRoot *root = &g_array_index (roots, CleaveRoot, i);

      if (root->ranges != NULL || (root->reason != CLEAVE_NOT_SPLIT_REFUSED &&
                                   root->reason != CLEAVE_NOT_SPLIT_UNSUPPORTED))
        return TRUE;
      if (root->reason == CLEAVE_NOT_SPLIT_REFUSED)
        misfit = root;
    }
  if (misfit == NULL)
    return TRUE;
  label = cleave_node_dup_label (misfit->node);
  return cleave_fail (error, CLEAVE_ERROR_OPTION, "no node can take the option; %s: %s", label,
                      misfit->message);
}

/* Adds the number of pieces of a root to `*n_pieces`. Returns FALSE and sets the error if the sum
 * is more than `max_made`. The number of nodes is checked again when the region is planned, but
 * then the ranges of all roots already take memory. */
static gboolean
count_pieces (const CleaveRoot *root, gint64 max_made, gint64 *n_pieces, GError **error)
{
  const guint n = root->ranges == NULL ? 0 : root->ranges->len;
  g_autofree char *label = NULL;

  *n_pieces += n;
  if (*n_pieces <= max_made)
    return TRUE;
  label = cleave_node_dup_label (root->node);
  return cleave_fail (error, CLEAVE_ERROR_LIMIT,
                      "too many pieces: %s would become %u, and all nodes up to it more than "
                      "%" G_GINT64_FORMAT " together; ask for larger pieces or name fewer nodes",
                      label, n, max_made);
}

GArray *
cleave_roots_new (const CleaveGraph *graph,
                  const CleaveSplitRequest *requests,
                  guint n_requests,
                  const CleavePolicy *policy,
                  GError **error)
{
  g_autoptr (GArray) roots = g_array_sized_new (FALSE, TRUE, sizeof (CleaveRoot), n_requests);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (CleaveLevelSearch) search = needs_level_search (requests, n_requests, policy)
                                             ? cleave_level_search_new (policy->trial)
                                             : NULL;

  gint64 n_pieces = 0;

  g_array_set_clear_func (roots, cleave_root_clear);
  for (guint i = 0; i < n_requests; i++)
    {
      CleaveRoot root;

      if (!check_request (graph, &requests[i], seen, error) ||
          !make_root (&requests[i], policy, search, &root, error))
        return NULL;
      g_array_append_val (roots, root);
      if (!count_pieces (&root, policy->made.max, &n_pieces, error))
        return NULL;
    }
  if (policy->lenient && !check_some_fit (roots, error))
    return NULL;
  if (search != NULL)
    cleave_level_search_run (search, roots);
  else if (n_requests == 1 && is_search (requests) && cleave_trial_is_asked (policy->trial))
    search_levels (requests, policy, roots);
  return g_steal_pointer (&roots);
}
