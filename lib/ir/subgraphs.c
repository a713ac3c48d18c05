/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds parallel subgraphs. subgraphs.h defines compute nodes, nodes that are alone, and
 * components. The functions of this file are in the order of the definitions. */

#include "subgraphs.h"

#include "memory.h"
#include "node-queries.h"
#include "subgraph-analysis.h"
#include "topology.h"

#define NONE (-1)

typedef CleaveSubgraphAnalysis Analysis;

static void
analysis_clear (Analysis *a)
{
  g_clear_pointer (&a->order, g_ptr_array_unref);
  g_clear_pointer (&a->work, g_ptr_array_unref);
  g_clear_pointer (&a->in_use, g_free);
  g_clear_pointer (&a->position, g_free);
  g_clear_pointer (&a->next, g_free);
  g_clear_pointer (&a->prev, g_free);
  g_clear_pointer (&a->alone, g_free);
  g_clear_pointer (&a->out, g_free);
  g_clear_pointer (&a->component, g_free);
  g_clear_pointer (&a->parent, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Analysis, analysis_clear)

static gboolean
analysis_init (Analysis *a, const CleaveGraph *graph)
{
  gsize n = graph->n_ids + 1;

  *a = (Analysis){ .graph = graph, .order = cleave_topology_sort (graph, NULL) };
  if (a->order == NULL)
    return FALSE;
  a->work = g_ptr_array_new ();
  a->in_use = CLEAVE_NEW0 (gboolean, n);
  a->position = CLEAVE_NEW0 (gint, n);
  a->next = CLEAVE_NEW0 (gint, n);
  a->prev = CLEAVE_NEW0 (gint, n);
  a->alone = CLEAVE_NEW0 (gboolean, n);
  a->out = CLEAVE_NEW0 (gboolean, n);
  a->component = CLEAVE_NEW0 (guint, n);
  a->parent = CLEAVE_NEW0 (guint, n);
  return TRUE;
}

static void
find_in_use (Analysis *a)
{
  const CleaveGraph *graph = a->graph;
  g_autoptr (GPtrArray) ends = g_ptr_array_new ();
  g_autofree gboolean *needed = CLEAVE_NEW (gboolean, graph->n_ids + 1);

  for (guint i = 0; i < graph->outputs->len; i++)
    g_ptr_array_add (ends, ((CleaveOutput *) graph->outputs->pdata[i])->operand.result->node);
  cleave_topology_reach (graph, (CleaveNode *const *) ends->pdata, ends->len, FALSE, needed);
  g_ptr_array_set_size (ends, 0);
  for (guint i = 0; i < graph->inputs->len; i++)
    g_ptr_array_add (ends, ((CleaveResult *) graph->inputs->pdata[i])->node);
  cleave_topology_reach (graph, (CleaveNode *const *) ends->pdata, ends->len, TRUE, a->in_use);
  for (guint i = 0; i < graph->n_ids; i++)
    a->in_use[i] = a->in_use[i] && needed[i];
}

static void
find_work (Analysis *a)
{
  for (guint i = 0; i < a->order->len; i++)
    {
      CleaveNode *node = a->order->pdata[i];
      gboolean is_work = a->in_use[node->id] && !cleave_node_is_input (node) &&
                         !cleave_node_has_flag (node, CLEAVE_OP_VIEW | CLEAVE_OP_JOIN);

      a->position[node->id] = is_work ? (gint) a->work->len : NONE;
      if (is_work)
        g_ptr_array_add (a->work, node);
    }
}

/* Returns the position of the first compute node that reads `node`, directly or through views and
 * joins; G_MAXINT if no compute node reads it. `next` of all later nodes is already set. */
static gint
find_next (const Analysis *a, const CleaveNode *node)
{
  gint next = G_MAXINT;

  for (guint i = 0; i < node->n_results; i++)
    for (const CleaveOperand *use = node->results[i].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL && a->in_use[use->node->id])
        {
          guint id = use->node->id;

          next = MIN (next, a->position[id] != NONE ? a->position[id] : a->next[id]);
        }
  return next;
}

/* Returns the position of the last compute node whose result `node` reads, directly or through
 * views and joins; NONE if `node` reads no compute node. `prev` of all earlier nodes is already
 * set. */
static gint
find_prev (const Analysis *a, const CleaveNode *node)
{
  gint prev = NONE;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveNode *from = cleave_node_get_producer (node, i);

      if (from != NULL && a->in_use[from->id])
        prev =
            MAX (prev, a->position[from->id] != NONE ? a->position[from->id] : a->prev[from->id]);
    }
  return prev;
}

static void
find_neighbors (Analysis *a)
{
  for (guint i = a->order->len; i-- > 0;)
    {
      const CleaveNode *node = a->order->pdata[i];

      a->next[node->id] = find_next (a, node);
    }
  for (guint i = 0; i < a->order->len; i++)
    {
      const CleaveNode *node = a->order->pdata[i];

      a->prev[node->id] = find_prev (a, node);
    }
}

/* Sets alone[k] to whether no edge passes position k. An edge leads from a compute node to a
 * compute node that reads it, directly or through views and joins. An edge passes k if it begins
 * before position k and ends after k. A node without readers counts as having an edge to the end. A
 * node that reads no compute node counts as having an edge from the begin. So if no edge passes k,
 * each earlier node must run before the node at k, and each later node after it. */
static void
find_alone (Analysis *a)
{
  gint n = (gint) a->work->len, furthest = NONE, earliest = G_MAXINT;

  for (gint k = 0; k < n; k++)
    {
      a->alone[k] = furthest <= k;
      furthest = MAX (furthest, a->next[((CleaveNode *) a->work->pdata[k])->id]);
    }
  for (gint k = n; k-- > 0;)
    {
      a->alone[k] = earliest >= k && a->alone[k];
      earliest = MIN (earliest, a->prev[((CleaveNode *) a->work->pdata[k])->id]);
    }
}

