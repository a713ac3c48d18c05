/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits of one node, of several nodes or of all nodes: recursively, for threads and ranks, and by
 * limits. */

#include "way.h"

#define pick(way, n) tape_draw ((way)->tape, (guint) (n))
#define chance(way, percent) tape_chance ((way)->tape, (percent))
#define MAX_REQUESTS 3

static const char *const halos[] = { "recompute", "carry", "exchange", "carry-narrow" };

/* Returns a node that is neither an input nor a constant, or NULL. Later nodes are more likely. */
static CleaveNode *
pick_node (Way *way)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  CleaveNode *node;

  for (node = cleave_graph_get_first_node (way->graph); node != NULL;
       node = cleave_node_get_next (node))
    if (cleave_node_get_n_operands (node) > 0 && cleave_node_get_n_results (node) > 0)
      g_ptr_array_add (nodes, node);
  if (nodes->len == 0)
    return NULL;
  return nodes->pdata[nodes->len - 1 - pick (way, nodes->len)];
}

static const CleaveShape *
shape_of (CleaveNode *node)
{
  return &cleave_result_get_type (cleave_node_get_result (node, 0))->shape;
}

static void
count_report (Way *way, CleaveSplitReport *report, const char *name, GError *error)
{
  guint n = report == NULL ? 0 : cleave_split_report_get_n_split (report);

  counts_way (way->counts, name, n == 0);
  g_string_append_printf (way->text, n == 0 ? " refused" : " → %u split", n);
  if (error != NULL)
    g_string_append_printf (way->text, " (%s)", error->message);
  for (guint i = 0; i < n; i++)
    way->counts->ops[counts_op (cleave_op_get_name (cleave_split_report_get_split (report, i)->op))]
        .split++;
  for (guint i = 0; report != NULL && i < cleave_split_report_get_n_not_split (report); i++)
    way->counts
        ->ops[counts_op (cleave_op_get_name (cleave_split_report_get_not_split (report, i)->op))]
        .whole++;
}

/* A predicate of a constraint. Returns FALSE for plans with an odd number of chunks. */
static gboolean
is_even (const CleavePlan *plan, gpointer data, GString *why)
{
  if (cleave_plan_get_n_chunks (plan) % 2 == 0)
    return TRUE;
  g_string_append_printf (why, "an odd number of chunks, %s", (const char *) data);
  return FALSE;
}

/* Picks one or more limits. The number of pieces and the work of the search are always limited. */
static CleaveConstraint
pick_constraint (Way *way)
{
  CleaveConstraint constraint = { .max_pieces = 2 + pick (way, 9),
                                  .search_budget = 200 + 300 * pick (way, 20) };
  guint what = 1 + pick (way, 31);

  counts_way (way->counts, (what & (what - 1)) == 0 ? "one-limit" : "limits", FALSE);
  if ((what & 1) != 0)
    constraint.max_memory = 64 << pick (way, 8);
  if ((what & 2) != 0)
    constraint.max_added_macs = 0.05 * ((int) pick (way, 12) - 1);
  if ((what & 4) != 0)
    constraint.max_schedule_memory = 256 << pick (way, 8);
  if ((what & 8) != 0)
    constraint.max_subgraph_memory = 256 << pick (way, 8);
  if ((what & 16) != 0)
    {
      constraint.predicate = is_even;
      constraint.data = (gpointer) "which this test refuses";
    }
  g_string_append_printf (way->text, " limits %u", what);
  return constraint;
}

static CleaveRecursion
pick_recursion (Way *way)
{
  CleaveRecursion recursion = { .depth = 1 + pick (way, 8),
                                .halo = (CleaveHalo) pick (way, G_N_ELEMENTS (halos)) };

  recursion.strips_per_band = pick (way, 4);
  recursion.single_use = chance (way, 15);
  g_string_append_printf (way->text, " depth %u %s strips %u%s", recursion.depth,
                          halos[recursion.halo], recursion.strips_per_band,
                          recursion.single_use ? " single use" : "");
  return recursion;
}

/* Requests to split one to three nodes, and the constraints and tilings to which the requests
 * point. */
typedef struct
{
  CleaveSplitRequest requests[MAX_REQUESTS];
  CleaveConstraint constraints[MAX_REQUESTS];
  CleaveTiling *tilings[MAX_REQUESTS];
  guint n;
} Requests;

