/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the nodes of a graph to move (cleave_fit_moves_find()), and moves them in the list of
 * nodes (cleave_fit_moves_arrange()). An early node runs as soon as all its operands are
 * computed. A late node runs right before its first reader. */

#include "move-nodes.h"

#include "../../lib/ir/topology.h"
#include "backward-slice.h"

/* The state of the search for nodes to move. */

typedef struct
{
  GPtrArray *copies;
  GHashTable *noted; /* CleaveNode: the nodes to move, as a set */
  /* indexed by node id: position in the order, from 1; 0: an input or constant */
  const guint *position;
  gint64 min_bytes;
} Finding;

static void
note (Finding *f, CleaveNode *node, gboolean is_early)
{
  CleaveFitCopy *noted;

  if (!g_hash_table_add (f->noted, node))
    return;
  noted = g_new0 (CleaveFitCopy, 1);
  noted->node = g_strdup (node->name);
  noted->readers = g_new0 (char *, 1);
  noted->is_early = is_early;
  g_ptr_array_add (f->copies, noted);
}

static gboolean
is_last_reader (const Finding *f, const CleaveNode *node, const CleaveResult *x)
{
  for (const CleaveOperand *use = x->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL || f->position[use->node->id] > f->position[node->id])
      return FALSE;
  return TRUE;
}

/* Returns whether a node is the last of several readers of a large value, and its result has at
 * most 1 / CLEAVE_FIT_MUCH_LARGER of the bytes of the value.  Once the other readers have run, the
 * value waits for this node alone. */
static gboolean
is_early (const Finding *f, const CleaveNode *node)
{
  if (node->n_results != 1 || (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) != 0)
    return FALSE;
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *x = node->operands[o].result;

      if (x != NULL && !cleave_fit_exists_before_run (x->node) && x->n_uses > 1 &&
          cleave_fit_count_bytes (x) >= f->min_bytes &&
          CLEAVE_FIT_MUCH_LARGER * cleave_fit_count_bytes (&node->results[0]) <=
              cleave_fit_count_bytes (x) &&
          is_last_reader (f, node, x))
        return TRUE;
    }
  return FALSE;
}

/* Returns whether at least one other node runs between the node that computes a value and each
 * reader of the value. */
static gboolean
has_gap_before_readers (const Finding *f, const CleaveResult *value)
{
  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && f->position[use->node->id] <= f->position[value->node->id] + 1)
      return FALSE;
  return TRUE;
}

/* Notes a node and the nodes of its backward slice as late nodes, which run right before their
 * first reader. A backward slice computes a large value from small values (backward-slice.h). Does
 * nothing if the node's value is small, if the value has no short backward slice, or if a reader
 * runs right after the node. */
static void
note_late (Finding *f, const CleaveNode *node)
{
  g_autoptr (GPtrArray) recomputed = g_ptr_array_new ();

  if (node->n_results != 1 || cleave_fit_count_bytes (&node->results[0]) < f->min_bytes ||
      !has_gap_before_readers (f, &node->results[0]) ||
      !cleave_fit_add_backward_slice (recomputed, &node->results[0],
                                      cleave_fit_count_bytes (&node->results[0])))
    return;
  for (guint i = 0; i < recomputed->len; i++)
    note (f, recomputed->pdata[i], FALSE);
}

void
cleave_fit_moves_find (GPtrArray *copies, const CleaveGraph *graph, gint64 min_bytes)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  g_autoptr (GHashTable) noted = g_hash_table_new (NULL, NULL);
  g_autofree guint *position = g_new0 (guint, graph->n_ids + 1);
  Finding f = { copies, noted, position, min_bytes };
  guint next = 0;

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      position[node->id] = cleave_fit_exists_before_run (node) ? 0 : ++next;
    }
  for (guint i = 0; i < order->len; i++)
    {
      if (is_early (&f, order->pdata[i]))
        note (&f, order->pdata[i], TRUE);
      note_late (&f, order->pdata[i]);
    }
}

/* The state of a reordering, which appends the nodes of a graph to a new order. */

typedef struct
{
  GHashTable *late;   /* CleaveNode: nodes to place right before their first reader */
  GHashTable *early;  /* CleaveNode: nodes to place as soon as their operands are placed */
  GHashTable *placed; /* CleaveNode: nodes in `order` */
  GPtrArray *order;
} Placing;

static gboolean
is_ready (const Placing *placing, const CleaveNode *node)
{
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *read = node->operands[o].result;

      if (read != NULL && !cleave_fit_exists_before_run (read->node) &&
          !g_hash_table_contains (placing->placed, read->node))
        return FALSE;
    }
  return TRUE;
}

static void place (Placing *placing, CleaveNode *node);

static void
place_operands (Placing *placing, const CleaveNode *node)
{
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *read = node->operands[o].result;

      if (read != NULL && !g_hash_table_contains (placing->placed, read->node) &&
          (cleave_fit_exists_before_run (read->node) ||
           g_hash_table_contains (placing->late, read->node)))
        place (placing, read->node);
    }
}

static void
place_early (Placing *placing, const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL && g_hash_table_contains (placing->early, use->node) &&
          is_ready (placing, use->node))
        place (placing, use->node);
}

/* Appends a node to the order. Right before it, places the nodes in `late` that compute its
 * operands. Right after it, places the nodes in `early` that read its results and whose other
 * operands are already placed. The recursion is as deep as the longest chain of nodes in `late` and
 * `early`: a few backward slices at most. */
static void
place (Placing *placing, CleaveNode *node)
{
  g_hash_table_remove (placing->late, node);
  g_hash_table_remove (placing->early, node);
  place_operands (placing, node);
  g_hash_table_add (placing->placed, node);
  g_ptr_array_add (placing->order, node);
  place_early (placing, node);
}

static void
add_named (GHashTable *nodes, const CleaveGraph *graph, const char *name)
{
  CleaveNode *node = name == NULL ? NULL : cleave_graph_find_node (graph, name);

  if (node != NULL)
    g_hash_table_add (nodes, node);
}

/* Adds the nodes to move to the sets `late` and `early` of `placing`. A copied node and its copy
 * are both late. The copy runs right before its own readers, such as a pooling. The original runs
 * right before the other readers. */
static void
list_moved (const GPtrArray *copies, const CleaveGraph *graph, const Placing *placing)
{
  for (guint i = 0; i < copies->len; i++)
    {
      const CleaveFitCopy *noted = copies->pdata[i];

      add_named (noted->is_early ? placing->early : placing->late, graph, noted->node);
      add_named (placing->late, graph, noted->copy);
    }
}

void
cleave_fit_moves_arrange (const GPtrArray *copies, CleaveGraph *graph)
{
  g_autoptr (GHashTable) late = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) early = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) placed = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) sorted = cleave_topology_sort (graph, NULL);
  g_autoptr (GPtrArray) order = g_ptr_array_sized_new (graph->n_nodes);
  Placing placing = { late, early, placed, order };

  list_moved (copies, graph, &placing);
  for (guint i = 0; i < sorted->len; i++)
    if (!g_hash_table_contains (late, sorted->pdata[i]) &&
        !g_hash_table_contains (placed, sorted->pdata[i]))
      place (&placing, sorted->pdata[i]);
  for (guint i = 0; i < sorted->len; i++)
    if (g_hash_table_contains (
            late, sorted->pdata[i])) /* no node reads the late node: its value is an output */
      place (&placing, sorted->pdata[i]);
  cleave_graph_arrange (graph, order);
}
