/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Unites two components into one subgraph if the first component hands rows to the second one, and
 * the second one hands no rows back. A component hands rows to another component if a join adds
 * rows of a piece in the first component to a piece in the second one (subgraphs.h). A component is
 * a connected set of the nodes that remain after is_out() (subgraphs.c) has removed nodes from the
 * graph. subgraph-analysis.h defines compute nodes. */

#include "subgraph-analysis.h"

#include "hash.h"
#include "node-queries.h"

typedef CleaveSubgraphAnalysis Analysis;

static void
unite (Analysis *a, guint one, guint other)
{
  guint x = cleave_subgraph_find_root (a, one), y = cleave_subgraph_find_root (a, other);

  a->parent[MAX (x, y)] = MIN (x, y);
}

static guint64
pack (guint from, guint to)
{
  return (guint64) from << 32 | to;
}

static const CleaveNode *
skip_views (const CleaveNode *node)
{
  while (node != NULL && cleave_node_has_flag (node, CLEAVE_OP_VIEW))
    node = cleave_node_get_producer (node, 0);
  return node;
}

/* Returns the component that receives the rows of a join: the component of the join itself. If
 * is_out() removed the join, returns the component of the first compute node that reads the join,
 * or G_MAXUINT if no compute node reads it. */
static guint
find_joined (const Analysis *a, const CleaveNode *join)
{
  gint next = a->next[join->id];

  if (!a->out[join->id])
    return a->component[join->id];
  return next == G_MAXINT ? G_MAXUINT : a->component[((CleaveNode *) a->work->pdata[next])->id];
}

/* Returns whether a compute node reads a node directly or through views, not through a join. */
static gboolean
has_reader_besides_joins (const Analysis *a, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_results; i++)
    for (const CleaveOperand *use = node->results[i].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL && a->in_use[use->node->id] && !a->out[use->node->id] &&
          !cleave_node_has_flag (use->node, CLEAVE_OP_JOIN))
        return TRUE;
  return FALSE;
}

/* Returns whether a join makes a whole value for a node that is not split, and `piece` is a piece
 * of this value. The function looks for three signs. No operand of the join is a view. Another
 * compute node reads the piece. The first reader of the join is in another component: the reader of
 * a join that adds rows to a piece continues the component of the piece. */
static gboolean
makes_whole (Analysis *a, const CleaveNode *join, const CleaveNode *piece)
{
  if (cleave_subgraph_find_root (a, find_joined (a, join)) ==
      cleave_subgraph_find_root (a, a->component[piece->id]))
    return FALSE;
  for (guint i = 0; i < join->n_operands; i++)
    if (cleave_node_get_producer (join, i) == NULL ||
        cleave_node_has_flag (cleave_node_get_producer (join, i), CLEAVE_OP_VIEW))
      return FALSE;
  return has_reader_besides_joins (a, piece);
}

/* Returns an operand of a join: the piece to which the join adds rows. The other operands are rows
 * of neighboring pieces. An operand is new if the first compute node that reads the operand reads
 * it through this join.
 *
 * - If exactly one operand is new, returns this operand and sets `is_new` to TRUE.
 * - If no operand is new, returns the operand with the largest position and sets `is_new` to FALSE.
 * - If several operands are new, or if the join makes a whole value for a node that is not split,
 *   returns NULL.
 *
 * For an operand that is a view, the node whose result it views counts as the operand. */
static const CleaveNode *
find_new_operand (Analysis *a, const CleaveNode *join, gboolean *is_new)
{
  const CleaveNode *latest = NULL;

  *is_new = FALSE;
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveNode *from = skip_views (cleave_node_get_producer (join, i));

      if (from == NULL || from == latest || a->component[from->id] == G_MAXUINT)
        continue;
      if (a->next[from->id] == a->next[join->id])
        {
          if (*is_new)
            return NULL;
          latest = from;
          *is_new = TRUE;
        }
      else if (!*is_new && (latest == NULL || a->position[from->id] > a->position[latest->id]))
        latest = from;
    }
  return latest == NULL || makes_whole (a, join, latest) ? NULL : latest;
}

/* Unites the two components that a removed join connects: the component of the piece to which the
 * join adds rows, and the component of the nodes that read the join. is_out() removed this join
 * since several of its operands are pieces, not views. Example: strip 2 needs all rows of strip 1,
 * so the join of strip 2 reads the piece of strip 1 without a Slice. */
static void
unite_joined (Analysis *a)
{
  for (guint i = 0; i < a->order->len; i++)
    {
      const CleaveNode *join = a->order->pdata[i], *from;
      guint to;
      gboolean is_new;

      if (!cleave_node_has_flag (join, CLEAVE_OP_JOIN) || !a->out[join->id])
        continue;
      to = find_joined (a, join);
      if (to == G_MAXUINT)
        continue;
      from = find_new_operand (a, join, &is_new);
      if (from != NULL)
        unite (a, a->component[from->id], to);
    }
}

/* Returns whether a join adds rows of neighboring pieces to a piece. */
static gboolean
is_handover (Analysis *a, const CleaveNode *join)
{
  gboolean is_new, has_piece = FALSE;

  if (!cleave_node_has_flag (join, CLEAVE_OP_JOIN) || find_joined (a, join) == G_MAXUINT)
    return FALSE;
  if (!a->out[join->id])
    return TRUE;
  for (guint i = 0; i < join->n_operands; i++)
    has_piece |= cleave_node_get_producer (join, i) != NULL &&
                 !cleave_node_has_flag (cleave_node_get_producer (join, i), CLEAVE_OP_VIEW);
  return has_piece && find_new_operand (a, join, &is_new) != NULL && is_new;
}

/* Returns an array of guint64. Each entry is a pair of components, packed by pack (from, to): a
 * join adds rows of component `from` to a piece of component `to`. */
static GArray *
list_handovers (Analysis *a)
{
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint i = 0; i < a->order->len; i++)
    {
      const CleaveNode *join = a->order->pdata[i];

      guint to;

      if (!is_handover (a, join))
        continue;
      to = cleave_subgraph_find_root (a, find_joined (a, join));
      for (guint j = 0; j < join->n_operands; j++)
        {
          const CleaveNode *from = skip_views (cleave_node_get_producer (join, j));
          guint mine = from == NULL ? G_MAXUINT : a->component[from->id];
          guint64 pair;

          if (mine == G_MAXUINT || cleave_subgraph_find_root (a, mine) == to)
            continue;
          pair = pack (cleave_subgraph_find_root (a, mine), to);
          g_array_append_val (pairs, pair);
        }
    }
  return pairs;
}

void
cleave_subgraph_unite_handovers (Analysis *a)
{
  g_autoptr (GArray) pairs = NULL;
  g_autoptr (GHashTable) known = g_hash_table_new (cleave_hash_pair, g_int64_equal);

  unite_joined (a);
  pairs = list_handovers (a);
  for (guint i = 0; i < pairs->len; i++)
    g_hash_table_add (known, &g_array_index (pairs, guint64, i));
  for (guint i = 0; i < pairs->len; i++)
    {
      guint64 pair = g_array_index (pairs, guint64, i);
      guint from = (guint) (pair >> 32), to = (guint) pair;
      guint64 back = pack (to, from);

      if (!g_hash_table_contains (known, &back))
        unite (a, from, to);
    }
}
