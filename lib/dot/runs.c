/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds runs (frames.h). A run is a chain of nodes, or all nodes between two points of the order at
 * which only one value is live. */

#include "frames.h"

#include "../ir/graph-private.h"

/* The nodes between two points at which only one value is live form one run if there are at most
 * this many. So a residual block or a layer is one run, and a whole U-net is not. */
#define MAX_BLOCK 40

typedef struct
{
  const GPtrArray *order;
  guint *of; /* indexed by node id: index of the node's frame; G_MAXUINT: none */
  guint next;
  guint *position; /* indexed by node id: position in `order` */
} Search;

static gboolean
is_drawn (const CleaveNode *node)
{
  return !cleave_node_is_input (node) && cleave_node_get_constant (node) == NULL;
}

static guint
find_last_use (const Search *s, const CleaveNode *node)
{
  guint last = s->position[node->id];

  for (guint i = 0; i < node->n_results; i++)
    for (const CleaveOperand *use = node->results[i].first_use; use != NULL; use = use->next_use)
      last = MAX (last, use->node == NULL ? s->order->len : s->position[use->node->id]);
  return last;
}

/* Returns an array indexed by position: number of live values after the node, without constants. */
static gint *
count_live (const Search *s)
{
  gint *live = g_new0 (gint, s->order->len + 2);

  for (guint i = 0; i < s->order->len; i++)
    {
      const CleaveNode *node = s->order->pdata[i];

      if (cleave_node_get_constant (node) != NULL)
        continue;
      live[i]++;
      live[find_last_use (s, node)]--;
    }
  for (guint i = 1; i < s->order->len; i++)
    live[i] += live[i - 1];
  return live;
}

/* Returns the only node that computes the operands of a node, not counting constants. Returns NULL
 * if several nodes compute the operands, or if the only producer has another consumer. */
static const CleaveNode *
find_only_producer (const CleaveNode *node)
{
  const CleaveNode *only = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = cleave_node_operand_result (node, i);

      if (value == NULL || cleave_node_get_constant (value->node) != NULL)
        continue;
      if (only != NULL && only != value->node)
        return NULL;
      only = value->node;
    }
  if (only == NULL)
    return NULL;
  for (guint i = 0; i < only->n_results; i++)
    for (const CleaveOperand *use = only->results[i].first_use; use != NULL; use = use->next_use)
      if (use->node != node)
        return NULL;
  return only;
}

static void
follow_chain (Search *s, const CleaveNode *node, guint first)
{
  const CleaveNode *producer = find_only_producer (node);

  if (producer != NULL && s->of[producer->id] >= first && s->of[producer->id] != G_MAXUINT)
    s->of[node->id] = s->of[producer->id];
  else
    s->of[node->id] = s->next++;
}

static void
place_block (Search *s, guint begin, guint end, guint first)
{
  guint n = 0, n_framed = 0, number;

  for (guint i = begin; i < end; i++)
    {
      const CleaveNode *node = s->order->pdata[i];

      n += is_drawn (node) ? 1 : 0;
      n_framed += is_drawn (node) && s->of[node->id] != G_MAXUINT ? 1 : 0;
    }
  number = n_framed == 0 && n > 1 && n <= MAX_BLOCK ? s->next++ : G_MAXUINT;
  for (guint i = begin; i < end; i++)
    {
      const CleaveNode *node = s->order->pdata[i];

      if (!is_drawn (node) || s->of[node->id] != G_MAXUINT)
        continue;
      if (number != G_MAXUINT)
        s->of[node->id] = number;
      else
        follow_chain (s, node, first);
    }
}

guint
cleave_runs_find (const CleaveGraph *graph, const GPtrArray *order, guint first, guint *of)
{
  g_autofree guint *position = g_new0 (guint, graph->n_ids + 1);
  Search s = { order, of, first, position };
  g_autofree gint *live = NULL;
  guint begin = 0;

  for (guint i = 0; i < order->len; i++)
    position[((CleaveNode *) order->pdata[i])->id] = i;
  live = count_live (&s);
  for (guint i = 0; i < order->len; i++)
    if (live[i] <= 1 || i + 1 == order->len)
      {
        place_block (&s, begin, i + 1, first);
        begin = i + 1;
      }
  return s.next;
}