/* Returns the only operand of a join that is not a view. This operand is a piece. The other
 * operands are views: rows of neighbors, which the join adds to the piece. Returns NULL if several
 * operands are not views. */
static CleaveNode *
find_own_operand (const CleaveNode *join)
{
  CleaveNode *own = NULL;

  for (guint i = 0; i < join->n_operands; i++)
    {
      CleaveNode *from = cleave_node_get_producer (join, i);

      if (from == NULL || cleave_node_has_flag (from, CLEAVE_OP_VIEW))
        continue;
      if (own != NULL)
        return NULL;
      own = from;
    }
  return own;
}

static gboolean
feeds_joins_only (const CleaveNode *node)
{
  for (guint i = 0; i < node->n_results; i++)
    for (const CleaveOperand *use = node->results[i].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL || !cleave_node_has_flag (use->node, CLEAVE_OP_JOIN))
        return FALSE;
  return TRUE;
}

static gboolean
is_out (const Analysis *a, const CleaveNode *node)
{
  if (!a->in_use[node->id] || cleave_node_is_input (node))
    return TRUE;
  if (cleave_node_has_flag (node, CLEAVE_OP_VIEW))
    return a->out[cleave_node_get_producer (node, 0)->id] || feeds_joins_only (node);
  if (cleave_node_has_flag (node, CLEAVE_OP_JOIN))
    return find_own_operand (node) == NULL;
  return a->alone[a->position[node->id]];
}

static void
find_components (Analysis *a)
{
  for (guint i = 0; i < a->order->len; i++)
    {
      const CleaveNode *node = a->order->pdata[i];

      a->out[node->id] = is_out (a, node);
    }
  a->n_components = cleave_topology_components (a->graph, a->out, a->component);
  for (guint i = 0; i < a->n_components; i++)
    a->parent[i] = i;
}

/* The functions below find components that can run at the same time. */

/* Returns an array indexed by component: whether the component can run at the same time as another
 * component. The compute nodes that are alone (subgraphs.h) divide the positions into intervals.
 * Components with nodes in the same interval can run at the same time. */
static gboolean *
find_parallel (Analysis *a)
{
  gboolean *parallel = g_new0 (gboolean, a->n_components + 1);
  guint first = G_MAXUINT;

  for (guint k = 0; k < a->work->len; k++)
    {
      const CleaveNode *node = a->work->pdata[k];
      guint root;

      if (a->alone[k])
        {
          first = G_MAXUINT;
          continue;
        }
      root = cleave_subgraph_find_root (a, a->component[node->id]);
      if (first == G_MAXUINT)
        first = root;
      if (root != first)
        parallel[root] = parallel[first] = TRUE;
    }
  return parallel;
}

static guint
number_components (Analysis *a, gboolean all, guint *number)
{
  g_autofree gboolean *parallel = find_parallel (a);
  guint n = 0;

  for (guint i = 0; i < a->n_components; i++)
    number[i] = cleave_subgraph_find_root (a, i) != i ? number[cleave_subgraph_find_root (a, i)]
                : all || parallel[i]                  ? n++
                                                      : G_MAXUINT;
  return n;
}

/* Returns the subgraph that contains all nodes that read a node, or G_MAXUINT if no single subgraph
 * contains all of these readers. */
static guint
find_common_user (const CleaveNode *node, const guint *subgraph)
{
  guint common = G_MAXUINT;

  for (guint i = 0; i < node->n_results; i++)
    for (const CleaveOperand *use = node->results[i].first_use; use != NULL; use = use->next_use)
      {
        guint mine = use->node == NULL ? G_MAXUINT : subgraph[use->node->id];

        if (mine == G_MAXUINT || (common != G_MAXUINT && common != mine))
          return G_MAXUINT;
        common = mine;
      }
  return common;
}

/* Assigns each view or join that is_out() removed to the subgraph that contains all its readers. */
static void
place_views (const Analysis *a, guint *subgraph)
{
  for (guint i = a->order->len; i-- > 0;)
    {
      const CleaveNode *node = a->order->pdata[i];

      if (a->out[node->id] && cleave_node_has_flag (node, CLEAVE_OP_VIEW | CLEAVE_OP_JOIN))
        subgraph[node->id] = find_common_user (node, subgraph);
    }
}

static guint
find (const CleaveGraph *graph, gboolean all, guint *subgraph)
{
  g_auto (Analysis) a = { 0 };
  g_autofree guint *number = NULL;
  guint n;

  for (guint i = 0; i < graph->n_ids; i++)
    subgraph[i] = G_MAXUINT;
  if (!analysis_init (&a, graph))
    return 0;
  find_in_use (&a);
  find_work (&a);
  find_neighbors (&a);
  find_alone (&a);
  find_components (&a);
  cleave_subgraph_unite_handovers (&a);
  number = g_new (guint, a.n_components + 1);
  n = number_components (&a, all, number);
  for (guint i = 0; i < graph->n_ids; i++)
    if (a.component[i] != G_MAXUINT)
      subgraph[i] = number[a.component[i]];
  place_views (&a, subgraph);
  return n;
}

guint
cleave_subgraphs_find (const CleaveGraph *graph, guint *subgraph)
{
  return find (graph, FALSE, subgraph);
}

guint
cleave_subgraphs_find_bands (const CleaveGraph *graph, guint *band)
{
  return find (graph, TRUE, band);
}
