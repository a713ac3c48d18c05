/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits: of one node, several, all; along with what they read; for threads; by a limit. */

#include "way.h"

#define pick(way, n) tape_draw ((way)->tape, (guint) (n))
#define chance(way, percent) tape_chance ((way)->tape, (percent))
#define MAX_REQUESTS 3

static const char *const halos[] = { "recompute", "carry", "exchange", "carry-narrow" };

/* One that computes something; the last more often than others.  NULL: there is none. */
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

/* One to three different nodes, each with a split of its own. */
static guint
pick_requests (Way *way, CleaveSplitRequest *requests, GPtrArray *splits)
{
  guint n = 0, wanted = chance (way, 30) ? 1 + pick (way, MAX_REQUESTS) : 1;

  for (guint i = 0; i < wanted; i++)
    {
      CleaveNode *node = pick_node (way);
      gboolean again = node == NULL;

      for (guint k = 0; k < n; k++)
        again |= requests[k].node == node;
      if (again)
        continue;
      g_string_append_printf (way->text, " %s", cleave_node_get_name (node));
      g_ptr_array_add (splits, way_pick_split (way, shape_of (node)));
      requests[n++] = (CleaveSplitRequest){ node, splits->pdata[splits->len - 1], NULL };
    }
  return n;
}

static CleaveSplitReport *
split_some (Way *way, const char **name, GError **error)
{
  g_autoptr (GPtrArray) splits =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tiling_unref);
  CleaveSplitRequest requests[MAX_REQUESTS];
  guint n = pick_requests (way, requests, splits);

  *name = n > 1 ? "several" : "one";
  if (n == 0)
    return NULL;
  return n > 1 ? cleave_split_nodes (way->graph, requests, n, error)
               : cleave_split_node (requests[0].node, requests[0].tiling, NULL, error);
}

static CleaveSplitReport *
split_deep (Way *way, const char **name, GError **error)
{
  static const char *const names[] = { "deep-recompute", "deep-carry", "deep-exchange" };
  g_autoptr (GPtrArray) splits =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tiling_unref);
  CleaveSplitRequest requests[MAX_REQUESTS];
  CleaveRecursion recursion = { .depth = 1 + pick (way, 8), .halo = (CleaveHalo) pick (way, 3) };
  g_autofree char *depth = g_strdup_printf ("depth-%u", recursion.depth);
  guint n = pick_requests (way, requests, splits);

  recursion.strips_per_band = pick (way, 4);
  recursion.single_use = chance (way, 15);
  *name = names[recursion.halo];
  counts_way (way->counts, depth, FALSE);
  g_string_append_printf (way->text, " depth %u %s strips %u%s", recursion.depth,
                          halos[recursion.halo], recursion.strips_per_band,
                          recursion.single_use ? " single use" : "");
  return n == 0 ? NULL
                : cleave_split_nodes_recursively (way->graph, requests, n, &recursion, error);
}

static CleaveSplitReport *
split_all (Way *way, GError **error)
{
  CleaveNode *node = pick_node (way);
  g_autoptr (CleaveTiling) split = NULL;

  if (node == NULL)
    return NULL;
  split = way_pick_split (way, shape_of (node));
  return cleave_split_all_nodes (way->graph, split, NULL, error);
}

/* By a limit, alone or with an option; of a node, with what it reads or not. */
static CleaveSplitReport *
split_limited (Way *way, GError **error)
{
  CleaveNode *node = pick_node (way);
  CleaveConstraint constraint = { .max_pieces = 8 };
  CleaveRecursion recursion = { .depth = 1 + pick (way, 4), .halo = (CleaveHalo) pick (way, 3) };
  g_autoptr (CleaveTiling) split = NULL;
  guint what = pick (way, 4);

  if (node == NULL)
    return NULL;
  if (what == 0)
    constraint.max_memory = 64 << pick (way, 8);
  else if (what == 1)
    constraint.max_added_macs = 0.05 * (1 + pick (way, 10));
  else if (what == 2)
    constraint.max_schedule_memory = 256 << pick (way, 8);
  else
    constraint.max_subgraph_memory = 256 << pick (way, 8);
  if (what == 1 || chance (way, 30))
    split = way_pick_split (way, shape_of (node));
  g_string_append_printf (way->text, " %s limit %u depth %u", cleave_node_get_name (node), what,
                          recursion.depth);
  return chance (way, 30)
             ? cleave_split_node (node, split, &constraint, error)
             : cleave_split_node_recursively (node, split, &constraint, &recursion, error);
}

void
way_split (Way *way)
{
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  const char *name = "";
  guint what = pick (way, 16);

  if (what < 4)
    {
      g_string_append (way->text, "; split");
      report = split_some (way, &name, &error);
    }
  else if (what < 10)
    {
      g_string_append (way->text, "; deep");
      report = split_deep (way, &name, &error);
    }
  else if (what < 12)
    {
      name = "all";
      g_string_append (way->text, "; all");
      report = split_all (way, &error);
    }
  else if (what < 14)
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