static void
requests_clear (Requests *requests)
{
  for (guint i = 0; i < requests->n; i++)
    g_clear_pointer (&requests->tilings[i], cleave_tiling_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Requests, requests_clear)

/* Adds a request to split a node. In 13 of 16 cases, the request has only a tiling. Otherwise, the
 * request has a constraint: with a tiling, with a tiling that asks for a search, or without a
 * tiling. */
static void
add_request (Way *way, Requests *requests, CleaveNode *node)
{
  const guint i = requests->n++, what = pick (way, 16);

  g_string_append_printf (way->text, " %s", cleave_node_get_name (node));
  if (what < 14)
    requests->tilings[i] = way_pick_split (way, shape_of (node));
  else if (what == 14)
    requests->tilings[i] = way_pick_search (way, shape_of (node));
  if (what >= 13)
    requests->constraints[i] = pick_constraint (way);
  requests->requests[i] = (CleaveSplitRequest){ node, requests->tilings[i],
                                                what >= 13 ? &requests->constraints[i] : NULL };
}

static void
pick_requests (Way *way, Requests *requests)
{
  guint wanted = chance (way, 30) ? 1 + pick (way, MAX_REQUESTS) : 1;

  for (guint i = 0; i < wanted; i++)
    {
      CleaveNode *node = pick_node (way);
      gboolean again = node == NULL;

      for (guint k = 0; k < requests->n; k++)
        again |= requests->requests[k].node == node;
      if (!again)
        add_request (way, requests, node);
    }
}

static CleaveSplitReport *
split_some (Way *way, const char **name, GError **error)
{
  g_auto (Requests) asked = { 0 };

  pick_requests (way, &asked);
  *name = asked.n > 1 ? "several" : "one";
  if (asked.n == 0)
    return NULL;
  return asked.n > 1 ? cleave_split_nodes (way->graph, asked.requests, asked.n, error)
                     : cleave_split_node (asked.requests[0].node, asked.tilings[0],
                                          asked.requests[0].constraint, error);
}

static CleaveSplitReport *
split_deep (Way *way, const char **name, GError **error)
{
  static const char *const names[] = { "deep-recompute", "deep-carry", "deep-exchange",
                                       "deep-carry-narrow" };
  CleaveRecursion recursion = pick_recursion (way);
  g_autofree char *depth = g_strdup_printf ("depth-%u", recursion.depth);
  g_auto (Requests) asked = { 0 };

  pick_requests (way, &asked);
  *name = names[recursion.halo];
  counts_way (way->counts, depth, FALSE);
  return asked.n == 0 ? NULL
                      : cleave_split_nodes_recursively (way->graph, asked.requests, asked.n,
                                                        &recursion, error);
}

static CleaveSplitReport *
split_all (Way *way, GError **error)
{
  CleaveNode *node = pick_node (way);
  gboolean is_limited = chance (way, 20);
  g_autoptr (CleaveTiling) split = NULL;
  CleaveConstraint constraint;

  if (node == NULL)
    return NULL;
  if (!is_limited || chance (way, 50))
    split = way_pick_split (way, shape_of (node));
  if (is_limited)
    constraint = pick_constraint (way);
  return cleave_split_all_nodes (way->graph, split, is_limited ? &constraint : NULL, error);
}

/* Splits up to three nodes by name, all with the same options. */
static CleaveSplitReport *
split_by_name (Way *way, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  CleaveNode *node = pick_node (way);
  gboolean is_limited = chance (way, 20), is_deep = chance (way, 60);
  g_autoptr (CleaveTiling) split = NULL;
  CleaveRecursion recursion;
  CleaveConstraint constraint;

  if (node == NULL)
    return NULL;
  split = is_limited && chance (way, 50) ? NULL : way_pick_split (way, shape_of (node));
  for (guint i = 0, n = 1 + pick (way, MAX_REQUESTS); i < n; i++, node = pick_node (way))
    if (!g_ptr_array_find (names, cleave_node_get_name (node), NULL))
      g_ptr_array_add (names, (gpointer) cleave_node_get_name (node));
  g_ptr_array_add (names, NULL);
  if (is_limited)
    constraint = pick_constraint (way);
  if (is_deep)
    recursion = pick_recursion (way);
  return cleave_split_nodes_by_name (way->graph, (const char *const *) names->pdata, split,
                                     is_limited ? &constraint : NULL, is_deep ? &recursion : NULL,
                                     error);
}

/* Splits by limits, with or without a tiling: a node alone, or recursively. */
static CleaveSplitReport *
split_limited (Way *way, GError **error)
{
  CleaveNode *node = pick_node (way);
  g_autoptr (CleaveTiling) split = NULL;
  CleaveConstraint constraint;
  CleaveRecursion recursion;
  guint what = pick (way, 8);

  if (node == NULL)
    return NULL;
  constraint = pick_constraint (way);
  if (what < 3)
    split = way_pick_split (way, shape_of (node));
  else if (what == 3)
    split = way_pick_search (way, shape_of (node));
  g_string_append_printf (way->text, " %s", cleave_node_get_name (node));
  if (chance (way, 30))
    return cleave_split_node (node, split, &constraint, error);
  recursion = pick_recursion (way);
  return cleave_split_node_recursively (node, split, &constraint, &recursion, error);
}

void
way_split (Way *way)
{
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  const char *name = "";
  guint what = pick (way, 32);

  if (what < 8)
    {
      g_string_append (way->text, "; split");
      report = split_some (way, &name, &error);
    }
  else if (what < 19)
    {
      g_string_append (way->text, "; deep");
      report = split_deep (way, &name, &error);
    }
  else if (what < 23)
    {
      name = "all";
      g_string_append (way->text, "; all");
      report = split_all (way, &error);
    }
  else if (what < 25)
    {
      name = "by-name";
      g_string_append (way->text, "; by name");
      report = split_by_name (way, &error);
    }
  else if (what == 25)
    {
      CleaveNetwork network = { 2 + pick (way, 3), 1 + pick (way, 2), CLEAVE_NETWORK_BANDWIDTH,
                                CLEAVE_NETWORK_LATENCY };

      name = "for-ranks";
      g_string_append_printf (way->text, "; for %u ranks", network.n_ranks);
      report = cleave_split_for_ranks (way->graph, &network, &error);
    }
  else if (what < 28)
    {
      guint n_threads = 2 + pick (way, 3);

      name = "for-threads";
      g_string_append_printf (way->text, "; for %u threads", n_threads);
      report = cleave_split_for_threads (way->graph, n_threads, &error);
    }
  else
    {
      name = "limit";
      g_string_append (way->text, "; limited");
      report = split_limited (way, &error);
    }
  count_report (way, report, name, error);
}
