/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Walks and copies fixed nodes: nodes whose results depend on constants alone. Uses no recursion,
 * since a chain of fixed nodes can be long. */

#include "fixed.h"

/* A node on the stack of a depth-first walk. */
typedef struct
{
  CleaveNode *node;
  guint next; /* index of the next operand to visit */
} Visit;

static void
open_node (GArray *open, CleaveNode *node)
{
  Visit visit = { node, 0 };

  g_array_append_val (open, visit);
}

gboolean
cleave_fixed_walk (CleaveNode *node, CleaveFixedSeen is_seen, CleaveFixedVisit visit, gpointer data)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (Visit));

  if (!is_seen (node, data))
    open_node (open, node);
  while (open->len > 0)
    {
      Visit *last = &g_array_index (open, Visit, open->len - 1);
      CleaveNode *at = last->node;
      const CleaveResult *x;

      if (last->next == at->n_operands)
        {
          g_array_set_size (open, open->len - 1);
          if (!is_seen (at, data) && !visit (at, data))
            return FALSE;
          continue;
        }
      x = at->operands[last->next++].result;
      if (x != NULL && !is_seen (x->node, data))
        open_node (open, x->node);
    }
  return TRUE;
}

typedef struct
{
  CleaveGraph *graph;
  GHashTable *copies;
} Copying;

static gboolean
is_copied (CleaveNode *node, gpointer data)
{
  return g_hash_table_contains (((const Copying *) data)->copies, node);
}

static gboolean
copy (CleaveNode *node, gpointer data)
{
  const Copying *copying = data;
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      {
        const CleaveResult *from = node->operands[i].result;
        CleaveNode *to = g_hash_table_lookup (copying->copies, from->node);

        operands[i] = &to->results[from->index];
      }
  g_hash_table_insert (copying->copies, node,
                       cleave_graph_add_like (copying->graph, node, NULL, operands));
  return TRUE;
}

CleaveResult *
cleave_fixed_copy (CleaveGraph *graph, const CleaveResult *value, GHashTable *copies)
{
  Copying copying = { graph, copies };
  CleaveNode *to;

  cleave_fixed_walk (value->node, is_copied, copy, &copying);
  to = g_hash_table_lookup (copies, value->node);
  return &to->results[value->index];
}
